"""What is kept of a file that was handed in: its content with every secret replaced.

Redaction comes before the first write. A plain file is redacted while it is copied into
the store; a compressed one or an archive is unpacked (with the limits of
`containers.py`), each member redacted, and kept as a zip. So the readers, the database,
the page of what was set aside and the raw file never hold a secret.
"""

import io
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, BinaryIO, cast

from django.core.files import File

from apps.catalogue.secrets import ExtraShape, redact_bytes

from . import zips
from .containers import Limits, Member, members
from .importers.records import utf8
from .unpacking import EMPTY_ZIP, kind_of

BLOCK = 4 << 20  # bytes that are redacted at once
LONGEST = 64 << 20  # a stretch without a safe place to cut is cut here
_HEAD = 512
_ZIP_MARKS = (b"PK\x03\x04", EMPTY_ZIP)


class RedactedFile(File[bytes]):
    """A file for the store; `found` counts the secrets once it has been read."""

    def __init__(self, stream: BinaryIO, extra: Sequence[ExtraShape] = ()) -> None:
        """Take a plain stream at its beginning, and a workspace's own shapes."""
        super().__init__(stream)
        self._stream = stream
        self.found: Counter[str] = Counter()
        self.written = 0
        self._extra = extra

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the content, redacted, in UTF-8."""
        for block in blocks(_read(self._stream)):
            clean, found = redact_bytes(block, self._extra)
            self.found.update(found)
            self.written += len(clean)
            yield clean


def _read(stream: BinaryIO) -> Iterator[bytes]:
    chunks = utf8(stream)
    while data := chunks.read():
        yield data


def blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream where no secret can stand: after a line, else after an object.

    A name and its value stay in one block, so `"password": "…"` is seen whole.
    """
    kept: list[bytes] = []
    size = 0
    for chunk in chunks:
        kept.append(chunk)
        size += len(chunk)
        if size < BLOCK:
            continue
        data = b"".join(kept)
        cut = data.rfind(b"\n") + 1 or data.rfind(b"},") + 1
        if not cut and size >= LONGEST:
            cut = data.rfind(b",") + 1 or len(data)
        if cut:
            yield data[:cut]
            data = data[cut:]
        kept, size = [data], len(data)
    if size:
        yield b"".join(kept)


def redacted(
    stream: BinaryIO, name: str, extra: Sequence[ExtraShape] = ()
) -> RedactedFile:
    """Give what is to be kept of a file that was handed in.

    Raises RefusedError where it cannot be unpacked; the text is for its sender.
    """
    stream.seek(0)
    head = stream.read(_HEAD)
    stream.seek(0)
    if not kind_of(head):
        return RedactedFile(stream, extra)
    found = members(stream, name, Limits())
    first = next(found, None)
    if first is None:
        return RedactedFile(io.BytesIO(EMPTY_ZIP + bytes(18)), extra)
    second = next(found, None)
    if second is None and not _is_zip(first):
        return RedactedFile(first.open(), extra)
    return _Repacked([first, *([second] if second else []), *found], extra)


class _Repacked(RedactedFile):
    """An archive written anew with redacted members."""

    def __init__(self, found: Sequence[Member], extra: Sequence[ExtraShape]) -> None:
        stream = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115 (closed with the File)
        super().__init__(stream, extra)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
            for member in found:
                with out.open(member.name or "member", "w", force_zip64=True) as target:
                    self._copy(member, target)
        stream.seek(0)

    def _copy(self, member: Member, target: IO[bytes]) -> None:
        with member.open() as stream:
            if _is_zip(member):  # an Inspect log: a zip by its bytes
                self._copy_zip(stream, target)
                return
            inner = RedactedFile(stream, self._extra)
            for chunk in inner.chunks():
                target.write(chunk)
            self.found.update(inner.found)

    def _copy_zip(self, stream: BinaryIO, target: IO[bytes]) -> None:
        entries, _ = zips.entries(stream)
        with tempfile.TemporaryFile() as spool:
            with zipfile.ZipFile(
                spool, "w", zipfile.ZIP_DEFLATED, compresslevel=1
            ) as out:
                for entry in entries:
                    if entry.is_folder or entry.is_link:
                        continue
                    with out.open(entry.name, "w", force_zip64=True) as part:
                        for block in blocks(zips.unpack(stream, entry)):
                            clean, found = redact_bytes(block, self._extra)
                            self.found.update(found)
                            part.write(clean)
            spool.seek(0)
            while chunk := spool.read(1 << 20):
                target.write(chunk)

    def chunks(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield the archive; its members are redacted already."""
        self._stream.seek(0)
        while data := self._stream.read(1 << 20):
            self.written += len(data)
            yield data


def _is_zip(member: Member) -> bool:
    with member.open() as stream:
        return stream.read(4).startswith(_ZIP_MARKS)
