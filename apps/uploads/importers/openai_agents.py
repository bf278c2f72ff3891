"""OpenAI Agents SDK traces.

Export: what a trace processor exports: `{"traces": […]}` with spans inside, the batches
`{"data": […]}` that the SDK posts, or traces and spans as lines (`trace`,
`trace.span`).
Read: function, hand-off, response, generation and agent spans; traces of one `group_id`
are one run. The SDK leaves the model's answers out of its export: where a processor
adds `response` and `input`, they are read.
Not read: guardrails, speech, lists of MCP tools, custom spans.
Errors: `error` of a function span. An exception after which the model is not asked
again never reached it. By default the model reads one fixed text for every failure,
which the traces do not hold: then the text here is the tracer's.
Outcomes: not in the file. A root agent's span with an error: crashed.
"""

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Unreadable

from ._documents import odd_item, unreadable, values
from ._message_lists import arguments_of, decoded, said_in
from ._said import NOT_RECORDED, Answer, Said, first
from ._span_attributes import set_result
from ._span_threads import build
from ._spans import Kind, Span, Traces
from ._wrapper import is_global, tool_definitions
from .head import peek
from .records import Document
from .values import Json, integer, mapping, sequence, text, timestamp

LABEL = "OpenAI Agents SDK traces"

_KINDS: dict[str, Kind] = {
    "function": "tool",
    "handoff": "tool",
    "response": "model",
    "generation": "model",
    "agent": "agent",
}
_STRING = r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# Some processors write a response with Python's repr().
_TEXT = re.compile(rf"ResponseOutputText\(.{{0,20000}}?\btext={_STRING}", re.DOTALL)
_CALL = re.compile(
    rf"ResponseFunctionToolCall\(arguments={_STRING}, call_id={_STRING}, name={_STRING}"
)
_MAX_PRINTED = 256 << 10
_SEARCH = re.compile(rf"ResponseFunctionWebSearch\(id={_STRING}, action=(\w+\(.*?\))")


def detect(head: bytes) -> float:
    """See objects `trace` and `trace.span`."""
    seen = peek(head)
    if any(_is_known(record) for record in seen.records):
        return 0.95
    is_cut = b'"trace.span"' in seen.cut or b'"object":"trace"' in seen.cut
    return 0.9 if is_cut and b'"workflow_name"' in seen.cut else 0.0


def _items(record: Json) -> list[Json]:
    """Give the traces and spans of a container."""
    source = mapping(record)
    for key in ("traces", "data"):
        items = source.get(key)
        if isinstance(items, list):
            return items
    return sequence(record)


def _is_known(value: Json) -> bool:
    kinds = [mapping(item).get("object") for item in _items(value)]
    return "trace" in kinds or "trace.span" in kinds


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each group of traces, or each trace without a group."""
    traces = Traces(partial(build, "openai_agents"))
    faults: list[Unreadable] = []
    for value in values(stream, _is_known):
        if value.fault is not None:
            faults.append(value.fault)
        for item in _items(value.json):
            source = mapping(item)
            if source.get("object") == "trace":
                yield from _trace(traces, source, value.document, faults)
            elif source.get("object") == "trace.span":
                yield from traces.add(_span(source), value.document)
            else:
                faults.append(unreadable(value.document, "neither a trace nor a span"))
    for run in traces.finish():
        run.is_global_id = is_global(run.run_id)
        yield run
    yield from faults


def _trace(
    traces: Traces,
    source: dict[str, Json],
    document: Document,
    faults: list[Unreadable],
) -> Iterator[Record]:
    trace_id = text(first(source, ("id", "trace_id")))
    trace = traces.trace(trace_id, document)
    trace.run = text(source.get("group_id"))
    trace.about.title = text(source.get("workflow_name"))
    for item in sequence(source.get("spans")):
        if isinstance(item, dict):
            yield from traces.add(_span({"trace_id": trace_id, **item}), document)
        else:
            faults.append(odd_item(item, document, "a span"))


def _span(source: dict[str, Json]) -> Span:
    data = mapping(source.get("span_data"))
    kind = text(data.get("type"))
    error = mapping(source.get("error"))
    span = Span(
        id=text(first(source, ("id", "span_id"))),
        parent=text(source.get("parent_id")),
        trace=text(source.get("trace_id")),
        kind=_KINDS.get(kind, ""),
        name=text(data.get("name")),
        start=timestamp(source.get("started_at")),
        end=timestamp(source.get("ended_at")),
    )
    if error:
        span.failed, span.flag = True, "error"
        details = mapping(error.get("data")).get("error")
        message = text(error.get("message"))
        span.error_text = f"{message}: {text(details)}" if details else message
    if kind == "function":
        span.tool = span.name
        span.arguments = arguments_of(data.get("input"))
        set_result(span, data.get("output"))
    elif kind == "handoff":
        span.tool = f"transfer_to_{text(data.get('to_agent'))}"
        span.result = ""
    elif kind == "agent":
        span.agent = span.name
    elif kind in ("response", "generation"):
        _fill_model(span, source, data)
    return span


def _fill_model(span: Span, source: dict[str, Json], data: dict[str, Json]) -> None:
    """Read a request as far as the processor wrote it."""
    asked = first(data, ("input",)) or source.get("span_data_input")
    span.inputs = said_in(asked)
    answered = decoded(first(data, ("response", "output")) or source.get("response"))
    if isinstance(answered, str) and answered.startswith("Response("):
        span.outputs = _printed(answered[:_MAX_PRINTED])
        return
    span.outputs = said_in(answered)
    response = mapping(answered)
    span.model = text(data.get("model") or response.get("model"))
    usage = mapping(data.get("usage") or response.get("usage"))
    given = first(usage, ("input_tokens", "prompt_tokens"))
    made = first(usage, ("output_tokens", "completion_tokens"))
    span.input_tokens, span.output_tokens = integer(given), integer(made)
    span.tools = tool_definitions(response.get("tools"))


def _printed(response: str) -> list[Said]:
    """Read what can be told of a response from its repr()."""
    said = Said(role="assistant")
    for match in _TEXT.finditer(response):
        said.add_text(_literal(match[1]))
    for match in _CALL.finditer(response):
        arguments, call_id, name = (_literal(match[n]) for n in (1, 2, 3))
        said.add_call(Call(name, arguments, call_id))
    for match in _SEARCH.finditer(response):
        call = Call("web_search", match[2], _literal(match[1]))
        said.add_call(call)
        answer = Answer(call.id, call.tool, Result(text=NOT_RECORDED))
        said.answers = [*said.answers, answer]
    return [said]


def _literal(source: str) -> str:
    try:
        return text(ast.literal_eval(source))
    except (ValueError, SyntaxError, MemoryError):
        return source[1:-1]
