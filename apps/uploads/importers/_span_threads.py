"""Builds threads from the spans of a run."""

from bisect import bisect_right

from apps.runs.transcript import Call, Result, Thread, ToolDefinition, Transcript, Turn

from ._said import NOT_RECORDED, Said
from ._span_tree import Tree
from ._spans import Span, Trace
from .thread import ThreadBuilder
from .values import Json, decode


def build(format_name: str, run_id: str, traces: list[Trace]) -> Transcript | None:
    """Make the run of its traces; None where they hold no call, model or agent."""
    spans = [span for trace in traces for span in trace.spans.values()]
    relevant = [span for span in spans if span.kind]
    if not relevant:
        return None
    tree = Tree(spans)
    threads = _threads(tree)
    roots = [span for span in relevant if tree.parent(span) is None]
    run = traces[0].about
    run.format = format_name
    run.threads = threads or [Thread(turns=[])]
    run.run_id = run.run_id or run_id
    run.model = run.model or next((s.model for s in tree.spans if s.model), "")
    run.agent = run.agent or next((s.agent for s in tree.spans if s.agent), "")
    starts = [span.start for span in relevant if span.start is not None]
    ends = [span.end for span in relevant if span.end is not None]
    run.started_at = min(starts, default=run.started_at)
    run.ended_at = max(ends, default=run.ended_at)
    if any(span.failed and span.kind == "agent" for span in roots):
        run.ending = "crashed"
    run.scores = [*run.scores, *(score for trace in traces for score in trace.scores)]
    run.tools = run.tools or _tools(tree.spans)
    run.unreadable = [fault for trace in traces for fault in trace.unreadable]
    run.line, run.offset = traces[0].line, traces[0].offset
    return run


def _tools(spans: list[Span]) -> list[ToolDefinition]:
    found: dict[str, ToolDefinition] = {}
    for span in spans:
        for tool in span.tools:
            known = found.setdefault(tool.name, tool)
            known.input_schema = known.input_schema or tool.input_schema
    return list(found.values())


def _threads(tree: Tree) -> list[Thread]:
    """Build a thread for each history; the one that began first is the main one."""
    models = tree.models()
    tools = tree.tools(models)
    order = {id(span): index for index, span in enumerate(tree.spans)}
    events: dict[str, list[Span]] = {}
    for span in sorted([*models, *tools], key=lambda span: order[id(span)]):
        events.setdefault(tree.thread(span), []).append(span)
    threads: list[Thread] = []
    for key, spans in events.items():
        is_main = not threads
        builder = SpanThread(
            "" if is_main else key,
            "main" if is_main else "sub_agent",
            tree.names.get(key, ""),
        )
        builder.run_tools = {span.tool for span in tools}
        for span in spans:
            builder.add(span)
        builder.close()
        threads.append(builder.builder.thread)
    return threads


