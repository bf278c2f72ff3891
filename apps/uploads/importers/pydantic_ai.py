"""PydanticAI message histories, versions 1 and 2.

Export: `result.all_messages_json()` (or `ModelMessagesTypeAdapter.dump_json`), one file
a run or one list a line; a wrapper `{"run_id", "messages"}` a line is read too.
Read: tool calls and returns, built-in tools, retry prompts, thinking, usage, times. The
id is the conversation's where the version writes one, else the first run's.
Not read: binary content, provider details.
Errors: version 1: a `retry-prompt` that names a tool. Version 2: `outcome` of a
`tool-return` (`retried`, `failed`, `denied`). Refused arguments and unknown tools,
where the log says so, have the cause rejected. A retry prompt without a tool is about
the final answer: it becomes a notice. When the retries run out the exception is not in
the history: the last call has no result.
Outcomes: only a wrapper's `outcome` or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Turn, Unreadable

from ._documents import Value, odd_item, unreadable, values
from ._said import first
from ._wrapper import wrapped
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, blocks_text, integer, mapping, sequence, text, timestamp

LABEL = "PydanticAI"

_KINDS = ("request", "response")
_WRAPPERS = ("messages", "all_messages", "message_history")
_REJECTED = ("validation_error", "unknown_tool")


def detect(head: bytes) -> float:
    """See messages of kind request or response whose parts have a `part_kind`."""
    seen = peek(head)
    messages: list[dict[str, Json]] = []
    for record in seen.records:
        messages += [mapping(item) for item in _messages(record) or [record]]
    if any(_is_message(message) for message in messages):
        return 0.95
    is_cut = b'"part_kind"' in seen.cut and b'"parts"' in seen.cut
    return 0.85 if is_cut and not seen.records else 0.0


def _is_run(value: Json) -> bool:
    return bool(_messages(value))


def _is_message(value: Json) -> bool:
    message = mapping(value)
    if message.get("kind") not in _KINDS:
        return False
    parts = message.get("parts")
    return isinstance(parts, list) and all("part_kind" in mapping(p) for p in parts)


def _messages(record: Json) -> list[Json]:
    if isinstance(record, list):
        return record
    found = first(mapping(record), _WRAPPERS)
    return found if isinstance(found, list) else []


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each list; bare messages of a file are one run."""
    bare: _Conversation | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message):
        record = mapping(value.json)
        messages = _messages(value.json)
        if messages:
            yield _run(messages, value)
        elif value.fault is not None:
            faults.append(value.fault)
        elif isinstance(record.get("parts"), list):
            bare = bare or _Conversation()
            bare.add(record, value.document)
        else:
            faults.append(unreadable(value.document, "not a message with parts"))
    if bare is None:
        yield from faults
        return
    run = Transcript("pydantic_ai", [bare.builder.thread], line=1, offset=0)
    bare.describe(run)
    run.unreadable = [*faults, *bare.unreadable]
    yield run


def _run(messages: list[Json], value: Value) -> Transcript:
    conversation = _Conversation()
    for message in messages:
        conversation.add(message, value.document)
    record = mapping(value.json)
    thread = conversation.builder.thread
    run = wrapped("pydantic_ai", [thread], record, value.document)
    conversation.describe(run)
    run.unreadable = conversation.unreadable
    if value.fault is not None:
        run.unreadable = [*run.unreadable, value.fault]
    return run


