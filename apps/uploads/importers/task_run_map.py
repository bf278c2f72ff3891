"""Results of a task's repeated runs, as MCP benchmarks write them; no transcript.

Export: the JSON file a task with `model`, `service`, `task` and `runs`.
Read: each run's success and error message.
Not read: tokens, seconds and counts of turns.
Errors: none; a result list has no calls.
Outcomes: `success` true is correct, false incorrect; false with an error message that
tells of a crash is unknown. A run is named `<task>/<run>`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Ending, Outcome, OutcomeRecord, Record, Unreadable

from ._documents import unreadable
from ._runs import Found, runs
from .head import peek
from .values import Json, boolean, mapping, text

LABEL = "Task run map"

_BY = "task run map: success"


def detect(head: bytes) -> float:
    """See `runs`, an object of named runs, beside the task and the model."""
    seen = peek(head)
    if not {"task", "runs"} <= seen.keys or not seen.keys & {"model", "service"}:
        return 0.0
    if seen.first:
        return 0.9 if _is_map(seen.first) else 0.0
    return 0.9 if b'"run-1"' in seen.cut and b'"success"' in seen.cut else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield an outcome a run."""
    for item in runs(stream, _is_map, "a task with its `runs`"):
        if isinstance(item, Unreadable):
            yield item
        else:
            yield from _outcomes(item)


def _is_map(record: dict[str, Json]) -> bool:
    held = mapping(record.get("runs"))
    return "task" in record and any("success" in mapping(run) for run in held.values())


def _outcomes(found: Found) -> Iterator[Record]:
    task = text(found.value.get("task"))
    held = mapping(found.value.get("runs"))
    for name, item in held.items():
        run = mapping(item)
        success = boolean(run.get("success"))
        message = text(run.get("error_message"))
        if success is None and not run:
            yield unreadable(found.document, f"“{name[:80]}” is no result of a run")
            continue
        ending: Ending = "submitted" if success else _ending(message)
        outcome: Outcome = "unknown"
        if success is not None and ending != "crashed":
            outcome = "correct" if success else "incorrect"
        yield OutcomeRecord(
            outcome=outcome,
            by=_BY,
            run_id=f"{task}/{name}",
            # several attempts at one task cannot be told apart by the task alone
            task_id=task if len(held) == 1 else "",
            ending=ending,
            note=message[:500],
            line=found.document.line,
            offset=found.document.offset,
        )


def _ending(message: str) -> Ending:
    lowered = message.lower()
    if not lowered:
        return ""
    if "timeout" in lowered or "timed out" in lowered:
        return "timed_out"
    if "max turns" in lowered or "max_turns" in lowered or "budget" in lowered:
        return "budget_spent"
    if "verif" in lowered or "assert" in lowered:
        return ""  # it was judged, and found wrong
    return "crashed"
