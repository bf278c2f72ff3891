"""Reads the attributes of a span, in the vocabularies that tracers of agents use.

OpenTelemetry GenAI (with the names of its older versions), OpenInference, OpenLLMetry,
the Vercel AI SDK, Google ADK and PydanticAI. Attributes are flat with dotted keys, or
nested: both are read.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from apps.runs.transcript import ToolDefinition

from ._message_lists import arguments_of, decoded, said_in, tool_output
from ._said import Said
from ._spans import Kind, Span
from ._wrapper import tool_definitions
from .values import Json, integer, mapping, sequence, text

_TOOL_NAME = re.compile(r"(?:execute_tool|running tool:?) (?P<name>\S.*)|running tool")
_AGENT_NAME = re.compile(r"(?:agent_run \[|invoke_agent )(?P<name>.+?)\]?")
_MODEL_NAMES = ("call_llm", "llm.chat")
_OPERATIONS: dict[str, Kind] = {
    "execute_tool": "tool",
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "invoke_workflow": "",
}
_KINDS: dict[str, Kind] = {"TOOL": "tool", "LLM": "model", "AGENT": "agent"}
_AI_OPERATIONS: dict[str, Kind] = {
    "ai.toolCall": "tool",
    "ai.generateText": "model",
    "ai.streamText": "model",
    "ai.generateObject": "model",
    "ai.streamObject": "model",
}
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "tool_name")
_CALL_IDS = ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id", "tool.id")
_ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "tool.parameters",
    "input.value",
)
_RESULTS = (
    "gen_ai.tool.call.result",
    "tool_response",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
)
_INPUTS = (
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "ai.prompt",
    "gcp.vertex.agent.llm_request",
    "mlflow.chat.messages",
)
_OUTPUTS = ("gen_ai.output.messages", "gcp.vertex.agent.llm_response")
_MODELS = (
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "ai.model.id",
    "model_name",
)
_TOKENS_IN = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
)
_TOKENS_OUT = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
)
_AGENTS = ("gen_ai.agent.name", "agent_name", "agent.name")
CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "gcp.vertex.agent.session_id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
)


class Event(NamedTuple):
    """Something that happened inside a span."""

    name: str
    attributes: dict[str, Json]


class Attributes:
    """Looks attributes up by their dotted names, however they are stored."""

    def __init__(self, stored: dict[str, Json]) -> None:
        """Take them flat, nested, or mixed."""
        self._stored = stored

    def get(self, key: str) -> Json:
        """Give one value; None where there is none."""
        if key in self._stored:
            return self._stored[key]
        value: Json = self._stored
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                return None
            value = value[part]
        return value

    def first(self, keys: Iterable[str]) -> Json:
        """Give the value of the first key that has one, empty objects apart."""
        for key in keys:
            value = self.get(key)
            if value not in (None, "", "{}", {}):
                return value
        return None

    def tree(self, prefix: str) -> Json:
        """Give what stands under a prefix as nested lists and objects."""
        whole = self.get(prefix)
        if whole is not None:
            return decoded(whole)
        start = prefix + "."
        root: dict[str, Json] = {}
        for key, value in self._stored.items():
            if not key.startswith(start):
                continue
            place = root
            *path, last = key[len(start) :].split(".")
            for part in path:
                inner = place.setdefault(part, {})
                place = inner if isinstance(inner, dict) else {}
            place[last] = value
        return _listed(root, 0)


def _listed(value: Json, depth: int) -> Json:
    """Turn objects whose keys are all numbers into lists, in the order of numbers."""
    if not isinstance(value, dict) or depth > 20:
        return value
    items = {key: _listed(inner, depth + 1) for key, inner in value.items()}
    if items and all(key.isdigit() for key in items):
        return [items[key] for key in sorted(items, key=int)]
    return items


def kind_of(name: str, attributes: Attributes) -> Kind:
    """Tell whether a span is a tool's, a model's or an agent's."""
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation in _OPERATIONS:
        return _OPERATIONS[operation]
    declared = attributes.get("openinference.span.kind")
    if isinstance(declared, str) and declared.upper() in _KINDS:
        return _KINDS[declared.upper()]
    declared = text(attributes.get("traceloop.span.kind"))
    if declared in ("tool", "agent"):
        return "tool" if declared == "tool" else "agent"
    operation = text(attributes.get("ai.operationId"))
    if operation in _AI_OPERATIONS:
        return _AI_OPERATIONS[operation]
    if operation.endswith((".doGenerate", ".doStream")):
        return "model"
    if _TOOL_NAME.fullmatch(name) or attributes.get("gen_ai.tool.name") is not None:
        return "tool"
    asked = attributes.get("gen_ai.request.model") or attributes.get("llm.request.type")
    is_asked = asked is not None and "agent" not in name
    if name in _MODEL_NAMES or (is_asked and _is_chat(attributes)):
        return "model"
    is_agent = name == "agent run" or name.startswith("invoke_agent")
    histories = ("pydantic_ai.all_messages", "all_messages_events")
    return "agent" if is_agent or attributes.first(histories) else ""


def _is_chat(attributes: Attributes) -> bool:
    """Whether a request that names no operation of this list may be a chat."""
    operation = attributes.get("gen_ai.operation.name")
    return operation is None and attributes.get("llm.request.type") in (None, "chat")


def fill(span: Span, attributes: Attributes, events: list[Event]) -> None:
    """Add to a span what its attributes and events say."""
    span.kind = span.kind or kind_of(span.name, attributes)
    span.agent = text(attributes.first(_AGENTS))
    if span.kind == "agent" and not span.agent:
        match = _AGENT_NAME.fullmatch(span.name)
        span.agent = match["name"] if match else span.name
    span.run = text(attributes.first(CONVERSATIONS))
    fill_errors(span, attributes, events)
    if span.kind == "tool":
        _fill_tool(span, attributes)
    elif span.kind == "model":
        _fill_model(span, attributes, events)


