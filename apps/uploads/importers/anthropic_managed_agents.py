"""Anthropic managed agents: the events of a session, one JSON list a line.

Export: write each call of the client as `[method, payload]`: `sessions.create` with the
session, `events.stream` with each event; or save what the events API lists.
Read: calls of built-in, MCP and custom tools, results, messages, usage, the session's
agent, model, tools and times; threads of other agents. An event that was sent is read
from the stream's copy.
Not read: the content of thinking (the API sends none), permission policies.
Errors: the flag `is_error`. A result whose call a `tool_confirmation` refused has the
cause denied. `is_error` of a model request is no tool error: it becomes a notice.
Outcomes: not in the file.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Transcript, Turn, Unreadable

from ._documents import unreadable, values
from ._said import answer_in
from ._wrapper import tool_definitions
from .head import peek
from .thread import ThreadBuilder
from .values import Json, blocks_text, integer, mapping, sequence, text, timestamp

LABEL = "Anthropic managed agents"

_EVENT = re.compile(r"(agent|user|session|span)\.[a-z_]+")
_CALLS = ("agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use")
_RESULTS = ("agent.tool_result", "agent.mcp_tool_result", "user.custom_tool_result")


def detect(head: bytes) -> float:
    """See `["method", payload]` lines, or a list of `agent.…` and `user.…` events."""
    hits = 0
    records = peek(head).records
    for record in records:
        _, payload = _parts(record)
        events = [payload, *sequence(payload.get("data"))]
        hits += any(_is_event(event) for event in events) or _is_session(payload)
    return 0.95 if hits and hits >= len(records) / 3 else 0.0


def _parts(record: Json) -> tuple[str, dict[str, Json]]:
    """Split a line into the method and its payload."""
    if isinstance(record, list):
        method = record[0] if record and isinstance(record[0], str) else ""
        return method, mapping(record[1]) if len(record) > 1 else {}
    return "", mapping(record)


def _sent_to(record: Json) -> str:
    """Give the session that `events.send` names: `[method, [id, {events}]]`."""
    if isinstance(record, list) and isinstance(record[-1], list):
        target = record[-1][0] if record[-1] else ""
        return target if isinstance(target, str) else ""
    return ""


def _is_event(value: Json) -> bool:
    event = mapping(value)
    kind = event.get("type")
    if not isinstance(kind, str) or not _EVENT.fullmatch(kind):
        return False
    return "processed_at" in event or text(event.get("id")).startswith("sevt_")


def _is_session(payload: dict[str, Json]) -> bool:
    return payload.get("type") == "session" and isinstance(payload.get("agent"), dict)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each session of the file."""
    session = _Session(1, 0)
    for value in values(stream):
        if value.fault is not None:
            session.unreadable.append(value.fault)
            continue
        method, payload = _parts(value.json)
        if method.endswith(".send") or isinstance(payload.get("events"), list):
            session.id = session.id or _sent_to(value.json)
            continue
        if _is_session(payload):
            if session.id or session.threads:
                yield from session.records()
                session = _Session(value.document.line, value.document.offset)
            session.begin(payload)
            continue
        events = payload["data"] if isinstance(payload.get("data"), list) else [payload]
        for event in events:
            if _is_event(event):
                session.add(event)
            elif not method:
                reason = "neither a session nor an event of one"
                session.unreadable.append(unreadable(value.document, reason))
    yield from session.records()


