"""LangChain messages in their three dumps, and LangGraph states and checkpoints.

Export: `json.dumps([m.model_dump() for m in messages])`, `dumpd(messages)` or
`messages_to_dict(messages)`; or the states that `graph.get_state_history` gives; one
file a run, or one run a line.
Read: calls, results, calls whose arguments did not parse, usage, the model's name. Of
checkpoints, which repeat the growing list, the longest of each thread; the parts that
`stream_mode="updates"` gives are put together.
Not read: artifacts, pictures, removed messages.
Errors: `status: error` of a tool message. Arguments that did not parse
(`invalid_tool_calls`) have the cause rejected; where no message answers them, the model
never saw the reason.
Outcomes: only a wrapper's `outcome` or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Result, Transcript, Unreadable

from ._documents import Value, odd_item, unreadable, values
from ._histories import Histories
from ._said import Said, add, say
from ._wrapper import is_global, wrapped
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, mapping, sequence, text, timestamp

LABEL = "LangChain and LangGraph"

_TYPES = ("human", "ai", "tool", "system", "function", "remove", "AIMessageChunk")
_OWN_KEYS = ("additional_kwargs", "response_metadata", "invalid_tool_calls")


def detect(head: bytes) -> float:
    """See messages of type human, ai or tool, or constructors (`lc`)."""
    seen = peek(head)
    messages: list[dict[str, Json]] = []
    for record in seen.records:
        messages += [mapping(item) for item in _messages(record) or [record]]
    if not messages:
        marks = (b'"additional_kwargs"', b'"response_metadata"', b'"tool_call_id"')
        is_state = seen.keys & {"messages", "values", "channel_values"}
        return 0.7 if is_state and sum(m in seen.cut for m in marks) > 1 else 0.0
    fits = [message for message in messages if _is_message(message)]
    if len(fits) < len(messages) / 2:
        return 0.0
    sure = any("lc" in m or "data" in m or _has_own_key(m) for m in fits)
    return 0.9 if sure else 0.55


def _has_own_key(message: dict[str, Json]) -> bool:
    return any(key in message for key in _OWN_KEYS)


def _is_run(value: Json) -> bool:
    return bool(_messages(value))


def _is_message(value: Json) -> bool:
    """Whether this is a message in one of the three dumps."""
    source = mapping(value)
    if "lc" in source:
        name = (sequence(source.get("id")) or [""])[-1]
        return isinstance(source.get("kwargs"), dict) and "Message" in text(name)
    if source.get("type") not in _TYPES:
        return False
    return "content" in source or isinstance(source.get("data"), dict)


def _messages(record: Json, depth: int = 0) -> list[Json]:
    """Give the list of messages of a state, wherever the dump keeps it."""
    if isinstance(record, list):
        return record
    source = mapping(record)
    messages = source.get("messages")
    if isinstance(messages, list):
        return messages
    if _is_message(source) or depth > 2:
        return []
    for key in ("values", "state", "channel_values", "checkpoint", "input", "output"):
        found = _messages(source.get(key) or {}, depth + 1)
        if found:
            return found
    return []


def _update(record: dict[str, Json]) -> list[Json]:
    """Give the messages that one node added: `{"agent": {"messages": […]}}`."""
    found: list[Json] = []
    for node in record.values():
        found += sequence(mapping(node).get("messages"))
    return found if all(map(_is_message, found)) else []


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each list, state or thread; bare messages are one run."""
    histories: Histories[tuple[list[Json], Value]] = Histories()
    bare: list[Json] = []
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message):
        messages = _messages(value.json)
        record = mapping(value.json)
        if messages and all(isinstance(item, list) for item in messages):
            messages = messages[0]  # a batch of one
        if messages:
            key = _thread_id(record)
            for complete in histories.offer(messages, (messages, value), key):
                yield _run(*complete)
        elif value.fault is not None:
            faults.append(value.fault)
        elif _is_message(record):
            bare.append(record)
        elif added := _update(record):
            bare += added
        else:
            reason = "neither a message nor a state with messages"
            faults.append(unreadable(value.document, reason))
    for complete in histories.finish():
        yield _run(*complete)
    if not bare:
        yield from faults
        return
    thread = _Thread()
    for message in bare:
        thread.add(message, None)
    thread.close()
    run = Transcript("langchain", [thread.builder.thread], line=1, offset=0)
    run.model = thread.model
    run.unreadable = faults
    yield run


def _config(record: dict[str, Json]) -> dict[str, Json]:
    return mapping(mapping(record.get("config")).get("configurable"))


def _thread_id(record: dict[str, Json]) -> str:
    """Give the id of the LangGraph thread, or of the run in a wrapper."""
    for source in (_config(record), record, mapping(record.get("metadata"))):
        for key in ("thread_id", "run_id", "session_id"):
            if isinstance(source.get(key), (str, int)):
                return text(source[key])
    return ""


def _run(messages: list[Json], where: Value) -> Transcript:
    record = mapping(where.json)
    thread = _Thread()
    for message in messages:
        thread.add(message, where.document)
    thread.close()
    run = wrapped("langchain", [thread.builder.thread], record, where.document)
    run.run_id = run.run_id or _thread_id(record)
    run.is_global_id = is_global(run.run_id)  # threads are often called "1"
    run.model = run.model or thread.model
    run.ended_at = run.ended_at or timestamp(record.get("created_at"))
    run.unreadable = thread.unreadable
    if where.fault is not None:
        run.unreadable = [*run.unreadable, where.fault]
    return run


class _Thread:
    """Collects the messages of one run."""

    def __init__(self) -> None:
        self.builder = ThreadBuilder()
        self.unreadable: list[Unreadable] = []
        self.model = ""
        self.invalid: dict[str, Json] = {}  # what the parser said, by call id

    def add(self, message: Json, document: Document | None) -> None:
        """Add one message, whichever dump it is in."""
        source = mapping(message)
        is_known = "lc" in source or "role" in source or source.get("type") in _TYPES
        if not is_known and document is not None:
            odd = odd_item(message, document, "a message of no known type, or one")
            self.unreadable.append(odd)
            return
        if source.get("type") == "remove":
            return
        said = say(message)
        inner = mapping(source.get("kwargs")) or mapping(source.get("data")) or source
        for item in sequence(inner.get("invalid_tool_calls")):
            self.invalid[text(mapping(item).get("id"))] = mapping(item).get("error")
        self.model = self.model or said.model
        self._add(said)

    def _add(self, said: Said) -> None:
        turn = add(self.builder, said)
        if turn is not None and turn.role == "assistant":
            turn.model = said.model

    def close(self) -> None:
        """Give calls that were refused, and that no message answers, their reason."""
        for turn in self.builder.turns:
            for call in turn.calls:
                if call.result is not None or call.id not in self.invalid:
                    continue
                call.result = Result(
                    text=text(self.invalid[call.id]),
                    is_error=True,
                    flag="invalid_tool_calls",
                    cause="rejected",
                    delivered=False,
                )
