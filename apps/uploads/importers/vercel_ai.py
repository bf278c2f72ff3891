"""Vercel AI SDK: UI messages, model messages, and the steps of a result.

Export: save the chat's `UIMessage[]` (what `useChat` and `onFinish` hold), or the model
messages (`response.messages`), or `result.steps`, as JSON; one file a run, or a wrapper
`{"id", "messages"}` a line.
Read: parts `tool-<name>` and `dynamic-tool` with their state, `tool-call` and
`tool-result`, `tool-error` of a step; `step-start` begins a turn. Both the shapes of
version 5 and the `toolInvocations` of version 4.
Not read: files, sources, data parts.
Errors: state `output-error`; output type `error-text` or `error-json`; part
`tool-error`. A refused approval (`output-denied`, `execution-denied`) has the cause
denied, input that the schema refused (`rawInput`, `invalid`) the cause rejected. The
text in UI messages is what the page showed, by default a mask; in steps an Error object
is written as `{}`: only model messages have what the model read.
Outcomes: only a wrapper's `outcome` or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Result, Transcript, Turn, Unreadable

from ._documents import odd_item, unreadable, values
from ._said import add, answer_in, call_in, delivered, first, say
from ._wrapper import is_global, wrapped
from .head import peek
from .records import Document
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

LABEL = "Vercel AI SDK"

_MODEL_PARTS = ("tool-call", "tool-result", "tool-error", "tool-approval-request")
_UI_PARTS = ("step-start", "dynamic-tool", "tool-invocation")


def detect(head: bytes) -> float:
    """See parts of type `tool-…`, `step-start` or `dynamic-tool`."""
    seen = peek(head)
    found: list[dict[str, Json]] = []
    for record in seen.records:
        found += [mapping(item) for item in _messages(record) or [record]]
    if any(_is_vercel(message) for message in found):
        return 0.85
    marks = (b'"step-start"', b'"toolCallId"', b'"tool-call"', b'"tool-result"')
    is_cut = sum(mark in head for mark in marks) > 1
    is_list = bool(found) and all("role" in message for message in found)
    if is_cut and (is_list or (not found and seen.keys & {"messages", "steps"})):
        return 0.6  # what tells them apart stands behind the last whole message
    texts = [m for m in found if "role" in m and _is_ui(m)]
    return 0.4 if texts and len(texts) > len(found) / 2 else 0.0


def _is_ui(message: dict[str, Json]) -> bool:
    """Whether this may be a UI message without tools: parts that are typed."""
    parts = [mapping(part).get("type") for part in sequence(message.get("parts"))]
    kinds = ("text", "reasoning", "file", "step-start")
    return bool(parts) and "id" in message and all(kind in kinds for kind in parts)


def _is_vercel(message: dict[str, Json]) -> bool:
    if isinstance(message.get("toolInvocations"), list):
        return True
    if "parts" in message and "role" not in message:
        return False  # OpenCode's parts are alike, its messages are not
    parts = [*sequence(message.get("parts")), *sequence(message.get("content"))]
    return any(_is_part(mapping(part)) for part in parts)


def _is_part(part: dict[str, Json]) -> bool:
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    is_tool = kind in _MODEL_PARTS or kind.startswith("tool-") or kind == "dynamic-tool"
    if is_tool and ("toolCallId" in part or "toolInvocation" in part):
        return True
    return kind in _UI_PARTS


def _messages(record: Json) -> list[Json]:
    """Give the messages or steps of a wrapper or of a line that is a list."""
    if isinstance(record, list):
        return record
    source = mapping(record)
    response = mapping(source.get("response"))
    for found in (
        source.get("steps"),
        source.get("messages"),
        response.get("messages"),
    ):
        if isinstance(found, list) and "content" not in source:
            return found
    return []


def _is_run(value: Json) -> bool:
    return bool(_messages(value))


def _is_message(value: Json) -> bool:
    return bool({"role", "content", "parts"} & mapping(value).keys())


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each wrapper or list; bare messages or steps are one run."""
    bare: _Messages | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message):
        messages = _messages(value.json)
        record = mapping(value.json)
        if messages:
            thread = _Messages()
            for message in messages:
                thread.add(message, value.document)
            run = _wrapped(record, thread, value.document)
            run.unreadable += [value.fault] if value.fault is not None else []
            yield run
        elif value.fault is not None:
            faults.append(value.fault)
        elif _is_message(record):
            bare = bare or _Messages()
            bare.add(record, value.document)
        else:
            faults.append(unreadable(value.document, "neither a message nor a step"))
    if bare is None:
        yield from faults
        return
    yield Transcript(
        format="vercel_ai",
        threads=[bare.builder.thread],
        model=bare.model,
        started_at=min(bare.times, default=None),
        ended_at=max(bare.times, default=None),
        unreadable=[*faults, *bare.unreadable],
        line=1,
        offset=0,
    )


def _wrapped(
    record: dict[str, Json], thread: "_Messages", document: Document
) -> Transcript:
    run = wrapped("vercel_ai", [thread.builder.thread], record, document)
    run.run_id = run.run_id or text(first(record, ("id", "chatId")))
    run.is_global_id = is_global(run.run_id)
    run.model = run.model or thread.model
    run.started_at = run.started_at or min(thread.times, default=None)
    run.ended_at = run.ended_at or max(thread.times, default=None)
    run.unreadable = thread.unreadable
    return run


