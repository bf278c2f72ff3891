"""Tells whether a call failed, how that is known, and why it failed. Pure.

The strongest evidence wins: the log's own flag; a structured field (exit code, error
code, an envelope in the result); a named rule on the head of the text. A rule looks at
the first lines of a tool's result only: the word “error” inside a file that the agent
has read is no error.
"""

import re
from typing import Literal

import msgspec

from .rules import DEFAULT_RULES, Rules
from .transcript import Call, Cause, Result

Evidence = Literal["flagged", "structured", "textual", "masked"]

HEAD_CHARS = 600


class Verdict(msgspec.Struct, frozen=True):
    """Why a call counts as failed."""

    cause: Cause
    evidence: Evidence
    rule: str  # the field or the named rule that said so
    is_delivered: bool = True

    @property
    def is_tool_error(self) -> bool:
        """Whether it counts: failed or rejected, and seen by the model."""
        return self.cause in ("failed", "rejected") and self.is_delivered


# Rules that tell why an error is none of the tool's: text that only a person's refusal
# or a stopped sibling leaves. Case kept; anchored at the start.
_DENIED = re.compile(
    r"The user doesn't want to (?:proceed|take this action)|The user denied"
    r"|The user rejected permission|\[Request interrupted by user"
    r"|\[Operation Cancelled\] Reason: User denied|aborted by user"
    r"|Permission to use .{1,80} has been (?:denied|rejected)"
    r"|(?:User|Tool execution) (?:denied|rejected)"
)
_CANCELLED = re.compile(
    r"(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call)"
)
_REJECTED = re.compile(
    r"(?:<tool_use_error>|Error: |Error executing tool [^:]{1,60}: )*(?:"
    r"No such tool|unsupported call:|unsupported custom tool call:|Unknown tool"
    r"|Model tried to call unavailable tool|Tool \"?[\w.-]{1,80}\"? (?:not found|does not exist)"
    r"|[\w.-]{1,80} is not a valid tool|Unknown skill:|Agent type '[^']{1,80}' not found"
    r"|failed to parse function arguments|InputValidationError|Invalid input for tool"
    r"|params must have required property|Missing value for required parameter"
    r"|Invoking `[^`]{1,80}` failed as the following mandatory input"
    r"|Invalid arguments\b|\d+ validation errors? for )"
)

