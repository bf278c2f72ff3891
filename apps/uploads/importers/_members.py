"""Takes one big JSON value apart while it is read: members, and items of arrays.

A benchmark's result file is often one object with every run under one key, and the keys
that describe the runs before or after them. Nothing here holds more than one member.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from .records import (
    CLOSE,
    CLOSE_LIST,
    COLON,
    COMMA,
    END,
    OPEN,
    OPEN_LIST,
    QUOTE,
    Cursor,
    Document,
    utf8,
)
from .values import Json, decode


@dataclass(slots=True, frozen=True)
class Member:
    """A value under a key of the top-level object, or one item of an array there."""

    key: str  # "": an item of a top-level array
    document: Document
    is_item: bool = False


def members(
    stream: BinaryIO,
    arrays: Collection[str] = (),
    only: Collection[str] | None = None,
) -> Iterator[Member]:
    """Yield each member of each top-level object, in file order.

    Arrays under the keys `arrays` come out item by item, as do those at the top. With
    `only`, the values of other keys are passed over without being held. Faults between
    members are passed over; one inside a member is left to who decodes it. Raises
    DocumentTooLargeError where one member exceeds what a worker may hold.
    """
    cursor = Cursor(utf8(stream))
    while (byte := cursor.peek()) != END:
        if byte == OPEN:
            cursor.take()
            yield from _object(cursor, arrays, only)
        elif byte == OPEN_LIST:
            cursor.take()
            yield from _items(cursor, "")
        else:
            cursor.value(keep=False)


def header(stream: BinaryIO, keys: Collection[str]) -> dict[str, Json]:
    """Decode the members `keys`, wherever they stand; rewind the stream.

    Values that do not decode are left out. Reading ends when all have been seen.
    """
    found: dict[str, Json] = {}
    for member in members(stream, only=keys):
        try:
            found[member.key] = decode(member.document.raw)
        except ValueError:
            continue
        if len(found) == len(keys):
            break
    stream.seek(0)
    return found


def _object(
    cursor: Cursor, arrays: Collection[str], only: Collection[str] | None
) -> Iterator[Member]:
    while (byte := cursor.peek()) not in (END, CLOSE):
        if byte != QUOTE:  # a comma, or a fault
            cursor.value(keep=False)
            continue
        name = cursor.value(keep=True)
        if cursor.peek() != COLON:
            continue
        cursor.take()
        key = _key(name.raw)
        if key in arrays and cursor.peek() == OPEN_LIST:
            cursor.take()
            yield from _items(cursor, key)
        elif only is None or key in only or key in arrays:
            yield Member(key, cursor.value(keep=True))
        else:
            cursor.value(keep=False)
    cursor.take()


def _items(cursor: Cursor, key: str) -> Iterator[Member]:
    while (byte := cursor.peek()) not in (END, CLOSE_LIST):
        if byte in (COMMA, COLON, CLOSE):
            cursor.take()
        else:
            yield Member(key, cursor.value(keep=True), is_item=True)
    cursor.take()


def _key(raw: bytes) -> str:
    try:
        return str(decode(raw))
    except ValueError:
        return raw.strip(b'"').decode("utf-8", "replace")
