"""The quick way through the commonest run: plain chat messages in a wrapper.

Typed decoding straight into structs takes half the time of the general way. It is
strict: a field that it does not know, or one of another type, and the line goes the
general way, which reads everything. A test holds that both give the same run.
"""

from typing import Literal

import msgspec

from apps.runs.transcript import Call, Result, Transcript

from ._wrapper import wrapped
from .records import Document
from .thread import UNKNOWN_TOOL, ThreadBuilder
from .values import Json, blocks_text, text, timestamp


class _Function(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: str


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    function: _Function
    id: str
    type: str = ""


class _Message(msgspec.Struct, forbid_unknown_fields=True):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | None = None
    tool_calls: list[_Call] = []
    tool_call_id: str = ""
    name: str = ""
    is_error: bool | None = None
    timestamp: str | None = None


class PlainRun(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A wrapper whose messages are plain; its other fields are read as elsewhere."""

    messages: list[_Message]
    run_id: str
    started_at: Json = None
    ended_at: Json = None
    model: Json = None
    agent: Json = None
    outcome: Json = None
    task_id: Json = None
    title: Json = None
    source: Json = None


_decode = msgspec.json.Decoder(PlainRun).decode
_FIELDS = tuple(f for f in PlainRun.__struct_fields__ if f != "messages")


def plain_run(raw: bytes) -> PlainRun | None:
    """Decode a line that is a plain run; None for anything else."""
    try:
        run = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    return run if run.run_id else None


def plain_transcript(run: PlainRun, document: Document) -> Transcript:
    """Build the run, as the general way would."""
    builder = ThreadBuilder()
    for message in run.messages:
        _add(builder, message)
    record = {name: getattr(run, name) for name in _FIELDS}
    return wrapped("openai_chat", [builder.thread], record, document)


def _add(builder: ThreadBuilder, message: _Message) -> None:
    at = timestamp(message.timestamp) if message.timestamp is not None else None
    said = blocks_text(message.content)
    role = message.role
    if role == "tool":
        flag = message.is_error
        kind = "is_error" if flag is not None else ""
        result = Result(text=said, is_error=flag, flag=kind, at=at)
        builder.result(result, id=message.tool_call_id, tool=text(message.name))
    elif role == "assistant":
        turn = builder.add("assistant", said, at=at)
        for item in message.tool_calls:
            call = Call(
                tool=text(item.function.name) or UNKNOWN_TOOL,
                arguments=text(item.function.arguments),
                id=item.id,
                at=at,
            )
            builder.call(turn, call)
    else:
        builder.add("user" if role == "user" else "system", said, at=at)
