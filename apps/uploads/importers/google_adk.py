"""Google Agent Development Kit sessions.

Export: `session.model_dump_json()` (snake or camel case), or what the API server gives
for a session; one file or line a session, or a list of them, or the events alone.
Read: function calls and responses, text, agents and branches, usage, times, the results
of built-in code execution.
Not read: state and artifact deltas, streaming parts (`partial`), grounding data.
Errors: the framework has no flag for tools; `isError` of an MCP tool's response is one,
and so is the outcome of code execution. `{"status": "error"}` and the like are left to
the rules on texts. `error_code` of an event is about the model: it becomes a notice.
Outcomes: not in the file.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Turn, Unreadable

from ._documents import odd_item, unreadable, values
from ._said import call_in, delivered, first
from ._wrapper import is_global
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, blocks_text, integer, mapping, sequence, text, timestamp

LABEL = "Google ADK"

_INVOCATION = ("invocation_id", "invocationId")
_APP = ("app_name", "appName")


def detect(head: bytes) -> float:
    """See a session with `events`, or events with an invocation's id."""
    seen = peek(head)
    events: list[dict[str, Json]] = []
    for record in seen.objects:
        inner = record.get("events")
        events += map(mapping, inner if isinstance(inner, list) else [record])
    if any(_is_event(event) for event in events):
        return 0.9
    named = seen.keys & {*_APP, "user_id", "userId"}
    if "events" in seen.keys and not seen.records:
        is_cut = any(f'"{key}"'.encode() in seen.cut for key in _INVOCATION)
        return 0.85 if is_cut else 0.0
    return 0.6 if "events" in seen.keys and len(named) == 2 else 0.0


def _is_session(value: Json) -> bool:
    return isinstance(mapping(value).get("events"), list)


def _is_event(value: Json) -> bool:
    event = mapping(value)
    return "author" in event and first(event, _INVOCATION) is not None


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each session; bare events of a file are one run."""
    bare = _Session()
    faults: list[Unreadable] = []
    for value in values(stream, _is_session, _is_event):
        record = mapping(value.json)
        if _is_session(record):
            session = _Session()
            for event in record["events"]:
                session.add(event, value.document)
            session.unreadable += [value.fault] if value.fault is not None else []
            yield session.transcript(record, value.document.line, value.document.offset)
        elif value.fault is not None:
            faults.append(value.fault)
        elif _is_event(record):
            bare.add(record, value.document)
        else:
            faults.append(unreadable(value.document, "neither a session nor an event"))
    if bare.threads:
        bare.unreadable += faults
        yield bare.transcript({}, 1, 0)
    else:
        yield from faults


class _Session:
    """Collects the events of one session."""

    def __init__(self) -> None:
        self.threads: dict[str, ThreadBuilder] = {}
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.agent = ""
        self.model = ""
        self.running: set[str] = set()  # ids of calls that answer later

    def _thread(self, event: dict[str, Json]) -> ThreadBuilder:
        branch = text(event.get("branch"))
        if branch not in self.threads:
            kind = "sub_agent" if branch else "main"
            agent = text(event.get("author")) if branch else ""
            self.threads[branch] = ThreadBuilder(branch, kind, agent)
        return self.threads[branch]

    def add(self, item: Json, document: Document) -> None:
        """Add one event; parts of a stream are left out, the whole comes after them."""
        event = mapping(item)
        if not event:
            self.unreadable.append(odd_item(item, document, "an event"))
            return
        if event.get("partial") is True:
            return
        at = timestamp(event.get("timestamp"))
        self.times += [at] if at is not None else []
        running = first(event, ("long_running_tool_ids", "longRunningToolIds"))
        self.running |= {text(call_id) for call_id in sequence(running)}
        builder = self._thread(event)
        self.model = self.model or text(first(event, ("model_version", "modelVersion")))
        is_user = event.get("author") == "user"
        if not is_user:
            self.agent = self.agent or text(event.get("author"))
        parts = map(mapping, sequence(mapping(event.get("content")).get("parts")))
        turn: Turn | None = None
        for part in parts:
            if self._answer(builder, part, at):
                continue
            if turn is None:
                turn = builder.add("user" if is_user else "assistant", at=at)
                self._usage(turn, event)
            self._part(builder, turn, part, at)
        failure = first(event, ("error_message", "errorMessage"))
        code = first(event, ("error_code", "errorCode"))
        if failure is not None or code is not None:
            said = f"{text(code)}: {text(failure)}"
            builder.add("system", said, at=at).kind = "notice"

    def _answer(
        self, builder: ThreadBuilder, part: dict[str, Json], at: float | None
    ) -> bool:
        """Add a function's response or the result of code, if the part is one."""
        answer = mapping(first(part, ("function_response", "functionResponse")))
        code = mapping(first(part, ("code_execution_result", "codeExecutionResult")))
        if answer:
            call_id = text(answer.get("id"))
            result = delivered(answer.get("response"))
            result.at = at
            call = builder.result(result, id=call_id, tool=text(answer.get("name")))
            if call.result is not result and call.result and call.result.pending:
                result.turns_before = len(builder.turns)
                call.result = result  # the answer that a running tool gives at last
            elif call_id in self.running:
                result.pending = True
        elif code:
            outcome = text(code.get("outcome"))
            failed = outcome in ("OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED")
            result = Result(text=text(code.get("output")), is_error=failed, at=at)
            result.flag, result.error_code = "outcome", outcome if failed else ""
            builder.result(result, tool="code_execution")
        return bool(answer or code)

    @staticmethod
    def _part(
        builder: ThreadBuilder, turn: Turn, part: dict[str, Json], at: float | None
    ) -> None:
        call = mapping(first(part, ("function_call", "functionCall")))
        code = mapping(first(part, ("executable_code", "executableCode")))
        if call:
            builder.call(turn, call_in(call)).at = at
        elif code:
            builder.call(turn, Call("code_execution", text(code.get("code")), at=at))
        elif part.get("thought") is True:
            turn.reasoning += text(part.get("text"))
        else:
            said = blocks_text(part) or "".join(f"[{key}]" for key in list(part)[:1])
            turn.text = f"{turn.text}\n{said}" if turn.text else said

    @staticmethod
    def _usage(turn: Turn, event: dict[str, Json]) -> None:
        usage = mapping(first(event, ("usage_metadata", "usageMetadata")))
        given = first(usage, ("prompt_token_count", "promptTokenCount"))
        made = first(usage, ("candidates_token_count", "candidatesTokenCount"))
        turn.input_tokens, turn.output_tokens = integer(given), integer(made)

    def transcript(
        self, session: dict[str, Json], line: int, offset: int
    ) -> Transcript:
        """Give the session as a run."""
        threads = sorted(self.threads.items(), key=lambda pair: pair[0] != "")
        run_id = text(session.get("id"))
        return Transcript(
            format="google_adk",
            threads=[builder.thread for _, builder in threads],
            run_id=run_id,
            is_global_id=is_global(run_id),  # users may name sessions themselves
            model=self.model,
            agent=text(first(session, _APP)) or self.agent,
            started_at=min(self.times, default=None),
            ended_at=max(self.times, default=None),
            unreadable=self.unreadable,
            line=line,
            offset=offset,
        )
