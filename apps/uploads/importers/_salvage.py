"""Reads what is sound in a JSON document that has a fault somewhere.

A run that stands in one document would be lost whole with one bad byte, or with its
last line cut. What is kept before the fault are the complete items of the outermost
list that has any: turns, spans, events, never half of one. After a fault the end of an
item cannot be told from its brackets, so whole objects are looked for.
"""

import json
import re
from collections.abc import Callable, Iterator

from .values import Json, decode

MAX_SEARCHED = 64 << 20  # characters after a fault that are searched for objects

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]', re.DOTALL)
_OBJECT = re.compile(r'(?<=[,\[:])\s*(\{\s*")')
_CLOSING = {"[": "]", "{": "}"}


def salvage(raw: bytes) -> Json:
    """Decode a document up to its first fault; None where nothing can be kept."""
    text = raw.decode("utf-8", "replace")
    fault = fault_in(text)
    return None if fault is None else before(text, fault)


def fault_in(text: str) -> int | None:
    """Give the place of a document's first fault; None where it cannot be told."""
    try:
        json.loads(text)
    except json.JSONDecodeError as exc:
        return exc.pos
    except (ValueError, RecursionError):
        return None
    return None


def before(text: str, fault: int) -> Json:
    """Decode the document up to its fault; None where nothing can be kept."""
    kept = _complete_items(text, fault)
    if kept is None:
        return None
    try:
        return decode(kept.encode("utf-8", "replace"))
    except ValueError:
        return None


def _complete_items(text: str, fault: int) -> str | None:
    """Cut before the fault, after a complete item of a list, and close what is open."""
    frames: list[tuple[str, int]] = []  # bracket, end of its last complete item or -1
    for token in _TOKEN.finditer(text, 0, fault):
        sign = token.group()
        if sign in ("[", "{"):
            frames.append((sign, -1))
        elif sign in ("]", "}"):
            if not frames or _CLOSING[frames[-1][0]] != sign:
                break
            frames.pop()
            if frames:
                frames[-1] = (frames[-1][0], token.end())
        elif sign == "," and frames:
            frames[-1] = (frames[-1][0], token.start())
        elif sign == '"':
            break  # a string that does not end before the fault
    for depth, (bracket, end) in enumerate(frames):
        if bracket == "[" and end >= 0:
            still_open = [frame[0] for frame in frames[: depth + 1]]
            return text[:end] + "".join(_CLOSING[b] for b in reversed(still_open))
    return None


def after(text: str, fault: int, is_wanted: Callable[[Json], bool]) -> Iterator[Json]:
    """Yield the whole objects behind a fault that the reader wants."""
    decoder = json.JSONDecoder()
    position = fault
    while position < fault + MAX_SEARCHED:
        match = _OBJECT.search(text, position)
        if match is None:
            return
        position = match.start(1) + 1
        try:
            value, end = decoder.raw_decode(text, match.start(1))
            if is_wanted(value):
                position = end
                yield decode(text[match.start(1) : end].encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
