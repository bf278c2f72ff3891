"""What one message says: text, calls and answers, whatever API it was written for.

Tracers and frameworks store the messages of the model's own API, and one file may hold
several of these spellings. Known here are OpenAI chat and Responses, Anthropic, Gemini,
OpenTelemetry GenAI parts, LangChain dumps, the Vercel AI SDK and OpenInference.
"""

from typing import NamedTuple

import msgspec

from apps.runs.transcript import Call, Result, Turn

from .thread import UNKNOWN_TOOL, ThreadBuilder
from .values import Json, blocks_text, boolean, integer, mapping, sequence, text

NOT_RECORDED = "[not recorded]"  # there was a result, and the log leaves it out
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_CLASSES = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
_THOUGHTS = ("thinking", "reasoning", "redacted_thinking", "thought")
_CALL_IDS = ("call_id", "toolCallId", "tool_call_id", "id")
_ANSWER_IDS = (
    "tool_use_id",
    "mcp_tool_use_id",
    "custom_tool_use_id",
    "toolCallId",
    "tool_call_id",
    "call_id",
    "id",
)
_NAMES = ("name", "toolName", "tool_name")
_ARGUMENTS = ("arguments", "args", "input", "rawInput")
_OUTPUTS = ("content", "output", "result", "response", "text", "error")
_CALL_TYPES = frozenset(
    {
        *("tool_use", "server_tool_use", "mcp_tool_use", "tool-call", "tool_call"),
        *("toolCall", "function", "function_call", "custom_tool_call"),
    }
)
_ANSWER_TYPES = frozenset(
    {
        *("tool_result", "mcp_tool_result", "tool-result", "tool-error", "tool_output"),
        *("tool_call_response", "function_call_output", "custom_tool_call_output"),
    }
)
_BLOCK_TYPES = _CALL_TYPES | _ANSWER_TYPES | {*_THOUGHTS}


class Answer(NamedTuple):
    """A result and what it says of its call."""

    id: str
    tool: str
    result: Result


class Said(msgspec.Struct):
    """One message, or one item of a model's output."""

    role: str = ""  # system, user, assistant, tool; "": the log does not say
    text: str = ""
    reasoning: str = ""
    calls: list[Call] = []
    answers: list[Answer] = []
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None

    def add_text(self, more: str) -> None:
        """Add a paragraph."""
        if more:
            self.text = f"{self.text}\n{more}" if self.text else more

    def add_call(self, call: Call) -> None:
        """Add a call, unless the message names it a second time."""
        known = {known.id for known in self.calls if known.id}
        if call.id not in known:
            self.calls = [*self.calls, call]


def first(source: dict[str, Json], keys: tuple[str, ...]) -> Json:
    """Give the value of the first key that has one."""
    for key in keys:
        if source.get(key) is not None:
            return source[key]
    return None


def known(word: Json, table: dict[str, str]) -> str:
    """Look a word up; "" where it is none, or of another type."""
    return table.get(word, "") if isinstance(word, str) else ""


def say(message: Json) -> Said:
    """Read one message; anything that is not one comes out as its text."""
    said = Said()
    if not isinstance(message, dict):
        said.text = text(message)
        return said
    role, message = _unwrapped(message)
    said.role = role
    _tokens(said, message)
    if role == "tool" and not isinstance(message.get("parts"), list):
        _tool_message(said, message)
        return said
    if not role and is_block(message):
        _block(said, message)
        return said
    # A list of calls beside the content names the same calls in full.
    _listed_calls(said, message)
    content = first(message, ("parts", "content", "text"))
    for block in sequence(content):
        _block(said, block)
    said.text = said.text or text(message.get("refusal"))
    thought = first(message, ("reasoning_content", "reasoning"))
    said.reasoning = said.reasoning or blocks_text(thought)
    return said


def is_block(value: dict[str, Json]) -> bool:
    """Whether an object is a content block or an output item, not a message."""
    kind = value.get("type")
    if kind == "function":
        return isinstance(value.get("function"), dict)
    if isinstance(kind, str) and kind in _BLOCK_TYPES:
        return True
    names = ("function_call", "functionCall", "function_response", "functionResponse")
    if any(isinstance(value.get(name), dict) for name in names):
        return True
    return "toolCallId" in value and "toolName" in value


