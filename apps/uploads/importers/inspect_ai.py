"""Inspect AI logs: `.json` and `.eval`, also those of an evaluation that was cut short.

Export: the files in the folder `logs`; `inspect log convert` turns one form into the
other.
Read: each sample in each epoch as a run: messages, calls, results with their error and
its type, scores, limits; times, tokens and tool schemas from the events. Archives with
Deflate and Zstandard members; without `header.json`, what the journal kept.
Not read: the state and store of a sample, reductions, nested agents' own messages.
Errors: `error` of a tool message (`tool_error` in old logs). Type `parsing` was refused
before it ran, `approval` was denied. A shell that returns a failure's text has no flag.
Outcomes: the sample's only score, if it is “C” or “I”, true or false, or 1 or 0 of a
scorer whose metric is accuracy. Several scores, other numbers and “P” stay unknown
until the workspace chooses; a sample that crashed is unknown.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable
from apps.uploads import zips

from . import records
from ._inspect_sample import transcript
from ._members import header, members
from ._runs import Found, Sieve
from .head import peek
from .records import Document, DocumentTooLargeError
from .values import Json, decode, mapping, sequence, text

LABEL = "Inspect AI log"

_ABOUT = ("version", "status", "eval", "results", "stats")
_WANTED = "a sample with `messages`"
_ZIP_MARK = b"PK\x03\x04"
_OWN = re.compile(
    r"_journal/|header\.json$|summaries\.json$|samples/.+_epoch_\d+\.json$"
)
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json")


def detect(head: bytes) -> float:
    """See the archive's own members, or an object with `eval` and `version`."""
    if head.startswith(_ZIP_MARK):
        size = int.from_bytes(head[26:28], "little")
        first = head[30 : 30 + size].decode("utf-8", "replace")
        return 0.98 if _OWN.match(first) else 0.0
    seen = peek(head)
    if {"version", "eval"} <= seen.keys and seen.keys & {"status", "plan", "samples"}:
        return 0.0 if "schema_version" in seen.keys else 0.95
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run a sample and epoch."""
    mark = stream.read(4)
    stream.seek(0)
    if mark == _ZIP_MARK:
        yield from _archive(stream)
        return
    if peek(stream.read(1 << 12)).start.startswith(b"{"):
        stream.seek(0)
        about = header(stream, _ABOUT)
        found = members(stream, arrays=("samples",), only=())
        yield from _samples((member.document for member in found), about)
    else:  # its beginning is lost
        stream.seek(0)
        yield from _samples(records.documents(stream), {})


def _samples(documents: Iterable[Document], about: dict[str, Json]) -> Iterator[Record]:
    sieve = Sieve(_is_sample, _WANTED)
    for document in documents:
        yield from _runs(sieve.take(document), about)
    yield from _runs(sieve.finish(), about)


def _runs(
    items: Iterable[Found | Unreadable], about: dict[str, Json]
) -> Iterator[Record]:
    for item in items:
        if isinstance(item, Unreadable):
            yield item
        else:
            run = transcript(item.value, about, item.document)
            run.unreadable = item.faults
            yield run


def _is_sample(record: dict[str, Json]) -> bool:
    return isinstance(record.get("messages"), list) and "id" in record


def _archive(stream: BinaryIO) -> Iterator[Record]:
    try:
        entries, is_whole = zips.entries(stream)
    except zips.BadZipError as exc:
        yield Unreadable(str(exc), line=1, offset=0)
        return
    by_name = {entry.name: entry for entry in entries}
    about: dict[str, Json] = {}
    for own in ("_journal/start.json", "header.json"):
        if own in by_name:
            about |= mapping(_decoded(stream, by_name[own]))
    held: set[tuple[str, str]] = set()
    for entry in entries:
        match = _SAMPLE.fullmatch(entry.name)
        if match is None:
            continue
        held.add((match.group(1), match.group(2)))
        try:
            document = Document(_bytes(stream, entry), 1, entry.offset)
        except zips.BadZipError as exc:
            yield Unreadable(str(exc), line=1, offset=entry.offset)
            continue
        yield from _samples([document], about)
    yield from _lost(stream, entries, held)
    if not is_whole:
        text_ = (
            "the archive's directory is missing: it was cut short, or is being written"
        )
        yield Unreadable(text_, line=1, offset=0)


def _lost(
    stream: BinaryIO, entries: list[zips.Entry], held: set[tuple[str, str]]
) -> Iterator[Unreadable]:
    """Name the samples of which only a summary was kept."""
    for entry in entries:
        if not entry.name.startswith("_journal/summaries/"):
            continue
        for item in sequence(_decoded(stream, entry)):
            summary = mapping(item)
            key = (text(summary.get("id")), text(summary.get("epoch")))
            if summary and key not in held:
                reason = f"of sample {key[0]}, epoch {key[1]}, there is only a summary"
                yield Unreadable(reason, line=1, offset=entry.offset)


def _decoded(stream: BinaryIO, entry: zips.Entry) -> Json:
    try:
        return decode(_bytes(stream, entry))
    except ValueError:  # BadZipError is one
        return None


def _bytes(stream: BinaryIO, entry: zips.Entry) -> bytes:
    """Unpack a member; raise DocumentTooLargeError beyond what a worker may hold."""
    parts, size = [], 0
    for chunk in zips.unpack(stream, entry):
        parts.append(chunk)
        size += len(chunk)
        if size > records.MAX_DOCUMENT_BYTES:
            limit = records.MAX_DOCUMENT_BYTES >> 20
            raise DocumentTooLargeError(f"“{entry.name}” is larger than {limit} MB.")
    return b"".join(parts)
