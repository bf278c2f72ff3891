"""Turns of a thread from OpenAI-style chat messages; shared by readers."""

from collections.abc import Iterable

from apps.runs.transcript import Call, Result, Thread, Turn

from .thread import UNKNOWN_TOOL, ThreadBuilder
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

_CALL_PARTS = frozenset({"tool_call", "tool_use", "function_call"})
_ANSWER_PARTS = frozenset({"tool_output", "tool_result", "function_call_output"})


def thread_from_messages(messages: Iterable[Json], model: str = "") -> Thread:
    """Build the main thread from chat messages in file order.

    Read are `tool_calls`, the old `function_call`, results in messages of role `tool`
    or `function`, with a flag `is_error` where a writer adds one, and calls and results
    that stand as parts of the content.
    """
    builder = ThreadBuilder()
    for item in messages:
        add_message(builder, mapping(item), model)
    return builder.thread


def add_message(
    builder: ThreadBuilder, message: dict[str, Json], model: str = ""
) -> Turn | None:
    """Add one chat message; give the turn it began (None for a result)."""
    # The hot path of large uploads: what most messages do not have is asked for once.
    role = message.get("role")
    moment = message.get("timestamp", message.get("created_at"))
    at = None if moment is None else timestamp(moment)
    content = message.get("content")
    parts: list[dict[str, Json]] = []
    if isinstance(content, list):
        content, parts = _split_parts(content)
    for part in parts:
        if part["type"] in _ANSWER_PARTS:
            _add_answer(builder, part, at)
    if role in ("tool", "function"):
        if content or not parts:
            _add_answer(builder, {**message, "content": content}, at)
        return None
    said = blocks_text(content)
    if role == "assistant":
        turn = builder.add("assistant", said, at=at, model=model)
        if said == "" and "refusal" in message:
            turn.text = text(message["refusal"])
        thought = message.get("reasoning_content", message.get("reasoning"))
        if thought is not None:
            turn.reasoning = text(thought)
        if "usage" in message:
            usage = mapping(message["usage"])
            turn.input_tokens = integer(usage.get("prompt_tokens"))
            turn.output_tokens = integer(usage.get("completion_tokens"))
        _add_calls(builder, turn, message, parts, at)
        return turn
    if parts and not said:
        return None
    if role in ("system", "developer"):
        return builder.add("system", said, at=at)
    return builder.add("user", said, at=at)


def _split_parts(content: list[Json]) -> tuple[list[Json], list[dict[str, Json]]]:
    """Take calls and results out of a content list."""
    rest: list[Json] = []
    parts: list[dict[str, Json]] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(kind, str) and (kind in _CALL_PARTS or kind in _ANSWER_PARTS):
            parts.append(part)
        else:
            rest.append(part)
    return rest, parts


def _add_answer(
    builder: ThreadBuilder, message: dict[str, Json], at: float | None
) -> None:
    flag = boolean(message.get("is_error"))
    content = message.get("content", message.get("output"))
    result = Result(
        text=blocks_text(content),
        is_error=flag,
        flag="is_error" if flag is not None else "",
        at=at,
    )
    call_id = message.get("tool_call_id") or message.get("tool_use_id")
    call_id = text(call_id or message.get("call_id"))
    builder.result(result, id=call_id, tool=text(message.get("name")))


def _add_calls(
    builder: ThreadBuilder,
    turn: Turn,
    message: dict[str, Json],
    parts: list[dict[str, Json]],
    at: float | None,
) -> None:
    for item in sequence(message.get("tool_calls")):
        add_call(builder, turn, mapping(item), at)
    for part in parts:
        if part["type"] in _CALL_PARTS:
            add_call(builder, turn, part, at)
    old = message.get("function_call")
    if isinstance(old, dict) and old:
        add_call(builder, turn, {"function": old}, at)


def add_call(
    builder: ThreadBuilder, turn: Turn, item: dict[str, Json], at: float | None
) -> Call:
    """Add one entry of `tool_calls`; arguments may be JSON text or an object."""
    function = item.get("function")
    flat = function if isinstance(function, dict) else item
    name = function if isinstance(function, str) else flat.get("name")
    arguments = flat.get("arguments", flat.get("args", flat.get("input")))
    call_id = item.get("id") or item.get("tool_call_id") or item.get("call_id")
    call = Call(
        tool=text(name) or UNKNOWN_TOOL,
        arguments=text(arguments),
        id=text(call_id),
        at=at,
    )
    return builder.call(turn, call)