def _unwrapped(message: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """Take a message out of what a serialiser put around it; give its role too."""
    if isinstance(message.get("kwargs"), dict) and "lc" in message:
        inner = message["kwargs"]
        name = text((sequence(message.get("id")) or [""])[-1])
        return known(name, _CLASSES) or known(inner.get("type"), ROLES), inner
    if isinstance(message.get("data"), dict) and known(message.get("type"), ROLES):
        return known(message["type"], ROLES), message["data"]
    role = known(message.get("role"), ROLES)
    if not role and not is_block(message):
        role = known(message.get("type"), ROLES)
    if not role and message.get("type") == "message":
        role = "assistant"
    return role, message


def _tokens(said: Said, message: dict[str, Json]) -> None:
    usage = mapping(first(message, ("usage_metadata", "usage")))
    said.input_tokens = integer(first(usage, ("input_tokens", "prompt_tokens")))
    said.output_tokens = integer(first(usage, ("output_tokens", "completion_tokens")))
    about = mapping(message.get("response_metadata"))
    said.model = text(first(about, ("model_name", "model")))


def _listed_calls(said: Said, message: dict[str, Json]) -> None:
    extra = mapping(message.get("additional_kwargs"))
    listed = message.get("tool_calls") or extra.get("tool_calls")
    listed = listed or message.get("toolCalls")
    for item in sequence(listed):
        said.add_call(call_in(mapping(mapping(item).get("tool_call")) or mapping(item)))
    old = message.get("function_call") or extra.get("function_call")
    if isinstance(old, dict) and not listed:
        said.add_call(call_in(old))
    for item in sequence(message.get("invalid_tool_calls")):
        said.add_call(call_in(mapping(item)))


def call_in(item: dict[str, Json]) -> Call:
    """Read a call: `{id, function: {name, arguments}}` or its flat spellings."""
    function = item.get("function")
    inner = function if isinstance(function, dict) else item
    name = function if isinstance(function, str) else first(inner, _NAMES)
    return Call(
        tool=text(name) or UNKNOWN_TOOL,
        arguments=text(first(inner, _ARGUMENTS)),
        id=text(first(item, _CALL_IDS)),
    )


def _tool_message(said: Said, message: dict[str, Json]) -> None:
    """Read a message of role tool: the answer itself, or blocks of answers."""
    content = message.get("content")
    blocks = [block for block in sequence(content) if isinstance(block, dict)]
    if any(known_kind(block, _ANSWER_TYPES) for block in blocks):
        for block in blocks:
            _block(said, block)
        return
    if blocks and all("function" in block for block in blocks):
        return  # some tracers put definitions and calls under this role
    status = message.get("status")
    flagged = boolean(message.get("is_error"))
    result = delivered(content)
    if flagged is not None:
        result.is_error, result.flag = flagged, "is_error"
    elif status in ("error", "success"):
        result.is_error, result.flag = status == "error", "status"
    answer_id = text(first(message, ("tool_call_id", "toolCallId", "call_id")))
    said.answers = [Answer(answer_id, text(message.get("name")), result)]


def known_kind(block: dict[str, Json], kinds: frozenset[str]) -> bool:
    """Whether the block's type is one of these."""
    kind = block.get("type")
    return isinstance(kind, str) and kind in kinds


def _block(said: Said, block: Json) -> None:
    """Add one content block to what is said."""
    if not isinstance(block, dict):
        said.add_text(text(block))
        return
    kind = text(block.get("type"))
    if kind in _ANSWER_TYPES or kind.endswith("_tool_result"):
        said.answers = [*said.answers, answer_in(block)]
    elif kind in _CALL_TYPES or (not kind and "toolCallId" in block):
        said.add_call(call_in(block))
    elif kind in _THOUGHTS:
        thought = first(block, ("thinking", "text", "content", "summary", "reasoning"))
        said.reasoning += blocks_text(thought)
    elif kind == "message" or (not kind and isinstance(block.get("parts"), list)):
        for inner in sequence(first(block, ("content", "parts"))):
            said.add_text(blocks_text(inner))
    elif not kind:
        _gemini_part(said, block)
    else:
        said.add_text(blocks_text([block]))


def _gemini_part(said: Said, part: dict[str, Json]) -> None:
    """Add a part of Gemini's API: told by its keys, not by a type."""
    call = mapping(first(part, ("function_call", "functionCall")))
    answer = mapping(first(part, ("function_response", "functionResponse")))
    if call:
        said.add_call(call_in(call))
    elif answer:
        result = delivered(answer.get("response"))
        entry = Answer(text(answer.get("id")), text(answer.get("name")), result)
        said.answers = [*said.answers, entry]
    elif part.get("thought") is True:
        said.reasoning += text(part.get("text"))
    elif "text" in part or "content" in part:
        said.add_text(blocks_text(first(part, ("text", "content"))))
    elif isinstance(part.get("function"), dict):
        said.add_call(call_in(part))
    else:
        said.add_text("".join(f"[{key}]" for key in list(part)[:1]))


def answer_in(block: dict[str, Json]) -> Answer:
    """Read a result block with its flag, whatever the field is called."""
    value = first(block, _OUTPUTS)
    output = mapping(value)
    kind = text(output.get("type"))
    if kind in _OUTPUT_TYPES and ("value" in output or "reason" in output):
        result = _typed_output(kind, output)
    else:
        result = delivered(value)
    for key in ("is_error", "isError"):
        flag = boolean(block.get(key))
        if flag is not None:
            result.is_error, result.flag = flag, key
    if block.get("type") == "tool-error" or kind.endswith("_tool_result_error"):
        result.is_error, result.flag = True, "type"
        result.error_code = text(output.get("error_code"))
    return Answer(text(first(block, _ANSWER_IDS)), text(first(block, _NAMES)), result)


_OUTPUT_TYPES = frozenset(
    {"text", "json", "content", "error-text", "error-json", "execution-denied"}
)


def _typed_output(kind: str, output: dict[str, Json]) -> Result:
    """Read the `{type, value}` that the Vercel AI SDK sends to the model."""
    value = output.get("value")
    result = Result(text=blocks_text(value) if kind == "content" else text(value))
    if kind in ("error-text", "error-json"):
        result.is_error, result.flag = True, "output.type"
    elif kind == "execution-denied":
        result.text = text(output.get("reason")) or result.text
        result.is_error, result.flag, result.cause = True, "output.type", "denied"
    return result


def delivered(value: Json) -> Result:
    """Read what a tool gave back: text, blocks, MCP's `{content, isError}`, or JSON."""
    if isinstance(value, list) and _are_blocks(value):
        return Result(text=blocks_text(value))
    if isinstance(value, dict) and _are_blocks(value.get("content")):
        flag = boolean(value.get("isError"))
        is_flagged = "isError" if flag is not None else ""
        said = blocks_text(value["content"])
        return Result(text=said, is_error=flag, flag=is_flagged)
    if isinstance(value, dict) and value.get("type") in ("text", "image"):
        return Result(text=blocks_text(value))
    return Result(text=text(value))


def _are_blocks(value: Json) -> bool:
    """Whether this is a list of typed content blocks, not data of the tool."""
    if not isinstance(value, list) or not value:
        return False
    kinds = [block.get("type") for block in value if isinstance(block, dict)]
    return len(kinds) == len(value) and all(isinstance(kind, str) for kind in kinds)


def add(
    builder: ThreadBuilder, said: Said, at: float | None = None, model: str = ""
) -> Turn | None:
    """Add a message to a thread: results to their calls, the rest as a turn.

    Gives the turn, None where the message held results alone.
    """
    if not said.calls:
        _add_answers(builder, said, at)
    if said.role == "tool" or (said.answers and not said.text and not said.calls):
        return None
    if said.role == "assistant" or said.calls:
        turn = builder.add("assistant", said.text, at=at, model=said.model or model)
        turn.reasoning = said.reasoning
        turn.input_tokens, turn.output_tokens = said.input_tokens, said.output_tokens
        for call in said.calls:
            call.at = at
            builder.call(turn, call)
        if said.calls:  # a hosted tool's result stands beside its call
            _add_answers(builder, said, at)
        return turn
    is_system = said.role == "system"
    return builder.add("system" if is_system else "user", said.text, at=at)


def _add_answers(builder: ThreadBuilder, said: Said, at: float | None) -> None:
    for answer in said.answers:
        answer.result.at = at
        builder.result(answer.result, id=answer.id, tool=answer.tool)