# Textual rules, tried in this order on the head of a result.
_EXIT_CODE = re.compile(
    r"(?im)^\W{0,2}(?:process exited with code|exit code:?|exitcode:"
    r"|command (?:failed|exited) with (?:exit )?(?:code|status)|exited with exit code"
    r"|command finished with exit code|<returncode>)\s*(-?\d{1,10})"
)
_SILENT_EXIT = re.compile(
    r"(?:^|[|;&]\s*)(?:\w+=\S+ )*(?:git )?(?:grep|rg|diff|test|cmp|which)\b"
)
_TEXT_RULES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("traceback", re.compile(r"Traceback \(most recent call last\):")),
    (
        "masked-cause",
        re.compile(
            r"An error occurred while running the tool|An error occurred\.\s*$"
            r"|Error executing tool [\w.-]{1,80}\s*$"
        ),
    ),
    (
        "error-prefix",
        re.compile(
            r"(?:<tool_use_error>|\[?(?:Error|ERROR|error|FATAL|fatal|Exception)\]?"
            r"(?:\s?\([^)\n]{1,40}\))?:\s?\S|ERROR\b|Error (?:executing|invoking|calling|"
            r"running|reading|writing|while|in|at|from|\d)|Exception\b|Failed to \w)"
        ),
    ),
    (
        "exception-name",
        re.compile(
            r"(?:[A-Za-z_][\w$]{0,60}[.:/]){0,8}[A-Za-z_]\w{0,80}(?:Error|Exception|Fault)\b:?"
            r"|(?:[A-Za-z_]\w{0,60}\.){1,6}(?:errors?|exceptions?)\.[A-Z]\w{1,80}:"
        ),
    ),
    (
        "status-line",
        re.compile(
            r"(?:HTTP(?:/\d(?:\.\d)?)?\s*(?:status\s*)?|Error\s|status(?: code)?:?\s*)[45]\d\d\b"
            r"|[45]\d\d (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict|"
            r"Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|"
            r"Gateway Time-?out|Unprocessable|Client Error|Server Error)"
            r"|SMTP [45]\d\d\b"
        ),
    ),
    (
        "errno",
        re.compile(
            r"E[A-Z]{3,14}: |\[Errno \d+\]|[A-Za-z_./\d: -]{0,80}: (?:command )?not found\s*$"
        ),
    ),
    (
        "failure-phrase",
        re.compile(
            r"(?i)(?:the |your |this )?(?:[\w`'-]{1,40} ){0,5}(?:"
            r"timed out\b|timeout (?:after|exceeded|expired|reached|error)|failed\b(?! over)"
            r"|(?:was|is|were|are) not (?:found|allowed|permitted|available|valid)\b"
            r"|(?:does|did) not (?:exist|match)\b|(?:could|can)(?:\s?not|n't) be \w+"
            r"|(?:is|was) (?:unavailable|denied|refused|forbidden|locked)\b|unavailable:"
            r"|permission denied|access denied|connection (?:refused|reset|closed)"
            r"|rate limit(?: (?:reached|exceeded|hit))|too many requests|unauthorized\b"
            r")"
        ),
    ),
    (
        "refusal-phrase",
        re.compile(
            r"(?i)(?:unable to |cannot |can't |could not |couldn't |invalid |unknown |unsupported "
            r"|unrecognized |bad request|internal error|server error|no space left"
            r"|no such file|permission denied|quota exceeded|duplicate key|missing required)"
        ),
    ),
)
_FAILURE_PHRASE_LINE = 240  # a phrase counts only where the first line is this short
_PHRASE_RULES = frozenset({"failure-phrase", "refusal-phrase"})

_JSON_START = re.compile(r'\s*\{\s*"')
_FAILED_STATUS = frozenset({b"error", b"failed", b"failure", b"fail"})

EVIDENCE_RULES: dict[str, str] = {
    "exit-code": "a process ended with a code other than 0",
    "json-error": "the result is an object that reports an error",
    "error-code": "the log names an error code",
    **{
        "traceback": "the result is a Python traceback",
        "masked-cause": "a framework's fixed sentence that hides the cause",
        "error-prefix": "the result begins with “Error:”, “Failed to …” or the like",
        "exception-name": "the result begins with the name of an exception",
        "status-line": "the result begins with a 4xx or 5xx status",
        "errno": "the result begins with an operating-system error",
        "failure-phrase": "a short first line says that something failed",
        "refusal-phrase": "a short first line begins with a refusal",
    },
}
"""Every rule that can be switched off, with its meaning."""


def judge(call: Call, rules: Rules = DEFAULT_RULES) -> Verdict | None:
    """Judge one call; None: it did not fail, as far as can be known.

    A call without a result has the cause `no_result`, which is no error.
    """
    result = call.result
    if result is None:
        return Verdict("no_result", "structured", "no result in the log", False)
    if result.pending:
        return None
    if result.is_error:
        cause = result.cause or cause_of(result.text)
        return Verdict(cause, "flagged", result.flag or "flag", result.delivered)
    if result.cause:
        rule = result.flag or "the log says so"
        return Verdict(result.cause, "structured", rule, result.delivered)
    found = _structured(call, result, rules) or _textual(call, result, rules)
    if found is None:
        return None
    rule, evidence = found
    return Verdict(cause_of(result.text), evidence, rule, result.delivered)


def cause_of(text: str) -> Cause:
    """Tell from the fixed texts of known programs why an error came about."""
    head = text[:HEAD_CHARS].lstrip()
    if _DENIED.match(head):
        return "denied"
    if _CANCELLED.match(head):
        return "cancelled"
    if _REJECTED.match(head):
        return "rejected"
    return "failed"


