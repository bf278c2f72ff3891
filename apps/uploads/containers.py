"""Opens what was uploaded: a file, compressed or not, an archive, or a folder.

What it is is told by its content, never by its name. Members come one after another
and are opened when wanted. Limits hold while the bytes are unpacked, so that a bomb is
refused before it has filled the disk; a path that leads out of the archive is refused
by name. An Inspect `.eval` is a zip by its bytes and a log by its members: one member.
"""

import io
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from . import zips
from .unpacking import (
    EMPTY_ZIP,
    FOREIGN,
    HEAD,
    Limits,
    RefusedError,
    Spending,
    chunks,
    kind_of,
    without_suffix,
)

__all__ = ["Limits", "Member", "Members", "RefusedError", "members"]

_NOISE = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


@dataclass(slots=True, frozen=True)
class Member:
    """One file of an upload."""

    name: str  # its path inside the upload, with `/`
    size: int | None  # bytes, unpacked, as declared; None: only opening it will tell
    open: Callable[[], BinaryIO]
    # gives a seekable stream of its own position; may be called again


class Members(Iterator[Member]):
    """The files of an upload, one after another; after the last, `skipped` is final."""

    def __init__(self, found: "_Walk") -> None:
        """Take the walk through the upload."""
        self._walk = found
        self._found = found.members()

    @property
    def skipped(self) -> int:
        """Give how many files were passed over: system noise, links of a folder."""
        return self._walk.skipped

    def __next__(self) -> Member:
        """Give the next file; raise RefusedError with one sentence for its sender."""
        return next(self._found)


def members(
    source: Path | str | BinaryIO, name: str = "", limits: Limits | None = None
) -> Members:
    """Give each file in what was uploaded: a path, or a seekable stream with its name.

    The stream must stay open as long as members are read, one at a time. Raises
    RefusedError, also later, while members are opened.
    """
    return Members(_Walk(source, name, limits or Limits()))


