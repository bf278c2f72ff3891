"""Gemini CLI telemetry log: JSON log records, pretty-printed one after another.

Export: set `telemetry.outfile` in the settings of Gemini CLI.
Read: prompts, the model's responses (tokens), calls with success, error and decision; a
run for each `session.id`, its records in file order.
Not read: metrics and spans, what was said, what a tool gave back. Use the chat file
where there is one: it says more.
Errors: `success` false, with `error` and `error_type`; a decision to reject is a
denial.
Outcomes: not in the file.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Turn, Unreadable

from ._objects import id_text, objects
from .head import peek
from .thread import ThreadBuilder
from .values import Json, boolean, integer, mapping, text, timestamp

LABEL = "Gemini CLI telemetry"

_NAME = "event.name"
_LEAD = "gemini_cli."
_NOT_RECORDED = "[the log does not hold the result]"


def detect(head: bytes) -> float:
    """See log records whose attributes hold an event of Gemini CLI."""
    seen = peek(head)
    for record in seen.objects:
        if _event(record):
            return 0.95
    marks = (b'"event.name"', b'"gemini_cli.')
    return 0.8 if seen.cut and all(mark in seen.cut for mark in marks) else 0.0


def _event(record: dict[str, Json]) -> str:
    name = mapping(record.get("attributes")).get(_NAME)
    return name if isinstance(name, str) and name.startswith(_LEAD) else ""


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each session in the log."""
    runs: dict[str, _Run] = {}
    lost: list[Unreadable] = []
    for _, record in objects(stream):
        if isinstance(record, Unreadable):
            lost.append(record)
        elif event := _event(record):
            attributes = mapping(record["attributes"])
            key = id_text(attributes.get("session.id"))
            runs.setdefault(key, _Run(key)).add(event.removeprefix(_LEAD), attributes)
    for run in runs.values():
        yield from run.records()
    yield from lost


class _Run:
    """Builds the run of one session."""

    def __init__(self, run_id: str) -> None:
        self._id = run_id
        self._builder = ThreadBuilder()
        self._turn: Turn | None = None
        self._model = ""
        self._times: list[float] = []

    def add(self, event: str, attributes: dict[str, Json]) -> None:
        at = timestamp(attributes.get("event.timestamp"))
        if at is not None:
            self._times.append(at)
        self._model = self._model or text(attributes.get("model"))
        if event == "user_prompt":
            self._turn = None
            self._builder.add("user", text(attributes.get("prompt")), at=at)
        elif event == "api_response":
            model = text(attributes.get("model"))
            self._turn = self._builder.add("assistant", at=at, model=model)
            self._turn.input_tokens = integer(attributes.get("input_token_count"))
            self._turn.output_tokens = integer(attributes.get("output_token_count"))
        elif event == "api_error":
            said = text(attributes.get("error", attributes.get("error.message")))
            self._builder.add("system", said, at=at).kind = "notice"
        elif event == "tool_call":
            self._call(attributes, at)

    def _call(self, attributes: dict[str, Json], at: float | None) -> None:
        if self._turn is None:
            self._turn = self._builder.add("assistant", at=at)
        tool = text(attributes.get("function_name"))
        arguments = text(attributes.get("function_args"))
        call = self._builder.call(
            self._turn, Call(tool=tool, arguments=arguments, at=at)
        )
        success = boolean(attributes.get("success"))
        error = text(attributes.get("error", attributes.get("error.message")))
        result = Result(error or _NOT_RECORDED, at=at)
        if success is not None:
            result.is_error, result.flag = not success, "success"
        result.error_code = text(
            attributes.get("error_type", attributes.get("error.type"))
        )
        if attributes.get("decision") == "reject":
            result.cause = "denied"
        self._builder.answer(call, result)

    def records(self) -> Iterator[Record]:
        if self._builder.turns:
            yield Transcript(
                format="gemini_telemetry",
                threads=[self._builder.thread],
                run_id=self._id,
                is_global_id=bool(self._id),
                model=self._model,
                agent="Gemini CLI",
                started_at=min(self._times, default=None),
                ended_at=max(self._times, default=None),
                line=1,
                offset=0,
            )
