"""OpenTelemetry traces of agents: OTLP/JSON, Tempo, Jaeger, and the console exporter.

Export: the collector's file exporter (lines of `resourceSpans`), Tempo's or Jaeger's
download of a trace, or what the console exporter prints.
Read: spans of tools, models and agents by the GenAI conventions, those of
OpenInference, OpenLLMetry, the Vercel AI SDK, Google ADK and PydanticAI. One
conversation (`gen_ai.conversation.id`, `session.id`) is a run, else one trace; an
agent's spans are a thread. A request that two instrumentations wrote counts once. The
result of a call is what a later request tells the model, else what the tool's span
holds.
Not read: spans of other kinds; traces without any of these; content that the tracer
leaves out (results then read `[not recorded]`).
Errors: status code 2, an `exception` event, `error.type`, `isError` in a result. An
exception after which the model is not asked again never reached it.
Outcomes: not in the spans. A root agent's span with an error status: crashed.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from ._documents import odd_item, unreadable, values
from ._span_attributes import Attributes, Event, fill
from ._span_threads import build
from ._spans import Span, Traces
from ._wrapper import is_global
from .head import peek
from .records import Document
from .values import Json, boolean, mapping, sequence, text, timestamp

LABEL = "OpenTelemetry GenAI"

_RESOURCES = ("resourceSpans", "batches", "resource_spans")
_SCOPES = ("scopeSpans", "instrumentationLibrarySpans", "scope_spans")
_GENAI = (b'"gen_ai.', b"openinference.span.kind", b'"ai.operationId"', b"traceloop.")


def detect(head: bytes) -> float:
    """See one of the four containers; surest with attributes of agents."""
    seen = peek(head)
    for record in [*seen.objects[:5], dict.fromkeys(seen.keys)]:
        if "resourceSpans" in record or "resource_spans" in record:
            return 0.95
        if "batches" in record and (not seen.cut or b'"spans"' in head):
            return 0.9 if b'"spanId"' in head else 0.0
        if "data" in record and b'"traceID"' in head and b'"processes"' in head:
            return 0.95
        if _is_console(record):
            return 0.9
    is_jaeger = "data" in seen.keys and b'"traceID"' in head and b'"spans"' in head
    return 0.9 if is_jaeger and any(key in head for key in _GENAI) else 0.0


def _is_console(record: dict[str, Json]) -> bool:
    context = mapping(record.get("context"))
    kind = text(record.get("kind"))
    return "trace_id" in context and kind.startswith("SpanKind.")


def _is_container(value: Json) -> bool:
    return _spans(mapping(value)) is not None


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each conversation or trace that an agent left spans in."""
    traces = Traces(partial(build, "otel_genai"))
    faults: list[Unreadable] = []
    for value in values(stream, _is_container):
        if value.fault is not None:
            faults.append(value.fault)
        record = mapping(value.json)
        found = _spans(record)
        if found is None and value.fault is None:
            faults.append(unreadable(value.document, "no container of spans"))
        for span in found or []:
            if isinstance(span, Span):
                yield from traces.add(span, value.document)
            else:
                faults.append(odd_item(span, value.document, "a span"))
    for run in traces.finish():
        run.is_global_id = is_global(run.run_id)
        yield run
    yield from faults
    if not traces.built and not faults:
        reason = "no span in this file is of a model, an agent or a tool"
        yield unreadable(Document(b"", 1, 0), reason)


def _spans(record: dict[str, Json]) -> Iterator[Span | Json] | None:
    """Give the spans of a container; None where the object is none."""
    for key in _RESOURCES:
        if isinstance(record.get(key), list):
            return _otlp(record[key])
    data = record.get("data")
    if isinstance(data, list) or isinstance(record.get("spans"), list):
        return _jaeger(data if isinstance(data, list) else [record])
    return iter([_console(record)]) if _is_console(record) else None


def _otlp(resources: list[Json]) -> Iterator[Span | Json]:
    for resource in map(mapping, resources):
        for key in _SCOPES:
            for scope in map(mapping, sequence(resource.get(key))):
                for item in sequence(scope.get("spans")):
                    yield _otlp_span(item) if isinstance(item, dict) else item


