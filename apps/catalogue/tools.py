"""The registry of tools: filled from logs and lists, mended by hand."""

import json
from collections.abc import Iterable
from typing import Any

from .models import Tool
from .resolve import storable, stored_tool
from .tool_lists import Definition

_FIELDS = (
    "description",
    "input_schema",
    "is_read_only",
    "is_destructive",
    "is_idempotent",
)


def note_tools(workspace_id: int, definitions: Iterable[Definition]) -> int:
    """Add what is not known yet of these tools; give how many rows changed.

    Safe beside other workers and in any order: see `Definition.joined`. A tool that a
    person has edited stays as it is.
    """
    wanted: dict[str, Definition] = {}
    for definition in definitions:
        one = _storable(definition)
        known = wanted.get(one.name)
        wanted[one.name] = known.joined(one) if known else one
    if not wanted:
        return 0
    tools = Tool.objects.filter(workspace_id=workspace_id, name__in=wanted)
    for tool in tools:
        known = definition_of(tool)
        joined = known.joined(wanted[tool.name])
        if tool.is_edited or joined == known:
            del wanted[tool.name]
        else:
            wanted[tool.name] = joined
    Tool.objects.bulk_create(
        [
            Tool(workspace_id=workspace_id, **wanted[name]._asdict())
            for name in sorted(wanted)
        ],
        update_conflicts=True,
        unique_fields=["workspace", "name"],
        update_fields=_FIELDS,
    )
    return len(wanted)


def definition_of(tool: Tool) -> Definition:
    """Give a stored tool as a value."""
    return Definition(tool.name, *(getattr(tool, field) for field in _FIELDS))


def from_log(
    name: str,
    description: str,
    input_schema: str,
    *hints: bool | None,
) -> Definition:
    """Give a definition as a log has it, its schema as JSON text."""
    try:
        schema = json.loads(input_schema) if input_schema else None
    except (ValueError, RecursionError):
        schema = None
    return Definition(name, description, schema, *hints)


def _storable(definition: Definition) -> Definition:
    schema: Any = definition.input_schema
    if schema is not None:
        text = json.dumps(schema).replace("\\u0000", "\\ufffd")
        schema = json.loads(storable(text)) if len(text) < 200_000 else None
    return definition._replace(
        name=stored_tool(definition.name),
        description=storable(definition.description[:20_000]),
        input_schema=schema,
    )
