"""Find the message and the code in a structured error result.

Read are the shapes that APIs and tools use for a failure: `{"error": "…"}`,
`{"ok": false, "error": {"message": …}}`, `{"status": "error", "error_message": …}`,
RFC 9457 problems, google.rpc.Status, Stripe, JSON:API, GraphQL, AWS, JSON-RPC, MCP
results with text blocks, lists of validation errors, our own envelope. An object that
shows no sign of failure is not read: its text is the message.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from apps.catalogue.error_codes import CodeKind, is_name_like, kind_of
from apps.catalogue.word_sets import word_set

Object = Mapping[str, Any]


class StructuredError(msgspec.Struct, frozen=True):
    """What a structured result says about its failure."""

    message: str  # "" where it holds none
    code: str = ""  # names the failure
    broad_code: str = ""  # names a class of failures: an HTTP status, ValueError …
    fields: dict[str, str] = {}  # of the contract, as seen: retryable, next …


# In order of trust; the first that holds words is the message.
_MESSAGE_KEYS: Final = (
    "agent_message",
    "message",
    "error_message",
    "errorMessage",
    "detail",
    "details",
    "error_description",
    "errorDetails",
    "description",
    "msg",
    "Message",
    "reason",
    "faultstring",
    "text",
    "output",
    "stderr",
    "title",
)
# From the finest to the coarsest: the first that names the failure wins.
_CODE_KEYS: Final = (
    "decline_code",
    "error_code",
    "errorCode",
    "error_key",
    "code",
    "Code",
    "errcode",
    "subcode",
    "sqlstate",
    "reason",
    "__type",
    "error_type",
    "errorType",
    "exception",
    "type",
    "name",
    "status",
    "statusCode",
    "status_code",
    "http_status",
)
_STATUS_KEYS: Final = ("status", "statusCode", "status_code", "http_status", "code")
_CONTRACT_KEYS: Final = word_set(
    "retryable isRetryable is_retryable retry_after retry_after_ms retryAfter "
    "retryDelay directive not_before max_attempts_remaining next next_action "
    "alternative_tool category commit_state operation_ref param"
)
_INNER_KEYS: Final = word_set(
    "structuredContent error Error errors fault detail content extensions details "
    "retry response"
)
_STATUS_KEY_SET: Final = frozenset(_STATUS_KEYS)
_MESSAGE_KEY_SET: Final = frozenset(_MESSAGE_KEYS)
_CODE_KEY_SET: Final = frozenset(_CODE_KEYS)
_FAILED_STATES: Final = frozenset(("error", "failed", "failure", "fail", "exception"))
_DEPTH: Final = 4


def read_structured_error(value: object) -> StructuredError | None:
    """The envelope in a parsed JSON value, or None where it is none."""
    return _read(value, _DEPTH)


def _read(value: object, depth: int) -> StructuredError | None:
    if depth <= 0:
        return None
    if isinstance(value, list):
        return _read_list(value, depth)
    if not isinstance(value, dict):
        return None
    return _read_object(value, depth) if _reports_failure(value) else None


def _reports_failure(value: Object) -> bool:
    """Whether an object says that something failed, rather than hold data."""
    error = value.get("error", value.get("Error", value.get("errors")))
    status = value.get("status", value.get("statusCode", value.get("status_code")))
    return (
        (error is not None and error != [] and error is not False)
        or value.get("ok") is False
        or value.get("success") is False
        or value.get("isError") is True
        or value.get("is_error") is True
        or (isinstance(status, str) and status.lower() in _FAILED_STATES)
        or _http_status(value) != ""
        or value.get("type") == "error"
        or bool(value.keys() & {"error_message", "errorMessage", "errorCode", "__type"})
        or ("error_code" in value and "message" in value)
        or ("code" in value and bool(value.keys() & {"message", "agent_message"}))
        or value.keys() in ({"detail"}, {"message"})
        or (
            "message" in value
            and str(value.get("name", "")).endswith(("Error", "Exception"))
        )
        or _exit_code(value) is not None
    )


def _read_object(value: Object, depth: int) -> StructuredError:
    """Read an object that reports failure, the innermost error first."""
    inner = _inner(value, depth)
    exit_code = _exit_code(value)
    message = inner.message if inner else ""
    if exit_code is not None and not message:
        output = value.get("output", value.get("stderr", value.get("stdout", "")))
        message = f"Exit code {exit_code}\n{output}"
    error = value.get("error")
    code, broad = (inner.code, inner.broad_code) if inner else ("", "")
    if not message:
        message = _first_text(value)
    if isinstance(error, str) and error:
        if is_name_like(error) and kind_of(error) is not CodeKind.NOTHING:
            code, broad = _sorted_in(error, code, broad)
            message = message or error
        elif message and message != error and len(error) < 60 < len(message):
            message = f"{error}: {message}"
        else:
            message = _better(error, message)
    for candidate in _code_candidates(value):
        code, broad = _sorted_in(candidate, code, broad)
    fields = {**_contract(value), **(inner.fields if inner else {})}
    return StructuredError(message or code or broad, code, broad, fields)


def _better(error: str, message: str) -> str:
    """Of two texts the one that is not just a title."""
    if not message or message == error:
        return error
    return message if len(error.split()) <= 3 else error


def _inner(value: Object, depth: int) -> StructuredError | None:
    """The error that an outer object carries, merged from its usual places."""
    if _INNER_KEYS.isdisjoint(value):
        return None
    found: StructuredError | None = None
    for key in ("structuredContent", "error", "Error", "errors", "fault", "detail"):
        inside = value.get(key)
        if isinstance(inside, dict):
            found = _merged(
                found, _read_object(inside, depth - 1) if depth > 1 else None
            )
        elif isinstance(inside, list):
            found = _merged(found, _read_list(inside, depth - 1))
    blocks = value.get("content")
    if isinstance(blocks, list):
        found = _merged(found, _read_blocks(blocks))
    for key in ("extensions", "details", "retry"):
        inside = value.get(key)
        if isinstance(inside, dict):
            found = _merged(
                found, StructuredError("", *_codes(inside), _contract(inside))
            )
        elif isinstance(inside, list):
            found = _merged(found, _read_details(inside))
    response = value.get("response")
    if not value.get("error") and isinstance(response, str) and response:
        found = _merged(found, StructuredError(response))
    return found


def _merged(
    first: StructuredError | None, second: StructuredError | None
) -> StructuredError | None:
    if first is None or second is None:
        return second if first is None else first
    return StructuredError(
        first.message or second.message,
        first.code or second.code,
        first.broad_code or second.broad_code,
        {**second.fields, **first.fields},
    )


def _read_list(items: list[Any], depth: int) -> StructuredError | None:
    """A list of errors, of validation errors, or of MCP text blocks."""
    objects = [item for item in items if isinstance(item, dict)]
    if not items:
        return None
    if not objects:
        texts = sorted({item for item in items if isinstance(item, str)})
        return StructuredError("; ".join(texts)) if texts and depth < _DEPTH else None
    blocks = _read_blocks(items)
    if blocks is not None:
        return blocks
    if any("loc" in item or "path" in item for item in objects):
        return StructuredError("Validation error: " + "; ".join(_complaints(objects)))
    if depth == _DEPTH and not _reports_failure(objects[0]):
        return None
    return _read_object(objects[0], depth - 1) if depth > 1 else None


def _complaints(objects: Iterable[Object]) -> list[str]:
    """What a validator found, said once each: which field it was does not matter."""
    found = set()
    for item in objects:
        said = str(item.get("msg") or item.get("message") or "")
        kind = str(item.get("type") or item.get("code") or "")
        found.add(f"{said} [type={kind}]" if kind else said)
    return sorted(found)


def _read_blocks(blocks: list[Any]) -> StructuredError | None:
    """Text blocks of an MCP or model API result, joined in order."""
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    ]
    return StructuredError("\n".join(texts)) if texts else None


def _read_details(items: list[Any]) -> StructuredError | None:
    """google.rpc details: `ErrorInfo.reason` is the code, `RetryInfo` the wait."""
    code, broad, fields = "", "", {}
    for item in items:
        if not isinstance(item, dict):
            continue
        if isinstance(item.get("reason"), str):
            code, broad = _sorted_in(item["reason"], code, broad)
        fields.update(_contract(item))
    return StructuredError("", code, broad, fields) if code or broad or fields else None


def _first_text(value: Object) -> str:
    if _MESSAGE_KEY_SET.isdisjoint(value):
        return ""
    for key in _MESSAGE_KEYS:
        said = value.get(key)
        if isinstance(said, str) and said.strip():
            return said
    return ""


def _code_candidates(value: Object) -> Iterable[str]:
    if _CODE_KEY_SET.isdisjoint(value):
        return
    for key in _CODE_KEYS:
        found = value.get(key)
        if isinstance(found, str):
            if key == "type" and "/" in found:  # a problem's URI: its last segment
                found = found.rstrip("/").rsplit("/", 1)[-1].split("#")[0]
            elif key == "__type":
                found = found.rsplit("#", 1)[-1]
            yield found
        elif isinstance(found, int) and not isinstance(found, bool):
            yield str(found)


def _codes(value: Object) -> tuple[str, str]:
    code, broad = "", ""
    for candidate in _code_candidates(value):
        code, broad = _sorted_in(candidate, code, broad)
    return code, broad


def _sorted_in(candidate: str, code: str, broad: str) -> tuple[str, str]:
    """Keep the first code that names the failure and the first broad one."""
    kind = kind_of(candidate)
    if kind is CodeKind.NAMES_IT and not code:
        return candidate.strip(), broad
    if kind is CodeKind.BROAD and not broad:
        return code, candidate.strip()
    return code, broad


def _http_status(value: Object) -> str:
    if _STATUS_KEY_SET.isdisjoint(value):
        return ""
    for key in _STATUS_KEYS:
        status = value.get(key)
        number = str(status) if isinstance(status, int | str) else ""
        if len(number) == 3 and number.isdigit() and "400" <= number < "600":
            return number
    return ""


def _exit_code(value: Object) -> int | None:
    """The exit code of a process that failed, where the object is its result."""
    for holder in (value, value.get("metadata")):
        if isinstance(holder, dict):
            for key in ("exit_code", "exitCode", "returncode"):
                code = holder.get(key)
                if isinstance(code, int) and not isinstance(code, bool) and code:
                    return code
    return None


def _contract(value: Object) -> dict[str, str]:
    found = {}
    if not _CONTRACT_KEYS.isdisjoint(value):
        for key in sorted(_CONTRACT_KEYS & value.keys()):
            said = value[key]
            if isinstance(said, bool):
                found[key] = str(said).lower()
            elif isinstance(said, str | int | float) and said != "":
                found[key] = str(said)
    status = _http_status(value)
    if status:
        found["http_status"] = status
    return found
