"""MINT results: JSON lines, one run a line, `{"state": …, "task": …}`.

Export: `results.jsonl` in the folder of a model, a feedback setting and a benchmark.
Read: the conversation; `<execute>` in a reply is a call of `execute`, `<solution>` one
of `solution` (as MINT itself reads a reply: a solution goes first, several blocks are
one call). The result is the environment's next message.
Not read: expert feedback as a message of its own (it stays in the result's text), the
model (it stands only in the path). The file has no times.
Errors: no flag in the file; the text tells, once the line that counts steps is cut off.
Outcomes: `state.success`.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Outcome,
    Record,
    Result,
    Thread,
    Transcript,
    Unreadable,
)

from ._names import parts
from ._runs import Found, runs
from .head import peek
from .thread import ThreadBuilder
from .values import Json, blocks_text, boolean, mapping, sequence, text

LABEL = "MINT results"

_EXECUTE = re.compile(r"<execute>(.*?)</execute>", re.DOTALL)
_SOLUTION = re.compile(r"<solution>(.*?)</solution>", re.DOTALL)
_STEPS_LEFT = re.compile(
    r"\s*You have \d+ steps? left and \d+ chances? to propose solution left\."
    r"(?:\s*You should take the last step to propose a solution\.)?\s*"
)
_ENDINGS: dict[str, Ending] = {
    "task_success": "submitted",
    "max_propose_steps": "budget_spent",
    "max_steps": "budget_spent",
}


def detect(head: bytes) -> float:
    """See lines with `state` (which has a history) and `task`."""
    seen = peek(head)
    if not {"state", "task"} <= seen.keys:
        return 0.0
    if _is_run(seen.first):
        return 0.95
    return 0.95 if not seen.first and b'"history"' in seen.cut else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run a line."""
    for item in runs(stream, _is_run, "a MINT run with `state.history`"):
        yield item if isinstance(item, Unreadable) else _transcript(item, name)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(mapping(record.get("state")).get("history"), list)


def _transcript(found: Found, name: str) -> Transcript:
    state = mapping(found.value.get("state"))
    task = mapping(found.value.get("task"))
    id_ = f"{text(task.get('task_name'))}/{text(task.get('task_id'))}"
    success = boolean(state.get("success"))
    crashed = bool(state.get("error"))
    outcome: Outcome = "unknown"
    if success is not None and not (crashed and not success):
        outcome = "correct" if success else "incorrect"
    ending = _ENDINGS.get(text(state.get("terminate_reason")), "")
    return Transcript(
        format="mint",
        threads=[_thread(sequence(state.get("history")))],
        run_id=id_,
        task_id=id_,
        source="/".join(parts(name)[-3:-1]),
        ending="crashed" if crashed else ending,
        outcome=outcome,
        outcome_by="state.success" if outcome != "unknown" else "",
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _thread(history: list[Json]) -> Thread:
    builder = ThreadBuilder()
    waiting: Call | None = None
    for item in history:
        message = mapping(item)
        said = blocks_text(message.get("content"))
        if message.get("role") == "assistant":
            turn = builder.add("assistant", said)
            waiting = _call(said)
            turn.calls = [waiting] if waiting else []
        elif waiting is not None:
            waiting.result = Result(text=_observation(said))
            waiting = None
        else:
            begun = any(turn.role == "assistant" for turn in builder.turns)
            builder.add("user", said).kind = "notice" if begun else ""
    return builder.thread


def _call(said: str) -> Call | None:
    if "<solution>" in said:
        tool, found = "solution", _SOLUTION.findall(said)
    else:
        tool, found = "execute", _EXECUTE.findall(said)
    arguments = "\n".join(block.strip() for block in found)
    return Call(tool=tool, arguments=arguments) if arguments else None


def _observation(said: str) -> str:
    """Take the environment's own words off: what is left is what the call returned."""
    said = said.removeprefix("Observation:").removeprefix("\n")
    return _STEPS_LEFT.sub("", said).rstrip("\n")
