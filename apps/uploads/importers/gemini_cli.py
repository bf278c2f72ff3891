"""Gemini CLI chat files: one JSON object, or JSONL with patches (newer).

Export: the files `chats/session-….json` or `.jsonl` in the tool's folder of the
project.
Read: prompts, answers, thoughts, calls with their results, tokens. A message that is
written again under its id counts once, as last written; a patch of all messages
(compression) adds what is new in it; messages taken back are a branch; a sub-agent's
file adds threads to the run that its folder names.
Not read: what is shown of a result instead of what the model got; memory and settings.
Errors: the `status` of a call (error, cancelled) and `error` in its response. A failing
shell command keeps the status success; its exit code is in the tool's last lines.
Outcomes: not in the file. A chat whose last line is an error of the provider crashed.
"""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Record,
    Thread,
    Transcript,
    Turn,
    Unreadable,
)

from ._documents import unreadable
from ._gemini_parts import (
    add_calls,
    add_prompt,
    responses_in,
    result_of,
    said_in,
    thoughts_in,
)
from ._objects import id_text, parts, word
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, integer, mapping, sequence, text, timestamp

LABEL = "Gemini CLI chats"

_IN_FOLDER = re.compile(r"(?:.*/)?chats/([^/]+)/[^/]+\.jsonl?")
_MODEL = frozenset({"gemini", "model", "assistant"})
_NOTICES = frozenset({"info", "error", "warning", "system"})
_ANSWERED = frozenset({"success", "error", "cancelled"})


