"""Sorts the spans of a run: which thread each belongs to, and which repeat another."""

from ._spans import Span

MAX_DEPTH = 1000  # of ancestors; a ring of parents ends there


class Tree:
    """The spans of one run with their ancestry."""

    def __init__(self, spans: list[Span]) -> None:
        """Take the spans in any order."""
        timed = enumerate(spans)
        order = sorted(timed, key=lambda pair: (pair[1].start or 0.0, pair[0]))
        self.spans = [span for _, span in order]
        self.by_id = {span.id: span for span in spans}
        self.agents: dict[str, str] = {}  # thread by agent span
        self.names: dict[str, str] = {}  # the agent's name by thread
        self._name_agents()

    def parent(self, span: Span) -> Span | None:
        """Give the nearest ancestor that is an agent, a tool or a model."""
        current = self.by_id.get(span.parent)
        for _ in range(MAX_DEPTH):
            if current is None or current is span or current.kind:
                return current if current is not span else None
            current = self.by_id.get(current.parent)
        return None

    def scope(self, span: Span) -> Span | None:
        """Give the nearest ancestor that has a history of its own: agent or tool."""
        current = self.parent(span)
        for _ in range(MAX_DEPTH):
            if current is None or current.kind in ("agent", "tool"):
                return current
            current = self.parent(current)
        return None

    def thread(self, span: Span) -> str:
        """Name the thread of a span; "" where nothing encloses it."""
        scope = self.scope(span)
        if scope is None:
            return f"graph {span.scope}" if span.scope else ""
        return self.agents.get(scope.id, scope.id)

    def _name_agents(self) -> None:
        """Give agents their threads: one that goes on after a pause keeps its own."""
        last: dict[tuple[str, str], tuple[str, float]] = {}
        for span in self.spans:
            if span.kind != "agent":
                continue
            scope = self.scope(span)
            group = (scope.id if scope is not None else "", span.agent)
            thread, end = last.get(group, ("", 0.0))
            start = span.start or 0.0
            if not span.agent or not thread or start < end:
                thread = span.id
                self.names[thread] = span.agent
            self.agents[span.id] = thread
            last[group] = (thread, max(end, span.end or start))

    def models(self) -> list[Span]:
        """Give one span for each response of a model, in the order of their starts.

        Several instrumentations may each write one for the same request, one inside the
        other; an outer span around several requests is a loop and no request.
        """
        inner: dict[str, list[Span]] = {}
        for span in self.spans:
            parent = self.parent(span)
            if span.kind == "model" and parent is not None and parent.kind == "model":
                inner.setdefault(parent.id, []).append(span)
        gone: set[str] = set()
        for span in reversed(self.spans):  # the innermost start last
            nested = [child for child in inner.get(span.id, ()) if child is not span]
            if span.kind != "model" or not nested:
                continue
            if len(nested) == 1:
                _take_over(span, nested[0])
                gone.add(nested[0].id)
            else:
                nested[0].inputs = nested[0].inputs or span.inputs
                nested[-1].outputs = nested[-1].outputs or span.outputs
                gone.add(span.id)
        return [s for s in self.spans if s.kind == "model" and s.id not in gone]

    def tools(self, models: list[Span]) -> list[Span]:
        """Give the tool spans, without those that are a detail of another tool span."""
        threads_with_models = {self.thread(span) for span in models}
        found = []
        for span in self.spans:
            if span.kind != "tool":
                continue
            scope = self.scope(span)
            is_detail = scope is not None and scope.kind == "tool"
            if not is_detail or self.thread(span) in threads_with_models:
                found.append(span)
        return found


def _take_over(outer: Span, inner: Span) -> None:
    """Add to a span what another span of the same request knows."""
    if not any(said.text or said.calls for said in outer.outputs):
        outer.outputs = inner.outputs
    if not outer.inputs or (inner.inputs and len(inner.inputs) > len(outer.inputs)):
        outer.inputs = inner.inputs
    outer.model = outer.model or inner.model
    if outer.input_tokens is None:
        outer.input_tokens, outer.output_tokens = (
            inner.input_tokens,
            inner.output_tokens,
        )
    outer.tools = outer.tools or inner.tools
    outer.hidden_tools = outer.hidden_tools or inner.hidden_tools
    if outer.failed is None:
        outer.failed, outer.flag = inner.failed, inner.flag
        outer.error_text = outer.error_text or inner.error_text