class _Walk:
    """Goes through an upload, and through the archives in it."""

    def __init__(
        self, source: Path | str | BinaryIO, name: str, limits: Limits
    ) -> None:
        self._source = source
        self._name = name
        self._limits = limits
        self._count = 0
        self.skipped = 0

    def members(self) -> Iterator[Member]:
        if not isinstance(self._source, (str, Path)):
            yield from self._opened(self._source, self._name)
            return
        path = Path(self._source)
        if path.is_dir():
            yield from self._folder(path)
        else:
            yield from self._opened(path.open("rb"), self._name or path.name)

    def _folder(self, root: Path) -> Iterator[Member]:
        for path in sorted(root.rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                self.skipped += 1
            elif path.is_file() and not self._is_noise(name):
                with path.open("rb") as stream:
                    kind = kind_of(stream.read(HEAD))
                if kind:
                    yield from self._opened(path.open("rb"), name, inside="")
                else:
                    yield self._counted(_on_disk(path, name))

    def _opened(
        self, stream: BinaryIO, name: str, inside: str | None = None
    ) -> Iterator[Member]:
        """Yield the files of a stream; those of an archive go by `inside` and name."""
        spending = Spending(self._limits, stream.seek(0, io.SEEK_END))
        yield from self._unwrapped(stream, name, inside, spending, 0)

    def _unwrapped(
        self,
        stream: BinaryIO,
        name: str,
        prefix: str | None,
        spending: Spending,
        depth: int,
    ) -> Iterator[Member]:
        """Yield the files of a stream at a depth of archives.

        `prefix` is None for the upload itself, whose own name its members do not carry.
        """
        size = stream.seek(0, io.SEEK_END)
        stream.seek(0)
        kind = kind_of(stream.read(HEAD))
        if not kind:
            yield self._counted(Member(name, size, lambda: _slice(stream, 0, size)))
            return
        if kind in FOREIGN:
            text = f"“{name}” is a {kind} archive, which is not read. Pack it as .zip."
            raise RefusedError(text)
        if kind == "zip":
            entries, is_whole = _entries(stream, name)
            if _is_session(entries):
                yield self._counted(Member(name, size, lambda: _slice(stream, 0, size)))
                return
            if not is_whole:
                raise RefusedError(f"“{name}” was cut: its list of files is missing.")
        depth += 1
        if depth > self._limits.max_depth:
            text = (
                f"“{name}” lies in more than {self._limits.max_depth} archives, one in"
                " another. Unpack the outer ones."
            )
            raise RefusedError(text)
        if kind == "zip":
            yield from self._zip(stream, entries, name, prefix, spending, depth)
        elif kind == "tar":
            yield from self._tar(stream, name, prefix, spending, depth)
        else:
            plain = without_suffix(name)
            packed = _Packed(
                lambda: chunks(stream, kind, name, spending), name, spending
            )
            inner_kind = packed.kind()
            if inner_kind:
                inner = packed.open()
                yield from self._unwrapped(
                    inner, plain, prefix, spending, depth - (inner_kind == "tar")
                )
            else:
                yield self._counted(Member(plain, None, packed.open))

    def _zip(
        self,
        stream: BinaryIO,
        entries: list[zips.Entry],
        name: str,
        prefix: str | None,
        spending: Spending,
        depth: int,
    ) -> Iterator[Member]:
        folder = _folder_of(name, prefix)
        declared = sum(entry.size or 0 for entry in entries)
        spending.expect(name, declared)
        for entry in entries:
            path = folder + _safe(entry.name, name, is_link=entry.is_link)
            if entry.is_folder or self._is_noise(entry.name):
                continue
            packed = _Packed(_unzipped(stream, entry, path, spending), path, spending)
            if packed.kind():
                yield from self._unwrapped(packed.open(), path, path, spending, depth)
            else:
                yield self._counted(Member(path, entry.size, packed.open))

    def _tar(
        self,
        stream: BinaryIO,
        name: str,
        prefix: str | None,
        spending: Spending,
        depth: int,
    ) -> Iterator[Member]:
        folder = _folder_of(name, prefix)
        for info in _tar_entries(stream, name):
            is_odd = not (info.isreg() or info.isdir())
            path = folder + _safe(info.name, name, is_link=is_odd)
            if info.isdir() or self._is_noise(info.name):
                continue
            begin, size = info.offset_data, info.size
            part = _slice(stream, begin, size)
            if kind_of(part.read(HEAD)):
                yield from self._unwrapped(part, path, path, spending, depth)
            else:
                yield self._counted(Member(path, size, _opener(stream, begin, size)))

    def _counted(self, member: Member) -> Member:
        self._count += 1
        if self._count > self._limits.max_members:
            text = (
                f"There are more than {self._limits.max_members} files in it."
                " Upload them in parts."
            )
            raise RefusedError(text)
        return member

    def _is_noise(self, name: str) -> bool:
        """Whether it is a file that a desktop adds by itself; counts those."""
        parts = name.replace("\\", "/").split("/")
        is_it = (
            "__MACOSX" in parts or parts[-1] in _NOISE or parts[-1].startswith("._")
        ) and bool(parts[-1])
        self.skipped += is_it
        return is_it


def _entries(stream: BinaryIO, name: str) -> tuple[list[zips.Entry], bool]:
    stream.seek(0)
    if stream.read(4) == EMPTY_ZIP:
        return [], True
    try:
        return zips.entries(stream)
    except zips.BadZipError as exc:
        raise RefusedError(f"“{name}” cannot be read: {exc}") from exc


def _is_session(entries: list[zips.Entry]) -> bool:
    """Whether the zip is an Inspect log, which its own reader opens."""
    names = {entry.name for entry in entries}
    own = "header.json" in names or "_journal/start.json" in names
    samples = any(n.startswith(("samples/", "_journal/")) for n in names)
    return own and (samples or len(names) == 1)


def _tar_entries(stream: BinaryIO, name: str) -> Iterator[tarfile.TarInfo]:
    stream.seek(0)
    try:
        with tarfile.open(fileobj=stream, mode="r:", errorlevel=1) as archive:
            end = stream.seek(0, io.SEEK_END)
            stream.seek(0)
            for info in archive:
                if info.isreg() and info.offset_data + info.size > end:
                    raise RefusedError(f"“{name}” was cut inside “{info.name}”.")
                yield info
            stream.seek(archive.offset)
            if stream.read(tarfile.BLOCKSIZE).strip(b"\0"):
                raise RefusedError(f"“{name}” is damaged, or was cut inside a member.")
    except (
        tarfile.TarError,
        ValueError,
        OverflowError,
        EOFError,
        RecursionError,
    ) as exc:
        if isinstance(exc, RefusedError):
            raise
        raise RefusedError(f"“{name}” cannot be read as a tar: {exc}.") from exc


def _safe(path: str, archive: str, *, is_link: bool) -> str:
    """Give a member's path with `/`; refuse one that could lead out of the archive."""
    plain = path.replace("\\", "/")
    is_absolute = plain.startswith("/") or plain[1:2] == ":"
    if is_link or is_absolute or ".." in plain.split("/"):
        why = "is a link or a device" if is_link else "leads out of it"
        text = f"“{path[:200]}” in “{archive}” {why}, so the archive is refused."
        raise RefusedError(text)
    return "/".join(part for part in plain.split("/") if part not in ("", "."))


def _folder_of(name: str, prefix: str | None) -> str:
    return "" if prefix is None else f"{prefix or name}/"


def _unzipped(
    stream: BinaryIO, entry: zips.Entry, path: str, spending: Spending
) -> Callable[[], Iterator[bytes]]:
    def unzip() -> Iterator[bytes]:
        size = 0
        try:
            for chunk in zips.unpack(stream, entry):
                size += len(chunk)
                if entry.packed_size is not None:
                    spending.check_ratio(path, size, entry.packed_size)
                yield chunk
        except zips.BadZipError as exc:
            raise RefusedError(str(exc)) from exc

    return unzip


class _Packed:
    """A member that has to be unpacked: to memory or, above some MB, to disk."""

    def __init__(
        self, begin: Callable[[], Iterator[bytes]], name: str, spending: Spending
    ) -> None:
        self._begin = begin
        self._name = name
        self._spending = spending
        self._spent = 0

    def kind(self) -> str:
        """Name the container that it is, by its first bytes."""
        head = b""
        for chunk in self._begin():
            head += chunk
            if len(head) >= HEAD:
                break
        return kind_of(head)

    def open(self) -> BinaryIO:
        """Unpack it; each time anew, but counted once."""
        in_memory = self._spending.limits.in_memory
        spool = tempfile.SpooledTemporaryFile(in_memory)  # noqa: SIM115
        size = 0
        try:
            for chunk in self._begin():
                size += len(chunk)
                if size > self._spent:
                    self._spending.add(self._name, size - self._spent)
                    self._spent = size
                spool.write(chunk)
        except BaseException:
            spool.close()
            raise
        spool.seek(0)
        return cast("BinaryIO", spool)


def _on_disk(path: Path, name: str) -> Member:
    return Member(name, path.stat().st_size, lambda: path.open("rb"))


def _opener(stream: BinaryIO, begin: int, size: int) -> Callable[[], BinaryIO]:
    return lambda: _slice(stream, begin, size)


def _slice(stream: BinaryIO, begin: int, size: int) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(_Slice(stream, begin, size), 1 << 18))


class _Slice(io.RawIOBase):
    """A part of a stream, as a stream with a position of its own."""

    def __init__(self, stream: BinaryIO, begin: int, size: int) -> None:
        self._stream = stream
        self._begin = begin
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: "memoryview[int] | bytearray") -> int:  # type: ignore[override]
        wanted = min(len(buffer), max(0, self._size - self._at))
        self._stream.seek(self._begin + self._at)
        data = self._stream.read(wanted)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