def _structured(
    call: Call, result: Result, rules: Rules
) -> tuple[str, Evidence] | None:
    tool = call.tool
    if rules.is_enabled("exit-code", tool):
        code = result.exit_code
        if code is None:
            header = result.text[:HEAD_CHARS].partition("Output:")[0]
            match = (
                _EXIT_CODE.search(header)
                if "od" in header or "tatus" in header
                else None
            )
            code = int(match.group(1)) if match else None
        if code is not None and code > 0 and not _is_answer(call, code):
            return "exit-code", "structured"
    if result.error_code and rules.is_enabled("error-code", tool):
        return "error-code", "structured"
    if _JSON_START.match(result.text) and rules.is_enabled("json-error", tool):
        if is_error_object(result.text):
            return "json-error", "structured"
    return None


def _is_answer(call: Call, code: int) -> bool:
    """Whether exit 1 is how this command says “nothing” or “differs” (grep, diff)."""
    return code == 1 and bool(_SILENT_EXIT.search(_command(call.arguments)))


def _command(arguments: str) -> str:
    """The last command of a pipe or list, where the exit code comes from."""
    text = arguments
    if text.startswith("{"):
        try:
            decoded = msgspec.json.decode(arguments.encode("utf-8", "replace"))
        except msgspec.DecodeError:
            decoded = {}
        value = (
            decoded.get("command", decoded.get("cmd", ""))
            if isinstance(decoded, dict)
            else ""
        )
        text = value if isinstance(value, str) else ""
    parts = [part for part in re.split(r"\|\||&&|[|;\n]", text) if part.strip()]
    return parts[-1].strip() if parts else ""


_ABSENT = msgspec.Raw(b"")


class _ErrorShape(msgspec.Struct):
    """The fields of a result by which writers report failure."""

    ok: msgspec.Raw = _ABSENT
    success: msgspec.Raw = _ABSENT
    status: msgspec.Raw = _ABSENT
    error: msgspec.Raw = _ABSENT
    error_message: msgspec.Raw = _ABSENT
    errorMessage: msgspec.Raw = _ABSENT  # noqa: N815 (a field of logs)
    isError: msgspec.Raw = _ABSENT  # noqa: N815


_decoder = msgspec.json.Decoder(_ErrorShape)
_EMPTY = (b"", b"null", b'""', b"{}", b"[]", b"false", b"0")


def is_error_object(text: str) -> bool:
    """Whether a result that is one JSON object reports a failure.

    It does where it says `ok: false`, `success: false`, `status: error` or
    `isError: true`, or holds an `error` and nothing that says success.
    """
    try:
        shape = _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    if (
        _is(shape.ok, b"false")
        or _is(shape.success, b"false")
        or _is(shape.isError, b"true")
    ):
        return True
    if _is(shape.ok, b"true") or _is(shape.success, b"true"):
        return False
    if bytes(shape.status).strip(b'" ').lower() in _FAILED_STATUS:
        return True
    fields = (shape.error, shape.error_message, shape.errorMessage)
    return any(bytes(raw).strip() not in _EMPTY for raw in fields)


def _is(raw: msgspec.Raw, value: bytes) -> bool:
    return bytes(raw).strip() == value


def _textual(call: Call, result: Result, rules: Rules) -> tuple[str, Evidence] | None:
    head = result.text[:HEAD_CHARS].lstrip()
    if (
        not head
        or head[0] in "[{<0123456789|+-"
        and not head.startswith(("[E", "[e", "<tool", "4", "5", "1 v"))
    ):
        return None
    first_line, _, rest = head.partition("\n")
    for name, pattern in _TEXT_RULES:
        if not pattern.match(head):
            continue
        if name in _PHRASE_RULES and (
            len(first_line) > _FAILURE_PHRASE_LINE or rest.count("\n") > 6
        ):
            continue
        if rules.is_enabled(name, call.tool):
            return name, "textual"
    return None
