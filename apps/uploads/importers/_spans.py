"""Collects the spans of traces and hands them on run by run.

Tracers write spans in the order in which they ended, several traces mixed, and each
model span repeats the history so far. A span is therefore cut down to what a transcript
needs as soon as it is read: messages that spans of a trace share are stored once.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from apps.runs.transcript import Cause, Score, ToolDefinition, Transcript, Unreadable

from ._said import Said
from .records import Document

MAX_HELD = 256 << 20  # characters of unfinished traces; then the oldest is closed

Kind = Literal["tool", "model", "agent", ""]


class Span(msgspec.Struct):
    """One span, in the words of every tracer."""

    id: str
    parent: str = ""
    trace: str = ""
    kind: Kind = ""  # "": it only joins others
    name: str = ""
    start: float | None = None
    end: float | None = None
    failed: bool | None = None  # the tracer's own status; None: unset
    flag: str = ""  # the field that says so
    error_text: str = ""
    error_type: str = ""
    cause: Cause | Literal[""] = ""
    tool: str = ""
    call_id: str = ""
    arguments: str = ""
    result: str | None = None  # None: not recorded
    result_failed: bool | None = None  # a flag inside the result …
    result_flag: str = ""  # … and its field
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    inputs: list[Said] = []
    outputs: list[Said] = []
    agent: str = ""
    run: str = ""  # conversation that the span says it belongs to
    scope: str = (
        ""  # part of a graph with a state of its own, where there are no agents
    )
    hidden_tools: list[str] = []  # names by which the model gives its final answer
    tools: list[ToolDefinition] = []
    is_open: bool = False  # written at its start; the end comes later or never


class Trace:
    """The spans of one run: of one trace, or of the traces of one conversation."""

    def __init__(self, document: Document) -> None:
        """Begin with none; the document is where the first stood."""
        self.spans: dict[str, Span] = {}
        self.known: dict[bytes, Said] = {}  # messages by what they say
        self.run = ""
        self.scores: list[Score] = []
        self.unreadable: list[Unreadable] = []
        self.about = Transcript(format="", threads=[])
        self.line, self.offset = document.line, document.offset
        self.size = 0

    def add(self, span: Span) -> int:
        """Keep a span, or what a second writing of it adds; give what it weighs."""
        known = self.spans.get(span.id)
        if known is not None and not known.is_open:
            return 0
        self.spans[span.id or f"span {len(self.spans)}"] = span
        return self.absorb(span)

    def absorb(self, span: Span) -> int:
        """Store a span's messages once for the trace; give what is new of it, in size.

        To be called again where more was read of a span.
        """
        self.run = self.run or span.run
        size = 200 + len(span.arguments) + len(span.result or "") + len(span.error_text)
        for said in (span.inputs, span.outputs):
            for index, message in enumerate(said):
                key = msgspec.msgpack.encode(message)
                if key not in self.known:
                    self.known[key] = message
                    size += 2 * len(key)
                said[index] = self.known[key]
        self.size += size
        return size


class Traces:
    """All traces of a file; a run comes out at the end, or when too much is held."""

    def __init__(self, build: Callable[[str, list[Trace]], Transcript | None]) -> None:
        """`build` makes the run of one id; None where there is nothing of an agent."""
        self._build = build
        self._open: dict[str, Trace] = {}
        self._closed: set[str] = set()
        self._held = 0
        self.built = 0

    def trace(self, trace_id: str, document: Document) -> Trace:
        """Give the trace with this id, a new one where there is none."""
        if trace_id not in self._open:
            self._open[trace_id] = Trace(document)
        return self._open[trace_id]

    def add(self, span: Span, document: Document) -> Iterator[Transcript | Unreadable]:
        """Take a span; give the runs that must be closed to make room."""
        if span.trace in self._closed:
            reason = "this span came after so many others that its trace was closed"
            yield Unreadable(reason, document.line, document.offset, span.name)
            return
        yield from self.make_room(self.trace(span.trace, document).add(span))

    def make_room(self, size: int) -> Iterator[Transcript]:
        """Note that so much more is held; close the oldest runs if it is too much."""
        self._held += size
        while self._held > MAX_HELD and len(self._open) > 1:
            oldest = next(iter(self._open))
            yield from self._close(self._key(oldest))

    def find(self, trace_id: str) -> Trace | None:
        """Give the trace with this id if it is open."""
        return self._open.get(trace_id)

    def _key(self, trace_id: str) -> str:
        return self._open[trace_id].run or trace_id

    def _close(self, key: str) -> Iterator[Transcript]:
        """Build the run of one key and forget its traces."""
        ids = [trace_id for trace_id in self._open if self._key(trace_id) == key]
        traces = [self._open.pop(trace_id) for trace_id in ids]
        self._closed.update(ids)
        self._held -= sum(trace.size for trace in traces)
        run = self._build(key, traces)
        if run is not None:
            self.built += 1
            yield run

    def finish(self) -> Iterator[Transcript]:
        """Give the runs that are left, in the order in which they were begun."""
        groups: dict[str, list[Trace]] = {}
        for trace_id, trace in self._open.items():
            groups.setdefault(trace.run or trace_id, []).append(trace)
        self._open = {}
        for key, traces in groups.items():
            run = self._build(key, traces)
            if run is not None:
                self.built += 1
                yield run
