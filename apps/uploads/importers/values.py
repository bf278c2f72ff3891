"""Reads values of any type as the type that is wanted; never raises on odd data.

Logs are written by many programs: a number may stand as text, a list as one item, a
time as seconds, milliseconds, nanoseconds or ISO text with or without a zone.
"""

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec

Json = Any  # what a JSON document decodes to

_SMALLEST_MS = 1e11  # 1973 in ms; as seconds it would be the year 5138
_SMALLEST_US = 1e14
_SMALLEST_NS = 1e17
_YEAR_2200 = 7258118400.0

_PAYLOAD_CHARS = 4096
_PAYLOAD = re.compile(
    r"data:([\w.+/-]{0,80})[\w.+/;=-]{0,200}?;base64,([A-Za-z0-9+/=_-]{4000,})"
)
_DEEPEST = 40  # a content field nests text blocks three or four deep


def decode(raw: bytes) -> Json:
    """Decode one JSON document; raise ValueError with a short reason.

    Lone surrogates, NaN and bytes that are not UTF-8, which strict decoders refuse,
    are read all the same; the odd characters become U+FFFD.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return _clean(json.loads(raw.decode("utf-8", "replace")))
    except json.JSONDecodeError as exc:
        reason = f"not JSON: {exc.msg} at character {exc.pos}"
        raise ValueError(reason) from exc
    except RecursionError as exc:
        raise ValueError("nested too deeply to be a session record") from exc


def decode_all(raw: bytes) -> list[Json]:
    """Decode a line that may hold several documents one after another."""
    try:
        return [decode(raw)]
    except ValueError as first:
        text = raw.decode("utf-8", "replace").strip()
        decoder = json.JSONDecoder()
        values, position = [], 0
        while position < len(text):
            try:
                value, position = decoder.raw_decode(text, position)
                values.append(_clean(value))
            except (ValueError, RecursionError):
                raise first from None
            while position < len(text) and text[position] in " \t\r\n,":
                position += 1
        if not values:
            raise
        return values


def _clean(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8", "replace")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def mapping(value: Json) -> dict[str, Json]:
    """Give the object itself, {} for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: Json) -> list[Json]:
    """Give the list itself, [] for None, and a list of one for anything else."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def text(value: Json) -> str:
    """Give text as it is, "" for None, and compact JSON for anything else.

    Payloads of `data:` addresses above a few KB become a note of their size.
    """
    if isinstance(value, str):
        return value if len(value) < _PAYLOAD_CHARS else _without_payloads(value)
    if value is None:
        return ""
    return text(msgspec.json.encode(value).decode())


def _without_payloads(value: str) -> str:
    if "base64," not in value:
        return value
    return _PAYLOAD.sub(lambda m: f"[data: {m[1]}, {len(m[2])} characters]", value)


def number(value: Json) -> float | None:
    """Give a number, also one that stands as text; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e300 else None
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def integer(value: Json) -> int | None:
    """Give a whole number, also one that stands as text; None for anything else."""
    found = number(value)
    if found is None or found != found or abs(found) > 2**53:
        return None
    return int(found)


def boolean(value: Json) -> bool | None:
    """Give a flag, also one that stands as text or 0 and 1; None for anything else."""
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return None


def timestamp(value: Json) -> float | None:
    """Read a time as epoch seconds (UTC); None if it is none.

    Numbers are taken as seconds, milliseconds, microseconds or nanoseconds by their
    size. ISO text without a zone is taken as UTC.
    """
    found = None if isinstance(value, bool) else number(value)
    if found is not None:
        for limit, factor in (
            (_SMALLEST_NS, 1e9),
            (_SMALLEST_US, 1e6),
            (_SMALLEST_MS, 1e3),
        ):
            if found >= limit:
                found /= factor
                break
        return found if 0 < found < _YEAR_2200 else None
    if not isinstance(value, str) or len(value) < 10:
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        seconds = moment.timestamp()
    except (OverflowError, ValueError):
        return None
    return seconds if 0 < seconds < _YEAR_2200 else None


def blocks_text(content: Json) -> str:
    """Join the text of a content field: text itself, or a list of text blocks.

    Blocks that carry no text (pictures, audio) become `[image]`, `[audio]` …, so that
    an answer of pictures alone is not taken for an empty one.
    """
    return _blocks_text(content, 0)


def _blocks_text(content: Json, depth: int) -> str:
    if isinstance(content, str) or content is None or depth > _DEEPEST:
        return text(content)
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return text(content)
    parts = []
    for block in content:
        if isinstance(block, dict):
            inner = block.get("text", block.get("content", block.get("refusal")))
            source = block.get("source")
            if (
                inner is None
                and isinstance(source, dict)
                and source.get("type") == "text"
            ):
                inner = source.get("data")  # a document block
            if isinstance(inner, (str, list, dict)):
                parts.append(_blocks_text(inner, depth + 1))
            elif "type" in block:
                parts.append(f"[{text(block['type'])}]")
        elif block is not None:
            parts.append(text(block))
    return "\n".join(parts)
