"""The lines of one Claude Code file: one session, several, or a part of one."""

import copy
import re
from collections.abc import Iterator

from apps.runs.transcript import Record, Unreadable

from ._claude_session import Session
from ._documents import unreadable
from ._objects import id_text
from .records import Document
from .values import Json, mapping, text

_IN_FOLDER = re.compile(r"(?:.*/)?([^/]+)/subagents/(?:.*/)?agent-([^/]+)\.jsonl")
_BESIDE = re.compile(r"(?:.*/)?agent-([^/]+)\.jsonl")


class SessionFile:
    """Gives each line to its session and keeps what could not be read."""

    def __init__(self, name: str) -> None:
        """Take the file's path inside the upload: it may hold a sub-agent's ids."""
        self.unreadable: list[Unreadable] = []
        self.agent_type = ""  # of the sub-agent whose file this is
        self._sessions: dict[str, Session] = {}
        self._owners: dict[str, Session] = {}  # by record id
        self._seen: dict[str, int] = {}  # what stood under a record id
        self._titles: list[tuple[str, str]] = []  # record id, title
        self._current = ""
        inside = _IN_FOLDER.fullmatch(name)
        beside = _BESIDE.fullmatch(name)
        self._parent = inside[1] if inside else ""
        self._agent = inside[2] if inside else beside[1] if beside else ""

    def set_web_session(self, export: dict[str, Json]) -> None:
        """Take what a web export says of the session beside its lines."""
        keys = ("session_id", "sessionId", "uuid", "id")
        self._current = next((i for k in keys if (i := id_text(export.get(k)))), "")
        self._session(self._current).title = text(export.get("title"))

    def add(self, record: dict[str, Json], document: Document) -> None:
        """Add one line."""
        kind = record.get("type")
        if kind == "progress":
            record = _nested(record)
            kind = record.get("type")
        if not isinstance(kind, str):
            self._set_aside(document, "a line without a `type`")
        elif kind == "summary":
            title = text(record.get("summary"))
            self._titles.append((text(record.get("leafUuid")), title))
        elif kind in ("custom-title", "ai-title"):
            session = self._session(id_text(record.get("sessionId")) or self._current)
            session.title = text(record.get("customTitle")) or session.title
            session.title = session.title or text(record.get("aiTitle"))
        elif kind in ("user", "assistant") and not self._has_content(record):
            self._set_aside(document, f"a line of type {kind} without a message")
        elif kind in ("user", "assistant", "system", "tool_use", "tool_result"):
            self._add_turn(record)

    @staticmethod
    def _has_content(record: dict[str, Json]) -> bool:
        content = mapping(record.get("message")).get("content")
        return isinstance(content, (str, list))

    def _set_aside(self, document: Document, reason: str) -> None:
        self.unreadable.append(unreadable(document, reason))

    def _add_turn(self, record: dict[str, Json]) -> None:
        uuid = id_text(record.get("uuid"))
        if uuid:  # history copied into the same file is read once
            print_ = hash(text([record.get("type"), record.get("message")]))
            if self._seen.get(uuid) == print_:
                return
            self._seen[uuid] = print_
        said = id_text(record.get("sessionId"))
        self._current = self._parent or said or self._current
        before = self._owners.get(id_text(record.get("parentUuid")))
        session = self._session(self._current, before)
        if session.was_continued:
            session.lives_on = True
        if uuid:
            self._owners[uuid] = session
        if self._agent:
            record = {**record, "isSidechain": True}
            record["agentId"] = id_text(record.get("agentId")) or self._agent
        session.add(record)

    def _session(self, key: str, before: Session | None = None) -> Session:
        if key not in self._sessions:
            session = Session(key)
            if before is not None and before.run_id:  # a resumed session copies it
                session = copy.deepcopy(before)
                session.continue_as(key)
                before.was_continued = True
            self._sessions[key] = session
        return self._sessions[key]

    def records(self) -> Iterator[Record]:
        """Yield the sessions in the order in which they began."""
        for leaf, title in self._titles:
            session = self._owners.get(leaf)
            if session is not None:
                session.title = session.title or title
        shown = [
            session
            for session in self._sessions.values()
            if session.has_turns and (session.lives_on or not session.was_continued)
        ]
        for position, session in enumerate(shown):
            lost = self.unreadable if position == 0 else []
            yield session.transcript(self.agent_type, lost)
        if not shown:
            yield from self.unreadable


def _nested(record: dict[str, Json]) -> dict[str, Json]:
    """Give the message that an `agent_progress` line carries, as a line of its own."""
    data = mapping(record.get("data"))
    message = mapping(data.get("message"))
    agent = id_text(data.get("agentId"))
    if not agent or message.get("type") not in ("user", "assistant"):
        return {"type": "progress"}
    return {
        **message,
        "isSidechain": True,
        "agentId": agent,
        "sessionId": record.get("sessionId"),
        "version": record.get("version"),
        "cwd": record.get("cwd"),
        "spawned_by": record.get("parentToolUseID"),
    }
