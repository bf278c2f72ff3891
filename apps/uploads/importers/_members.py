"""Takes one big JSON value apart while it is read: members, and items of arrays.

A benchmark's result file is often one object with every run under one key, and the keys
that describe the runs before or after them. Nothing here holds more than one member.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from . import records
from .records import Document, DocumentTooLargeError
from .values import Json, decode

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb'[^ \t\r\n,:"\[\]{}]++')
_QUOTE, _COLON, _COMMA = b'":,'
_OPEN, _CLOSE, _OPEN_LIST, _CLOSE_LIST = b"{}[]"
_END = -1


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
    cursor = _Cursor(stream)
    while (byte := cursor.peek()) != _END:
        if byte == _OPEN:
            cursor.take()
            yield from _object(cursor, arrays, only)
        elif byte == _OPEN_LIST:
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
    cursor: "_Cursor", arrays: Collection[str], only: Collection[str] | None
) -> Iterator[Member]:
    while (byte := cursor.peek()) not in (_END, _CLOSE):
        if byte != _QUOTE:  # a comma, or a fault
            cursor.value(keep=False)
            continue
        name = cursor.value(keep=True)
        if cursor.peek() != _COLON:
            continue
        cursor.take()
        key = _key(name.raw)
        if key in arrays and cursor.peek() == _OPEN_LIST:
            cursor.take()
            yield from _items(cursor, key)
        elif only is None or key in only or key in arrays:
            yield Member(key, cursor.value(keep=True))
        else:
            cursor.value(keep=False)
    cursor.take()


def _items(cursor: "_Cursor", key: str) -> Iterator[Member]:
    while (byte := cursor.peek()) not in (_END, _CLOSE_LIST):
        if byte in (_COMMA, _COLON, _CLOSE):
            cursor.take()
        else:
            yield Member(key, cursor.value(keep=True), is_item=True)
    cursor.take()


def _key(raw: bytes) -> str:
    try:
        return str(decode(raw))
    except ValueError:
        return raw.strip(b'"').decode("utf-8", "replace")


class _Cursor:
    """Stands at a byte of the stream; reads a chunk at a time, each byte once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._chunks = records.utf8(stream)
        self._buffer = b""
        self._at = 0
        self._base = 0  # offset of _buffer[0] in the stream
        self._line = 1  # line of _buffer[_counted]
        self._counted = 0

    def peek(self) -> int:
        """Give the next byte that is no white space; _END at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return _END

    def take(self) -> None:
        """Go past one byte."""
        self._at = min(self._at + 1, len(self._buffer))

    def value(self, *, keep: bool) -> Document:
        """Go past one value (or one byte that begins none) and give its bytes."""
        first = self.peek()
        line = self._count_lines()
        offset = self._base + self._at
        parts: list[bytes] = []
        if first in (_QUOTE, _OPEN, _OPEN_LIST):
            is_complete = self._bracketed(parts, keep=keep, line=line)
        else:
            is_complete = self._scalar(parts)
        return Document(b"".join(parts), line, offset, is_complete)

    def _scalar(self, parts: list[bytes]) -> bool:
        begun = False
        while True:
            match = _SCALAR.match(self._buffer, self._at)
            if match:
                begun = True
                parts.append(match.group())
                self._at = match.end()
                if self._at < len(self._buffer):
                    return True
            elif not begun:
                self.take()
                return True
            else:
                return True
            if not self._more():
                return True

    def _bracketed(self, parts: list[bytes], *, keep: bool, line: int) -> bool:
        depth, in_string, size = 0, False, 0
        while True:
            start = self._at
            depth, in_string, ended = self._walk(depth, in_string)
            if keep:
                parts.append(self._buffer[start : self._at])
                size += self._at - start
                if size > records.MAX_DOCUMENT_BYTES:
                    text = (
                        f"The value at line {line} is larger than"
                        f" {records.MAX_DOCUMENT_BYTES >> 20} MB."
                        " Export fewer runs in a file, or each as a record of its own."
                    )
                    raise DocumentTooLargeError(text)
            if ended:
                return True
            if not self._more():
                if keep:
                    parts.append(self._buffer[self._at :])
                self._at = len(self._buffer)
                return False

    def _walk(self, depth: int, in_string: bool) -> tuple[int, bool, bool]:
        """Go on through the buffer; say whether the value ended in it."""
        buffer = self._buffer
        if in_string:
            match = _STRING_REST.match(buffer, self._at)
            if match is None:
                self._at = self._string_cut()
                return depth, True, False
            self._at = match.end()
            if depth == 0:
                return 0, False, True
        for token in _TOKEN.finditer(buffer, self._at):
            byte = buffer[token.start()]
            if byte == _QUOTE:
                if token.end() - token.start() == 1:
                    self._at = max(self._string_cut(), token.end())
                    return depth, True, False
                if depth == 0:
                    self._at = token.end()
                    return 0, False, True
            elif byte in (_OPEN, _OPEN_LIST):
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    self._at = token.end()
                    return 0, False, True
        self._at = len(buffer)
        return depth, False, False

    def _string_cut(self) -> int:
        """Give where a string may be left: not between a backslash and its sign."""
        rest = self._buffer.rstrip(b"\\")
        slashes = len(self._buffer) - len(rest)
        return len(self._buffer) - slashes % 2

    def _count_lines(self) -> int:
        """Give the line that the cursor stands in."""
        self._line += self._buffer.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _more(self) -> bool:
        """Drop what is behind, read a chunk; False at the end of the stream."""
        data = self._chunks.read()
        if not data:
            return False
        self._count_lines()
        self._counted = 0
        self._base += self._at
        self._buffer = self._buffer[self._at :] + data
        self._at = 0
        return True
