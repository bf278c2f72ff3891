"""Langfuse traces.

Export: a trace's download (`{"trace", "observations"}`), the API's answer for a trace
or for observations, or the table's export as JSONL; many traces in one file are read
too.
Read: observations of type TOOL, GENERATION and AGENT, and spans that their attributes
or their output show to be tools; texts that were encoded as JSON again and again;
scores. A trace is a run. The result of a call is what a later request tells the model,
else what the tool's observation holds.
Not read: events, prompts, costs; CSV. A download without input and output has names,
levels and times alone (results then read `[not recorded]`).
Errors: `level: ERROR` with `statusMessage`; flags inside a result (`status`,
`isError`). Frameworks often catch the error and write it as output: then its text
decides.
Outcomes: `scores` have no direction in the file, so the outcome stays unknown. A root
observation with level ERROR: crashed.
"""

from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from ._documents import odd_item, unreadable, values
from ._message_lists import arguments_of, decoded, said_in
from ._said import first
from ._span_attributes import Attributes, fill, kind_of, set_result
from ._span_threads import build
from ._spans import Kind, Span, Trace, Traces
from ._wrapper import scores_of
from .head import peek
from .records import Document
from .values import Json, integer, mapping, sequence, text, timestamp

LABEL = "Langfuse"

_KINDS: dict[str, Kind] = {"TOOL": "tool", "GENERATION": "model", "AGENT": "agent"}
_TYPES = ("SPAN", "GENERATION", "EVENT", *_KINDS, "CHAIN", "RETRIEVER", "EVALUATOR")
_LEVELS = ("DEBUG", "DEFAULT", "WARNING", "ERROR")


def detect(head: bytes) -> float:
    """See a trace with its observations, or observations alone."""
    seen = peek(head)
    for record in seen.objects[:5]:
        if isinstance(record.get("observations"), list):
            return 0.95 if "trace" in record or _is_trace(record) else 0.0
        listed = sequence(record.get("data")) or [record]
        if _is_observation(mapping(listed[0])):
            return 0.9
    marks = (b'"projectId"', b'"bookmarked"', b'"parentObservationId"', b'"traceId"')
    is_cut = "trace" in seen.keys or {"id", "timestamp"} <= seen.keys
    return 0.9 if is_cut and sum(mark in seen.cut for mark in marks) > 1 else 0.0


def _is_trace(record: dict[str, Json]) -> bool:
    return "id" in record and ("timestamp" in record or "projectId" in record)


def _has_observations(value: Json) -> bool:
    return isinstance(mapping(value).get("observations"), list)


def _is_observation(value: Json) -> bool:
    """Whether this is one observation, in either spelling of its keys."""
    record = mapping(value)
    if first(record, ("traceId", "trace_id")) is None:
        return False
    return record.get("type") in _TYPES and record.get("level") in (*_LEVELS, None)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each trace."""
    traces = Traces(partial(build, "langfuse"))
    faults: list[Unreadable] = []
    for value in values(stream, _has_observations, _is_observation):
        record = mapping(value.json)
        if _has_observations(record):
            yield from _trace(record, value.document, value.fault)
            continue
        if value.fault is not None:
            faults.append(value.fault)
            continue
        for item in sequence(record.get("data")) or [record]:
            observation = mapping(item)
            if _is_observation(observation):
                trace_id = text(first(observation, ("traceId", "trace_id")))
                yield from traces.add(_span(observation, trace_id), value.document)
            else:
                reason = "neither a trace with observations nor an observation"
                faults.append(unreadable(value.document, reason))
    for run in traces.finish():
        run.is_global_id = True
        yield run
    yield from faults


def _trace(
    record: dict[str, Json], document: Document, fault: Unreadable | None
) -> Iterator[Record]:
    """Yield the run of one trace that stands with its observations."""
    about = mapping(decoded(record.get("trace"))) or record
    trace_id = text(about.get("id"))
    traces = Traces(partial(build, "langfuse"))
    trace = traces.trace(trace_id, document)
    trace.unreadable = [fault] if fault is not None else []
    for item in record["observations"]:
        if isinstance(item, dict):
            trace.add(_span(item, trace_id))
        else:
            trace.unreadable.append(odd_item(item, document, "an observation"))
    _describe(trace, about)
    found = list(traces.finish())
    for run in found:
        run.is_global_id = bool(trace_id)
        yield run
    if not found:
        reason = "no observation of a model, an agent or a tool"
        yield fault or unreadable(document, reason)


def _describe(trace: Trace, about: dict[str, Json]) -> None:
    trace.about.title = text(about.get("name"))
    trace.about.tags = [text(tag) for tag in sequence(about.get("tags"))]
    trace.about.started_at = timestamp(about.get("timestamp"))
    trace.about.agent_version = text(about.get("version"))
    trace.about.scores = scores_of(about.get("scores"))


def _span(source: dict[str, Json], trace_id: str) -> Span:
    about = mapping(decoded(source.get("metadata")))
    attributes = Attributes(mapping(decoded(about.get("attributes"))))
    kind = text(source.get("type"))
    name = text(source.get("name"))
    end = timestamp(first(source, ("endTime", "end_time")))
    span = Span(
        id=text(source.get("id")),
        parent=text(first(source, ("parentObservationId", "parent_observation_id"))),
        trace=trace_id,
        name=name,
        kind=_KINDS.get(kind) or _hidden_kind(source, name, attributes),
        start=timestamp(first(source, ("startTime", "start_time"))),
        end=end,
        error_text=text(first(source, ("statusMessage", "status_message"))),
        model=text(source.get("model")),
    )
    if source.get("level") == "ERROR":
        span.failed, span.flag = True, "level"
    asked, answered = decoded(source.get("input")), decoded(source.get("output"))
    namespace = text(about.get("langgraph_checkpoint_ns"))
    span.scope = namespace.rpartition("|")[0]
    if span.kind == "tool":
        fill(span, attributes, [])
        if asked not in (None, {}):
            span.arguments = arguments_of(about.get("inputs", asked))
        _set_output(span, attributes, answered)
    elif span.kind == "model":
        usage = mapping(first(source, ("usageDetails", "usage_details", "usage")))
        span.input_tokens = integer(first(usage, ("input", "promptTokens")))
        span.output_tokens = integer(first(usage, ("output", "completionTokens")))
        span.inputs, span.outputs = said_in(asked), said_in(answered)
        fill(span, attributes, [])
    elif span.kind == "agent":
        fill(span, attributes, [])
    span.run = ""  # a session groups traces; each is a run of its own
    return span


def _hidden_kind(source: dict[str, Json], name: str, attributes: Attributes) -> Kind:
    """Tell what a plain span is: many SDKs log tools without saying so."""
    if text(source.get("type")) not in ("SPAN", "CHAIN", ""):
        return ""
    output = mapping(decoded(source.get("output")))
    if output.get("type") == "tool" and "tool_call_id" in output:
        return "tool"
    kind = kind_of(name, attributes)
    return kind if kind in ("tool", "agent") else ""


def _set_output(span: Span, attributes: Attributes, answered: Json) -> None:
    """Prefer the observation's output; an empty one may hide what an attribute has."""
    if answered not in (None, {}):
        span.result = None
        set_result(span, answered)
    elif span.result is None:
        set_result(span, answered)
    if span.result in ("", "{}"):
        fuller = attributes.first(("gcp.vertex.agent.tool_response", "output.value"))
        set_result(span, fuller)
