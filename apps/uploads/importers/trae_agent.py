"""trae-agent trajectories: one JSON object a run.

Export: the file `trajectory_….json` that a run writes (`--trajectory-file`).
Read: the task, the steps with their replies, calls and results, times, tokens, how the
run ended.
Not read: `llm_interactions`, which say the same again, and reflections as turns of
their own.
Errors: `success` false of a tool result; its text is in `error`.
Outcomes: unknown. `success` is the agent's own claim (it called its last tool), no
check; it is kept as a score.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Record,
    Result,
    Score,
    ToolDefinition,
    Transcript,
    Unreadable,
)

from ._runs import Found, runs
from ._wrapper import tool_definitions
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    boolean,
    integer,
    mapping,
    number,
    sequence,
    text,
    timestamp,
)

LABEL = "trae-agent trajectory"


def detect(head: bytes) -> float:
    """See `agent_steps` beside `llm_interactions`, or beside the task."""
    seen = peek(head)
    if "agent_steps" in seen.keys and seen.keys & {"llm_interactions", "task"}:
        return 0.95
    if {"task", "llm_interactions", "max_steps"} <= seen.keys:
        return 0.9  # the first interactions fill the head
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file."""
    for item in runs(stream, _is_run, "a trae-agent run with `agent_steps`"):
        yield item if isinstance(item, Unreadable) else _transcript(item)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("agent_steps"), list) or (
        isinstance(record.get("llm_interactions"), list) and "max_steps" in record
    )


def _transcript(found: Found) -> Transcript:
    record = found.value
    model = text(record.get("model"))
    builder = ThreadBuilder()
    task = text(record.get("task"))
    if task:
        builder.add("user", task, at=timestamp(record.get("start_time")))
    for step in sequence(record.get("agent_steps")):
        _add_step(builder, mapping(step), model)
    interactions = sequence(record.get("llm_interactions"))
    first = mapping(interactions[0] if interactions else None)
    success = boolean(record.get("success"))
    return Transcript(
        format="trae_agent",
        threads=[builder.thread],
        title=task[:200],
        model=model,
        agent="trae-agent",
        started_at=timestamp(record.get("start_time")),
        ended_at=timestamp(record.get("end_time")),
        ending=_ending(record),
        scores=[] if success is None else [Score("success", success, True)],
        tools=_tools(first.get("tools_available")),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _tools(value: Json) -> list[ToolDefinition]:
    return tool_definitions(
        [{"name": item} if isinstance(item, str) else item for item in sequence(value)]
    )


def _add_step(builder: ThreadBuilder, step: dict[str, Json], model: str) -> None:
    at = timestamp(step.get("timestamp"))
    response = mapping(step.get("llm_response"))
    calls = [mapping(item) for item in sequence(step.get("tool_calls"))]
    calls = calls or [mapping(item) for item in sequence(response.get("tool_calls"))]
    results = sequence(step.get("tool_results"))
    error = text(step.get("error"))
    if calls or results or response:
        turn = builder.add(
            "assistant", text(response.get("content")), at=at, model=model
        )
        turn.reasoning = text(step.get("reflection"))
        usage = mapping(response.get("usage"))
        turn.input_tokens = integer(usage.get("input_tokens"))
        turn.output_tokens = integer(usage.get("output_tokens"))
        for made in calls:
            call = Call(
                tool=text(made.get("name")),
                arguments=text(made.get("arguments")),
                id=text(made.get("call_id", made.get("id"))),
                at=at,
            )
            builder.call(turn, call)
        for item in results:
            _add_result(builder, mapping(item), at)
    if error:  # the provider's or the program's, not a tool's
        builder.add("user", error, at=at).kind = "notice"


def _add_result(
    builder: ThreadBuilder, item: dict[str, Json], at: float | None
) -> None:
    success = boolean(item.get("success"))
    said, error = text(item.get("result")), text(item.get("error"))
    builder.result(
        Result(
            text="\n".join(part for part in (said, error) if part),
            is_error=None if success is None else not success,
            flag="" if success is None else "success",
            at=at,
        ),
        id=text(item.get("call_id", item.get("id"))),
        tool=text(item.get("name")),
    )


def _ending(record: dict[str, Json]) -> Ending:
    steps = [mapping(step) for step in sequence(record.get("agent_steps"))]
    last = steps[-1] if steps else {}
    if record.get("success") is True or last.get("state") == "completed":
        return "submitted"
    if last.get("error") or last.get("state") == "error":
        return "crashed"
    most, taken = number(record.get("max_steps")), number(last.get("step_number"))
    if most is not None and taken is not None and taken >= most:
        return "budget_spent"
    return "" if record.get("end_time") is None or steps else "crashed"
