"""AutoGen AgentChat: the messages and events of a `TaskResult`.

Export: `json.dumps(result.model_dump(mode="json"))`, one file or line a run; the list
of messages alone is read too.
Read: tool calls and their executions, code that was generated and run, thoughts, the
speakers' texts, usage, times.
Not read: summaries of tool calls (they repeat the results), streamed chunks, memory
queries, pictures.
Errors: the flag `is_error` of an execution; the exit code of code that was run.
Outcomes: not in the file. A `stop_reason` that says so ends the run as budget spent
(number of messages, tokens), timed out or cancelled.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Ending, Record, Result, Transcript, Unreadable

from ._documents import odd_item, unreadable, values
from ._said import call_in
from ._wrapper import wrapped
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

LABEL = "AutoGen"

_REPEATS = (
    "ToolCallSummaryMessage",
    "ModelClientStreamingChunkEvent",
    "MemoryQueryEvent",
    "UserInputRequestedEvent",
    "SelectSpeakerEvent",
    "SelectorEvent",
)
_ENDINGS: tuple[tuple[str, Ending], ...] = (
    ("Maximum number of", "budget_spent"),
    ("Token usage limit", "budget_spent"),
    ("Timeout of", "timed_out"),
    ("External termination", "cancelled"),
)


def detect(head: bytes) -> float:
    """See messages with a `source` and a type that ends in Event or Message."""
    seen = peek(head)
    messages: list[dict[str, Json]] = []
    for record in seen.records:
        messages += [mapping(item) for item in _messages(record) or [record]]
    if not messages:
        is_cut = b'"models_usage"' in seen.cut and b'"source"' in seen.cut
        return 0.8 if is_cut and "messages" in seen.keys else 0.0
    fits = [message for message in messages if _is_message(message)]
    return 0.9 if fits and len(fits) >= len(messages) / 2 else 0.0


def _is_run(value: Json) -> bool:
    return bool(_messages(value))


def _is_message(value: Json) -> bool:
    message = mapping(value)
    kind = message.get("type")
    if not isinstance(kind, str) or not isinstance(message.get("source"), str):
        return False
    return kind.endswith(("Event", "Message"))


def _messages(record: Json) -> list[Json]:
    if isinstance(record, list):
        return record
    found = mapping(record).get("messages")
    return found if isinstance(found, list) else []


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each result; bare messages of a file are one run."""
    bare: _Chat | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message):
        record = mapping(value.json)
        messages = _messages(value.json)
        if messages:
            chat = _Chat()
            for message in messages:
                chat.add(message, value.document)
            run = wrapped("autogen", [chat.builder.thread], record, value.document)
            chat.describe(run)
            run.ending = run.ending or _ending(text(record.get("stop_reason")))
            run.unreadable += [value.fault] if value.fault is not None else []
            yield run
        elif value.fault is not None:
            faults.append(value.fault)
        elif "source" in record and "type" in record:
            bare = bare or _Chat()
            bare.add(record, value.document)
        else:
            faults.append(unreadable(value.document, "neither a result nor a message"))
    if bare is None:
        yield from faults
        return
    run = Transcript("autogen", [bare.builder.thread], line=1, offset=0)
    bare.describe(run)
    run.unreadable += faults
    yield run


def _ending(reason: str) -> Ending:
    for begins, ending in _ENDINGS:
        if reason.startswith(begins):
            return ending
    return ""


class _Chat:
    """Collects the messages of one run; all agents of a team share one history."""

    def __init__(self) -> None:
        self.builder = ThreadBuilder()
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.agent = ""
        self.code: dict[str, Call] = {}  # code an agent wrote and has yet to run

    def add(self, item: Json, document: Document) -> None:
        """Add one message or event."""
        message = mapping(item)
        if not isinstance(message.get("type"), str):
            odd = odd_item(item, document, "a message without a type, or one")
            self.unreadable.append(odd)
            return
        kind = message["type"]
        at = timestamp(message.get("created_at"))
        self.times += [at] if at is not None else []
        source = text(message.get("source"))
        if source != "user":
            self.agent = self.agent or source
        if kind == "ToolCallRequestEvent":
            self._calls(message, at)
        elif kind == "ToolCallExecutionEvent":
            self._results(message, at)
        elif kind == "CodeGenerationEvent":
            self._code(message, source, at)
        elif kind == "CodeExecutionEvent":
            self._code_result(message, source, at)
        elif kind == "ThoughtEvent":
            turn = self.builder.add("assistant", at=at)
            turn.reasoning = blocks_text(message.get("content"))
        elif kind in ("HandoffMessage", "StopMessage"):
            said = blocks_text(message.get("content"))
            self.builder.add("user", said, at=at).kind = "notice"
        elif kind not in _REPEATS:
            role = "user" if source == "user" else "assistant"
            turn = self.builder.add("user", blocks_text(message.get("content")), at=at)
            turn.role = "user" if role == "user" else "assistant"
            self._usage(message)

    def _usage(self, message: dict[str, Json]) -> None:
        usage = mapping(message.get("models_usage"))
        if self.builder.turns and usage:
            turn = self.builder.turns[-1]
            turn.input_tokens = integer(usage.get("prompt_tokens"))
            turn.output_tokens = integer(usage.get("completion_tokens"))

    def _calls(self, message: dict[str, Json], at: float | None) -> None:
        turns = self.builder.turns
        thought = turns[-1] if turns and turns[-1].role == "assistant" else None
        if thought is None or thought.calls or thought.text or not thought.reasoning:
            thought = self.builder.add("assistant", at=at)
        for item in sequence(message.get("content")):
            self.builder.call(thought, call_in(mapping(item))).at = at
        self._usage(message)

    def _results(self, message: dict[str, Json], at: float | None) -> None:
        for item in map(mapping, sequence(message.get("content"))):
            flag = boolean(item.get("is_error"))
            result = Result(
                text=blocks_text(item.get("content")),
                is_error=flag,
                flag="is_error" if flag is not None else "",
                at=at,
            )
            call_id, tool = text(item.get("call_id")), text(item.get("name"))
            self.builder.result(result, id=call_id, tool=tool)

    def _code(self, message: dict[str, Json], source: str, at: float | None) -> None:
        turn = self.builder.add("assistant", blocks_text(message.get("content")), at=at)
        blocks = [mapping(block) for block in sequence(message.get("code_blocks"))]
        code = "\n".join(text(block.get("code")) for block in blocks)
        call = Call("code_executor", code or turn.text, at=at)
        self.code[source] = self.builder.call(turn, call)
        self._usage(message)

    def _code_result(
        self, message: dict[str, Json], source: str, at: float | None
    ) -> None:
        answer = mapping(message.get("result"))
        result = Result(
            text=text(answer.get("output")),
            exit_code=integer(answer.get("exit_code")),
            at=at,
        )
        call = self.code.pop(source, None)
        if call is not None and call.result is None:
            result.turns_before = len(self.builder.turns)
            call.result = result
        else:
            self.builder.result(result, tool="code_executor")

    def describe(self, run: Transcript) -> None:
        """Add to a run what its messages say of it."""
        run.agent = run.agent or self.agent
        run.started_at = run.started_at or min(self.times, default=None)
        run.ended_at = run.ended_at or max(self.times, default=None)
        run.unreadable = [*run.unreadable, *self.unreadable]
