"""One module a format: `detect(head)` and `read(stream, name)`; a new one, a new file.

A reader module has:

- `LABEL`: the format's name as people say it;
- `detect(head: bytes) -> float`: 0 (not this) to 1 (certain), by positive evidence in
  up to 256 KiB of the unpacked file's beginning, which may end inside a record; it
  never raises;
- `read(stream: BinaryIO, name: str) -> Iterator[Record]`: every record of the file, in
  file order, streamed; `name` is the file's path inside the upload, for formats that
  keep the run's id there;
- where one run spreads over several files, what `FolderReader` asks besides;
- `lines_stand_alone(head: bytes) -> bool`, where it has one: whether each line of such
  a file is a run with an id of its own, so that workers may read stretches of one file;
- a docstring that says how to export it, what is read, what is not, and how errors and
  outcomes are known: the app's page on formats shows it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import BinaryIO, Protocol, cast, runtime_checkable

from apps.runs.transcript import Record

HEAD_BYTES = 256 << 10
SUPPORT = frozenset({"head", "records", "values", "thread"})
# modules that readers share; every other module here is a reader


class Reader(Protocol):
    """What a module of this folder offers."""

    __name__: str
    __doc__: str
    LABEL: str

    def detect(self, head: bytes) -> float:
        """Tell how sure it is that a file with this head is of its format."""
        ...

    def read(self, stream: BinaryIO, name: str) -> Iterator[Record]:
        """Yield the file's records."""
        ...


@runtime_checkable
class FolderReader(Protocol):
    """What a reader module offers besides, if its format spreads a run over files.

    Names are paths inside the upload, with `/`. `claims` looks at names alone: before
    the caller reads a group it asks `detect` about the head of the group's first file,
    and where another reader wins, each file of the group is read on its own.
    """

    companions: Collection[str]
    # shell patterns (fnmatch, on the last part of a name) of files that belong to the
    # format and hold no records: `detect` knows them, `read` yields nothing, and they
    # say something only when they are read with their group

    def claims(self, names: Collection[str]) -> list[list[str]]:
        """Give groups of names that belong together, the one to be detected first.

        A name is in one group at most; names in no group are read one by one.
        """
        ...

    def read_folder(
        self, files: Mapping[str, Callable[[], BinaryIO]]
    ) -> Iterator[Record]:
        """Yield the records of one group; each file is opened when it is needed."""
        ...


class UnknownFormatError(ValueError):
    """No reader knows the file; the text says what was seen and what to do."""


@cache
def readers() -> dict[str, Reader]:
    """Give every reader by its name, in the order of names."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if module.name in SUPPORT or module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if hasattr(loaded, "read"):
            found[module.name] = cast("Reader", loaded)
    return found


def folder_readers() -> dict[str, FolderReader]:
    """Give those readers, by name, that read several files as one upload."""
    return {
        name: reader
        for name, reader in readers().items()
        if isinstance(reader, FolderReader)
    }


def claimed_groups(names: Collection[str]) -> list[tuple[str, list[str]]]:
    """Give the groups of files that readers claim by their names, with the reader."""
    return [
        (reader_name, group)
        for reader_name, reader in folder_readers().items()
        for group in reader.claims(names)
    ]


def detect(head: bytes) -> list[tuple[str, float]]:
    """Rank the readers that recognise the head, the surest first; ties by name."""
    scores = ((name, reader.detect(head)) for name, reader in readers().items())
    return sorted(
        ((name, score) for name, score in scores if score > 0),
        key=lambda pair: (-pair[1], pair[0]),
    )


def reader_for(head: bytes, format_name: str = "") -> tuple[str, Reader]:
    """Choose the reader by name or, without one, by the head.

    Raises UnknownFormatError with what was seen.
    """
    if format_name:
        if format_name not in readers():
            known = ", ".join(readers())
            text = f"There is no format “{format_name}”. Use one of: {known}."
            raise UnknownFormatError(text)
        return format_name, readers()[format_name]
    ranked = detect(head)
    if not ranked:
        raise UnknownFormatError(describe_unknown(head))
    return ranked[0][0], readers()[ranked[0][0]]


def describe_unknown(head: bytes) -> str:
    """Say in one sentence what a file that no reader knows looks like."""
    start = head.lstrip()[:512].lower()
    advice = "Upload a session export; the page “Formats” lists what is read."
    if not head.strip():
        return f"The file is empty. {advice}"
    if start.startswith((b"\x89png", b"\xff\xd8\xff", b"gif8", b"riff")):
        return f"This is a picture, not a session export. {advice}"
    if start.startswith(b"%pdf"):
        return f"This is a PDF, not a session export. {advice}"
    if start.startswith((b"<!doctype html", b"<html")):
        return f"This is a web page, not a session export. {advice}"
    if b"\x00" in head[:1024]:
        return f"This is a binary file of an unknown kind. {advice}"
    keys = _first_keys(head)
    if keys:
        return (
            f"The format is unknown: its first record has the keys {keys}."
            " Choose the format by hand, or see the page “Formats” for what is read."
        )
    shown = head.lstrip()[:60].decode("utf-8", "replace").splitlines()[0]
    return f"The format is unknown: the file begins with “{shown}”. {advice}"


def _first_keys(head: bytes) -> str:
    from .head import peek

    for record in peek(head).records:
        if isinstance(record, dict) and record:
            return ", ".join(f"“{key[:40]}”" for key in list(record)[:8])
    return ""
