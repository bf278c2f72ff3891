"""OpenAI Chat Completions transcripts, with or without a wrapper.

Export: write each run as one JSON line `{"run_id", "started_at", "model", "outcome",
"messages": […]}`; or save the list of messages alone, one file a run; or log request
and response of each call as a line `{"messages" or "request", "response"}`.
Read: messages with `tool_calls` (also the old `function_call`, and calls and results
that stand as parts of the content) and their results; the wrapper's id, times, model,
agent, task, outcome and tools. A request log repeats the history: the longest is read.
Not read: choices that were not taken, log probabilities, pictures and audio.
Errors: the flag `is_error` on a result, where a writer adds it; else its text.
Outcomes: the wrapper's `outcome` (`{"success": true}`, true, "correct") or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Thread, Transcript, Unreadable

from ._documents import odd_item, unreadable, values
from ._histories import Histories
from ._plain_chat import PlainRun, plain_run, plain_transcript
from ._wrapper import tool_definitions, wrapped
from .chat_messages import add_message, thread_from_messages
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, mapping, sequence, text

__all__ = ["LABEL", "detect", "read", "transcript", "unreadable"]

LABEL = "OpenAI chat messages"

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALL_KEYS = ("tool_calls", "function_call", "tool_call_id")
_PART_TYPES = ("tool_call", "tool_output")


def detect(head: bytes) -> float:
    """See messages with roles, bare or under `messages`; surest with tool calls."""
    seen = peek(head)
    messages: list[Json] = []
    for record in seen.records:
        messages += _messages_of(record)
    if not messages and "messages" in seen.keys and b'"role"' in seen.cut:
        with_calls = b'"tool_calls"' in seen.cut or b'"tool_call_id"' in seen.cut
        return 0.6 if with_calls else 0.3
    chat = [m for m in map(mapping, messages) if m.get("role") in _ROLES]
    chat = [m for m in chat if "content" in m or "tool_calls" in m]
    if not chat or len(chat) < len(messages) / 2:
        return 0.0
    if any(_has_calls(message) for message in chat):
        return 0.6
    return 0.3 if all(_is_plain(m.get("content")) for m in chat) else 0.0


def _messages_of(record: Json) -> list[Json]:
    if isinstance(record, list):
        return record
    found = _body(mapping(record)).get("messages")
    return found if isinstance(found, list) else [record]


def _body(record: dict[str, Json]) -> dict[str, Json]:
    """Give what holds the messages: the record, or the request it logs."""
    if "messages" in record:
        return record
    request = mapping(record.get("request"))
    return request if "messages" in request else mapping(request.get("body"))


def _has_calls(message: dict[str, Json]) -> bool:
    if any(key in message for key in _CALL_KEYS):
        return True
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return any(mapping(part).get("type") in _PART_TYPES for part in parts)


def _is_plain(content: Json) -> bool:
    """Whether content is text, or text parts as OpenAI has them."""
    if isinstance(content, list):
        kinds = [mapping(part).get("type") for part in content]
        return all(kind in ("text", "image_url", "input_audio") for kind in kinds)
    return isinstance(content, str) or content is None


def _is_run(value: Json) -> bool:
    return isinstance(value, list) or "messages" in _body(mapping(value))


def _is_message(value: Json) -> bool:
    return mapping(value).get("role") in _ROLES


def lines_stand_alone(head: bytes) -> bool:
    """Whether each line is a run with an id of its own, so that a file can be cut."""
    seen = peek(head)
    return seen.is_lines and all(
        isinstance(record, dict) and "messages" in record and record.get("run_id")
        for record in seen.records
    )


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each wrapper; bare messages of a file are one run."""
    histories: Histories[Transcript] = Histories()
    bare: ThreadBuilder | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message, plain_run):
        if isinstance(value.json, PlainRun):
            yield plain_transcript(value.json, value.document)
            continue
        record = mapping(value.json)
        if isinstance(value.json, list):
            record = {"messages": value.json}
        body = record if "messages" in record else _body(record)
        if isinstance(body.get("messages"), list):
            run = transcript(record, value.document)
            if value.fault is not None:
                run.unreadable = [*run.unreadable, value.fault]
            if run.run_id:
                yield run
            else:
                yield from histories.offer(body["messages"], run)
        elif value.fault is not None:
            faults.append(value.fault)
        elif _is_message(record):
            bare = bare or ThreadBuilder()
            add_message(bare, record)
        else:
            reason = "neither a run with messages nor a message"
            faults.append(unreadable(value.document, reason))
    yield from histories.finish()
    if bare is None:
        yield from faults
    else:
        yield Transcript(
            "openai_chat", [bare.thread], unreadable=faults, line=1, offset=0
        )


def transcript(record: dict[str, Json], document: Document) -> Transcript:
    """Build a run from the wrapper around its messages."""
    body = record if "messages" in record else _body(record)
    messages = sequence(body.get("messages"))
    response = mapping(record.get("response"))
    choices = sequence(mapping(response.get("body")).get("choices"))
    choices = choices or sequence(response.get("choices", record.get("choices")))
    for choice in choices[:1]:
        messages = [*messages, mapping(choice).get("message")]
    odd = [message for message in messages if not isinstance(message, dict)]
    if odd:
        messages = [message for message in messages if isinstance(message, dict)]
    thread: Thread = thread_from_messages(messages)
    run = wrapped("openai_chat", [thread], record, document)
    if body is not record:
        run.model = run.model or text(body.get("model"))
    if "tools" in body:
        run.tools = tool_definitions(body["tools"])
    if odd:
        run.unreadable = [odd_item(item, document, "a message") for item in odd]
    return run
