"""Errata's own format: one run a line, as JSON.

Export: write a line `{"errata": 1, "run_id": …, "turns": […]}` for each run, and a line
`{"errata": 1, "run_id": …, "outcome": …, "by": …}` for an outcome that is known later.
`docs/errata-format.md` describes it, `docs/errata.schema.json` is its JSON Schema.
Read: all of it. A line that does not follow the schema is set aside with the place that
is wrong; the lines around it are read.
Not read: `meta`, which may hold what you like.
Errors: `is_error`, `exit_code`, `error_code` and `cause` of a result; without them, its
text.
Outcomes: `outcome` of a run, or of an outcome line.
"""

from collections.abc import Iterator
from typing import Annotated, Any, BinaryIO, Literal

import msgspec

from apps.runs.transcript import (
    Call,
    Ending,
    Outcome,
    OutcomeRecord,
    Record,
    Result,
    Role,
    Score,
    Thread,
    ToolDefinition,
    Transcript,
    Turn,
)

from ._documents import unreadable, values
from .head import peek
from .records import Document
from .values import Json, mapping, text, timestamp

LABEL = "Errata JSONL"
VERSION = 1

Version = Annotated[Literal[1], msgspec.Meta(description="Version of this format.")]
Time = Annotated[
    str | float | int,
    msgspec.Meta(description="ISO 8601 text, or a number of seconds since 1970 (UTC)."),
]
Count = Annotated[int, msgspec.Meta(ge=0)]


class ResultLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The answer to a call."""

    text: Annotated[str, msgspec.Meta(description="As the model read it.")] = ""
    is_error: bool | None = None
    flag: str = ""
    exit_code: int | None = None
    error_code: str = ""
    cause: Literal["", "failed", "rejected", "denied", "cancelled"] = ""
    pending: bool = False
    delivered: bool = True
    at: Time | None = None
    turns_before: Count | None = None


class CallLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A call of a tool. Without `result` it got none."""

    tool: Annotated[str, msgspec.Meta(min_length=1)]
    arguments: Annotated[
        Any, msgspec.Meta(description="Any JSON, or text as the model wrote it.")
    ] = None
    id: str = ""
    result: ResultLine | str | None = None
    at: Time | None = None


class TurnLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A message; an assistant's turn is one response of the model."""

    role: Role
    text: str = ""
    calls: list[CallLine] = []
    reasoning: str = ""
    kind: Literal["", "summary", "notice"] = ""
    at: Time | None = None
    model: str = ""
    input_tokens: Count | None = None
    output_tokens: Count | None = None


class ThreadLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Turns of one agent in one line of history."""

    turns: list[TurnLine]
    id: str = ""
    kind: Literal["main", "sub_agent", "branch"] | None = None
    agent: str = ""


class ScoreLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A score; it becomes an outcome only by a rule of the workspace."""

    name: str
    value: float | str | bool | None = None
    higher_is_better: bool | None = None


class ToolLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A tool that was offered to the agent."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    description: str = ""
    input_schema: dict[str, Any] | str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None


class RunLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One run: `turns` are its main thread, `threads` those of other agents."""

    errata: Version
    turns: list[TurnLine] = []
    threads: list[ThreadLine] = []
    run_id: str = ""
    is_global_id: Annotated[
        bool, msgspec.Meta(description="False: unique only inside this file.")
    ] = True
    is_part: bool = False
    forked_from: str = ""
    task_id: str = ""
    title: str = ""
    model: str = ""
    agent: str = ""
    agent_version: str = ""
    source: str = ""
    tags: list[str] = []
    started_at: Time | None = None
    ended_at: Time | None = None
    ending: Ending = ""
    outcome: Outcome = "unknown"
    outcome_by: str = ""
    scores: list[ScoreLine] = []
    tools: list[ToolLine] = []
    meta: dict[str, Any] = {}


class OutcomeLine(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How a run ended that is, or will be, in another line or file."""

    errata: Version
    outcome: Outcome
    by: Annotated[str, msgspec.Meta(min_length=1, description="Who or what said so.")]
    run_id: str = ""
    task_id: str = ""
    ending: Ending = ""
    note: str = ""
    meta: dict[str, Any] = {}


def schema() -> dict[str, Json]:
    """Give the JSON Schema (2020-12) of a line."""
    _, parts = msgspec.json.schema_components(
        (RunLine, OutcomeLine), ref_template="#/$defs/{name}"
    )
    needs = [{"required": [key]} for key in ("turns", "threads")]
    parts["RunLine"]["anyOf"] = needs
    names = [{"required": [key]} for key in ("run_id", "task_id")]
    parts["OutcomeLine"]["anyOf"] = names
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A line of Errata's own format",
        "anyOf": [{"$ref": f"#/$defs/{n}"} for n in ("RunLine", "OutcomeLine")],
        "$defs": parts,
    }


