"""Reads a stream of JSON objects; what is none of them comes out as `Unreadable`."""

from collections.abc import Collection, Iterator
from io import BytesIO
from typing import BinaryIO

from apps.runs.transcript import Unreadable

from ._documents import unreadable
from ._members import members
from ._salvage import after, before, fault_in
from .records import Document, documents
from .values import Json, decode, decode_all, text

Found = tuple[Document, dict[str, Json] | Unreadable]


def objects(stream: BinaryIO) -> Iterator[Found]:
    """Yield each object of the stream, also several on one line, in file order."""
    for document in documents(stream):
        try:
            values = decode_all(document.raw)
        except ValueError as exc:
            yield document, unreadable(document, str(exc))
            continue
        for value in values:
            yield document, _object(document, value)


def parts(stream: BinaryIO, key: str, has: Collection[str]) -> Iterator[Found]:
    """Yield objects, as `objects` does; of a damaged one, what can still be read.

    A run that is one big object with its messages under `key` may be cut or spoiled
    anywhere. Then each fault comes out as `Unreadable`, and at last the object with the
    messages and members that are whole, or sound up to the fault. A message is an
    object that has the keys `has`: so those behind a fault that hides their beginning
    are found.
    """
    for document in documents(stream):
        try:
            values = decode_all(document.raw)
        except ValueError as exc:
            yield from _salvaged(document, key, frozenset(has), str(exc))
            continue
        for value in values:
            yield document, _object(document, value)


def _object(document: Document, value: Json) -> dict[str, Json] | Unreadable:
    return value if isinstance(value, dict) else unreadable(document, "not an object")


def _salvaged(
    document: Document, key: str, has: frozenset[str], reason: str
) -> Iterator[Found]:
    is_object = document.raw.lstrip().startswith(b"{")
    if not is_object or f'"{key}"'.encode() not in document.raw:
        yield document, unreadable(document, reason)
        return
    whole: dict[str, Json] = {}
    items: list[Json] = []
    was_told = False
    for member in members(BytesIO(document.raw), arrays=(key,)):
        part = Document(
            member.document.raw,
            document.line + member.document.line - 1,
            document.offset + member.document.offset,
            member.document.is_complete and document.is_complete,
        )
        try:
            value = decode(part.raw)
        except ValueError as exc:
            was_told = True
            yield part, unreadable(part, str(exc))
            items += _sound_messages(part, has)
            continue
        if member.is_item and member.key == key:
            items.append(value)
        elif not member.is_item:
            whole[member.key] = value
    if not was_told:
        yield document, unreadable(document, reason)
    yield document, {**whole, key: items}


def _sound_messages(part: Document, has: frozenset[str]) -> Iterator[Json]:
    """Yield a broken message up to its fault, and those that it swallowed."""

    def is_message(value: Json) -> bool:
        return isinstance(value, dict) and value.keys() >= has

    raw = part.raw.decode("utf-8", "replace")
    fault = fault_in(raw)
    if fault is None:
        return
    sound = before(raw, fault)
    if is_message(sound):
        yield sound
    yield from after(raw, 1, is_message)  # a fault may hide where the next begins


def project(cwd: Json) -> str:
    """Name the project by the last part of its folder; the rest is private."""
    return text(cwd).replace("\\", "/").rstrip("/").rpartition("/")[2]


def first_text(*values: Json) -> str:
    """Give the first value that is text and not empty."""
    return next((v for v in values if isinstance(v, str) and v), "")


def word(value: Json) -> str:
    """Give text as it is, "" for anything else: a kind, a role, a status."""
    return value if isinstance(value, str) else ""


def id_text(value: Json) -> str:
    """Give an id: text or a number as text; "" for anything else."""
    return text(value) if isinstance(value, (str, int)) else ""
