"""An outcomes file of one's own: `run_id,outcome[,note]` as CSV or as JSON lines.

Export: a CSV file with these names in its first line, or one object a line with these
keys. In the place of `run_id`, `task_id` (or `instance_id`) names what the run was an
attempt at. `ending` and `by` may be given too.
Read: every row; commas, semicolons and tabs; text in quotes over several lines.
Not read: other columns.
Errors: none; a result list has no calls.
Outcomes: correct, incorrect or unknown; also passed, failed, resolved, true, false, 1,
0. Any other word is set aside with its line.
"""

import csv
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import OutcomeRecord, Record, Unreadable

from ._documents import unreadable
from ._outcomes import ENDINGS, outcome_of
from .head import peek
from .records import Document, documents, lines, utf8
from .values import Json, decode_all, mapping, text

LABEL = "Outcomes file"

_IDS = ("run_id", "task_id", "instance_id")
_KNOWN = frozenset({*_IDS, "outcome", "note", "ending", "by"})
_WORDS = "correct, incorrect or unknown"
_MAX_HEADER = 2000


def detect(head: bytes) -> float:
    """See a header line with an id and `outcome`, or objects of these keys alone."""
    seen = peek(head)
    if seen.start[:1] in (b"{", b"["):
        rows = seen.objects
        if not rows or len(rows) < len(seen.records):
            return 0.0
        named = all("outcome" in row and set(_IDS) & row.keys() for row in rows)
        return 0.9 if named and all(row.keys() <= _KNOWN for row in rows) else 0.0
    return 0.9 if _columns(_first_line(head)) else 0.0


def _first_line(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        said = head[: _MAX_HEADER * 2].decode("utf-16", "replace")
    else:
        said = head[:_MAX_HEADER].decode("utf-8", "replace").lstrip("\ufeff")
    stripped = said.strip()
    return stripped.splitlines()[0] if stripped else ""


def _delimiter(line: str) -> str:
    return max(",;\t", key=line.count)


def _columns(line: str) -> list[str]:
    """Give the columns that a header line names; [] if it is none."""
    try:
        row = next(csv.reader([line], delimiter=_delimiter(line)), [])
    except csv.Error:
        return []
    columns = [name.strip().lower() for name in row]
    return columns if "outcome" in columns and set(_IDS) & set(columns) else []


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield an outcome a row."""
    start = stream.read(_MAX_HEADER * 2)
    stream.seek(0)
    if peek(start).start[:1] in (b"{", b"["):
        yield from _json_rows(stream)
    else:
        yield from _csv_rows(stream, _first_line(start))


def _json_rows(stream: BinaryIO) -> Iterator[Record]:
    for document in documents(stream):
        try:
            values = decode_all(document.raw)
        except ValueError as exc:
            yield unreadable(document, str(exc))
            continue
        for value in values:
            if isinstance(value, dict):
                yield _outcome(value, document)
            else:
                yield unreadable(
                    document, "a row is an object with `run_id` and `outcome`"
                )


def _csv_rows(stream: BinaryIO, first: str) -> Iterator[Record]:
    columns = _columns(first)
    position = _Position()
    reader = csv.reader(position.follow(stream), delimiter=_delimiter(first))
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as exc:
            yield unreadable(position.document(), f"not CSV: {exc}")
            continue
        if not columns:
            yield unreadable(position.document(), "the first line names no `outcome`")
            return
        if not any(cell.strip() for cell in row) or position.is_header(row, columns):
            position.begin()
            continue
        found = dict(zip(columns, row, strict=False))
        yield _outcome(found, position.document())
        position.begin()


class _Position:
    """Knows the lines that the row in hand came from."""

    def __init__(self) -> None:
        self._first = Document(b"", 1, 0)
        self._is_begun = False
        self._has_header = False

    def follow(self, stream: BinaryIO) -> Iterator[str]:
        """Yield the lines as text; a row may take several."""
        for document in lines(utf8(stream)):
            if not self._is_begun:
                self._first, self._is_begun = document, True
            yield document.raw.decode("utf-8", "replace").rstrip("\r") + "\n"

    def begin(self) -> None:
        """Expect a new row."""
        self._is_begun = False

    def document(self) -> Document:
        """Give the line in which the row began."""
        self.begin()
        return self._first

    def is_header(self, row: list[str], columns: list[str]) -> bool:
        """Whether it is the header, which comes once."""
        is_it = not self._has_header and [c.strip().lower() for c in row] == columns
        self._has_header = True
        return is_it


def _outcome(row: dict[str, Json], document: Document) -> OutcomeRecord | Unreadable:
    run_id = text(row.get("run_id")).strip()
    task_id = (text(row.get("task_id")) or text(row.get("instance_id"))).strip()
    value = row.get("outcome")
    if isinstance(value, dict):
        value = mapping(value).get("success")
    outcome = outcome_of(value)
    if "outcome" not in row or outcome is None:
        word = text(value)[:60]
        return unreadable(document, f"“{word}” is no outcome; write {_WORDS}")
    if not run_id and not task_id:
        return unreadable(document, "the row names no run: `run_id` is empty")
    ending = text(row.get("ending")).strip()
    if ending not in ENDINGS:
        known = ", ".join(filter(None, ENDINGS))
        return unreadable(document, f"“{ending[:60]}” is no ending; use {known}")
    return OutcomeRecord(
        outcome=outcome,
        by=text(row.get("by")) or "outcomes file",
        run_id=run_id,
        task_id=task_id,
        ending=ENDINGS[ending],
        note=text(row.get("note")),
        line=document.line,
        offset=document.offset,
    )
