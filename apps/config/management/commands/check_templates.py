"""`manage.py check_templates`: every template must compile."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template import Template, TemplateSyntaxError, engines
from django.template.backends.django import DjangoTemplates
from django.template.base import Node
from django.template.exceptions import TemplateDoesNotExist
from django.template.loader import get_template
from django.template.loader_tags import ExtendsNode, IncludeNode


class Command(BaseCommand):
    """Load each template, and each that it names."""

    help = "Compile every template in templates/ and look for those they name."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print how many are sound; fail with one line for each that is not."""
        faults: list[str] = []
        names = sorted(template_names())
        for name in names:
            faults += template_faults(name)
        if faults:
            raise CommandError("\n".join(faults))
        self.stdout.write(f"{len(names)} templates compile.")


def template_names() -> set[str]:
    """Return the names of all templates in the project's own folders."""
    engine = engines["django"]
    assert isinstance(engine, DjangoTemplates)
    return {
        str(path.relative_to(folder))
        for folder in map(Path, engine.engine.dirs)
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def template_faults(name: str) -> list[str]:
    """Return what keeps a template from rendering, as far as its text shows."""
    try:
        template = get_template(name).template  # type: ignore[attr-defined]
    except (TemplateSyntaxError, UnicodeDecodeError) as error:
        return [f"{name}: {error}"]
    assert isinstance(template, Template)
    faults = []
    for node in template.nodelist.get_nodes_by_type(Node):
        wanted = named_template(node)
        if wanted is None:
            continue
        try:
            get_template(wanted)
        except TemplateDoesNotExist:
            faults.append(f"{name}: there is no template {wanted}")
        except TemplateSyntaxError:
            continue  # said where that template is checked
    return faults


def named_template(node: Node) -> str | None:
    """Return the template that a node extends or includes by a fixed name."""
    if isinstance(node, ExtendsNode):
        expression = node.parent_name
    elif isinstance(node, IncludeNode):
        expression = node.template
    else:
        return None
    named = getattr(expression, "var", None)
    return named if isinstance(named, str) else None
