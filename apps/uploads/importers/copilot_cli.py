"""GitHub Copilot CLI event logs (JSONL).

Export: the file `events.jsonl` in the session's folder under `session-state`.
Read: prompts as the model got them, answers with the calls they request, results,
tokens, permissions; events of a sub-agent as a thread of the run.
Not read: hooks (their failures are no tool errors), turn marks, telemetry, plans.
Errors: `success` false with `error`; only its short message is in the log, the model
may have read more. A shell command that failed keeps success; the tool writes its exit
code at the end of the text. A permission that was refused is a denial.
Outcomes: not in the file. A run whose last event is an abort ended cancelled, one whose
last is an error crashed.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Record,
    Result,
    Transcript,
    Turn,
    Unreadable,
)

from ._documents import unreadable
from ._objects import first_text, id_text, objects, project
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    boolean,
    integer,
    mapping,
    sequence,
    text,
    timestamp,
)

LABEL = "Copilot CLI"

_EXIT_CODE = re.compile(r"(?:completed|exited) with exit code (-?\d+)>\s*\Z")
_TAIL_CHARS = 200
_DENIED_CODES = frozenset({"denied", "rejected", "permission_denied"})
_ENVELOPE = frozenset({"type", "data", "id", "timestamp"})
_GROUPS = (
    "session.",
    "user.",
    "assistant.",
    "tool.",
    "system.",
    "hook.",
    "permission.",
)


def detect(head: bytes) -> float:
    """See events `{type, data, id, timestamp, parentId}` with dotted types."""
    seen = peek(head)
    if seen.is_array:
        return 0.0
    events = [record for record in seen.objects if _is_event(record)]
    if not events or len(events) < len(seen.objects) / 2:
        return 0.0
    starts = (event for event in events if event["type"] == "session.start")
    if any("copilotVersion" in mapping(event["data"]) for event in starts):
        return 0.98
    return 0.85 if any("parentId" in event for event in events) else 0.5


def _is_event(record: dict[str, Json]) -> bool:
    kind = record.get("type")
    is_known = isinstance(kind, str) and kind.startswith(_GROUPS)
    return is_known and record.keys() >= _ENVELOPE and isinstance(record["data"], dict)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the session; several one after another as so many runs."""
    run = _Run()
    for document, record in objects(stream):
        if isinstance(record, Unreadable):
            run.unreadable.append(record)
            continue
        data = mapping(record.get("data"))
        if record.get("type") == "session.start" and run.is_other(data):
            yield from run.records()
            run = _Run(document.line, document.offset)
        if not run.add(record, data):
            reason = "not an event with a `type` and `data`"
            run.unreadable.append(unreadable(document, reason))
    yield from run.records()


