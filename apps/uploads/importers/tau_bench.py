"""tau-bench results: one JSON list, one object a run, with the reward.

Export: the results file that tau-bench's `run.py` writes.
Read: `traj` (chat messages) of each run, `reward`, task and trial. The user's turns are
those of a simulated customer.
Not read: the expected actions in `info.task`, the simulator's cost. The file has no
times, no model and no tool schemas.
Errors: no flag in the file; a result whose text begins with “Error”.
Outcomes: `reward` 1 is correct, less is incorrect; a run that crashed (`info.error`) is
unknown although its reward says 0.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Score, Transcript, Unreadable

from ._outcomes import from_reward
from ._runs import Found, runs
from .chat_messages import thread_from_messages
from .head import peek
from .values import Json, mapping, number, sequence, text

LABEL = "tau-bench results"

_BESIDE = frozenset({"reward", "task_id", "trial", "info"})


def detect(head: bytes) -> float:
    """See a list of objects with `traj` beside the reward, the task or the trial."""
    seen = peek(head)
    if not seen.is_array or "traj" not in seen.keys:
        return 0.0
    return 0.95 if seen.keys & _BESIDE else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run an item of the list."""
    for item in runs(stream, _is_run, "a tau-bench run with a list `traj`"):
        yield item if isinstance(item, Unreadable) else _transcript(item)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("traj"), list)


def _transcript(found: Found) -> Transcript:
    record = found.value
    info = mapping(record.get("info"))
    reward = number(record.get("reward"))
    crashed = bool(info.get("error"))
    outcome = "unknown" if crashed else from_reward(reward)
    task = text(record.get("task_id"))
    return Transcript(
        format="tau_bench",
        threads=[thread_from_messages(sequence(record.get("traj")))],
        run_id=f"{task}/{text(record.get('trial'))}",
        task_id=task,
        ending="crashed" if crashed else "",
        outcome=outcome,
        outcome_by="reward" if outcome != "unknown" else "",
        scores=[Score("reward", reward, higher_is_better=True)],
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )
