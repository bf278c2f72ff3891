"""SWE-bench evaluation results: which instances were resolved. It holds no transcript.

Export: `results.json` or `<model>.<run>.json` of the evaluation, an instance's own
`report.json`, or the Markdown report that OpenHands writes.
Read: the lists of resolved, unresolved, empty, failed and unfinished instances.
Not read: the verdict of each test, counts, links to logs.
Errors: none; a result list has no calls.
Outcomes: resolved is correct; unresolved and an empty patch are incorrect; an instance
whose evaluation failed or has no log is unknown. Where the list names the resolved ones
but not the others, a last row with the instance `*` says that every other run of the
same upload was not resolved.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Outcome, OutcomeRecord, Record, Unreadable

from ._documents import unreadable
from ._runs import Found, runs
from .head import peek
from .records import Document, lines, utf8
from .values import Json, boolean, mapping, sequence, text

LABEL = "SWE-bench results"

OTHERS = "*"  # as an instance: every run of the upload that the list does not name
_BY = "SWE-bench results"
_LISTS: tuple[tuple[str, Outcome], ...] = (
    # the first list that names an instance decides
    ("resolved_ids", "correct"),
    ("resolved", "correct"),
    ("error_ids", "unknown"),
    ("infra_failure_ids", "unknown"),
    ("incomplete_ids", "unknown"),
    ("no_logs", "unknown"),
    ("install_fail", "unknown"),
    ("reset_failed", "unknown"),
    ("no_generation", "incorrect"),
    ("empty_patch_ids", "incorrect"),
    ("unresolved_ids", "incorrect"),
    ("unresolved", "incorrect"),
    ("no_apply", "incorrect"),
    ("completed_ids", "incorrect"),
    ("submitted_ids", "incorrect"),
    ("applied", "incorrect"),
    ("with_logs", "incorrect"),
    ("generated", "incorrect"),
)
_NAMES = frozenset(name for name, _ in _LISTS)
_WHOLE = frozenset(
    {"unresolved_ids", "unresolved", "submitted_ids", "completed_ids"}
) | {
    "generated",
    "with_logs",
}
_HEADINGS: dict[str, tuple[str, Outcome]] = {
    "resolved instances": ("resolved", "correct"),
    "error instances": ("error", "unknown"),
    "incomplete instances": ("incomplete", "unknown"),
    "unresolved instances": ("unresolved", "incorrect"),
    "empty patch instances": ("empty patch", "incorrect"),
}
_HEADING = re.compile(r"#+\s*(.+?)\s*:?\s*")
_ENTRY = re.compile(r"[-*]\s+\[?([\w.-]+__[\w.-]+?-\d+)\]?.*")
_REPORT_KEYS = frozenset(
    {"patch_exists", "patch_is_None", "patch_successfully_applied"}
)


def detect(head: bytes) -> float:
    """See lists of instances by what became of them, or a report with such headings."""
    seen = peek(head)
    if seen.start[:1] == b"#" and b"resolved instances" in head.lower():
        return 0.95
    if seen.is_array:
        return 0.0
    if {"resolved_ids"} <= seen.keys or _is_lists(seen.first):
        return 0.95
    if "resolved" in seen.keys and seen.keys & (_NAMES - {"resolved", "unresolved"}):
        return 0.9
    return 0.95 if _is_instances(seen.first) else 0.0


def _is_lists(record: dict[str, Json]) -> bool:
    named = record.keys() & _NAMES
    return (
        bool(named & {"resolved", "resolved_ids"})
        and (len(named) > 1 or len(record) == 1)
        and all(isinstance(record[name], list) for name in named)
    )


def _is_instances(record: dict[str, Json]) -> bool:
    """Whether it is an instance's own report: `{id: {"resolved": …}}`."""
    first = mapping(next(iter(record.values()), None))
    return "resolved" in first and bool(first.keys() & _REPORT_KEYS)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield an outcome an instance."""
    start = peek(stream.read(512)).start
    stream.seek(0)
    if start[:1] == b"#":
        yield from _markdown(stream)
        return
    wanted = "lists of resolved and other instances"
    for item in runs(stream, lambda r: _is_lists(r) or _is_instances(r), wanted):
        if isinstance(item, Unreadable):
            yield item
        elif _is_lists(item.value):
            yield from _lists(item)
        else:
            yield from _instances(item)


def _lists(found: Found) -> Iterator[Record]:
    seen: set[str] = set()
    for name, outcome in _LISTS:
        for item in sequence(found.value.get(name)):
            instance = text(item)
            if not isinstance(item, str) or not instance:
                yield unreadable(
                    found.document, f"an item of `{name}` is no instance's id"
                )
            elif instance not in seen:
                seen.add(instance)
                yield _outcome(outcome, name, instance, found.document)
    if not found.value.keys() & _WHOLE:
        yield _outcome("incorrect", "not among the resolved", OTHERS, found.document)


def _instances(found: Found) -> Iterator[Record]:
    for instance, item in found.value.items():
        resolved = boolean(mapping(item).get("resolved"))
        if resolved is None:
            yield unreadable(
                found.document, f"“{instance[:80]}” has no verdict `resolved`"
            )
            continue
        outcome: Outcome = "correct" if resolved else "incorrect"
        yield _outcome(outcome, "resolved", instance, found.document)


def _markdown(stream: BinaryIO) -> Iterator[Record]:
    """Read the lists below the headings; each instance once, by its first outcome.

    An empty patch stands among the unresolved too, so such repeats are expected.
    """
    heading: tuple[str, Outcome] | None = None
    seen: set[str] = set()
    for document in lines(utf8(stream)):
        line = document.raw.decode("utf-8", "replace").strip()
        title = _HEADING.fullmatch(line)
        if title:
            heading = _HEADINGS.get(title.group(1).lower())
            continue
        entry = _ENTRY.fullmatch(line)
        if heading is None or entry is None or entry.group(1) in seen:
            continue
        seen.add(entry.group(1))
        yield _outcome(heading[1], heading[0], entry.group(1), document)


def _outcome(
    outcome: Outcome, name: str, instance: str, document: Document
) -> OutcomeRecord:
    return OutcomeRecord(
        outcome=outcome,
        by=f"{_BY}: {name}",
        task_id=instance,
        line=document.line,
        offset=document.offset,
    )
