"""Cuts a byte stream into JSON documents, in whatever way they follow one another.

Lines, pretty-printed objects without a separator, two objects on one line, and one
array of any length all come out as the same thing: a `Document` each, streamed.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

CHUNK = 1 << 20
MAX_DOCUMENT_BYTES = 512 << 20  # a single run larger than this is set aside

QUOTE, COLON, COMMA = b'":,'
OPEN, CLOSE, OPEN_LIST, CLOSE_LIST = b"{}[]"
END = -1

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)
_STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SPACE = re.compile(rb"[ \t\r\n]*+")
_SCALAR = re.compile(rb'[^ \t\r\n,:"\[\]{}]++')


@dataclass(slots=True, frozen=True)
class Document:
    """The bytes of one JSON value and where it began (line from 1, offset from 0)."""

    raw: bytes
    line: int
    offset: int
    is_complete: bool = True  # False: the file ended inside it


class DocumentTooLargeError(ValueError):
    """One document is larger than what a worker may hold; the text says what to do."""


def utf8(stream: BinaryIO) -> "Chunks":
    """Wrap a stream so that it gives UTF-8 without a byte order mark."""
    return Chunks(stream)


class Chunks:
    """Reads a stream in chunks of UTF-8; UTF-16 (by its mark) is converted."""

    def __init__(self, stream: BinaryIO) -> None:
        """Take a binary stream that stands at its beginning."""
        self._stream = stream
        self._decoder: codecs.IncrementalDecoder | None = None
        self._first = True

    def read(self) -> bytes:
        """Give the next chunk; b"" at the end."""
        data = self._stream.read(CHUNK)
        if self._first:
            self._first = False
            if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
            elif data.startswith(codecs.BOM_UTF8):
                data = data[3:]
        if self._decoder is None:
            return data
        text = self._decoder.decode(data, final=not data)
        while not text and data:
            data = self._stream.read(CHUNK)
            text = self._decoder.decode(data, final=not data)
        return text.encode("utf-8", "replace")


def documents(stream: BinaryIO) -> Iterator[Document]:
    """Yield each JSON document of the stream; of a top-level array, each item.

    A line that is not JSON comes out as it is: the reader sets it aside. Raises
    DocumentTooLargeError where one document exceeds MAX_DOCUMENT_BYTES.
    """
    chunks = utf8(stream)
    head = b""
    while len(head.strip()) < 2:
        data = chunks.read()
        if not data:
            break
        head += data
    start = head.lstrip()
    if start[:1] == b"[" and not _is_line_of_list(head):
        yield from _split(chunks, head, inside_array=True)
    elif start[:1] == b"{" and _starts_pretty(start):
        yield from _split(chunks, head, inside_array=False)
    else:
        yield from lines(chunks, head)


def _starts_pretty(start: bytes) -> bool:
    """Whether the first object goes on past its first line."""
    first, newline, _ = start.partition(b"\n")
    if not newline:
        return False
    return not first.rstrip().endswith(b"}") and _depth(first) > 0


def _is_line_of_list(head: bytes) -> bool:
    """Whether lines are lists each (`["method", {…}]`), not one array of objects."""
    first, newline, rest = head.lstrip().partition(b"\n")
    if not newline or not first.rstrip().endswith(b"]"):
        return False
    return rest.lstrip()[:1] in (b"[", b"{") and _depth(first) == 0


def _depth(line: bytes) -> int:
    """How many brackets the line leaves open."""
    depth = 0
    for token in _TOKEN.finditer(line):
        byte = token.group()
        if byte in (b"{", b"["):
            depth += 1
        elif byte in (b"}", b"]"):
            depth -= 1
    return depth


def lines(chunks: Chunks, head: bytes = b"") -> Iterator[Document]:
    """Yield each non-blank line as a document."""
    number, offset, rest = 0, 0, [head] if head else []
    size = len(head)
    data = head
    while True:
        if b"\n" in data:
            block = b"".join(rest)
            whole, _, tail = block.rpartition(b"\n")
            for line in whole.split(b"\n"):
                number += 1
                if line.strip():
                    yield Document(line, number, offset)
                offset += len(line) + 1
            rest, size = [tail], len(tail)
        if size > MAX_DOCUMENT_BYTES:
            raise DocumentTooLargeError(too_large(number + 1))
        data = chunks.read()
        if not data:
            break
        rest.append(data)
        size += len(data)
    line = b"".join(rest)
    if line.strip():
        yield Document(line, number + 1, offset)


def too_large(line: int) -> str:
    """Say that the record at this line is larger than a worker may hold."""
    megabytes = MAX_DOCUMENT_BYTES >> 20
    return (
        f"The record at line {line} is larger than {megabytes} MB."
        " Export each run as a record of its own."
    )


def _split(chunks: Chunks, buffer: bytes, *, inside_array: bool) -> Iterator[Document]:
    """Yield top-level values, or the items of one top-level array, by their brackets.

    Only brackets and strings are looked at, so that a value with a fault inside still
    ends where it ends. What else stands between values is passed over.
    """
    cursor = Cursor(chunks, buffer)
    if inside_array:
        cursor.peek()
        cursor.take()
    while (byte := cursor.peek()) != END:
        is_value = byte in (OPEN, OPEN_LIST)
        document = cursor.value(keep=is_value)
        if is_value:
            yield document


class Cursor:
    """Stands at a byte of the stream; reads a chunk at a time, each byte once."""

    def __init__(self, chunks: Chunks, head: bytes = b"") -> None:
        """Stand at the beginning of `head`, which was read already."""
        self._chunks = chunks
        self._buffer = head
        self._at = 0
        self._base = 0  # offset of _buffer[0] in the stream
        self._line = 1  # line of _buffer[_counted]
        self._counted = 0

    def peek(self) -> int:
        """Give the next byte that is no white space; END at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                return END

    def take(self) -> None:
        """Go past one byte."""
        self._at = min(self._at + 1, len(self._buffer))

    def value(self, *, keep: bool) -> Document:
        """Go past one value (or one byte that begins none) and give its bytes."""
        first = self.peek()
        line = self._count_lines()
        offset = self._base + self._at
        parts: list[bytes] = []
        if first in (QUOTE, OPEN, OPEN_LIST):
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
                if size > MAX_DOCUMENT_BYTES:
                    raise DocumentTooLargeError(too_large(line))
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
            if byte == QUOTE:
                if token.end() - token.start() == 1:
                    self._at = max(self._string_cut(), token.end())
                    return depth, True, False
                if depth == 0:
                    self._at = token.end()
                    return 0, False, True
            elif byte in (OPEN, OPEN_LIST):
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