class _Session:
    """Collects the events of one session."""

    def __init__(self, line: int, offset: int) -> None:
        self.threads: dict[str, ThreadBuilder] = {}
        self.open: dict[str, Turn] = {}  # the model's answer that is being written
        self.seen: set[str] = set()  # ids of events
        self.denied: set[str] = set()  # ids of calls that a person refused
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.id = ""
        self.main = ""  # the session thread that came first
        self.about: dict[str, Json] = {}
        self.line, self.offset = line, offset

    def begin(self, payload: dict[str, Json]) -> None:
        """Take what `sessions.create` gave back."""
        self.about = payload
        self.id = text(payload.get("id"))
        at = timestamp(payload.get("created_at"))
        if at is not None:
            self.times.append(at)
        system = text(mapping(payload.get("agent")).get("system"))
        if system:
            self._thread({}).add("system", system, at=at)

    def _thread(self, event: dict[str, Json]) -> ThreadBuilder:
        key = text(event.get("session_thread_id"))
        self.main = self.main or key
        key = "" if key == self.main else key
        if key not in self.threads:
            kind = "sub_agent" if key else "main"
            agent = text(event.get("agent_name"))
            self.threads[key] = ThreadBuilder(key, kind, agent if key else "")
        return self.threads[key]

    def add(self, event: dict[str, Json]) -> None:
        """Add one event; one that comes twice is read once."""
        event_id = text(event.get("id"))
        if event_id and event_id in self.seen:
            return
        self.seen.add(event_id)
        at = timestamp(event.get("processed_at", event.get("created_at")))
        if at is not None:
            self.times.append(at)
        kind = event["type"]
        builder = self._thread(event)
        if kind in _CALLS:
            self._call(builder, event, at)
        elif kind in _RESULTS:
            self._result(builder, event, at)
        elif kind == "agent.message":
            turn = self._turn(builder, at)
            said = blocks_text(event.get("content"))
            turn.text = f"{turn.text}\n{said}" if turn.text else said
        elif kind == "span.model_request_start":
            self.open.pop(builder.thread.id, None)
        elif kind == "span.model_request_end":
            self._request_end(builder, event, at)
        elif kind == "user.message":
            self.open.pop(builder.thread.id, None)
            builder.add("user", blocks_text(event.get("content")), at=at)
        elif kind == "user.tool_confirmation" and event.get("result") == "deny":
            self.denied.add(text(event.get("tool_use_id")))
        elif kind in ("session.error", "user.interrupt"):
            self._notice(builder, text(event.get("error")) or kind, at)

    def _turn(self, builder: ThreadBuilder, at: float | None) -> Turn:
        """Give the turn of the model's answer that is being written."""
        turn = self.open.get(builder.thread.id)
        if turn is None:
            turn = builder.add("assistant", at=at, model=self._model())
            self.open[builder.thread.id] = turn
        return turn

    def _model(self) -> str:
        model = mapping(self.about.get("agent")).get("model")
        return text(model.get("id")) if isinstance(model, dict) else text(model)

    def _call(
        self, builder: ThreadBuilder, event: dict[str, Json], at: float | None
    ) -> None:
        call = Call(
            tool=text(event.get("name")),
            arguments=text(event.get("input")),
            id=text(event.get("id")),
            at=at,
        )
        builder.call(self._turn(builder, at), call)

    def _result(
        self, builder: ThreadBuilder, event: dict[str, Json], at: float | None
    ) -> None:
        self.open.pop(builder.thread.id, None)
        answer = answer_in({**event, "name": None})
        answer.result.at = at
        if answer.result.is_error and answer.id in self.denied:
            answer.result.cause = "denied"
        builder.result(answer.result, id=answer.id)

    def _request_end(
        self, builder: ThreadBuilder, event: dict[str, Json], at: float | None
    ) -> None:
        turn = self.open.get(builder.thread.id)
        usage = mapping(event.get("model_usage"))
        if turn is not None and usage:
            parts = (
                integer(usage.get("input_tokens")),
                integer(usage.get("cache_read_input_tokens")),
                integer(usage.get("cache_creation_input_tokens")),
            )
            turn.input_tokens = sum(part or 0 for part in parts)
            turn.output_tokens = integer(usage.get("output_tokens"))
        self.open.pop(builder.thread.id, None)
        if event.get("is_error") is True:
            self._notice(builder, "The model request failed.", at)

    def _notice(self, builder: ThreadBuilder, said: str, at: float | None) -> None:
        self.open.pop(builder.thread.id, None)
        builder.add("system", said, at=at).kind = "notice"

    def records(self) -> Iterator[Record]:
        """Give the session as a run; without events, what could not be read."""
        threads = sorted(self.threads.items(), key=lambda pair: pair[0] != "")
        if not threads:
            yield from self.unreadable
            return
        agent = mapping(self.about.get("agent"))
        tools = [t for t in sequence(agent.get("tools")) if "name" in mapping(t)]
        yield Transcript(
            format="anthropic_managed_agents",
            threads=[builder.thread for _, builder in threads],
            run_id=self.id,
            is_global_id=bool(self.id),
            title=text(self.about.get("title")),
            model=self._model(),
            agent=text(agent.get("name")),
            agent_version=text(agent.get("version")),
            started_at=min(self.times, default=None),
            ended_at=max(self.times, default=None),
            tools=tool_definitions(tools),
            unreadable=self.unreadable,
            line=self.line,
            offset=self.offset,
        )
