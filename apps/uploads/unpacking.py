"""Tells containers by their bytes, unpacks streams, and counts what that costs."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import zstandard

CHUNK = 1 << 16
MAX_WINDOW = 1 << 27  # bytes of memory that a stream may ask for
_SLICE = 512  # of Zstandard: half a KB can hold sixteen MB
_MARKS = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
}

EMPTY_ZIP = b"PK\x05\x06"
_ZIP = b"PK\x03\x04"
_FOREIGN_MARKS = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!\x1a\x07": "RAR"}
FOREIGN = frozenset(_FOREIGN_MARKS.values())
HEAD = 600  # bytes that tell a container: tar's mark stands at 257

Read = Callable[[int], bytes]


class RefusedError(ValueError):
    """The upload is not read; the text is one sentence for the person who sent it."""


@dataclass(slots=True, frozen=True)
class Limits:
    """What an upload may cost; checked while it is unpacked."""

    max_members: int = 100_000
    max_total: int = 20 << 30  # bytes, unpacked, of all members together
    max_ratio: float = 400  # unpacked to packed, of a member and of the whole
    ratio_from: int = 64 << 20  # bytes; below this no ratio is a danger
    max_depth: int = 2  # archives, one in another; a .tar.gz is one
    in_memory: int = 8 << 20  # bytes of a member, before it goes to disk


@dataclass(slots=True)
class Spending:
    """What an upload has cost so far."""

    limits: Limits
    packed: int  # bytes of the upload itself
    total: int = field(default=0)

    def add(self, name: str, size: int) -> None:
        """Count bytes that were unpacked; raise RefusedError beyond a limit."""
        self.total += size
        self.expect(name, 0)
        self.check_ratio(name, self.total, self.packed)

    def expect(self, name: str, declared: int) -> None:
        """Refuse an archive that itself says that it holds too much."""
        if self.total + declared > self.limits.max_total:
            text = (
                f"“{name}” unpacks to more than {_size(self.limits.max_total)}."
                " Upload it in parts."
            )
            raise RefusedError(text)

    def check_ratio(self, name: str, size: int, packed: int) -> None:
        """Raise RefusedError where few bytes have become too many."""
        if size > self.limits.ratio_from and size > self.limits.max_ratio * packed:
            text = (
                f"“{name}” unpacks to more than {self.limits.max_ratio:g} times its"
                " size, as a bomb does, so it is refused."
            )
            raise RefusedError(text)


def _size(count: int) -> str:
    for unit, bits in (("GB", 30), ("MB", 20), ("KB", 10)):
        if count >= 1 << bits:
            return f"{count >> bits} {unit}"
    return f"{count} bytes"


def kind_of(head: bytes) -> str:
    """Name the container that begins so; "" for a plain file."""
    if head.startswith((_ZIP, EMPTY_ZIP)):
        return "zip"
    for mark, foreign in _FOREIGN_MARKS.items():
        if head.startswith(mark):
            return foreign
    if head[257:262] == b"ustar" or _is_old_tar(head):
        return "tar"
    return _compression(head)


def _is_old_tar(head: bytes) -> bool:
    """Whether it is a tar without its mark: the head's sum has to be right."""
    if len(head) < 512 or not head[0] or b"\0" not in head[:100]:
        return False
    try:
        told = int(head[148:156].strip(b"\0 ") or b"x", 8)
    except ValueError:
        return False
    return told == sum(head[:148]) + 8 * 0x20 + sum(head[156:512])


def _compression(head: bytes) -> str:
    """Name the compression that begins so; "" if there is none."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    skippable = head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F
    return "Zstandard" if skippable else ""


def without_suffix(name: str) -> str:
    """Take the suffix of a compression off a file's name."""
    lowered = name.lower()
    for suffix in (".gz", ".zst", ".xz", ".bz2"):
        if lowered.endswith(suffix):
            return name[: -len(suffix)]
    for short in (".tgz", ".tzst", ".txz", ".tbz2"):
        if lowered.endswith(short):
            return f"{name[: -len(short)]}.tar"
    return name


def chunks(
    stream: BinaryIO, kind: str, name: str, spending: Spending
) -> Iterator[bytes]:
    """Yield what a compressed stream holds.

    Raises RefusedError where it is damaged or cut, or unpacks to too many times its
    size.
    """
    stream.seek(0)
    packed = size = 0

    def read(wanted: int) -> bytes:
        nonlocal packed
        data = stream.read(wanted)
        packed += len(data)
        return data

    try:
        for chunk in _UNPACKERS[kind](read):
            size += len(chunk)
            spending.check_ratio(name, size, packed)
            yield chunk
    except EOFError as exc:
        text = f"“{name}” ends too early: the {kind} file was cut. Upload it whole."
        raise RefusedError(text) from exc
    except (zlib.error, zstandard.ZstdError, lzma.LZMAError, OSError) as exc:
        if isinstance(exc, OSError) and exc.errno is not None:
            raise  # the disk's fault, not the file's
        raise RefusedError(f"“{name}” is damaged {kind}: {exc}.") from exc


def _gzip(read: Read) -> Iterator[bytes]:
    """Unpack the parts of a gzip file, which may be several."""
    data = read(CHUNK)
    while data.startswith(b"\x1f"):  # what else follows a part is no part
        unpacker = zlib.decompressobj(31)
        while not unpacker.eof:
            data = data or read(CHUNK)
            if not data:
                raise EOFError
            yield unpacker.decompress(data, CHUNK)
            data = unpacker.unconsumed_tail
        data = unpacker.unused_data or read(CHUNK)


def _xz(read: Read) -> Iterator[bytes]:
    yield from _by_object(read, lambda: lzma.LZMADecompressor(memlimit=MAX_WINDOW))


def _bzip2(read: Read) -> Iterator[bytes]:
    yield from _by_object(read, bz2.BZ2Decompressor)


def _by_object(
    read: Read, make: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor]
) -> Iterator[bytes]:
    """Unpack with objects that keep what they were given and have not yet used."""
    data = read(CHUNK)
    while data:
        unpacker = make()
        yield unpacker.decompress(data, CHUNK)
        while not unpacker.eof:
            data = read(CHUNK) if unpacker.needs_input else b""
            if not data and unpacker.needs_input:
                raise EOFError
            yield unpacker.decompress(data, CHUNK)
        data = (unpacker.unused_data or read(CHUNK)).lstrip(b"\0")


def zstd(read: Read) -> Iterator[bytes]:
    """Unpack frames one after another; raise EOFError if the last one is cut."""
    data = read(CHUNK)
    while data:
        unpacker = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        frame = unpacker.decompressobj()
        while not frame.eof:
            data = data or read(CHUNK)
            if not data:
                raise EOFError
            yield frame.decompress(data[:_SLICE])
            data = data[_SLICE:]
        data = frame.unused_data + data or read(CHUNK)


_UNPACKERS: dict[str, Callable[[Read], Iterator[bytes]]] = {
    "gzip": _gzip,
    "Zstandard": zstd,
    "xz": _xz,
    "bzip2": _bzip2,
}