class _Conversation:
    """Collects the messages of one history."""

    def __init__(self) -> None:
        self.builder = ThreadBuilder()
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.model = ""
        self.id = ""
        self.instructions = ""

    def add(self, item: Json, document: Document) -> None:
        """Add one request or response."""
        message = mapping(item)
        if not isinstance(message.get("parts"), list):
            odd = odd_item(item, document, "a message without parts, or one")
            self.unreadable.append(odd)
            return
        self.id = self.id or text(first(message, ("conversation_id", "run_id")))
        at = timestamp(message.get("timestamp"))
        self.times += [at] if at is not None else []
        if message.get("kind") == "response":
            self._response(message, at)
        else:
            self._request(message, at)

    def _response(self, message: dict[str, Json], at: float | None) -> None:
        model = text(message.get("model_name"))
        self.model = self.model or model
        turn = self.builder.add("assistant", at=at, model=model)
        usage = mapping(message.get("usage"))
        turn.input_tokens = integer(first(usage, ("input_tokens", "request_tokens")))
        turn.output_tokens = integer(first(usage, ("output_tokens", "response_tokens")))
        for part in map(mapping, sequence(message.get("parts"))):
            kind = text(part.get("part_kind"))
            if kind == "text":
                said = text(part.get("content"))
                turn.text = f"{turn.text}\n{said}" if turn.text else said
            elif kind == "thinking":
                turn.reasoning += text(part.get("content"))
            elif kind.endswith("tool-call"):
                self._call(turn, part, at)
            elif kind.endswith("tool-return"):
                self._return(part, at)
            else:
                turn.text += f"[{kind}]"

    def _call(self, turn: Turn, part: dict[str, Json], at: float | None) -> None:
        call = Call(
            tool=text(part.get("tool_name")),
            arguments=text(part.get("args")),
            id=text(part.get("tool_call_id")),
            at=at,
        )
        self.builder.call(turn, call)

    def _request(self, message: dict[str, Json], at: float | None) -> None:
        instructions = text(message.get("instructions"))
        if instructions and instructions != self.instructions:
            self.instructions = instructions
            self.builder.add("system", instructions, at=at)
        for part in map(mapping, sequence(message.get("parts"))):
            kind = text(part.get("part_kind"))
            if kind == "tool-return":
                self._return(part, at)
            elif kind == "retry-prompt" and part.get("tool_name") is not None:
                self._retry(part, at)
            else:
                role = "system" if kind == "system-prompt" else "user"
                said = _content(part.get("content"))
                turn = self.builder.add("user", said, at=at)
                turn.role = "system" if role == "system" else "user"
                turn.kind = "notice" if kind == "retry-prompt" else ""

    def _return(self, part: dict[str, Json], at: float | None) -> None:
        outcome = part.get("outcome")
        result = Result(text=text(part.get("content")))
        if isinstance(outcome, str):
            result.is_error, result.flag = outcome != "success", "outcome"
            result.cause = "denied" if outcome == "denied" else ""
        cause = mapping(part.get("retry")).get("cause")
        if cause in _REJECTED:
            result.cause = "rejected"
        result.error_code = text(cause)
        self._answer(result, part, at)

    def _retry(self, part: dict[str, Json], at: float | None) -> None:
        content = part.get("content")
        result = Result(text=text(content), is_error=True, flag="part_kind")
        if isinstance(content, list):  # what the schema refused, before the tool ran
            result.cause = "rejected"
            result.error_code = text(mapping((content or [None])[0]).get("type"))
        self._answer(result, part, at)

    def _answer(self, result: Result, part: dict[str, Json], at: float | None) -> None:
        own = timestamp(part.get("timestamp"))
        result.at = own if own is not None else at
        call_id, tool = text(part.get("tool_call_id")), text(part.get("tool_name"))
        self.builder.result(result, id=call_id, tool=tool)

    def describe(self, run: Transcript) -> None:
        """Add to a run what its messages say of it."""
        run.run_id = run.run_id or self.id
        run.is_global_id = bool(run.run_id)
        run.model = run.model or self.model
        run.started_at = run.started_at or min(self.times, default=None)
        run.ended_at = run.ended_at or max(self.times, default=None)


def _content(content: Json) -> str:
    """Read a prompt; binary parts, which have a `kind` and no type, become its name."""
    if not isinstance(content, list):
        return blocks_text(content)
    parts = []
    for item in content:
        kind = mapping(item).get("kind")
        parts.append(f"[{text(kind)}]" if kind is not None else blocks_text(item))
    return "\n".join(parts)