class SpanThread:
    """Collects the model and tool spans of one thread in the order of their starts."""

    def __init__(self, thread_id: str, kind: str, agent: str) -> None:
        """Begin an empty thread."""
        self.builder = ThreadBuilder(thread_id, kind, agent)
        self.calls: list[Call] = []
        self.by_id: dict[str, list[Call]] = {}
        self.spans: dict[int, Span] = {}  # tool span by id() of its call
        self.said: set[int] = set()  # calls whose result a message told
        self.prompts: list[tuple[str, str]] = []  # role and text, as they were given
        self.run_tools: set[str] = set()  # names of tools that some span ran
        self.has_models = False
        self.busy_until: float | None = None  # of the turn that tools alone made

    def add(self, span: Span) -> None:
        """Add one span."""
        if span.kind == "model":
            self._model(span)
        else:
            self._tool(span)

    def _model(self, span: Span) -> None:
        self.has_models = True
        self._prompts(span)
        self._answers(span.inputs)
        if span.failed and not any(said.text or said.calls for said in span.outputs):
            failure = span.error_text or "The model request failed."
            self.builder.add("system", failure, at=span.start).kind = "notice"
            return
        turn = self.builder.add("assistant", at=span.start, model=span.model)
        turn.input_tokens, turn.output_tokens = span.input_tokens, span.output_tokens
        for said in span.outputs:
            if said.role in ("user", "system"):
                continue
            turn.text = f"{turn.text}\n{said.text}" if turn.text else said.text
            turn.reasoning += said.reasoning
            for call in said.calls:
                self._call(turn, call, span)
        self._answers(span.outputs)

    def _call(self, turn: Turn, call: Call, span: Span) -> None:
        if call.tool in span.hidden_tools and call.tool not in self.run_tools:
            turn.text = turn.text or call.arguments
            return
        own = Call(call.tool, call.arguments, call.id, at=span.end or span.start)
        self._keep(turn, own)

    def _keep(self, turn: Turn, call: Call) -> None:
        self.builder.call(turn, call)
        self.calls.append(call)
        self.by_id.setdefault(call.id, []).append(call)

    def _prompts(self, span: Span) -> None:
        """Add the prompts that this request has and the ones before had not."""
        # Text without a role is a prompt only where there is nothing better.
        roles = ("user", "system") if self.prompts else ("user", "system", "")
        given = [
            ("system" if said.role == "system" else "user", said.text)
            for said in span.inputs
            if said.role in roles and said.text and not said.calls
        ]
        if given[: len(self.prompts)] == self.prompts:
            new = given[len(self.prompts) :]
        else:  # the history was cut or is told in another way
            new = [prompt for prompt in given if prompt not in self.prompts]
        for role, said in new:
            self.builder.add(
                "system" if role == "system" else "user", said, at=span.start
            )
        self.prompts = given if len(given) >= len(self.prompts) else self.prompts + new

    def _answers(self, messages: list[Said]) -> None:
        """Take the results as the model read them from the messages of a request."""
        seen: dict[str, int] = {}
        for answer in (answer for said in messages for answer in said.answers):
            calls = self.by_id.get(answer.id, []) if answer.id else []
            index = seen.get(answer.id, 0)
            seen[answer.id] = index + 1
            if index < len(calls):
                self._tell(calls[index], answer.result)
            elif not answer.id:
                open_calls = [c for c in self.calls if c.result is None]
                named = [c for c in open_calls if c.tool == answer.tool]
                if len(named or open_calls) == 1:
                    self._tell((named or open_calls)[0], answer.result)

    def _tell(self, call: Call, told: Result) -> None:
        """Give a call the text that the model read; a span's flag stays."""
        if id(call) in self.said:
            return
        self.said.add(id(call))
        result = call.result
        if result is None:
            result = call.result = Result(turns_before=len(self.builder.turns))
        if told.text or result.text == NOT_RECORDED:
            result.text = told.text
        if told.is_error is not None and not result.is_error:
            result.is_error, result.flag = told.is_error, told.flag
        result.cause = result.cause or told.cause
        result.delivered = True

    def _tool(self, span: Span) -> None:
        call = self._match(span)
        if call is None:
            call = Call(span.tool, span.arguments, span.call_id)
            self._keep(self._turn_for(span), call)
        self.spans[id(call)] = span
        call.at = span.start if span.start is not None else call.at
        call.arguments = call.arguments or span.arguments
        call.id = call.id or span.call_id
        if not (span.is_open and span.end is None):
            call.result = _result(span)

    def _match(self, span: Span) -> Call | None:
        """Find the model's call that a tool span ran."""
        waiting = [call for call in self.calls if id(call) not in self.spans]
        if span.call_id:
            for call in reversed(waiting):
                if call.id == span.call_id:
                    return call
            waiting = [call for call in waiting if not call.id]
        named = [call for call in waiting if call.tool == span.tool]
        wanted = _arguments(span.arguments)
        for call in named:
            if _arguments(call.arguments) == wanted:
                return call
        return named[0] if named else None

    def _turn_for(self, span: Span) -> Turn:
        """Give the turn of a call that no message names.

        Between two responses of the model all calls are of the first. Where no model
        span was written, calls that overlap in time are one batch.
        """
        turns = self.builder.turns
        last = turns[-1] if turns and turns[-1].role == "assistant" else None
        start = span.start or 0.0
        if last is not None and not self.has_models:
            until = self.busy_until
            if until is None or start >= until:
                last = None
        if last is None:
            last = self.builder.add("assistant", at=span.start)
            self.busy_until = span.end or span.start
        elif span.end is not None:
            self.busy_until = min(self.busy_until or span.end, span.end)
        return last

    def close(self) -> None:
        """Set what only the whole thread tells: when results came and what was seen."""
        starts = [turn.at or 0.0 for turn in self.builder.turns]
        last_model = max((t.at or 0.0 for t in self._responses()), default=None)
        for index, turn in enumerate(self.builder.turns):
            for call in turn.calls:
                result = call.result
                if result is None or result.turns_before is not None:
                    continue
                after = bisect_right(starts, result.at or 0.0)
                result.turns_before = max(index + 1, after)
                span = self.spans.get(id(call))
                if span is None or not span.failed or span.result is not None:
                    continue
                is_last = last_model is None or last_model < (result.at or 0.0)
                if self.has_models and is_last and id(call) not in self.said:
                    result.delivered = False  # the exception ended the run

    def _responses(self) -> list[Turn]:
        return [turn for turn in self.builder.turns if turn.role == "assistant"]


def _result(span: Span) -> Result:
    """Read the result of a tool from its span."""
    result = Result(at=span.end if span.end is not None else span.start)
    result.is_error, result.flag = span.failed, span.flag
    if span.result_failed is not None and not span.failed:
        result.is_error, result.flag = span.result_failed, span.result_flag
    result.error_code, result.cause = span.error_type, span.cause
    if span.result is not None:
        result.text = span.result
    else:
        result.text = span.error_text if span.failed else NOT_RECORDED
    return result


def _arguments(value: str) -> Json:
    """Decode arguments, so that key order and spaces do not matter."""
    try:
        return decode(value.encode()) if value else {}
    except ValueError:
        return value
