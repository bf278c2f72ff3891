"""Gemini contents: the history of a checkpoint, a saved chat or an API request (JSON).

Export: `/chat save` in Gemini CLI writes `checkpoint-….json`; `/chat share file.json`
writes the same list.
Read: contents of the roles user and model: text, thoughts, calls and responses, matched
by id, or by name and order where there is none; a compacted history as a summary turn.
Not read: pictures and files, thought signatures. The file has no times and no run id.
Errors: `error` in the response of a tool; a person's refusal by its fixed text.
Outcomes: not in the file.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Transcript, Unreadable

from ._documents import odd_item, unreadable
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
from .thread import ThreadBuilder
from .values import Json, mapping, sequence, text, timestamp

LABEL = "Gemini contents (checkpoint)"

_LISTS = ("history", "contents")
_ROLES = frozenset({"user", "model", "gemini", "function"})
_PARTS = frozenset(
    {
        *("text", "functionCall", "functionResponse", "function_call"),
        *("function_response", "inlineData", "fileData", "thought"),
    }
)


def detect(head: bytes) -> float:
    """See a list of `{role, parts}`, bare or in `history`; parts carry no `type`."""
    seen = peek(head)
    items = seen.objects
    for key in _LISTS:
        if key in seen.first and isinstance(seen.first[key], list):
            items = [mapping(item) for item in sequence(seen.first[key])]
        elif key in seen.keys and b'"parts"' in seen.cut:
            return (
                0.7 if b'"functionCall"' in seen.cut or b'"model"' in seen.cut else 0.0
            )
    if not items and seen.is_array and b'"parts"' in seen.cut[:2000]:
        return 0.5 if b'"role"' in seen.cut else 0.0
    contents = [item for item in items if _is_content(item)]
    if not contents or len(contents) < len(items) / 2:
        return 0.0
    return 0.9 if any(item["role"] != "user" for item in contents) else 0.7


def _is_content(item: dict[str, Json]) -> bool:
    found = item.get("parts")
    if word(item.get("role")) not in _ROLES or not isinstance(found, list):
        return False
    if not {"type", "content", "id"}.isdisjoint(item):
        return False
    shapes = [mapping(part) for part in found]
    return all(_PARTS & part.keys() and "type" not in part for part in shapes)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the list as one run; each object around a list as a run of its own."""
    bare = _Contents()
    for document, record in parts(stream, "history", has=("role", "parts")):
        if isinstance(record, Unreadable):
            bare.unreadable.append(record)
        elif key := next((k for k in _LISTS if k in record), ""):
            wrapped = _Contents(document.line, document.offset)
            wrapped.header = {k: v for k, v in record.items() if k != key}
            wrapped.unreadable, bare.unreadable = bare.unreadable, []
            for item in sequence(record[key]):
                if not wrapped.add(mapping(item)):
                    lost = odd_item(item, document, "a content")
                    wrapped.unreadable.append(lost)
            yield from wrapped.records()
        elif not bare.add(record):
            reason = "neither a content with `role` and `parts` nor a history"
            bare.unreadable.append(unreadable(document, reason))
    yield from bare.records()


class _Contents:
    """Builds one run."""

    def __init__(self, line: int = 1, offset: int = 0) -> None:
        self.header: dict[str, Json] = {}
        self.unreadable: list[Unreadable] = []
        self._builder = ThreadBuilder()
        self._times: list[float] = []
        self._line, self._offset = line, offset

    def add(self, item: dict[str, Json]) -> bool:
        found, role = item.get("parts"), item.get("role")
        if not isinstance(role, str) or not isinstance(found, (list, str)):
            return False
        at = timestamp(item.get("ts", item.get("timestamp")))
        if at is not None:
            self._times.append(at)
        said = said_in(found)
        if role in ("model", "gemini", "assistant"):
            turn = self._builder.add("assistant", said, at=at)
            turn.reasoning = thoughts_in(found)
            add_calls(self._builder, turn, found, at)
            return True
        for answer in responses_in(found):
            result = result_of(answer.get("response"), at)
            call_id, tool = id_text(answer.get("id")), text(answer.get("name"))
            self._builder.result(result, id=call_id, tool=tool)
        if role == "system":
            self._builder.add("system", said, at=at)
        elif said:
            add_prompt(self._builder, said, at)
        return True

    def records(self) -> Iterator[Record]:
        if not self._builder.turns:
            yield from self.unreadable
            return
        meta = mapping(self.header.get("meta"))
        yield Transcript(
            format="gemini_contents",
            threads=[self._builder.thread],
            title=text(self.header.get("summary")),
            model=text(meta.get("model")) or text(self.header.get("model")),
            agent="Gemini CLI",
            started_at=timestamp(self.header.get("start_time"))
            or min(self._times, default=None),
            ended_at=max(self._times, default=None),
            unreadable=self.unreadable,
            line=self._line,
            offset=self._offset,
        )