class _Run:
    """Collects the events of one session."""

    def __init__(self, line: int = 1, offset: int = 0) -> None:
        self.unreadable: list[Unreadable] = []
        self._line, self._offset = line, offset
        self._start: dict[str, Json] = {}
        self._threads: dict[str, ThreadBuilder] = {"": ThreadBuilder()}
        self._turns: dict[str, Turn | None] = {}  # the open response of each thread
        self._agents: dict[str, str] = {}
        self._denied: set[str] = set()  # call ids
        self._model = ""
        self._ending: Ending = ""
        self._times: list[float] = []

    def is_other(self, start: dict[str, Json]) -> bool:
        """Whether this start event is that of another session."""
        known = id_text(self._start.get("sessionId"))
        return bool(known) and id_text(start.get("sessionId")) != known

    def add(self, event: dict[str, Json], data: dict[str, Json]) -> bool:
        """Add one event; False if it is none."""
        kind = event.get("type")
        if not isinstance(kind, str) or not isinstance(event.get("data"), dict):
            return False
        at = timestamp(event.get("timestamp"))
        if at is not None:
            self._times.append(at)
        key = id_text(data.get("parentToolCallId"))
        if kind == "user.message":
            self._user(key, data, at)
        elif kind == "assistant.message":
            self._assistant(key, data, at)
        elif kind == "assistant.turn_end":
            self._turns[key] = None
        elif kind == "tool.execution_start":
            self._execution(key, data, at)
        elif kind == "tool.execution_complete":
            self._result(key, data, at)
        elif not self._setting(kind, data):
            self._notice(kind, key, data, at)
        return True

    def _setting(self, kind: str, data: dict[str, Json]) -> bool:
        """Take an event that says something of the others; False if it is none."""
        call_id = id_text(data.get("toolCallId"))
        if kind in ("session.start", "session.resume"):
            self._start = self._start or data
        elif kind == "session.model_change":
            self._model = self._model or text(data.get("newModel"))
        elif kind == "subagent.started":
            agent = first_text(data.get("agentName"), data.get("agentDisplayName"))
            self._agents[call_id] = agent
        elif kind == "permission.completed":
            verdict = text(mapping(data.get("result")).get("kind"))
            if verdict.startswith(("denied", "rejected")):
                self._denied.add(call_id)
        else:
            return False
        return True

    def _thread(self, key: str) -> ThreadBuilder:
        if key not in self._threads:
            agent = self._agents.get(key, "")
            self._threads[key] = ThreadBuilder(key, "sub_agent", agent)
        return self._threads[key]

    def _user(self, key: str, data: dict[str, Json], at: float | None) -> None:
        self._ending = ""
        self._turns[key] = None
        content = blocks_text(data.get("content"))
        said = blocks_text(data.get("transformedContent")) or content
        turn = self._thread(key).add("user", said, at=at)
        if not content:
            turn.kind = "notice"  # the program's own reminder

    def _response(self, key: str, at: float | None, model: str) -> Turn:
        """Give the open response of a thread; begin one if there is none."""
        turn = self._turns.get(key)
        if turn is None:
            turn = self._thread(key).add("assistant", at=at, model=model)
            self._turns[key] = turn
        return turn

    def _assistant(self, key: str, data: dict[str, Json], at: float | None) -> None:
        self._ending = ""
        model = text(data.get("model"))
        self._model = self._model or model
        turn = self._response(key, at, model)
        said = blocks_text(data.get("content"))
        turn.text = "\n".join(filter(None, (turn.text, said)))
        turn.reasoning += text(data.get("reasoningText"))
        tokens = integer(data.get("outputTokens"))
        if tokens is not None:
            turn.output_tokens = (turn.output_tokens or 0) + tokens
        for item in sequence(data.get("toolRequests")):
            request = mapping(item)
            self._call(key, turn, request, text(request.get("name")), at)

    def _execution(self, key: str, data: dict[str, Json], at: float | None) -> None:
        """Add a call whose request is not in the log; else note when it began."""
        call = self._thread(key).find(id_text(data.get("toolCallId")))
        if call is not None:
            call.at = at if at is not None else call.at
            return
        turn = self._response(key, at, text(data.get("model")))
        self._call(key, turn, data, text(data.get("toolName")), at)

    def _call(
        self, key: str, turn: Turn, item: dict[str, Json], tool: str, at: float | None
    ) -> None:
        call_id, arguments = (
            id_text(item.get("toolCallId")),
            text(item.get("arguments")),
        )
        call = Call(tool=tool, arguments=arguments, id=call_id, at=at)
        self._thread(key).call(turn, call)

    def _result(self, key: str, data: dict[str, Json], at: float | None) -> None:
        success = boolean(data.get("success"))
        error = mapping(data.get("error"))
        content = mapping(data.get("result")).get("content", data.get("result"))
        said = text(error.get("message")) or text(data.get("error") or None)
        result = Result(said or blocks_text(content), at=at)
        if success is not None:
            result.is_error, result.flag = not success, "success"
        result.error_code = text(error.get("code"))
        found = _EXIT_CODE.search(result.text, max(0, len(result.text) - _TAIL_CHARS))
        result.exit_code = integer(found[1]) if found else None
        call_id = id_text(data.get("toolCallId"))
        if call_id in self._denied or result.error_code in _DENIED_CODES:
            result.cause = "denied"
        tool = text(data.get("toolName"))
        self._thread(key).result(result, id=call_id, tool=tool)
        self._turns[key] = None

    def _notice(
        self, kind: str, key: str, data: dict[str, Json], at: float | None
    ) -> None:
        if kind == "system.message":
            self._thread(key).add("system", blocks_text(data.get("content")), at=at)
            return
        if kind == "abort":
            self._ending = "cancelled"
        elif kind == "session.error":
            self._ending = "crashed"
        elif kind == "session.compaction_complete" and data.get("summaryContent"):
            said = blocks_text(data["summaryContent"])
            self._thread(key).add("user", said, at=at).kind = "summary"
            return
        elif kind not in (
            "session.warning",
            "session.truncation",
            "system.notification",
        ):
            return
        said = first_text(data.get("message"), data.get("reason"), data.get("content"))
        self._turns[key] = None
        self._thread(key).add("system", said, at=at).kind = "notice"

    def records(self) -> Iterator[Record]:
        """Yield the session, if anything was said."""
        builders = [builder for builder in self._threads.values() if builder.turns]
        if not any(turn.role != "system" for b in builders for turn in b.turns):
            yield from self.unreadable
            return
        for key, agent in self._agents.items():
            if key in self._threads:
                self._threads[key].thread.agent = agent
        run_id = id_text(self._start.get("sessionId"))
        context = mapping(self._start.get("context"))
        yield Transcript(
            format="copilot_cli",
            threads=[builder.thread for builder in builders],
            run_id=run_id,
            is_global_id=bool(run_id),
            model=self._model,
            agent="Copilot CLI",
            agent_version=text(self._start.get("copilotVersion")),
            source=project(context.get("cwd")),
            started_at=timestamp(self._start.get("startTime"))
            or min(self._times, default=None),
            ended_at=max(self._times, default=None),
            ending=self._ending,
            unreadable=self.unreadable,
            line=self._line,
            offset=self._offset,
        )
