"""AgentDojo runs: one JSON object a run, with utility and security.

Export: the JSON files in the folder `runs`, one a user task and attack.
Read: messages, calls, results with their error, whether the task was done; suites
derived from AgentDojo with their `evaluation`, `condition` and `seed`.
Not read: `trace`, the injections' texts.
Errors: `error` of a tool message, flag and text in one.
Outcomes: `utility` (or `evaluation.utility`), the task was done; `security`, the attack
was resisted, is kept as a score. A run with an `error` of its own is unknown.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Outcome,
    Record,
    Result,
    Score,
    Thread,
    Transcript,
    Unreadable,
)

from ._outcomes import outcome_of
from ._runs import Found, runs
from ._wrapper import tool_definitions
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    mapping,
    number,
    sequence,
    text,
    timestamp,
)

LABEL = "AgentDojo run"

_ERROR_TYPE = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt))\b")
_NAMES = (
    "user_task_id",
    "task_id",
    "attack_type",
    "condition",
    "injection_task_id",
    "seed",
)


def detect(head: bytes) -> float:
    """See a suite and a pipeline beside the messages."""
    seen = peek(head)
    if not {"suite_name", "pipeline_name"} <= seen.keys:
        return 0.0
    return 0.95 if "messages" in seen.keys else 0.6


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file."""
    for item in runs(stream, _is_run, "an AgentDojo run with `messages`"):
        yield item if isinstance(item, Unreadable) else _transcript(item)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("messages"), list) and "suite_name" in record


def _transcript(found: Found) -> Transcript:
    record = found.value
    evaluation = mapping(record.get("evaluation"))
    own, path = (evaluation, "evaluation.") if evaluation else (record, "")
    crashed = bool(record.get("error"))
    read_as = None if crashed else outcome_of(own.get("utility"))
    outcome: Outcome = read_as or "unknown"
    pipeline, suite = text(record.get("pipeline_name")), text(record.get("suite_name"))
    task = text(record.get("user_task_id", record.get("task_id")))
    marks = [text(record.get(name)) for name in _NAMES]
    run_id = text(record.get("run_id"))
    ended = timestamp(record.get("evaluation_timestamp", record.get("timestamp")))
    lasted = number(record.get("duration"))
    return Transcript(
        format="agentdojo",
        threads=[_thread(record, pipeline)],
        run_id=run_id or "/".join([pipeline, suite, *filter(None, marks)]),
        is_global_id=bool(run_id),
        task_id=f"{suite}/{task}",
        model=pipeline,
        agent_version=text(record.get("agentdojo_package_version")),
        source=suite,
        tags=[text(record[k]) for k in ("attack_type", "condition") if record.get(k)],
        started_at=ended - lasted if ended and lasted else ended,
        ended_at=ended,
        ending="crashed" if crashed else "",
        outcome=outcome,
        outcome_by=f"{path}utility" if outcome != "unknown" else "",
        scores=_scores(own),
        tools=tool_definitions(record.get("available_tools")),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _scores(own: dict[str, Json]) -> list[Score]:
    scores = []
    for name in ("utility", "security"):
        value = own.get(name)
        if value is not None:
            plain = value if isinstance(value, bool) else number(value)
            scores.append(Score(name, plain, higher_is_better=True))
    return scores


def _thread(record: dict[str, Json], model: str) -> Thread:
    builder = ThreadBuilder()
    for item in sequence(record.get("messages")):
        message = mapping(item)
        role = message.get("role")
        said = blocks_text(message.get("content"))
        if role == "tool":
            _add_result(builder, message, said)
        elif role == "assistant":
            turn = builder.add("assistant", said, model=model)
            for made in map(mapping, sequence(message.get("tool_calls"))):
                call = Call(
                    tool=text(made.get("function")),
                    arguments=text(made.get("args", made.get("arguments"))),
                    id=text(made.get("id")),
                )
                builder.call(turn, call)
        elif role in ("system", "user"):
            builder.add("system" if role == "system" else "user", said)
    return builder.thread


def _add_result(builder: ThreadBuilder, message: dict[str, Json], said: str) -> None:
    made = mapping(message.get("tool_call"))
    error = text(message.get("error"))
    kind = _ERROR_TYPE.match(error)
    builder.result(
        Result(
            text=said or error,
            is_error=bool(error) if "error" in message else None,
            flag="error" if "error" in message else "",
            error_code=kind.group(1) if kind else "",
        ),
        id=text(message.get("tool_call_id")) or text(made.get("id")),
        tool=text(made.get("function")),
    )
