"""The part of JSON Schema 2020-12 that the exports use, to check documents by."""

import re
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
KNOWN = {
    "$schema", "$id", "title", "type", "properties", "required", "items", "oneOf",
    "additionalProperties", "anyOf", "enum", "const", "pattern", "minimum", "format",
    "minLength", "minItems", "uniqueItems",
}  # fmt: skip


def violations(value: Any, schema: Any, where: str = "$") -> list[str]:
    """Where and how a value breaks a schema."""
    if isinstance(schema, bool):
        return [] if schema else [f"{where}: nothing is allowed here"]
    assert set(schema) <= KNOWN, f"teach this checker {set(schema) - KNOWN}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return [f"{where}: is no {kinds}"]
    found = [f"{where}: {sentence}" for sentence in _of_scalar(value, schema)]
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            found.append(f"{where}: has too few items")
        for number, item in enumerate(value):
            found += violations(item, schema.get("items", True), f"{where}[{number}]")
    if isinstance(value, dict):
        found += _of_object(value, schema, where)
    for name, most in (("oneOf", 1), ("anyOf", 99)):
        fits = [not violations(value, option, where) for option in schema.get(name, [])]
        if fits and not 1 <= sum(fits) <= most:
            found.append(f"{where}: fits {sum(fits)} of {name}")
    return found


def _of_scalar(value: Any, schema: Any) -> list[str]:
    broken = {
        "is not in the list": "enum" in schema and value not in schema["enum"],
        "is another constant": "const" in schema and value != schema["const"],
    }
    if isinstance(value, str):
        broken["does not match"] = not re.search(schema.get("pattern", ""), value)
        broken["is too short"] = len(value) < schema.get("minLength", 0)
    if _is(value, "number"):
        broken["is too small"] = value < schema.get("minimum", value)
    return [sentence for sentence, is_broken in broken.items() if is_broken]


def _of_object(value: dict[str, Any], schema: Any, where: str) -> list[str]:
    found = [
        f"{where}: lacks {n}" for n in schema.get("required", []) if n not in value
    ]
    properties = schema.get("properties", {})
    for name, item in value.items():
        rule = properties.get(name, schema.get("additionalProperties", True))
        found += violations(item, rule, f"{where}.{name}")
    return found


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])
