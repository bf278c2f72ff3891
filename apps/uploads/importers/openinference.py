"""OpenInference spans as Phoenix exports them.

Export: `client.get_spans_dataframe()` written with `to_json(orient="records")`, the
spans of the REST API, or lines of spans.
Read: spans of kind TOOL, LLM and AGENT; attributes flat or nested, also with the dotted
column names of a data frame. A trace is a run, nested agents are threads. Rows of
annotations in the same file are scores of their trace.
Not read: chains, retrievers, embeddings; documents.
Errors: `status_code: ERROR` with its message, or an `exception` event. An exception
after which the model is not asked again never reached it.
Outcomes: annotations have no direction, so the outcome stays unknown. A root agent's
span with an error status: crashed.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from apps.runs.transcript import Record, Score, Unreadable

from ._documents import unreadable, values
from ._message_lists import decoded
from ._span_attributes import Attributes, Event, fill
from ._span_threads import build
from ._spans import Span, Traces
from ._wrapper import score_value
from .head import peek
from .values import Json, mapping, sequence, text, timestamp

LABEL = "OpenInference (Phoenix)"

_IDS = ("context.span_id", "span_id", "id")
_TRACES = ("context.trace_id", "trace_id")
_KINDS = ("TOOL", "LLM", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "RERANKER")


def detect(head: bytes) -> float:
    """See spans with a trace's id and a `span_kind` of OpenInference."""
    seen = peek(head)
    spans = [mapping(item) for r in seen.records for item in _listed(r)]
    hits = [span for span in spans if _is_span(span)]
    return 0.95 if hits and len(hits) >= len(spans) / 3 else 0.0


def _listed(record: Json) -> list[Json]:
    """Give the spans of a line that is a list, of the REST API's answer, or itself."""
    data = mapping(record).get("data")
    return data if isinstance(data, list) else sequence(record)


def _is_span(span: dict[str, Json]) -> bool:
    attributes = Attributes(span)
    kind = text(span.get("span_kind", attributes.get("openinference.span.kind")))
    is_kind = kind.upper() in _KINDS or "status_code" in span
    return is_kind and "span_kind" in span and bool(attributes.first(_TRACES))


def _has_spans(value: Json) -> bool:
    return any(_is_span(mapping(item)) for item in _listed(value))


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each trace."""
    traces = Traces(partial(build, "openinference"))
    faults: list[Unreadable] = []
    for value in values(stream, _has_spans):
        if value.fault is not None:
            faults.append(value.fault)
        for item in _listed(value.json):
            record = mapping(item)
            source = Attributes(record)
            trace_id = text(source.first(_TRACES))
            if trace_id and "span_kind" in record:
                span = _span(record, trace_id)
                yield from traces.add(span, value.document)
            elif trace_id and "name" in record:
                score = Score(text(record["name"]), score_value(record))
                traces.trace(trace_id, value.document).scores.append(score)
            else:
                faults.append(unreadable(value.document, "not a span with a trace"))
    for run in traces.finish():
        run.is_global_id = True
        yield run
    yield from faults


def _span(record: dict[str, Json], trace_id: str) -> Span:
    source = Attributes(record)
    attributes = mapping(decoded(record.get("attributes")))
    for key, value in record.items():
        if key.startswith("attributes."):
            attributes[key.removeprefix("attributes.")] = value
    kind = text(record.get("span_kind")).upper()
    if kind in _KINDS:
        attributes = {"openinference.span.kind": kind, **attributes}
    status = text(record.get("status_code")).upper()
    span = Span(
        id=text(source.first(_IDS)),
        parent=text(record.get("parent_id")),
        trace=trace_id,
        name=text(record.get("name")),
        start=timestamp(record.get("start_time")),
        end=timestamp(record.get("end_time")),
        error_text=text(record.get("status_message")),
    )
    if status in ("ERROR", "OK"):
        span.failed, span.flag = status == "ERROR", "status_code"
    events = []
    for event in map(mapping, sequence(decoded(record.get("events")))):
        inner = mapping(event.get("attributes")) or event
        events.append(Event(text(event.get("name")), inner))
    fill(span, Attributes(attributes), events)
    span.run = ""  # a session groups traces; each is a run of its own
    return span