def _any_value(value: Json, depth: int = 0) -> Json:
    """Decode an attribute's value: one key says its type."""
    source = mapping(value)
    for kind, inner in source.items():
        if kind == "arrayValue" and depth < 20:
            items = sequence(mapping(inner).get("values"))
            return [_any_value(item, depth + 1) for item in items]
        if kind == "kvlistValue" and depth < 20:
            return _key_values(mapping(inner).get("values"), depth + 1)
        return inner
    return None if isinstance(value, dict) else value


def _key_values(attributes: Json, depth: int = 0) -> dict[str, Json]:
    if isinstance(attributes, dict):
        return attributes
    pairs = map(mapping, sequence(attributes))
    return {text(p.get("key")): _any_value(p.get("value"), depth) for p in pairs}


def _otlp_span(source: dict[str, Json]) -> Span:
    status = mapping(source.get("status"))
    span = Span(
        id=text(source.get("spanId", source.get("span_id"))),
        parent=text(source.get("parentSpanId", source.get("parent_span_id"))),
        trace=text(source.get("traceId", source.get("trace_id"))),
        name=text(source.get("name")),
        start=timestamp(source.get("startTimeUnixNano")),
        end=timestamp(source.get("endTimeUnixNano")),
        error_text=text(status.get("message")),
    )
    _set_status(span, text(status.get("code")))
    events = [
        Event(text(event.get("name")), _key_values(event.get("attributes")))
        for event in map(mapping, sequence(source.get("events")))
    ]
    fill(span, Attributes(_key_values(source.get("attributes"))), events)
    return span


def _set_status(span: Span, code: str) -> None:
    """Take the status; unset is neither success nor failure."""
    word = code.upper().removeprefix("STATUS_CODE_").removeprefix("STATUSCODE.")
    if word in ("2", "ERROR"):
        span.failed, span.flag = True, "status.code"
    elif word in ("1", "OK"):
        span.failed, span.flag = False, "status.code"


def _jaeger(traces: list[Json]) -> Iterator[Span | Json]:
    for trace in map(mapping, traces):
        for item in sequence(trace.get("spans")):
            yield _jaeger_span(item) if isinstance(item, dict) else item


def _tags(tags: Json) -> dict[str, Json]:
    pairs = map(mapping, sequence(tags))
    return {text(pair.get("key")): pair.get("value") for pair in pairs}


def _jaeger_span(source: dict[str, Json]) -> Span:
    tags = _tags(source.get("tags"))
    references = [mapping(item) for item in sequence(source.get("references"))]
    parents = [r for r in references if r.get("refType") in ("CHILD_OF", None)]
    start = timestamp(source.get("startTime"))
    duration = timestamp(source.get("duration"))
    span = Span(
        id=text(source.get("spanID")),
        parent=text((parents or [{}])[0].get("spanID")),
        trace=text(source.get("traceID")),
        name=text(source.get("operationName")),
        start=start,
        end=_after(start, source.get("duration")) if duration is not None else start,
        error_text=text(tags.get("otel.status_description")),
    )
    _set_status(span, text(tags.get("otel.status_code")))
    if boolean(tags.get("error")) is True:
        span.failed, span.flag = True, "error"
    events = []
    for log in map(mapping, sequence(source.get("logs"))):
        fields = _tags(log.get("fields"))
        events.append(Event(text(fields.get("event")), fields))
    fill(span, Attributes(tags), events)
    return span


def _after(start: float | None, microseconds: Json) -> float | None:
    if start is None or not isinstance(microseconds, (int, float)):
        return start
    return start + microseconds / 1e6


def _console(record: dict[str, Json]) -> Span:
    """Read one span as the console exporter prints it, at its start or its end."""
    context = mapping(record.get("context"))
    status = mapping(record.get("status"))
    end = timestamp(record.get("end_time"))
    span = Span(
        id=text(context.get("span_id")),
        parent=text(record.get("parent_id")),
        trace=text(context.get("trace_id")).removeprefix("0x"),
        name=text(record.get("name")),
        start=timestamp(record.get("start_time")),
        end=end,
        error_text=text(status.get("description")),
        is_open=end is None,
    )
    _set_status(span, text(status.get("status_code")))
    events = [
        Event(text(event.get("name")), mapping(event.get("attributes")))
        for event in map(mapping, sequence(record.get("events")))
    ]
    fill(span, Attributes(mapping(record.get("attributes"))), events)
    return span
