"""The catalogue as one Python module without dependencies, for Python 3.9 and newer.

The module is made of the `runtime_*.py` files beside this one, which are linted and
tested as they stand: their imports are joined, and the catalogue's data is put in.
"""

import ast
from pathlib import Path
from typing import Final

from apps.rewrites.exports.catalogue import Catalogue, with_hash

PARTS: Final = (
    "runtime_template.py",
    "runtime_guard.py",
    "runtime_renderings.py",
    "runtime_stores.py",
    "runtime_operations.py",
)
_FOLDER: Final = Path(__file__).parent
_BEGIN: Final = "# <catalogue>\n"
_END: Final = "# </catalogue>\n"


def to_python(catalogue: Catalogue) -> str:
    """The module's source."""
    docstring = ""
    imports: dict[str, set[str]] = {}  # module -> names; none: `import module`
    bodies = []
    for part in PARTS:
        source = (_FOLDER / part).read_text(encoding="utf-8")
        heading, found, body = _taken_apart(source)
        docstring = docstring or heading
        for module, names in found.items():
            imports.setdefault(module, set()).update(names)
        bodies.append(body)
    data = with_hash(catalogue)
    text = "\n\n\n".join(bodies) + "\n"
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    head = docstring.replace('"""', f'"""{_title(data)}\n\n', 1)
    value = f"CATALOGUE: Dict[str, Any] = {literal(data)}\n"
    return f"{head}\n\n{_written(imports)}\n\n{before}{value}{after}"


def _title(data: dict[str, object]) -> str:
    """The first line of the module; what it names is plain, whatever the name holds."""
    name = ascii(f"{data['name']} {data['version']}").replace('"', "'")
    return f"Catalogue {name}, {str(data['content_hash'])[:12]}. Made by Errata."


def _taken_apart(source: str) -> tuple[str, dict[str, set[str]], str]:
    """A part as (docstring's source, its imports, the rest)."""
    lines = source.splitlines()
    imports: dict[str, set[str]] = {}
    docstring, last = "", 0
    for node in ast.parse(source).body:
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.Expr) and not docstring:
            docstring = "\n".join(lines[node.lineno - 1 : end])
        elif isinstance(node, ast.Import):
            imports.update({alias.name: set() for alias in node.names})
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if not module.startswith("apps."):
                names = {alias.name for alias in node.names}
                imports.setdefault(module, set()).update(names)
        else:
            break
        last = end
    return docstring, imports, "\n".join(lines[last:]).strip("\n")


def _written(imports: dict[str, set[str]]) -> str:
    future = [f"from __future__ import {n}" for n in imports.pop("__future__", ())]
    plain = [f"import {m}" for m, names in sorted(imports.items()) if not names]
    named = [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(imports.items())
        if names
    ]
    return "\n".join([*future, "", *plain, *named])


def literal(value: object, depth: int = 0) -> str:
    """A JSON value as Python source in ASCII, one entry a line.

    `repr` would do, were it the same in every Python: what counts as printable grows
    with Unicode.
    """
    indent = "    " * (depth + 1)
    close = "    " * depth
    if isinstance(value, dict) and value:
        rows = [f"{k!a}: {literal(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + "".join(f"{indent}{row},\n" for row in rows) + close + "}"
    if isinstance(value, list) and value:
        rows = [literal(item, depth + 1) for item in value]
        return "[\n" + "".join(f"{indent}{row},\n" for row in rows) + close + "]"
    return ascii(value)
