"""From an uploaded file to its records: containers, formats, readers. No database."""

import io
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from apps.runs.transcript import Record, Transcript, Unreadable

from .containers import Limits, Member, RefusedError, members
from .importers import (
    HEAD_BYTES,
    UnknownFormatError,
    claimed_groups,
    detect,
    folder_readers,
    reader_for,
)
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

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yield each record with the name of the member that holds it.

        Raises RefusedError or UnknownFormatError where the whole file cannot be read;
        the text is one sentence for the person who sent it. In an archive a member of
        an unknown format is one unreadable record, and the others are read.
        """
        raw = io.BufferedReader(self.counter, buffer_size=1 << 20)
        found = {member.name: member for member in members(raw, self.name, Limits())}
        if not found:
            raise RefusedError("The archive holds no file. Upload session exports.")
        claimed: set[str] = set()
        for reader_name, names in self._groups(found):
            claimed.update(names)
            self._note(reader_name)
            reader = folder_readers()[reader_name]
            files = {name: found[name].open for name in names}
            for record in _guarded(reader.read_folder(files)):
                yield names[0], record
        for name, member in found.items():
            if name not in claimed:
                yield from self._member(member, is_alone=len(found) == 1)

    def _groups(self, found: Mapping[str, Member]) -> list[tuple[str, list[str]]]:
        """Files that make sense only together, with the reader that says so."""
        if len(found) == 1 or self.format_name:
            return []
        groups, taken = [], set[str]()
        for reader_name, names in claimed_groups(list(found)):
            if taken & set(names):
                continue
            with found[names[0]].open() as stream:
                ranked = detect(stream.read(HEAD_BYTES))
            if ranked and ranked[0][0] == reader_name:
                groups.append((reader_name, names))
                taken.update(names)
        return groups

    def _note(self, reader_name: str) -> None:
        self.formats[reader_name] = self.formats.get(reader_name, 0) + 1

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
            self._note(name)
            for record in _guarded(reader.read(stream, member.name)):
                yield label, record


class LineRange:
    """Reads the lines of a file that begin in a stretch of its bytes."""

    def __init__(
        self, name: str, stream: BinaryIO, format_name: str, start: int, end: int
    ) -> None:
        """Take the stretch: the lines whose first byte is in start..end."""
        self.name = name
        self.counter = CountingStream(stream)
        self.format_name = format_name
        self.formats: dict[str, int] = {}
        self._start, self._end = start, end

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yield each record; places are byte offsets in the whole file."""
        stream = self.counter
        head = stream.read(HEAD_BYTES)
        reader_name, reader = reader_for(head, self.format_name)
        self.formats[reader_name] = 1
        first, last = _line_at(stream, self._start), _line_at(stream, self._end)
        if first >= last:
            return
        stream.seek(first)
        self.counter.furthest = 0
        part = io.BytesIO(stream.read(last - first) or b"")
        self.counter.furthest = last - first
        for record in _guarded(reader.read(part, self.name)):
            _shift(record, first)
            yield "", record


def _line_at(stream: CountingStream, place: int) -> int:
    """Offset of the first line that begins at a place or after it."""
    if place == 0:
        return 0
    stream.seek(place - 1)
    offset = place - 1
    while chunk := stream.read(1 << 16):
        found = chunk.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(chunk)
    return offset


def _shift(record: Record, by: int) -> None:
    """Give places in the whole file; the number of a line in it is not known."""
    gaps = record.unreadable if isinstance(record, Transcript) else []
    for item in (record, *gaps):
        item.line = None
        if item.offset is not None:
            item.offset += by


def _guarded(records: Iterator[Record]) -> Iterator[Record]:
    """Pass on a reader's records; what it cannot go past becomes an unreadable one."""
    while True:
        try:
            yield next(records)
        except StopIteration:
            return
        except (DocumentTooLargeError, RefusedError) as exc:
            yield Unreadable(str(exc))
            return
