"""The catalogue as YAML: blocks for maps and lists, JSON for every scalar and key.

YAML 1.2 contains JSON, so a double-quoted JSON string is read alike by every parser;
a plain one may become a number, a date or "Norway's false". Hence all are quoted.
"""

import json

from apps.rewrites.exports.catalogue import Catalogue, with_hash


def to_yaml(catalogue: Catalogue) -> str:
    """The catalogue, readable, with a line break at its end."""
    return "\n".join(_lines(with_hash(catalogue), 0)) + "\n"


def _lines(value: object, depth: int) -> list[str]:
    """The lines of a map or a list; what is empty stays in one line."""
    indent = "  " * depth
    lines: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            lines += _entry(f"{indent}{_scalar(key)}:", item, depth)
    elif isinstance(value, list):
        for item in value:
            lines += _entry(f"{indent}-", item, depth)
    return lines


def _entry(lead: str, item: object, depth: int) -> list[str]:
    if isinstance(item, dict | list) and item:
        return [lead, *_lines(item, depth + 1)]
    return [f"{lead} {_scalar(item)}"]


def _scalar(value: object) -> str:
    # Line separators end a line in YAML 1.1 even inside quotes; JSON escapes them.
    text = json.dumps(value, ensure_ascii=False)
    for char in ("\x7f", "\x85", "\u2028", "\u2029", "\ufeff"):
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
