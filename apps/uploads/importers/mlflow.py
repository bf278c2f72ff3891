"""MLflow traces, versions 2 and 3.

Export: `trace.to_json()`, `mlflow traces get`, or `search_traces(return_type="list")`
written as JSON; one trace a file, a line, or an item of a list.
Read: spans of type TOOL, LLM, CHAT_MODEL and AGENT with their inputs and outputs, whose
attributes are JSON text each. A trace is a run.
Not read: retrievers, chains, artifacts, links.
Errors: the span's status and its `exception` event; `info.state` is OK also where a
tool failed and the agent went on.
Outcomes: `assessments` are scores without a known direction, so the outcome stays
unknown. `info.state: ERROR`: crashed.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from apps.runs.transcript import Record, Score, Unreadable

from ._documents import odd_item, unreadable, values
from ._message_lists import arguments_of, decoded, said_in
from ._said import first
from ._span_attributes import Attributes, Event, fill, set_result
from ._span_threads import build
from ._spans import Kind, Span, Traces
from ._wrapper import score_value, tool_definitions
from .head import peek
from .records import Document
from .values import Json, mapping, sequence, text, timestamp

LABEL = "MLflow traces"

_KINDS: dict[str, Kind] = {
    "TOOL": "tool",
    "LLM": "model",
    "CHAT_MODEL": "model",
    "AGENT": "agent",
}
_IDS = ("trace_id", "request_id")


def detect(head: bytes) -> float:
    """See an object with `info` that names the trace, and `data` with spans."""
    seen = peek(head)
    if any(_is_trace(record) for record in seen.objects):
        return 0.95
    is_cut = {"info", "data"} <= seen.keys and b'"mlflow.' in seen.cut
    return 0.9 if is_cut and b'"spans"' in seen.cut else 0.0


def _is_trace(value: Json) -> bool:
    record = mapping(value)
    data = mapping(decoded(record.get("data")))
    info = mapping(record.get("info"))
    return "spans" in data and first(info, _IDS) is not None


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each trace."""
    for value in values(stream, _is_trace):
        record = mapping(value.json)
        if _is_trace(record):
            yield from _run(record, value.document, value.fault)
        else:
            reason = "no `info` with a trace's id beside `data` with spans"
            yield value.fault or unreadable(value.document, reason)


def _run(
    record: dict[str, Json], document: Document, fault: Unreadable | None
) -> Iterator[Record]:
    info = mapping(record.get("info"))
    data = mapping(decoded(record.get("data")))
    run_id = text(first(info, _IDS))
    traces = Traces(partial(build, "mlflow"))
    trace = traces.trace(run_id, document)
    trace.unreadable = [fault] if fault is not None else []
    for item in sequence(data.get("spans")):
        if isinstance(item, dict):
            trace.add(_span(item, run_id))
        else:
            trace.unreadable.append(odd_item(item, document, "a span"))
    about = trace.about
    tags = mapping(info.get("tags"))
    about.title = text(tags.get("mlflow.traceName"))
    about.scores = _scores(info.get("assessments"))
    about.started_at = timestamp(first(info, ("request_time", "timestamp_ms")))
    found = list(traces.finish())
    for run in found:
        run.is_global_id = True
        if first(info, ("state", "status")) == "ERROR":
            run.ending = "crashed"
        yield run
    if not found:
        yield fault or unreadable(document, "no span of a model, an agent or a tool")


def _scores(assessments: Json) -> list[Score]:
    """Read feedback on a trace; which way is better is not in the file."""
    scores = []
    for item in map(mapping, sequence(assessments)):
        feedback = mapping(item.get("feedback")) or item
        name = text(first(item, ("assessment_name", "name")))
        if name and "expectation" not in item:
            scores.append(Score(name, score_value(feedback)))
    return scores


def _span(source: dict[str, Json], trace_id: str) -> Span:
    stored = mapping(source.get("attributes"))
    attributes = {key: decoded(stored[key], 1) for key in stored}
    context = mapping(source.get("context"))
    status = source.get("status")
    code = mapping(status).get("code", source.get("status_code", status))
    message = mapping(status).get("message", source.get("status_message"))
    word = text(code).upper().removeprefix("STATUS_CODE_")
    span = Span(
        id=text(source.get("span_id", context.get("span_id"))),
        parent=text(first(source, ("parent_span_id", "parent_id"))),
        trace=trace_id,
        name=text(source.get("name")),
        kind=_KINDS.get(text(attributes.get("mlflow.spanType")), ""),
        start=timestamp(first(source, ("start_time_unix_nano", "start_time"))),
        end=timestamp(first(source, ("end_time_unix_nano", "end_time"))),
        error_text=text(message),
    )
    if word in ("ERROR", "OK"):
        span.failed, span.flag = word == "ERROR", "status.code"
    asked, answered = (attributes.get(f"mlflow.span{k}") for k in ("Inputs", "Outputs"))
    if span.kind == "tool":
        span.tool = text(attributes.get("mlflow.spanFunctionName")) or span.name
        span.arguments = arguments_of(asked)
        set_result(span, answered)
    elif span.kind == "model":
        span.inputs, span.outputs = said_in(asked), said_in(answered)
        span.model = text(mapping(asked).get("model"))
        usage = mapping(mapping(answered).get("usage"))
        attributes = {**_usage(usage), **attributes}
    events = [
        Event(text(event.get("name")), mapping(event.get("attributes")))
        for event in map(mapping, sequence(source.get("events")))
    ]
    tool = span.tool
    fill(span, Attributes(attributes), events)
    span.tool = tool or span.tool
    span.run = ""
    span.tools = span.tools or tool_definitions(attributes.get("mlflow.chat.tools"))
    return span


def _usage(usage: dict[str, Json]) -> dict[str, Json]:
    """Give token counts the names that other tracers use."""
    asked = first(usage, ("prompt_tokens", "input_tokens"))
    made = first(usage, ("completion_tokens", "output_tokens"))
    return {"gen_ai.usage.input_tokens": asked, "gen_ai.usage.output_tokens": made}
