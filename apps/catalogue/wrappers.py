"""Peel off what agent frameworks put around a tool's error text.

Authored and delivered text differ: a framework adds a prefix, an advice to try again,
an echo of the arguments, or an envelope. The same failure through three frameworks
must be one code, so known wrappers come off before anything is masked, layer by layer.
The list is versioned: a fingerprint names the wrappers that it took off.
Never peeled down to nothing: a wrapper around no message is itself what the model read.
"""

import ast
import re
import warnings
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

import msgspec

from apps.catalogue.structured_results import StructuredError, read_structured_error

VERSION: Final = 1
MAX_LAYERS: Final = 8
MAX_JSON: Final = 1 << 20  # characters: a longer result is not parsed
MAX_TEXT: Final = 1 << 14  # characters of a plain text that wrappers are looked for in
_KEPT_END: Final = 1 << 11  # of a longer one: the last characters, for closing advice

Says = Literal["", "retry", "stop"]


class Wrapper(NamedTuple):
    """One thing that a framework is known to write around a text."""

    name: str
    hint: str  # a text without this is not matched at all, which is cheap
    pattern: re.Pattern[str]  # whole text; group `message` is what was wrapped
    says: Says = ""  # advice of the wrapper's own, which may contradict the text


class Peeled(msgspec.Struct, frozen=True):
    """A text without its wrappers."""

    message: str  # what the tool itself said
    wrappers: tuple[str, ...] = ()  # names, the outermost first
    structured_code: str = ""  # names the failure; wins over the message
    broad_code: str = ""  # a class of failures: counts with the message
    fields: dict[str, str] = {}  # of the contract, as seen: retryable, http_status …
    says: Says = ""  # what the wrappers, not the tool, tell the agent to do


def _wrapper(name: str, hint: str, pattern: str, says: Says = "") -> Wrapper:
    return Wrapper(name, hint, re.compile(pattern, re.DOTALL), says)


_CLASS = (
    r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Retry|Exit|Fault|Timeout|Warning)|[A-Z]\w+)"
)
# Texts come stripped, and messages are stripped again: no pattern here has white
# space of any length beside `.*?`, which would cost the square of a blank text.
WRAPPERS: Final[tuple[Wrapper, ...]] = (
    _wrapper(
        "claude-code",
        "<tool_use_error>",
        r"<tool_use_error>(?P<message>.*?)(?:</tool_use_error>)?",
    ),
    _wrapper(  # the person's own words after the lead say nothing of the kind
        "claude-code-denial",
        "The user ",
        r"(?P<message>The user (?:doesn't|denied|rejected|does not)[^\n]*"
        r"(?:the user said|following feedback):)\s.*",
        "stop",
    ),
    _wrapper(  # what was looked for is quoted back, of any length
        "claude-code-echo",
        "String to replace not found",
        r"(?P<message>String to replace not found in file\.)\s+String: .*",
    ),
    _wrapper(
        "cline-result", "] Result:", r"\[\w+[^\n]{0,300}\] Result:(?P<message>.*)"
    ),
    _wrapper(
        "cline",
        "tool execution failed with the following error",
        r"The tool execution failed with the following error:(?P<message>.*)",
    ),
    _wrapper("error-tag", "<error>", r"<error>(?P<message>.*?)(?:</error>.*)?"),
    _wrapper(
        "openai-agents",
        "An error occurred while ",
        r"An error occurred while (?:running the tool|parsing tool arguments)\. "
        r"Please try again(?: with valid JSON)?\. Error: (?P<message>.*)",
        "retry",
    ),
    _wrapper(
        "langgraph",
        "Please fix your mistakes.",
        r"(?:Error: )?(?P<message>.*)\n ?Please fix your mistakes\.",
        "retry",
    ),
    _wrapper(
        "langgraph-kwargs",
        " with kwargs ",
        r"Error (?:executing|invoking) tool '?[^\s']+'? with kwargs .*? with error:"
        r"(?P<message>.*?)(?:\n ?Please fix the error and try again\.)?",
        "retry",
    ),
    _wrapper(
        "smolagents-retry",
        "Now let's retry: take care not to repeat",
        r"(?:Call id: [^\n]*\n)?(?:Error:)?(?P<message>.*)\n"
        r"Now let's retry: take care not to repeat previous errors!.*",
        "retry",
    ),
    _wrapper(
        "smolagents-tool",
        " with arguments ",
        r"Error (?:executing|when calling) (?:tool|request to team member) '?[^\s']+'? "
        rf"with arguments .*?: {_CLASS}: (?P<message>.*?)"
        r"(?:\nPlease try again or (?:use another tool|request to another)[^\n]*)?",
        "retry",
    ),
    _wrapper(
        "smolagents-code",
        "Code execution failed at line",
        rf"Code execution failed at line '.*?' due to: (?:{_CLASS}: )?(?P<message>.*)",
    ),
    _wrapper(
        "pydantic-ai",
        "ix the errors and try again.",
        r"(?P<message>.*)\n(?:Please f|F)ix the errors and try again\.",
        "retry",
    ),
    _wrapper(
        "crewai",
        "I encountered an error while trying to use the tool",
        r"I encountered an error while trying to use the tool\. This was the error: "
        r"(?P<message>.*?)(?:\.?\n ?Tool [^\n]*accepts these inputs: .*)?",
    ),
    _wrapper(
        "fastmcp",
        " tool ",
        r"Error (?:executing|calling) tool '?[^\s':]+'?: (?P<message>.*)",
    ),
    _wrapper("mcp", "MCP error -", r"(?:McpError: )?MCP error -?\d+: (?P<message>.*)"),
    _wrapper(
        "returncode-tag",
        "<returncode>",
        r"<returncode>-?\d+</returncode>\s?(?:<output>)?(?P<message>.*?)(?:</output>)?",
    ),
    _wrapper("fence", "```", r"```\w*\n(?P<message>[^`]*)```"),
    _wrapper(
        "error-prefix",
        "",
        r"(?:❌ ?)?(?:(?:ERROR|Error|error|Exception|"
        r"[Tt]ool (?:execution |call )?(?:error|failed)(?: with error)?|"
        r"Encountered error|[Ee]xecution error) ?:|"
        r"\[(?:ERROR|Error|error)\]:?)(?P<message>.*)",
    ),
)
_RETURN_CODE = re.compile(r"<returncode>(-?\d+)</returncode>")
_MCP_CODE = re.compile(r"MCP error (-?\d+):")
_EXCEPTION = re.compile(rf"{_CLASS}\((?P<value>['\"].*['\"]),?\)", re.DOTALL)
_TAIL = re.compile(r"(?P<lead>[^{\n]{0,160}?)[\s:\-–]*(?P<value>\{.*\})\s*", re.DOTALL)