def fill_errors(span: Span, attributes: Attributes, events: list[Event]) -> None:
    """Read exceptions and error attributes; a failed status stays as it is."""
    for event in events:
        if event.name != "exception":
            continue
        source = event.attributes
        span.error_text = text(source.get("exception.message")) or span.error_text
        span.error_type = text(source.get("exception.type")) or span.error_type
        if span.failed is None:
            span.failed, span.flag = True, "exception"
    kind = text(attributes.get("error.type"))
    if kind and span.failed is None:
        span.failed, span.flag = True, "error.type"
    span.error_type = span.error_type or kind
    span.error_text = span.error_text or text(attributes.get("error.message"))
    cause = attributes.get("pydantic_ai.tool.retry.cause")
    if cause in ("validation_error", "unknown_tool"):
        span.cause = "rejected"


def _fill_tool(span: Span, attributes: Attributes) -> None:
    match = _TOOL_NAME.fullmatch(span.name)
    named = match["name"] if match and match["name"] else span.name
    span.tool = text(attributes.first(_TOOL_NAMES)) or named
    span.call_id = text(attributes.first(_CALL_IDS))
    if not span.arguments:
        span.arguments = arguments_of(_own(attributes, _ARGUMENTS))
    if span.result is None:
        set_result(span, _own(attributes, _RESULTS))


def _own(attributes: Attributes, keys: Iterable[str]) -> Json:
    """Give the first of these that is there at all: an empty object is an answer."""
    for key in keys:
        value = attributes.get(key)
        if value is not None:
            return value
    return None


def set_result(span: Span, value: Json) -> None:
    """Take a tool's output; one that the tracer left out stays unrecorded."""
    if value is None:
        return
    result, call_id = tool_output(value)
    span.result = result.text
    span.result_failed, span.result_flag = result.is_error, result.flag
    span.call_id = span.call_id or call_id


def _fill_model(span: Span, attributes: Attributes, events: list[Event]) -> None:
    span.model = span.model or text(attributes.first(_MODELS))
    if span.input_tokens is None:
        span.input_tokens = integer(attributes.first(_TOKENS_IN))
        span.output_tokens = integer(attributes.first(_TOKENS_OUT))
    asked, answered = _event_messages(events, attributes)
    span.inputs = span.inputs or _inputs(attributes) or said_in(asked)
    span.outputs = span.outputs or _outputs(attributes) or said_in(answered)
    parameters = mapping(decoded(attributes.get("model_request_parameters")))
    hidden = [mapping(tool) for tool in sequence(parameters.get("output_tools"))]
    span.hidden_tools = [text(tool.get("name")) for tool in hidden]
    span.tools = _tools(attributes)


def _inputs(attributes: Attributes) -> list[Said]:
    instructions = said_in(attributes.get("gen_ai.system_instructions"))
    for said in instructions:
        said.role = "system"
    found = said_in(attributes.first(_INPUTS))
    for prefix in ("llm.input_messages", "gen_ai.prompt"):
        found = found or said_in(_openinference(attributes.tree(prefix)))
    return [*instructions, *(found or said_in(attributes.get("input.value")))]


def _outputs(attributes: Attributes) -> list[Said]:
    found = said_in(attributes.first(_OUTPUTS))
    for prefix in ("llm.output_messages", "gen_ai.completion"):
        found = found or said_in(_openinference(attributes.tree(prefix)))
    if not found:
        found = said_in(attributes.get("ai.response.text"))
        found += said_in(attributes.get("ai.response.toolCalls"))
    return found or said_in(attributes.get("output.value"))


def _openinference(messages: Json) -> list[Json]:
    """Give messages that stand as `{"message": {…}}` with wrapped contents plainly."""
    found = []
    for item in sequence(messages):
        message = mapping(item)
        message = mapping(message.get("message")) or message
        contents = message.get("contents")
        if isinstance(contents, list):
            inner = [mapping(part).get("message_content", part) for part in contents]
            message = {**message, "content": inner}
        if message:
            found.append({"content": None, **message})
    return found


def _event_messages(
    events: list[Event], attributes: Attributes
) -> tuple[list[Json], list[Json]]:
    """Give the messages that older versions wrote as events of the model's span."""
    listed = [mapping(item) for item in sequence(decoded(attributes.get("events")))]
    named = [(text(item.get("event.name")), item) for item in listed]
    for event in events:
        if event.name.startswith("gen_ai."):
            content = mapping(decoded(event.attributes.get("gen_ai.event.content")))
            named.append((event.name, content or event.attributes))
    asked: list[Json] = []
    answered: list[Json] = []
    for name, source in named:
        if name == "gen_ai.choice":
            answered.append({"role": "assistant", **mapping(source.get("message"))})
        elif name.endswith(".message"):
            role = name.removeprefix("gen_ai.").removesuffix(".message")
            asked.append({"role": role, "tool_call_id": source.get("id"), **source})
        elif "gen_ai.input.messages" in source or "gen_ai.output.messages" in source:
            asked += sequence(decoded(source.get("gen_ai.input.messages")))
            answered += sequence(decoded(source.get("gen_ai.output.messages")))
    return asked, answered


def _tools(attributes: Attributes) -> list[ToolDefinition]:
    offered = decoded(attributes.get("gen_ai.tool.definitions"))
    if not offered:
        offered = attributes.tree("llm.request.functions")
    if not offered:
        offered = [
            decoded(mapping(mapping(item).get("tool")).get("json_schema"))
            for item in sequence(attributes.tree("llm.tools"))
        ]
    return tool_definitions(offered)
