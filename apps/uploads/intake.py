"""From an uploaded file to its records: containers, formats, readers. No database."""

import io
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from .containers import Limits, Member, RefusedError, members
from .importers import HEAD_BYTES, Reader, UnknownFormatError, reader_for
from .importers.records import DocumentTooLargeError


class CountingStream(io.RawIOBase):
    """Counts the bytes read of a file, for its progress; seeks like the file itself."""

    def __init__(self, stream: BinaryIO) -> None:
        """Wrap a file opened for reading."""
        self._stream = stream
        self.furthest = 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: "memoryview[int] | bytearray") -> int:  # type: ignore[override]
        """Read into a buffer."""
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        self.furthest = max(self.furthest, self._stream.tell())
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Tell the place."""
        return self._stream.tell()


class Intake:
    """Reads an uploaded file; after it, `formats` says what was found in it."""

    def __init__(self, name: str, stream: BinaryIO, format_name: str = "") -> None:
        """Take the file's name, the file, and a format chosen by hand (or "")."""
        self.name = name
        self.counter = CountingStream(stream)
        self.format_name = format_name
        self.formats: dict[str, int] = {}
        self._members = 0

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yield each record with the name of the member that holds it.

        Raises RefusedError or UnknownFormatError where the whole file cannot be read;
        the text is one sentence for the person who sent it. In an archive a member of
        an unknown format is one unreadable record, and the others are read.
        """
        raw = io.BufferedReader(self.counter, buffer_size=1 << 20)
        found = list(self._peeked(members(raw, self.name, Limits())))
        for member, is_alone in found:
            yield from self._member(member, is_alone)

    def _peeked(self, found: Iterator[Member]) -> Iterator[tuple[Member, bool]]:
        first = next(found, None)
        if first is None:
            raise RefusedError("The archive holds no file. Upload session exports.")
        second = next(found, None)
        yield first, second is None
        if second is not None:
            yield second, False
        for member in found:
            yield member, False

    def _member(self, member: Member, is_alone: bool) -> Iterator[tuple[str, Record]]:
        label = "" if is_alone else member.name
        with member.open() as stream:
            head = stream.read(HEAD_BYTES)
            stream.seek(0)
            try:
                name, reader = reader_for(head, self.format_name)
            except UnknownFormatError as exc:
                if is_alone:
                    raise
                preview = head[:500].decode("utf-8", "replace")
                yield label, Unreadable(str(exc), preview=preview)
                return
            self.formats[name] = self.formats.get(name, 0) + 1
            for record in _guarded(reader, stream, member.name):
                yield label, record


def _guarded(reader: Reader, stream: BinaryIO, name: str) -> Iterator[Record]:
    """Pass on a reader's records; what it cannot go past becomes an unreadable record."""
    records = reader.read(stream, name)
    while True:
        try:
            yield next(records)
        except StopIteration:
            return
        except (DocumentTooLargeError, RefusedError) as exc:
            yield Unreadable(str(exc))
            return
