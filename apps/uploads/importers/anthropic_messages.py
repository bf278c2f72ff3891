"""Anthropic Messages API: request bodies, request logs, and bare lists of messages.

Export: log the body of each call of `messages.create` as a line of JSON, with its
answer under `response` if you can; or save the list `messages`, one file a run.
Read: `tool_use` and `tool_result` blocks, server tools, system prompt, tool schemas,
usage; of a request log, where each body repeats the history, the longest of each run. A
wrapper's `run_id`, `started_at`, `agent`, `outcome` are read where they are there.
Not read: pictures and documents in base64, signatures of thinking.
Errors: the flag `is_error` of a result; `…_tool_result_error` of a server tool.
Outcomes: only a wrapper's `outcome` or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Transcript, Unreadable

from ._documents import Value, odd_item, unreadable, values
from ._histories import Histories
from ._said import add, say
from ._wrapper import tool_definitions, wrapped
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, blocks_text, mapping, sequence, text

LABEL = "Anthropic Messages"

_BLOCKS = (b'"tool_use"', b'"tool_result"')


def detect(head: bytes) -> float:
    """See messages whose content has `tool_use` or `tool_result` blocks."""
    seen = peek(head)
    messages: list[Json] = []
    for record in seen.records:
        messages += _messages_in(record) or [record]
    if not messages:
        cut = seen.cut if "messages" in seen.keys else b""
        return 0.65 if any(block in cut for block in _BLOCKS) else 0.0
    roles = [
        m for m in map(mapping, messages) if m.get("role") in ("user", "assistant")
    ]
    if not roles or len(roles) < len(messages) / 2:
        return 0.0
    if any("tool_calls" in message or "parts" in message for message in roles):
        return 0.0
    if any(_has_tool_block(message) for message in roles):
        return 0.7
    if any(block in head for block in _BLOCKS):
        return 0.5
    requests = seen.objects[:1]
    is_claude = any(text(r.get("model")).startswith("claude") for r in requests)
    return 0.5 if is_claude and "messages" in seen.keys else 0.0


def _has_tool_block(message: dict[str, Json]) -> bool:
    blocks = message.get("content")
    if not isinstance(blocks, list):
        return False
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)]
    return "tool_use" in kinds or "tool_result" in kinds


def _messages_in(record: Json) -> list[Json]:
    """Give the messages of a body, a logged call, or a line that is a list."""
    if isinstance(record, list):
        return record
    messages = _body(mapping(record)).get("messages")
    return messages if isinstance(messages, list) else []


def _body(record: dict[str, Json]) -> dict[str, Json]:
    """Give the request's body, wherever the log keeps it."""
    request = mapping(record.get("request"))
    for body in (record, request, mapping(request.get("body"))):
        if "messages" in body:
            return body
    return {}


def _is_run(value: Json) -> bool:
    return bool(_messages_in(value))


def _is_message(value: Json) -> bool:
    return {"role", "content"} <= mapping(value).keys()


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each conversation; bare messages of a file are one run."""
    histories: Histories[Transcript] = Histories()
    bare: ThreadBuilder | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_message):
        record = mapping(value.json)
        if isinstance(value.json, list) or _body(record):
            run = _run(value)
            key = run.run_id
            yield from histories.offer(_messages_in(value.json), run, key)
        elif value.fault is not None:
            faults.append(value.fault)
        elif _is_message(record):
            bare = bare or ThreadBuilder()
            add(bare, say(record))
        else:
            reason = "neither a request with messages nor a message"
            faults.append(unreadable(value.document, reason))
    yield from histories.finish()
    if bare is not None:
        thread = bare.thread
        yield Transcript(
            "anthropic_messages", [thread], unreadable=faults, line=1, offset=0
        )
    else:
        yield from faults


def _run(value: Value) -> Transcript:
    record = mapping(value.json)
    body = _body(record)
    builder = ThreadBuilder()
    system = blocks_text(body.get("system"))
    if system:
        builder.add("system", system)
    faults = [value.fault] if value.fault is not None else []
    messages = list(_messages_in(value.json))
    answer = mapping(record.get("response"))
    answer = mapping(answer.get("body")) or answer
    if "content" in answer:
        messages.append({"role": "assistant", **answer})
    for message in messages:
        if isinstance(message, dict):
            _add(builder, message, value.document, faults)
        else:
            faults.append(odd_item(message, value.document, "a message"))
    run = wrapped(
        "anthropic_messages", [builder.thread], {**body, **record}, value.document
    )
    run.model = text(body.get("model")) or run.model
    run.tools = tool_definitions(sequence(body.get("tools")))
    run.unreadable = faults
    return run


def _add(
    builder: ThreadBuilder,
    message: dict[str, Json],
    document: Document,
    faults: list[Unreadable],
) -> None:
    said = say(message)
    if not said.role:
        faults.append(odd_item(message, document, "a message without a role, or one"))
    elif said.text or said.calls or said.answers or said.reasoning:
        add(builder, said)
