"""LangSmith run operations and run rows.

Export: the operations that the SDK sends (lines that create a run and lines that end
it), or `client.list_runs(…)` as rows, nested `child_runs` too.
Read: runs of type `tool` and `llm`; a create and an update are joined by their id. One
trace is a run; a sub-graph of LangGraph is a thread. Rows of feedback in the same file
are scores of their trace.
Not read: chains, parsers, retrievers, prompts; streaming events.
Errors: `error` of a tool's run, or `status: error` of the message it gave. An error
after which the model is not asked again never reached it.
Outcomes: feedback has no direction, so the outcome stays unknown. An `error` of the
root run: crashed.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Score, Transcript, Unreadable

from ._documents import unreadable, values
from ._message_lists import arguments_of, said_in
from ._said import first
from ._span_attributes import set_result
from ._span_threads import build
from ._spans import Kind, Span, Trace, Traces
from ._wrapper import score_value, tool_definitions
from .head import peek
from .records import Document
from .values import Json, integer, mapping, sequence, text, timestamp

LABEL = "LangSmith"

_KINDS: dict[str, Kind] = {"tool": "tool", "llm": "model"}
_CONTENT = {"run_type", "inputs", "outputs", "end_time"}


def detect(head: bytes) -> float:
    """See rows with a `run_type` and a place in a trace."""
    rows = peek(head).objects
    hits = [row for row in _rows_of(rows) if _is_row(row)]
    if hits and len(hits) >= len(rows) / 3:
        return 0.95
    cut = peek(head).cut
    is_cut = b'"run_type"' in cut and b'"trace_id"' in cut and b'"dotted_order"' in cut
    return 0.9 if is_cut and not rows else 0.0


def _is_row(row: dict[str, Json]) -> bool:
    if "run_type" in row:
        return "trace_id" in row or "dotted_order" in row or "child_runs" in row
    return "trace_id" in row and "end_time" in row and "outputs" in row


def _rows_of(records: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Take rows out of the batches that the SDK posts."""
    rows: list[dict[str, Json]] = []
    for record in records:
        batch = [*sequence(record.get("post")), *sequence(record.get("patch"))]
        batch = batch or sequence(record.get("runs"))
        rows.extend(map(mapping, batch) if batch else [record])
    return rows


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each trace."""
    rows = _Rows()
    faults: list[Unreadable] = []
    for value in values(stream, _has_rows):
        if value.fault is not None:
            faults.append(value.fault)
        found = [r for r in sequence(value.json) if isinstance(r, dict)]
        for row in _rows_of(found):
            if not _is_known(row):
                faults.append(unreadable(value.document, "not a row of a run"))
            yield from rows.add(row, value.document)
        if not found and value.fault is None:
            faults.append(unreadable(value.document, "not a row of a run"))
    yield from rows.finish()
    yield from faults


def _has_rows(value: Json) -> bool:
    return any(_is_known(row) for row in _rows_of([mapping(value)]))


def _is_known(row: dict[str, Json]) -> bool:
    return _is_feedback(row) or ("id" in row and bool(_CONTENT & row.keys()))


def _is_feedback(row: dict[str, Json]) -> bool:
    return "key" in row and ("score" in row or "value" in row)


class _Rows:
    """Joins the rows of a file by run and by trace."""

    def __init__(self) -> None:
        self.traces = Traces(self._build)
        self.trace_of: dict[str, str] = {}  # by run
        self.early: dict[str, Json] = {}  # outputs that came before their run's type
        self.typed: set[str] = set()  # runs whose type is known

    @staticmethod
    def _build(run_id: str, traces: list[Trace]) -> Transcript | None:
        run = build("langsmith", run_id, traces)
        if run is not None:
            spans = [span for trace in traces for span in trace.spans.values()]
            failed = any(span.failed and not span.parent for span in spans)
            run.ending = "crashed" if failed else run.ending
            run.is_global_id = True
        return run

    def add(
        self, row: dict[str, Json], document: Document
    ) -> Iterator[Transcript | Unreadable]:
        """Take a row; give the runs that must be closed to make room."""
        if _is_feedback(row):
            self._feedback(row)
            return
        run_id = text(row.get("id"))
        if not run_id or not _CONTENT & row.keys():
            return
        named = row.get("trace_id") or text(row.get("dotted_order")).split(".")[0][-36:]
        trace_id = self.trace_of.get(run_id) or text(named) or run_id
        self.trace_of[run_id] = trace_id
        trace = self.traces.find(trace_id)
        span = trace.spans.get(run_id) if trace is not None else None
        if span is None:
            span = Span(run_id, trace=trace_id)
            yield from self.traces.add(span, document)
        self._merge(span, row)
        trace = self.traces.find(trace_id)
        if trace is not None:
            if not span.parent and span.name:
                trace.about.title = trace.about.title or span.name
            yield from self.traces.make_room(trace.absorb(span))
        for child in map(mapping, sequence(row.get("child_runs"))):
            inner = {"trace_id": trace_id, "parent_run_id": run_id, **child}
            yield from self.add(inner, document)

    def _feedback(self, row: dict[str, Json]) -> None:
        target = text(first(row, ("trace_id", "run_id")))
        trace = self.traces.find(self.trace_of.get(target, target))
        if trace is not None:
            score = Score(text(row["key"]), score_value({"value": row.get("score")}))
            if score.value is None:
                score.value = score_value({"value": row.get("value")})
            trace.scores.append(score)

    def _merge(self, span: Span, row: dict[str, Json]) -> None:
        """Add what a row says; create and update may come in any order."""
        span.parent = span.parent or text(row.get("parent_run_id"))
        span.name = span.name or text(row.get("name"))
        span.kind = span.kind or _KINDS.get(text(row.get("run_type")), "")
        start, end = timestamp(row.get("start_time")), timestamp(row.get("end_time"))
        span.start = span.start if span.start is not None else start
        span.end = span.end if span.end is not None else end
        self._merge_error(span, row)
        extra = mapping(row.get("extra"))
        about = mapping(extra.get("metadata"))
        namespace = text(about.get("langgraph_checkpoint_ns"))
        span.scope = span.scope or namespace.rpartition("|")[0]
        span.model = span.model or text(about.get("ls_model_name"))
        inputs, outputs = row.get("inputs"), row.get("outputs")
        if "run_type" in row:
            self.typed.add(span.id)
            early = self.early.pop(span.id, None)
            outputs = early if outputs is None else outputs
        elif span.id not in self.typed and outputs is not None:
            self.early[span.id] = outputs
        if span.kind == "tool":
            self._merge_tool(span, inputs, outputs)
        elif span.kind == "model":
            self._merge_model(span, inputs, outputs, extra)

    @staticmethod
    def _merge_error(span: Span, row: dict[str, Json]) -> None:
        error = row.get("error")
        if error:
            span.failed, span.flag, span.error_text = True, "error", text(error)
        elif row.get("end_time") is not None and span.failed is None:
            span.failed, span.flag = False, "error"

    @staticmethod
    def _merge_tool(span: Span, inputs: Json, outputs: Json) -> None:
        span.tool = span.tool or span.name
        if inputs is not None and not span.arguments:
            span.arguments = arguments_of(inputs)
        if outputs is not None and span.result is None:
            only = mapping(outputs)
            set_result(span, only["output"] if set(only) == {"output"} else outputs)

    @staticmethod
    def _merge_model(
        span: Span, inputs: Json, outputs: Json, extra: dict[str, Json]
    ) -> None:
        span.inputs = span.inputs or said_in(inputs)
        span.outputs = span.outputs or said_in(outputs)
        asked = mapping(extra.get("invocation_params"))
        span.tools = span.tools or tool_definitions(asked.get("tools"))
        choice = mapping(asked.get("tool_choice"))
        forced = mapping(choice.get("function")).get("name", choice.get("name"))
        if forced is not None:  # a schema for the answer, unless a tool of it ran
            span.hidden_tools = [text(forced)]
        answer = mapping(outputs)
        usage = mapping(mapping(answer.get("llm_output")).get("token_usage"))
        usage = usage or mapping(first(answer, ("usage_metadata", "usage")))
        for said in span.outputs:
            span.input_tokens = span.input_tokens or said.input_tokens
            span.output_tokens = span.output_tokens or said.output_tokens
            span.model = span.model or said.model
        given = first(usage, ("prompt_tokens", "input_tokens"))
        made = first(usage, ("completion_tokens", "output_tokens"))
        span.input_tokens = span.input_tokens or integer(given)
        span.output_tokens = span.output_tokens or integer(made)

    def finish(self) -> Iterator[Transcript]:
        """Give the runs that are left."""
        return self.traces.finish()
