"""InterCode results: one JSON object, one key a task.

Export: the file that InterCode's experiments write to `data/results`.
Read: the query, thoughts, actions and observations turn by turn; the tool is the
environment (`ic_sql`, `ic_bash`, …), for the file names none.
Not read: `info` with its comparison of files, the reward of each turn. The file has no
times, no model and no tokens.
Errors: `valid_action` false, also where an answer without code never ran. Files without
that list have text.
Outcomes: `summary.max_reward` 1 is correct (at any turn; the run stops there), less is
incorrect.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Record,
    Result,
    Score,
    Thread,
    Transcript,
    Unreadable,
)

from ._members import members
from ._outcomes import from_reward
from ._runs import Found, Sieve, runs
from .head import peek
from .thread import ThreadBuilder
from .values import Json, boolean, mapping, number, sequence, text

LABEL = "InterCode results"

_WANTED = "an InterCode task with `turn_history`"


def detect(head: bytes) -> float:
    """See tasks with a `turn_history` and an environment under the first keys."""
    seen = peek(head)
    first = mapping(next(iter(seen.first.values()), None))
    if _is_run(first) and "environment" in first:
        return 0.95
    if seen.is_array or seen.first or "turn_history" in seen.keys:
        return 0.0
    marks = (b'"turn_history"', b'"environment"', b'"observations"')
    return 0.95 if all(mark in seen.cut for mark in marks) else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run a task."""
    start = peek(stream.read(1 << 12)).start
    stream.seek(0)
    if not start.startswith(b"{"):  # its beginning is lost
        for item in runs(stream, _is_run, _WANTED):
            yield item if isinstance(item, Unreadable) else _transcript(item, "")
        return
    sieve = Sieve(_is_run, _WANTED)
    key = ""
    for member in members(stream):
        key = member.key
        for item in sieve.take(member.document):
            yield item if isinstance(item, Unreadable) else _transcript(item, key)
    for item in sieve.finish():
        yield item if isinstance(item, Unreadable) else _transcript(item, key)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("turn_history"), dict)


def _transcript(found: Found, key: str) -> Transcript:
    record = found.value
    environment = text(record.get("environment")) or "environment"
    summary = mapping(record.get("summary"))
    task = text(record.get("task_id")) or key
    reward = number(summary.get("max_reward"))
    outcome = from_reward(reward)
    taken, most = number(summary.get("turns_taken")), number(summary.get("turns_max"))
    is_spent = taken is not None and most is not None and taken >= most
    thread = _thread(record, environment)
    last = thread.turns[-1].calls if thread.turns else []
    has_submitted = bool(last) and last[-1].arguments.strip().startswith("submit")
    return Transcript(
        format="intercode",
        threads=[thread],
        run_id=f"{environment}/{task}",
        task_id=task,
        source=text(record.get("dataset")),
        ending=(
            "submitted"
            if outcome == "correct" or has_submitted
            else "budget_spent"
            if is_spent
            else ""
        ),
        outcome=outcome,
        outcome_by="summary.max_reward" if outcome != "unknown" else "",
        scores=[Score("max_reward", reward, higher_is_better=True)],
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _thread(record: dict[str, Json], environment: str) -> Thread:
    """Zip the lists of the history; a longer one gives calls without a result."""
    builder = ThreadBuilder()
    query = text(record.get("query"))
    if query:
        builder.add("user", query)
    history = mapping(record.get("turn_history"))
    names = ("thoughts", "actions", "observations", "valid_action")
    thoughts, actions, observed, valid = (sequence(history.get(n)) for n in names)
    missing = object()
    rows = zip_longest(actions, observed, thoughts, valid, fillvalue=missing)
    for action, answer, thought, is_valid in rows:
        if action is missing and answer is missing:
            break
        turn = builder.add("assistant", "" if thought is missing else text(thought))
        call = Call(
            tool=environment, arguments="" if action is missing else text(action)
        )
        if answer is not missing:
            flag = None if is_valid is missing else boolean(is_valid)
            call.result = Result(
                text=text(answer),
                is_error=None if flag is None else not flag,
                flag="" if flag is None else "valid_action",
            )
        turn.calls = [call]
    return builder.thread