def detect(head: bytes) -> float:
    """See an object or a header line with `sessionId` and `projectHash`."""
    seen = peek(head)
    if seen.is_array or "sessionId" not in seen.keys or "uuid" in seen.keys:
        return 0.0
    if "projectHash" in seen.keys:
        return 0.95
    patched = any("$set" in record for record in seen.objects)
    return 0.9 if patched and "startTime" in seen.keys else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the chat; several one after another as so many runs."""
    chat = _Chat(name)
    for document, record in parts(stream, "messages", has=("type", "timestamp")):
        if isinstance(record, Unreadable):
            chat.unreadable.append(record)
            continue
        if chat.is_other(record):
            yield from chat.records()
            chat = _Chat(name, document.line, document.offset)
        chat.add(record, document)
    yield from chat.records()


class _Chat:
    """Collects the messages of one chat, each as it was last written."""

    def __init__(self, name: str, line: int = 1, offset: int = 0) -> None:
        self.unreadable: list[Unreadable] = []
        self._name = name
        self._header: dict[str, Json] = {}
        self._messages: dict[str, dict[str, Json]] = {}
        self._taken_back: list[list[dict[str, Json]]] = []
        self._line, self._offset = line, offset

    def is_other(self, record: dict[str, Json]) -> bool:
        """Whether this is the header of another chat."""
        known = id_text(self._header.get("sessionId"))
        found = id_text(record.get("sessionId"))
        return bool(known and found and known != found) and "type" not in record

    def add(self, record: dict[str, Json], document: Document) -> None:
        """Add a header, a patch, a message, or a whole chat."""
        patch = record.get("$set")
        back_to = record.get("$rewindTo")
        if back_to is not None:
            self._take_back(id_text(back_to))
        elif isinstance(record.get("type"), str):
            self._message(record, document)
        elif isinstance(patch, dict) or "sessionId" in record or "messages" in record:
            changed = mapping(patch) or record
            self._header.update({k: v for k, v in changed.items() if k != "messages"})
            for item in sequence(changed.get("messages")):
                self._message(item, document)
        elif not record.keys() <= {"$set"} and "projectHash" not in record:
            reason = "neither a header nor a message"
            self.unreadable.append(unreadable(document, reason))

    def _message(self, item: Json, document: Document) -> None:
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            reason = "a message that is no object with a `type`"
            self.unreadable.append(unreadable(document, reason))
            return
        key = id_text(item.get("id")) or f"#{len(self._messages)}"
        self._messages[key] = item

    def _take_back(self, key: str) -> None:
        keys = list(self._messages)
        if key in keys:
            gone = keys[keys.index(key) :]
            self._taken_back.append([self._messages.pop(old) for old in gone])

    def records(self) -> Iterator[Record]:
        """Yield the chat, if anything was said."""
        thread = _thread(self._messages.values())
        branches = [_thread(messages) for messages in self._taken_back]
        for number, branch in enumerate(branches, 1):
            branch.id, branch.kind = f"taken-back-{number}", "branch"
        if not thread.turns and not any(branch.turns for branch in branches):
            yield from self.unreadable
            return
        own = id_text(self._header.get("sessionId"))
        folder = _IN_FOLDER.fullmatch(self._name)
        is_part = self._header.get("kind") == "subagent" and folder is not None
        run_id = folder[1] if is_part and folder else own
        if self._header.get("kind") == "subagent":
            thread.id, thread.kind = own, "sub_agent"
        said = [turn.at for turn in thread.turns if turn.at is not None]
        models = (turn.model for turn in thread.turns if turn.model)
        yield Transcript(
            format="gemini_cli",
            threads=[thread, *branches],
            run_id=run_id,
            is_global_id=bool(run_id),
            is_part=is_part,
            title=text(self._header.get("summary")),
            model=next(models, ""),
            agent="Gemini CLI",
            started_at=timestamp(self._header.get("startTime"))
            or min(said, default=None),
            ended_at=timestamp(self._header.get("lastUpdated"))
            or max(said, default=None),
            ending=self._ending(),
            unreadable=self.unreadable,
            line=self._line,
            offset=self._offset,
        )

    def _ending(self) -> Ending:
        last = next(reversed(self._messages.values()), {})
        if last.get("type") == "error":
            return "crashed"
        said = _content(last)
        is_cancelled = last.get("type") == "info" and said == "Request cancelled."
        return "cancelled" if is_cancelled else ""


def _content(message: dict[str, Json]) -> str:
    return said_in(message.get("content", message.get("parts")))


def _thread(messages: Iterable[dict[str, Json]]) -> Thread:
    builder = ThreadBuilder()
    known: set[str] = set()
    for message in messages:
        found = message.get("content", message.get("parts"))
        kind, at = message["type"], timestamp(message.get("timestamp"))
        if kind in _MODEL:
            _answer(builder, message, found, known, at)
            continue
        if kind in _NOTICES:
            builder.add("system", said_in(found), at=at).kind = "notice"
            continue
        for answer in responses_in(found):
            call_id = id_text(answer.get("id"))
            if call_id not in known:  # else it stands with its call
                result = result_of(answer.get("response"), at)
                builder.result(result, id=call_id, tool=text(answer.get("name")))
        said = said_in(found)
        if said:
            add_prompt(builder, said, at)
    return builder.thread


def _answer(
    builder: ThreadBuilder,
    message: dict[str, Json],
    found: Json,
    known: set[str],
    at: float | None,
) -> None:
    model = text(message.get("model"))
    turn = builder.add("assistant", said_in(found), at=at, model=model)
    tokens = mapping(message.get("tokens"))
    turn.input_tokens = integer(tokens.get("input"))
    turn.output_tokens = integer(tokens.get("output"))
    thoughts = [thoughts_in(found)]
    for item in sequence(message.get("thoughts")):
        thought = mapping(item)
        thoughts += [text(thought.get("subject")), text(thought.get("description"))]
    turn.reasoning = "\n".join(filter(None, thoughts))
    add_calls(builder, turn, found, at)
    for item in sequence(message.get("toolCalls")):
        _tool_call(builder, turn, mapping(item), known, at)


def _tool_call(
    builder: ThreadBuilder,
    turn: Turn,
    item: dict[str, Json],
    known: set[str],
    at: float | None,
) -> None:
    """Add a call and its result, which are one record here."""
    call_id, tool = id_text(item.get("id")), text(item.get("name"))
    call = Call(tool=tool, arguments=text(item.get("args")), id=call_id, at=at)
    builder.call(turn, call)
    status = word(item.get("status"))
    answers = responses_in(item.get("result"))
    if status not in _ANSWERED and not answers:
        return
    ended = timestamp(item.get("timestamp"))
    shown = item.get("resultDisplay")
    response = answers[0].get("response") if answers else item.get("result", shown)
    result = result_of(response, ended)
    if status in _ANSWERED:
        result.is_error, result.flag = status != "success", "status"
    if status == "cancelled":
        result.cause = "denied"
    known.add(call_id)
    builder.answer(call, result)
