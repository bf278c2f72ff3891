"""Finds the runs in JSON documents; what is none, or broken, comes out as `Unreadable`.

Of a broken run the sound beginning is kept. A fault in the middle of one array can
hide where its item ends, and a lost beginning leaves only pieces: then runs are looked
for at each later object, so that one flipped byte does not cost the rest. Pieces in a
row are one unreadable stretch.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from apps.runs.transcript import Unreadable

from ._documents import unreadable
from ._salvage import salvage
from .records import Document, documents
from .values import Json, decode, decode_all

MAX_SALVAGED_BYTES = 64 << 20
MAX_TRIES = 12  # how often each character may be read in the search for a run
_OBJECT = re.compile(r'(?<=[,\[:\n])\s*(\{\s*")')

IsRun = Callable[[dict[str, Json]], bool]


@dataclass(slots=True, frozen=True)
class Found:
    """An object that the reader took for a run, and where it stood."""

    value: dict[str, Json]
    document: Document
    faults: list[Unreadable] = field(default_factory=list)  # it is read around these


def runs(stream: BinaryIO, is_run: IsRun, wanted: str) -> Iterator[Found | Unreadable]:
    """Yield the runs of a stream's documents; `wanted` names what was sought."""
    sieve = Sieve(is_run, wanted)
    for document in documents(stream):
        yield from sieve.take(document)
    yield from sieve.finish()


def sift(
    document: Document, is_run: IsRun, wanted: str
) -> Iterator[Found | Unreadable]:
    """Yield the runs of one document, which may be several objects or a broken one."""
    sieve = Sieve(is_run, wanted)
    yield from sieve.take(document)
    yield from sieve.finish()


class Sieve:
    """Takes documents one after another and gives the runs in them."""

    def __init__(self, is_run: IsRun, wanted: str) -> None:
        """Begin; `wanted` names what is sought, for who reads what was set aside."""
        self._is_run = is_run
        self._wanted = wanted
        self._pieces: list[Document] = []
        self._size = 0
        self._reason = ""

    def take(self, document: Document) -> Iterator[Found | Unreadable]:
        """Yield the runs of one document, and what came before it and is settled."""
        try:
            values = decode_all(document.raw)
        except ValueError as exc:
            yield from self._broken(document, str(exc))
            return
        if not any(isinstance(value, dict) for value in values):
            yield from self._piece(document, self._not_wanted())
            return
        yield from self.finish()
        for value in values:
            if isinstance(value, dict) and self._is_run(value):
                yield Found(value, document)
            else:
                yield unreadable(document, self._not_wanted())

    def finish(self) -> Iterator[Found | Unreadable]:
        """Yield what waited for its end: the pieces in a row, and runs among them."""
        if not self._pieces:
            return
        first, last = self._pieces[0], self._pieces[-1]
        raw = b"\n".join(piece.raw for piece in self._pieces)
        stretch = Document(raw, first.line, first.offset, last.is_complete)
        self._pieces, self._size = [], 0
        yield unreadable(stretch, self._reason)
        yield from self._after_fault(stretch)

    def _not_wanted(self) -> str:
        return f"{self._wanted} was expected here"

    def _broken(self, document: Document, reason: str) -> Iterator[Found | Unreadable]:
        stripped = document.raw.strip()
        part = salvage(document.raw) if stripped.startswith(b"{") else None
        if isinstance(part, dict) and self._is_run(part):
            yield from self.finish()
            yield Found(part, document, [unreadable(document, reason)])
            yield from self._after_fault(document)
        elif stripped.startswith(b"{") and stripped.endswith(b"}"):
            yield from self.finish()
            yield unreadable(document, reason)
            yield from self._after_fault(document)
        else:
            yield from self._piece(document, reason)

    def _piece(self, document: Document, reason: str) -> Iterator[Found | Unreadable]:
        if self._size + len(document.raw) > MAX_SALVAGED_BYTES:
            yield from self.finish()
        if not self._pieces:
            self._reason = reason
        self._pieces.append(document)
        self._size += len(document.raw)

    def _after_fault(self, document: Document) -> Iterator[Found]:
        """Yield the whole runs that stand behind a fault inside the document."""
        if len(document.raw) > MAX_SALVAGED_BYTES:
            return
        text = document.raw.decode("utf-8", "surrogateescape")
        decoder = json.JSONDecoder()
        position, behind = 1, 0
        offset, line = document.offset, document.line  # of text[behind]
        patience = len(text) * MAX_TRIES + (1 << 20)  # characters read in vain
        while patience > 0 and (match := _OBJECT.search(text, position)):
            start = match.start(1)
            position = start + 1
            try:
                value, end = decoder.raw_decode(text, start)
                if not self._is_run(value):
                    patience -= end - start
                    continue
                raw = text[start:end].encode("utf-8", "surrogateescape")
                clean = decode(raw)
            except json.JSONDecodeError as exc:
                patience -= exc.pos - start
                continue
            except (ValueError, RecursionError):
                patience -= 1 << 14
                continue
            skipped = text[behind:start]
            offset += len(skipped.encode("utf-8", "surrogateescape"))
            line += skipped.count("\n")
            position, behind = end, start
            yield Found(clean, Document(raw, line, offset))


def joined(faults: list[Unreadable]) -> list[Unreadable]:
    """Make one stretch of faults on lines in a row."""
    found: list[Unreadable] = []
    last = -1
    for fault in faults:
        line = fault.line or 0
        if not found or line - last not in (0, 1):
            found.append(fault)
        last = line
    return found
