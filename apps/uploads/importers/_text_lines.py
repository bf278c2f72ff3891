"""Cuts a text stream into lines, with the place where each begins."""

from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO, NamedTuple

from . import records
from .records import utf8


class Line(NamedTuple):
    """One line without its end."""

    text: str
    number: int  # from 1
    offset: int  # in bytes


def text_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield every line, also blank ones; ends may be LF or CRLF.

    Raises DocumentTooLargeError where one line is larger than a worker may hold.
    """
    chunks = utf8(stream)
    pieces: list[bytes] = []  # of the line that has not ended yet
    size, number, offset = 0, 0, 0
    while data := chunks.read():
        *whole, rest = data.split(b"\n")
        for raw in whole:
            line = b"".join((*pieces, raw))
            pieces, size, number = [], 0, number + 1
            yield Line(_decoded(line), number, offset)
            offset += len(line) + 1
        pieces.append(rest)
        size += len(rest)
        if size > records.MAX_DOCUMENT_BYTES:
            raise records.DocumentTooLargeError(records.too_large(number + 1))
    if size:
        yield Line(_decoded(b"".join(pieces)), number + 1, offset)


def text_of(head: bytes) -> str:
    """Decode the beginning of a text file, in UTF-8 or marked UTF-16."""
    return utf8(BytesIO(head)).read().decode("utf-8", "replace")


def _decoded(raw: bytes) -> str:
    return raw.removesuffix(b"\r").decode("utf-8", "replace")
