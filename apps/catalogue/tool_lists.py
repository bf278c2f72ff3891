"""Tools in the lists that people have at hand: MCP, OpenAI, Anthropic. Pure."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

MAX_TOOLS = 2000


class ToolListError(ValueError):
    """The text holds no tools; the text of this says what to paste."""


class Definition(NamedTuple):
    """What is said of a tool. None: not said."""

    name: str
    description: str = ""
    input_schema: Any = None
    is_read_only: bool | None = None
    is_destructive: bool | None = None
    is_idempotent: bool | None = None

    def joined(self, other: "Definition") -> "Definition":
        """Join what two sources say, whichever came first.

        The longer words stand; of two claims the one that allows less.
        """
        return Definition(
            self.name,
            max(self.description, other.description, key=lambda d: (len(d), d)),
            max(self.input_schema, other.input_schema, key=_size),
            _either(self.is_read_only, other.is_read_only, stands=False),
            _either(self.is_destructive, other.is_destructive, stands=True),
            _either(self.is_idempotent, other.is_idempotent, stands=False),
        )


def _size(schema: Any) -> tuple[bool, int, str]:
    text = json.dumps(schema, sort_keys=True)
    return (schema is not None, len(text), text)


def _either(one: bool | None, other: bool | None, *, stands: bool) -> bool | None:
    said = {one, other} - {None}
    return (stands if stands in said else not stands) if said else None


def read_tools(text: str) -> list[Definition]:
    """Read an MCP `tools/list` result or an array of tools, OpenAI's or Anthropic's.

    Raises ToolListError with what to paste.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ToolListError(f"This is no JSON: {exc}.") from exc
    found: dict[str, Definition] = {}
    for definition in _definitions(value):
        known = found.get(definition.name)
        found[definition.name] = definition.joined(known) if known else definition
        if len(found) > MAX_TOOLS:
            raise ToolListError(f"Paste at most {MAX_TOOLS} tools at once.")
    if not found:
        raise ToolListError(
            "There are no tools in it. Paste the result of tools/list,"
            " or the array of tools of a request."
        )
    return list(found.values())


def _definitions(value: Any) -> Iterator[Definition]:
    for _ in range(3):  # {"jsonrpc": …, "result": {"tools": […]}}
        if isinstance(value, dict):
            value = value.get("result") or value.get("tools") or [value]
    for item in value if isinstance(value, list) else []:
        if not isinstance(item, dict):
            continue
        inner = item.get("function")
        tool = inner if isinstance(inner, dict) else item
        name = tool.get("name")
        if not isinstance(name, str) or not name.strip():
            continue
        hints = tool.get("annotations")
        hints = hints if isinstance(hints, dict) else {}
        description = tool.get("description")
        yield Definition(
            name.strip()[:200],
            description if isinstance(description, str) else "",
            next(
                (
                    tool[field]
                    for field in ("inputSchema", "input_schema", "parameters")
                    if isinstance(tool.get(field), dict)
                ),
                None,
            ),
            _flag(hints.get("readOnlyHint")),
            _flag(hints.get("destructiveHint")),
            _flag(hints.get("idempotentHint")),
        )


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
