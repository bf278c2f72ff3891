"""Finds the messages in what tracers store as a model's input and output."""

from apps.runs.transcript import Result

from ._said import Said, delivered, first, is_block, say
from .values import Json, decode, mapping, text

_LISTS = (
    "messages",
    "input_messages",
    "contents",
    "choices",
    "candidates",
    "generations",
    "output",
    "message",
    "generation_info",
)
_TYPES = ("human", "ai", "system", "tool", "AIMessageChunk", "message")
_DEEPEST = 6


def decoded(value: Json, times: int = 3) -> Json:
    """Decode JSON that stands as text, also when it was encoded again and again."""
    for _ in range(times):
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        try:
            value = decode(value.encode())
        except ValueError:
            return value
    return value


def said_in(value: Json) -> list[Said]:
    """Read every message of an input or an output, whatever it is wrapped in."""
    found = []
    for message in _messages(decoded(value), 0):
        said = say(message)
        if said.text or said.calls or said.answers or said.reasoning:
            found.append(said)
    return found


def _messages(value: Json, depth: int) -> list[Json]:
    """Unwrap containers until messages, blocks or text are left."""
    if depth > _DEEPEST or value is None or value == "":
        return []
    if isinstance(value, list):
        return _of_list(value, depth)
    if not isinstance(value, dict):
        return [value]
    if _is_message(value):
        return [_with_text_decoded(value)]
    prefix = _system_of(value)
    if isinstance(value.get("content"), dict):  # one answer of Gemini's API
        return [*prefix, {"role": "model", **value["content"]}]
    for key in _LISTS:
        inner = decoded(value.get(key))
        if isinstance(inner, (list, dict)) and inner:
            return [*prefix, *_messages(inner, depth + 1)]
    for key in ("prompt", "content", "text", "input", "completion", "result"):
        inner = decoded(value.get(key))
        if inner not in (None, ""):
            return [*prefix, *_messages(inner, depth + 1)]
    return prefix


def _of_list(value: list[Json], depth: int) -> list[Json]:
    found: list[Json] = []
    for item in map(decoded, value):
        inner = item.get("message") if isinstance(item, dict) else None
        if isinstance(item, list):
            found += _messages(item, depth + 1)
        elif isinstance(inner, dict):
            found += _messages(inner, depth + 1)
        elif isinstance(item, dict) and not _is_message(item):
            found += _messages(item, depth + 1) or [text(item)]
        else:
            found.append(_with_text_decoded(item) if isinstance(item, dict) else item)
    return found


def _is_message(value: dict[str, Json]) -> bool:
    if "role" in value and ("content" in value or "parts" in value):
        return True
    if "role" in value and ("tool_calls" in value or "function_call" in value):
        return True
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        return True
    kind = value.get("type")
    if kind in _TYPES and ("content" in value or isinstance(value.get("data"), dict)):
        return True
    return is_block(value) or (kind in ("text", "output_text") and "text" in value)


def _with_text_decoded(message: dict[str, Json]) -> dict[str, Json]:
    """Decode content blocks that were written as text."""
    content = message.get("content")
    if isinstance(content, str) and content.startswith(('[{"type"', '[{"text"')):
        return {**message, "content": decoded(content, 1)}
    return message


def _system_of(request: dict[str, Json]) -> list[Json]:
    """Give the system prompt that stands beside a request's messages."""
    config = mapping(request.get("config"))
    keys = ("system", "instructions", "system_instruction", "systemInstruction")
    prompt = first(request, keys) or first(config, keys[2:])
    if isinstance(prompt, dict):
        prompt = prompt.get("parts", prompt.get("text"))
    return [{"role": "system", "content": prompt}] if prompt else []


def tool_output(value: Json) -> tuple[Result, str]:
    """Read what a tool span holds as its output; give the call's id if it is there."""
    found = decoded(value)
    source = mapping(found)
    if {"id", "name", "response"} <= source.keys():  # Gemini's function response
        return delivered(source["response"]), text(source["id"])
    if "tool_call_id" in source or ("lc" in source and "kwargs" in source):
        answers = say({"type": "tool", **source}).answers
        if answers:
            return answers[0].result, answers[0].id
    result = delivered(found)
    if isinstance(value, str) and result.text == text(found) != found:
        result.text = text(value)  # JSON that the tool wrote stays as it wrote it
    return result, ""


def arguments_of(value: Json) -> str:
    """Give a tool's arguments as JSON text; text that is no JSON stays as it is."""
    found = decoded(value)
    if isinstance(found, dict) and set(found) == {"input"} and found["input"]:
        inner = decoded(found["input"])
        found = inner if isinstance(inner, dict) else found
    if isinstance(value, str) and not isinstance(found, dict):
        return text(value)
    return text(found)