def detect(head: bytes) -> float:
    """See the key `errata` with a version."""
    seen = peek(head)
    if any(isinstance(record.get("errata"), int) for record in seen.objects):
        return 0.99
    is_cut = {"errata", "turns"} <= seen.keys and not seen.records
    return 0.95 if is_cut else 0.0


def lines_stand_alone(head: bytes) -> bool:
    """Whether each line is a record with its own id, so that a file can be cut."""
    seen = peek(head)
    return seen.is_lines and all(
        isinstance(record, dict) and "errata" in record and record.get("run_id")
        for record in seen.records
    )


def _is_line(value: Json) -> bool:
    return "errata" in mapping(value)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run or an outcome for each line."""
    for value in values(stream, _is_line):
        if value.json is None and value.fault is not None:
            yield value.fault
            continue
        try:
            record = _record(mapping(value.json), value.document)
        except ValueError as exc:  # msgspec's errors are such, and say where
            yield value.fault or unreadable(value.document, str(exc))
            continue
        if value.fault is not None and isinstance(record, Transcript):
            record.unreadable = [value.fault]
        yield record


def _record(line: dict[str, Json], document: Document) -> Transcript | OutcomeRecord:
    """Build a record; raise ValueError with the place that is wrong."""
    version = line.get("errata")
    if version != VERSION or isinstance(version, bool):
        reason = "the key “errata” must stand in each line, with the version 1"
        raise ValueError(reason)
    if "turns" in line or "threads" in line:
        return _transcript(msgspec.convert(line, RunLine), document)
    row = msgspec.convert(line, OutcomeLine)
    if not (row.run_id or row.task_id):
        reason = "an outcome needs the `run_id` or the `task_id` of its run"
        raise ValueError(reason)
    return OutcomeRecord(
        outcome=row.outcome,
        by=row.by,
        run_id=row.run_id,
        task_id=row.task_id,
        ending=row.ending,
        note=row.note,
        line=document.line,
        offset=document.offset,
    )


def _time(value: Time | None) -> float | None:
    found = timestamp(value)
    if value is not None and found is None:
        reason = f"“{value}” is no time: write ISO 8601 text or seconds since 1970"
        raise ValueError(reason)
    return found


def _transcript(line: RunLine, document: Document) -> Transcript:
    threads = [Thread(turns=[_turn(turn) for turn in line.turns])]
    threads = threads if line.turns or not line.threads else []
    for item in line.threads:
        turns = [_turn(turn) for turn in item.turns]
        kind = item.kind or ("sub_agent" if threads else "main")
        threads.append(Thread(turns, item.id, kind, item.agent))
    scores = [Score(s.name, s.value, s.higher_is_better) for s in line.scores]
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            input_schema=text(tool.input_schema),
            read_only=tool.read_only,
            destructive=tool.destructive,
            idempotent=tool.idempotent,
        )
        for tool in line.tools
    ]
    return Transcript(
        format="errata",
        threads=threads,
        run_id=line.run_id,
        is_global_id=line.is_global_id and bool(line.run_id),
        is_part=line.is_part,
        forked_from=line.forked_from,
        task_id=line.task_id,
        title=line.title,
        model=line.model,
        agent=line.agent,
        agent_version=line.agent_version,
        source=line.source,
        tags=line.tags,
        started_at=_time(line.started_at),
        ended_at=_time(line.ended_at),
        ending=line.ending,
        outcome=line.outcome,
        outcome_by=line.outcome_by or ("outcome" if line.outcome != "unknown" else ""),
        scores=scores,
        tools=tools,
        line=document.line,
        offset=document.offset,
    )


def _turn(line: TurnLine) -> Turn:
    return Turn(
        role=line.role,
        text=text(line.text),
        calls=[_call(call) for call in line.calls],
        reasoning=line.reasoning,
        kind=line.kind,
        at=_time(line.at),
        model=line.model,
        input_tokens=line.input_tokens,
        output_tokens=line.output_tokens,
    )


def _call(line: CallLine) -> Call:
    return Call(
        tool=line.tool,
        arguments=text(line.arguments),
        id=line.id,
        result=_result(line.result),
        at=_time(line.at),
    )


def _result(line: ResultLine | str | None) -> Result | None:
    if line is None:
        return None
    if isinstance(line, str):
        return Result(text=text(line))
    flag = line.flag or ("is_error" if line.is_error is not None else "")
    return Result(
        text=text(line.text),
        is_error=line.is_error,
        flag=flag,
        exit_code=line.exit_code,
        error_code=line.error_code,
        cause=line.cause,
        pending=line.pending,
        delivered=line.delivered,
        at=_time(line.at),
        turns_before=line.turns_before,
    )
