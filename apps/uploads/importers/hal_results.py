"""HAL results: one JSON object with the verdicts of all tasks; no transcript is read.

Export: the `…_UPLOAD.json` file that HAL's evaluation writes.
Read: `results.successful_tasks` and `failed_tasks`, else the reward of each task in
`raw_eval_results`.
Not read: `raw_logging_results` (calls of the model without the tools' results), cost
and latencies.
Errors: none; a result list has no calls.
Outcomes: a successful task or a reward of 1 is correct, less incorrect; a task whose
evaluation gave no reward is unknown.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import OutcomeRecord, Record

from ._documents import unreadable
from ._members import header, members
from ._outcomes import from_reward
from .head import peek
from .records import Document
from .values import Json, decode, mapping, number, sequence, text

LABEL = "HAL results"

_KEYS = frozenset({"raw_eval_results", "raw_logging_results"})
_BESIDE = frozenset({"results", "config", "metadata", "total_usage"})


def detect(head: bytes) -> float:
    """See raw results or a raw log beside `results`, or the run's config."""
    seen = peek(head)
    if seen.keys & _KEYS and seen.keys & _BESIDE:
        return 0.95
    # the raw log can push the other keys out of the head
    marks = (b'"agent_name"', b'"benchmark_name"', b'"run_id"')
    return 0.8 if "config" in seen.keys and all(m in seen.cut for m in marks) else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield an outcome a task."""
    about = mapping(header(stream, ("results",)).get("results"))
    lists = (("successful_tasks", "correct"), ("failed_tasks", "incorrect"))
    if any(isinstance(about.get(key), list) for key, _ in lists):
        first = Document(b"", 1, 0)
        seen: set[str] = set()
        for key, outcome in lists:
            for item in sequence(about.get(key)):
                task = text(item)
                if task and task not in seen:
                    seen.add(task)
                    yield _outcome(task, outcome, f"HAL results: {key}", first)
        return
    for member in members(stream, only=("raw_eval_results",)):
        try:
            verdicts = decode(member.document.raw)
        except ValueError as exc:
            yield unreadable(member.document, str(exc))
            continue
        if not isinstance(verdicts, dict):
            yield unreadable(member.document, "`raw_eval_results` is no map of tasks")
            continue
        for task, verdict in verdicts.items():
            yield _from_verdict(task, verdict, member.document)


def _from_verdict(task: str, verdict: Json, document: Document) -> OutcomeRecord:
    found = mapping(verdict)
    reward = number(found.get("reward", found.get("score")))
    record = _outcome(task, from_reward(reward), "HAL results: reward", document)
    if isinstance(verdict, str):
        record.note = verdict[:500]
    return record


def _outcome(task: str, outcome: Json, by: str, document: Document) -> OutcomeRecord:
    return OutcomeRecord(
        outcome=outcome,
        by=by,
        task_id=task,
        line=document.line,
        offset=document.offset,
    )
