"""Opens members of zip archives, also those that Python's own reader cannot.

Python's `zipfile` up to 3.13 refuses Zstandard members (method 93), which newer logs
are made of, and every archive whose end is missing. Here the directory is read by
`zipfile` where it stands, else the members are found one after another; their bytes are
unpacked as a stream, so that no member can fill the memory.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

from .unpacking import zstd

CHUNK = 1 << 16
STORED, DEFLATED, ZSTANDARD = 0, 8, 93
_LOCAL = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_MARK = b"PK\x03\x04"
_DATA_MARK = b"PK\x07\x08"
_ENCRYPTED, _SIZE_FOLLOWS = 0x1, 0x8
_IN_ZIP64 = 0xFFFFFFFF
_DIRECTORY_ENTRY = 46  # bytes, at least


class BadZipError(ValueError):
    """The archive or a member of it cannot be read; the text says why."""


@dataclass(slots=True, frozen=True)
class Entry:
    """A member as the archive's directory, or its own head, has it."""

    name: str
    offset: int  # of its local head
    packed_size: int | None  # None: only its end will tell
    size: int | None  # as declared, which may be wrong
    method: int
    is_encrypted: bool = False
    is_link: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder, which holds no bytes."""
        return self.name.endswith("/")


def entries(stream: BinaryIO, limit: int = 1 << 20) -> tuple[list[Entry], bool]:
    """List the members and whether the directory is whole.

    Raises BadZipError for more than `limit` members, or if there is not one.
    """
    if _directory_size(stream) // _DIRECTORY_ENTRY > limit:
        raise BadZipError(f"The archive has more than {limit} members.")
    stream.seek(0)
    try:
        with zipfile.ZipFile(stream) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        found = list(_scan(stream, limit))
        if not found:
            raise BadZipError("The archive has no readable member.") from None
        return found, False
    return [_entry(info) for info in infos], True


def _directory_size(stream: BinaryIO) -> int:
    """Give the size of the directory before it is read; 0 if there is none."""
    end = stream.seek(0, 2)
    begin = max(0, end - (1 << 16) - 64)
    stream.seek(begin)
    tail = stream.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + 16 > len(tail):
        return 0
    (size,) = struct.unpack_from("<I", tail, at + 12)
    wide = tail.rfind(b"PK\x06\x06", 0, at)
    if size == _IN_ZIP64 and wide >= 0 and wide + 48 <= len(tail):
        (size,) = struct.unpack_from("<Q", tail, wide + 40)
    return int(size)


def _entry(info: zipfile.ZipInfo) -> Entry:
    mode = info.external_attr >> 16
    return Entry(
        name=info.filename,
        offset=info.header_offset,
        packed_size=info.compress_size,
        size=info.file_size,
        method=info.compress_type,
        is_encrypted=bool(info.flag_bits & _ENCRYPTED),
        is_link=mode & 0o170000 == 0o120000,
    )


def _scan(stream: BinaryIO, limit: int) -> Iterator[Entry]:
    """Find members by their local heads, of an archive whose directory is lost."""
    offset = 0
    for _ in range(limit):
        entry, begin = _local(stream, offset)
        if entry is None:
            return
        yield entry
        if entry.packed_size is not None:
            offset = begin + entry.packed_size
            continue
        try:
            for _chunk in unpack(stream, entry):
                pass
        except BadZipError:
            return
        offset = _after_data(stream, stream.tell())


def _local(stream: BinaryIO, offset: int) -> tuple[Entry | None, int]:
    """Read the local head at an offset; give it and where its data begins."""
    stream.seek(max(0, offset))
    raw = stream.read(_LOCAL.size)
    if offset < 0 or len(raw) < _LOCAL.size or raw[:4] != _LOCAL_MARK:
        return None, offset
    _, _, flags, method, _, _, _, packed, size, name_size, extra_size = _LOCAL.unpack(
        raw
    )
    name = stream.read(name_size)
    extra = stream.read(extra_size)
    if size == _IN_ZIP64 or packed == _IN_ZIP64:
        size, packed = _zip64(extra, size, packed)
    is_open = bool(flags & _SIZE_FOLLOWS) and not packed
    entry = Entry(
        name=name.decode("utf-8" if flags & 0x800 else "cp437", "replace"),
        offset=offset,
        packed_size=None if is_open else packed,
        size=None if is_open else size,
        method=method,
        is_encrypted=bool(flags & _ENCRYPTED),
    )
    return entry, offset + _LOCAL.size + name_size + extra_size


def _zip64(extra: bytes, size: int, packed: int) -> tuple[int, int]:
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == 1 and length >= 16 and position + 20 <= len(extra):
            size, packed = struct.unpack_from("<QQ", extra, position + 4)
        position += 4 + length
    return size, packed


def _after_data(stream: BinaryIO, end: int) -> int:
    """Where the next head begins after the record of sizes that follows some data."""
    stream.seek(end)
    tail = stream.read(24 + 4)
    for length in (12, 16, 20, 24):
        if tail[length : length + 4] in (_LOCAL_MARK, b"PK\x01\x02"):
            return end + length
    return end + (16 if tail.startswith(_DATA_MARK) else 12)


def unpack(stream: BinaryIO, entry: Entry) -> Iterator[bytes]:
    """Yield a member's bytes, unpacked, chunk by chunk.

    Leaves the stream behind the packed bytes. Raises BadZipError if it is encrypted, if
    its method is unknown, or if the bytes are damaged or end too early.
    """
    if entry.is_encrypted:
        raise BadZipError(f"“{entry.name}” is encrypted. Upload it without a password.")
    head, begin = _local(stream, entry.offset)
    if head is None:
        raise BadZipError(f"“{entry.name}” is not where the archive says.")
    stream.seek(begin)
    part = _Part(stream, entry.packed_size)
    try:
        if entry.method == STORED and entry.packed_size is not None:
            yield from iter(lambda: part.read(CHUNK), b"")
        elif entry.method == DEFLATED:
            yield from _inflate(part)
        elif entry.method == ZSTANDARD and entry.packed_size is not None:
            yield from zstd(part.read)
        else:
            text = f"“{entry.name}” is packed by method {entry.method}. Use Deflate."
            raise BadZipError(text)
    except EOFError:
        part.is_short = True
    except (zlib.error, zstandard.ZstdError) as exc:
        raise BadZipError(f"“{entry.name}” is damaged: {exc}.") from exc
    if part.is_short:
        raise BadZipError(f"“{entry.name}” ends too early.")


class _Part:
    """The packed bytes of one member, as a stream of their own."""

    def __init__(self, stream: BinaryIO, size: int | None) -> None:
        self._stream = stream
        self._left = size if size is not None else 1 << 62
        self._is_open = size is None
        self.is_short = False  # the archive ended inside the member

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._stream.read(wanted)
        self._left -= len(data)
        if len(data) < wanted and not self._is_open:
            self.is_short = True
        return data

    def give_back(self, size: int) -> None:
        """Stand before the last `size` bytes again."""
        self._stream.seek(-size, 1)


def _inflate(part: _Part) -> Iterator[bytes]:
    unpacker = zlib.decompressobj(-15)
    while not unpacker.eof:
        data = part.read(CHUNK)
        if not data:
            part.is_short = True
            return
        while data and not unpacker.eof:
            yield unpacker.decompress(data, CHUNK)
            data = unpacker.unconsumed_tail
    part.give_back(len(unpacker.unused_data))