def peel(text: str) -> Peeled:
    """Take the known wrappers off a delivered text. Never raises."""
    peeled = Peeled(text)
    for _ in range(MAX_LAYERS):
        layer = _one_layer(peeled.message)
        if layer is None:
            break
        name, says, envelope = layer
        peeled = Peeled(
            message=envelope.message,
            wrappers=(*peeled.wrappers, name),
            structured_code=envelope.code or peeled.structured_code,
            broad_code=envelope.broad_code or peeled.broad_code,
            fields={**peeled.fields, **envelope.fields}
            if envelope.fields
            else peeled.fields,
            says=peeled.says or says,
        )
    return peeled


def _one_layer(text: str) -> tuple[str, Says, StructuredError] | None:
    """The outermost wrapper and what was in it; None where nothing known is left."""
    stripped = text.strip()
    first = stripped[:1]
    if first in _OPENERS and (read := _OPENERS[first](stripped)) is not None:
        return "json", "", read
    if len(stripped) > MAX_TEXT:
        stripped = stripped[: MAX_TEXT - _KEPT_END] + "\n" + stripped[-_KEPT_END:]
    for wrapper in WRAPPERS:
        if wrapper.hint in stripped:
            found = wrapper.pattern.fullmatch(stripped)
            if found is not None and found["message"].strip():
                return wrapper.name, wrapper.says, _unwrapped(wrapper, found)
    if stripped[-1:] == ")" and (found := _EXCEPTION.fullmatch(stripped)):
        value = _literal(found["value"])
        if isinstance(value, str) and value.strip():
            return "exception-repr", "", StructuredError(value)
    if stripped[-1:] == "}" and (found := _TAIL.fullmatch(stripped)):
        return _json_tail(found)
    return None


def _unwrapped(wrapper: Wrapper, found: re.Match[str]) -> StructuredError:
    message: str = found["message"].strip()
    if wrapper.name == "returncode-tag" and (code := _RETURN_CODE.search(found[0])):
        return StructuredError(f"Exit code {code[1]}\n{message}")
    if wrapper.name == "mcp" and (code := _MCP_CODE.search(found[0])):
        return StructuredError(message, fields={"rpc_code": code[1]})
    return StructuredError(message)


def _json_tail(found: re.Match[str]) -> tuple[str, Says, StructuredError] | None:
    """A lead with an envelope after it: `Error code: 429 - {'error': …}`."""
    inner = _from_object(found["value"])
    if inner is None or not found["lead"].strip() or not inner.message:
        return None
    message = f"{found['lead'].strip()}: {inner.message}"
    return "json-tail", "", msgspec.structs.replace(inner, message=message)


def _from_object(text: str) -> StructuredError | None:
    """Read a text that is a JSON object or list, or a Python one as `str()` has it."""
    if len(text) > MAX_JSON or text[-1] not in "}]":
        return None
    try:
        value: object = msgspec.json.decode(text)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        value = _literal(text) if "'" in text else None
    return _usable(read_structured_error(value))


def _from_string(text: str) -> StructuredError | None:
    """Read a JSON text inside a JSON string, as a doubly encoded result is."""
    if len(text) > MAX_JSON or len(text) < 3 or text[-1] != '"':
        return None
    try:
        value: object = msgspec.json.decode(text)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return None
    return StructuredError(value) if isinstance(value, str) and value.strip() else None


def _usable(envelope: StructuredError | None) -> StructuredError | None:
    return envelope if envelope is not None and envelope.message.strip() else None


_OPENERS: Final[dict[str, Callable[[str], StructuredError | None]]] = {
    "{": _from_object,
    "[": _from_object,
    '"': _from_string,
}


def _literal(text: str) -> object:
    """A Python literal, or None. Bounded: the parser's depth grows with the text."""
    if len(text) > MAX_TEXT or "\0" in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stray backslash in a quoted text
            value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return value
