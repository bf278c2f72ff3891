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

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{}]', re.DOTALL)
_SPACE = b" \t\r\n"
_BETWEEN = b" \t\r\n,"


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
    ends where it ends. Bare numbers and words between values are passed over.
    """
    base, line = 0, 1  # stream offset and line of buffer[0]
    position = buffer.index(b"[") + 1 if inside_array else 0
    depth, start = 0, -1
    while True:
        stop = len(buffer)
        for token in _TOKEN.finditer(buffer, position):
            byte = buffer[token.start()]
            if byte == 0x22:  # a quote
                if token.end() - token.start() == 1:
                    stop = token.start()  # the string goes on in the next chunk
                    break
                continue
            if byte in b"{[":
                if depth == 0:
                    start = token.start()
                depth += 1
            elif depth > 0:
                depth -= 1
                if depth == 0:
                    at = line + buffer.count(b"\n", 0, start)
                    yield Document(buffer[start : token.end()], at, base + start)
                    start = -1
        keep = start if start >= 0 else stop
        base += keep
        line += buffer.count(b"\n", 0, keep)
        position = stop - keep
        start = 0 if start >= 0 else -1
        if len(buffer) - keep > MAX_DOCUMENT_BYTES:
            raise DocumentTooLargeError(too_large(line))
        data = chunks.read()
        if not data:
            rest = buffer[keep:]
            if rest.strip(_BETWEEN + b"]") and start == 0:
                yield Document(rest, line, base, is_complete=False)
            return
        buffer = buffer[keep:] + data
