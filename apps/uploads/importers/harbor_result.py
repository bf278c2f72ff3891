"""Results of trials that Harbor and Terminal-Bench 1 write; they hold no transcript.

Export: `result.json` (Harbor) or `results.json` (Terminal-Bench) in a trial's folder,
best with the whole folder, so that its trajectory is joined.
Read: the trial's name, task, reward or verdict, and what ended it.
Not read: token totals, the verdict of each test, the recording of the terminal.
Errors: none; a result list has no calls.
Outcomes: a reward of 1 (or `is_resolved`) is correct, less is incorrect, also after a
time-out. A trial that crashed or was never judged is unknown, whatever its reward.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import OutcomeRecord, Record, Unreadable

from ._documents import unreadable
from ._harbor import is_harbor, is_terminal_bench, trial
from ._runs import Found, runs
from .head import peek
from .values import Json, mapping, sequence

LABEL = "Harbor and Terminal-Bench results"


def detect(head: bytes) -> float:
    """See a trial's name beside the verifier's result or `is_resolved`."""
    seen = peek(head)
    keys = dict.fromkeys(seen.keys)
    if is_harbor(keys) or is_terminal_bench(keys):
        return 0.95
    if "results" in seen.keys and seen.keys & {"n_resolved", "accuracy", "pass_at_k"}:
        items = sequence(seen.first.get("results"))
        if items and is_terminal_bench(mapping(items[0])):
            return 0.95
        return (
            0.9 if b'"is_resolved"' in seen.cut and b'"trial_name"' in seen.cut else 0.0
        )
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield an outcome a trial; a run's own list of trials gives one for each."""
    for item in runs(stream, _is_result, "the result of a trial"):
        if isinstance(item, Unreadable):
            yield item
            continue
        if _is_trial(item.value):
            yield _outcome(item, item.value)
            continue
        for inner in sequence(item.value.get("results")):
            if _is_trial(mapping(inner)):
                yield _outcome(item, inner)
            else:
                yield unreadable(item.document, "a result that names no trial")


def _is_trial(record: dict[str, Json]) -> bool:
    return is_harbor(record) or is_terminal_bench(record)


def _is_result(record: dict[str, Json]) -> bool:
    return _is_trial(record) or isinstance(record.get("results"), list)


def _outcome(found: Found, record: dict[str, Json]) -> OutcomeRecord:
    """Name the trial as what the run is an attempt at: a task is tried many times."""
    result = trial(record)
    by = "Harbor result" if is_harbor(record) else "Terminal-Bench result"
    note = f"{result.task}: {result.note}" if result.note else result.task
    return OutcomeRecord(
        outcome=result.outcome,
        by=f"{by}: {result.outcome_by}" if result.outcome_by else by,
        task_id=result.name or result.task,
        ending=result.ending,
        note=note,
        line=found.document.line,
        offset=found.document.offset,
    )