class _Messages:
    """Collects messages or steps of one run."""

    def __init__(self) -> None:
        self.builder = ThreadBuilder()
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.model = ""

    def add(self, item: Json, document: Document) -> None:
        """Add a UI message, a model message, or a step, by what it has."""
        message = mapping(item)
        response = mapping(message.get("response"))
        about = mapping(message.get("metadata"))
        at = timestamp(message.get("createdAt", response.get("timestamp")))
        at = at if at is not None else timestamp(about.get("createdAt"))
        self.times += [at] if at is not None else []
        self.model = self.model or text(response.get("modelId"))
        if not message:
            self.unreadable.append(odd_item(item, document, "a message"))
        elif isinstance(message.get("toolInvocations"), list) or "parts" in message:
            self._ui_message(message, at)
        elif "role" in message:
            add(self.builder, say(message), at)
        else:
            self._step(message, at)

    def _ui_message(self, message: dict[str, Json], at: float | None) -> None:
        parts = sequence(message.get("parts"))
        if message.get("role") != "assistant":
            said = blocks_text(parts) or blocks_text(message.get("content"))
            is_system = message.get("role") == "system"
            self.builder.add("system" if is_system else "user", said, at=at)
            return
        if not parts:
            invocations = sequence(message.get("toolInvocations"))
            parts = [
                {"type": "tool-invocation", "toolInvocation": i} for i in invocations
            ]
            parts.append({"type": "text", "text": blocks_text(message.get("content"))})
        turn: Turn | None = None
        step: Json = None
        for part in map(mapping, parts):
            kind = text(part.get("type"))
            now = mapping(part.get("toolInvocation")).get("step", step)
            if kind == "step-start" or now != step:
                turn, step = None, now
            if kind == "step-start":
                continue
            turn = turn or self.builder.add("assistant", at=at)
            if kind == "text":
                said = text(part.get("text"))
                turn.text = (
                    f"{turn.text}\n{said}" if turn.text and said else turn.text or said
                )
            elif kind == "reasoning":
                turn.reasoning += text(first(part, ("text", "reasoning")))
            elif kind == "tool-invocation":
                self._ui_tool(turn, mapping(part.get("toolInvocation")), at)
            elif kind.startswith("tool-") or kind == "dynamic-tool":
                self._ui_tool(turn, part, at)

    def _ui_tool(self, turn: Turn, part: dict[str, Json], at: float | None) -> None:
        """Add a call and its result, which one part holds."""
        call = call_in(part)
        if "toolName" not in part:
            call.tool = text(part.get("type")).removeprefix("tool-")
        call.at = at
        self.builder.call(turn, call)
        result = _ui_result(part)
        if result is not None:
            result.at = at
            self.builder.result(result, id=call.id, tool=call.tool)

    def _step(self, step: dict[str, Json], at: float | None) -> None:
        turn = self.builder.add("assistant", at=at)
        usage = mapping(step.get("usage"))
        turn.input_tokens = integer(first(usage, ("inputTokens", "promptTokens")))
        turn.output_tokens = integer(first(usage, ("outputTokens", "completionTokens")))
        turn.model = text(mapping(step.get("response")).get("modelId"))
        content = sequence(step.get("content"))
        if not content:
            content = [
                *sequence(step.get("toolCalls")),
                *sequence(step.get("toolResults")),
            ]
            turn.text = text(step.get("text"))
        for part in map(mapping, content):
            kind = text(part.get("type"))
            if kind == "text":
                said = text(part.get("text"))
                turn.text = f"{turn.text}\n{said}" if turn.text else said
            elif kind == "reasoning":
                turn.reasoning += text(part.get("text"))
            elif kind in ("tool-result", "tool-error") or "result" in part:
                self._step_result(step, part, at)
            elif kind == "tool-call" or "toolCallId" in part:
                self.builder.call(turn, call_in(part)).at = at

    def _step_result(
        self, step: dict[str, Json], part: dict[str, Json], at: float | None
    ) -> None:
        answer = answer_in({key: part[key] for key in part if key != "input"})
        answer.result.at = at
        sent = _sent_to_model(step, answer.id)
        if answer.result.is_error and sent is not None:
            answer.result.text = sent
        call = self.builder.find(answer.id)
        if answer.result.is_error and part.get("invalid") is True:
            answer.result.cause = "rejected"
        self.builder.result(
            answer.result, id=answer.id, tool=call.tool if call else answer.tool
        )


def _sent_to_model(step: dict[str, Json], call_id: str) -> str | None:
    """Give the text of a result in the messages that the step sent on."""
    messages = mapping(step.get("response")).get("messages")
    for message in map(mapping, sequence(messages)):
        if message.get("role") != "tool":
            continue
        for answer in say(message).answers:
            if answer.id == call_id:
                return answer.result.text
    return None


def _ui_result(part: dict[str, Json]) -> Result | None:
    """Read the state of a UI tool part; None where there is no result yet."""
    state = part.get("state")
    approval = mapping(part.get("approval"))
    if state == "output-error":
        error = text(part.get("errorText"))
        result = Result(text=error, is_error=True, flag="state")
        result.cause = "rejected" if part.get("rawInput") is not None else ""
        return result
    if state == "output-denied" or boolean(approval.get("approved")) is False:
        reason = text(approval.get("reason"))
        return Result(text=reason, is_error=True, flag="state", cause="denied")
    if state in ("output-available", "result"):
        result = delivered(first(part, ("output", "result")))
        if result.is_error is None:
            result.is_error, result.flag = False, "state"
        result.pending = part.get("preliminary") is True
        return result
    return None
