"""Envelope fields proposed for a code, from what is seen of its errors.

The tables are of google.rpc codes (AIP-193, AIP-194) with their HTTP statuses, MCP
annotations, Stripe's advice and Retry-After (RFC 9110). A proposal is for a person to
confirm: it carries its reasons, and what contradicts it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple

from apps.catalogue.contradictions import Contradiction
from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    RetryOwner,
    ToolHints,
)
from apps.catalogue.waits import Wait, find_wait, read_retry_after

_C, _S, _D, _N = Category, CommitState, RetryDirective, NextAction


class Row(NamedTuple):
    """What a class of failures asks for, for a write."""

    category: Category
    commit_state: CommitState
    directive: RetryDirective
    next_action: NextAction


BY_RPC_CODE: Final = {
    "INVALID_ARGUMENT": Row(
        _C.VALIDATION, _S.NOT_COMMITTED, _D.AFTER_INPUT_FIX, _N.CORRECT_INPUT
    ),
    "OUT_OF_RANGE": Row(
        _C.VALIDATION, _S.NOT_COMMITTED, _D.AFTER_INPUT_FIX, _N.CORRECT_INPUT
    ),
    "FAILED_PRECONDITION": Row(_C.CONFLICT, _S.NOT_COMMITTED, _D.NEVER, _N.ESCALATE),
    "UNAUTHENTICATED": Row(_C.AUTHORIZATION, _S.NOT_COMMITTED, _D.NEVER, _N.ESCALATE),
    "PERMISSION_DENIED": Row(_C.AUTHORIZATION, _S.NOT_COMMITTED, _D.NEVER, _N.STOP),
    "NOT_FOUND": Row(
        _C.NOT_FOUND, _S.NOT_COMMITTED, _D.AFTER_INPUT_FIX, _N.CORRECT_INPUT
    ),
    "ALREADY_EXISTS": Row(_C.CONFLICT, _S.NOT_COMMITTED, _D.NEVER, _N.VERIFY_OPERATION),
    "ABORTED": Row(_C.CONFLICT, _S.NOT_COMMITTED, _D.AFTER_INPUT_FIX, _N.CORRECT_INPUT),
    "RESOURCE_EXHAUSTED": Row(_C.LIMIT, _S.NOT_COMMITTED, _D.NEVER, _N.ESCALATE),
    "CANCELLED": Row(
        _C.CANCELLED, _S.UNKNOWN, _D.AFTER_VERIFICATION, _N.VERIFY_OPERATION
    ),
    "DEADLINE_EXCEEDED": Row(
        _C.DEPENDENCY, _S.UNKNOWN, _D.AFTER_VERIFICATION, _N.VERIFY_OPERATION
    ),
    "UNAVAILABLE": Row(
        _C.DEPENDENCY, _S.UNKNOWN, _D.AFTER_VERIFICATION, _N.VERIFY_OPERATION
    ),
    "INTERNAL": Row(_C.INTERNAL, _S.UNKNOWN, _D.NEVER, _N.ESCALATE),
    "UNKNOWN": Row(_C.INTERNAL, _S.UNKNOWN, _D.NEVER, _N.ESCALATE),
    "DATA_LOSS": Row(_C.INTERNAL, _S.UNKNOWN, _D.NEVER, _N.ESCALATE),
    "UNIMPLEMENTED": Row(_C.INTERNAL, _S.NOT_COMMITTED, _D.NEVER, _N.SWITCH_TOOL),
}
BY_STATUS: Final = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "FAILED_PRECONDITION",
    403: "PERMISSION_DENIED", 404: "NOT_FOUND", 405: "UNIMPLEMENTED",
    406: "INVALID_ARGUMENT", 407: "UNAUTHENTICATED", 408: "DEADLINE_EXCEEDED",
    409: "CONFLICT", 410: "NOT_FOUND", 411: "INVALID_ARGUMENT", 412: "ABORTED",
    413: "INVALID_ARGUMENT", 415: "INVALID_ARGUMENT", 416: "OUT_OF_RANGE",
    422: "INVALID_ARGUMENT", 423: "FAILED_PRECONDITION", 428: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED", 451: "PERMISSION_DENIED", 499: "CANCELLED",
    500: "INTERNAL", 501: "UNIMPLEMENTED", 502: "UNAVAILABLE", 503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED", 507: "RESOURCE_EXHAUSTED", 529: "UNAVAILABLE",
}  # fmt: skip
KEY_IN_USE: Final = Row(
    _C.CONFLICT, _S.NOT_COMMITTED, _D.AFTER_DELAY, _N.WAIT_AND_RETRY
)
# Stripe's `advice_code` on a decline.
BY_ADVICE: Final = {
    "do_not_try_again": (_D.NEVER, _N.STOP),
    "try_again_later": (_D.AFTER_DELAY, _N.WAIT_AND_RETRY),
    "confirm_card_data": (_D.AFTER_INPUT_FIX, _N.ASK_USER),
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of an error; every field may be left at "nobody said"."""

    text: str = ""
    http_status: int | None = None
    rpc_code: str = ""  # google.rpc: "UNAVAILABLE"
    tool: ToolHints | None = None
    retryable: bool | None = None  # a flag in the result, or Stripe-Should-Retry
    advice_code: str = ""
    next_hint: str = ""  # the short form's `next`: an action or a tool's name
    retry_after: str = ""  # the header as it came
    received_at: datetime | None = None
    is_error: bool | None = None  # the flag of the result
    known_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """Fields for a person to confirm. None: nothing seen says so."""

    category: Category | None = None
    commit_state: CommitState | None = None
    directive: RetryDirective | None = None
    next_action: NextAction | None = None
    alternative_tool: str = ""
    not_before: datetime | None = None
    owner: RetryOwner | None = None
    reasons: tuple[str, ...] = ()  # one short sentence each, in order
    findings: tuple[Contradiction, ...] = field(default=())


def propose(seen: Seen) -> Proposal:
    """Propose the envelope of a code from one of its errors."""
    rpc, reason = _rpc_code(seen)
    findings = list(_flag_findings(seen))
    wait = _wait(seen)
    if wait and wait.finding:
        findings.append(Contradiction("wait_unreadable", wait.finding))
    if rpc is None:
        return _advised(Proposal(findings=tuple(findings)), seen, wait)
    row, why, doubt = _row(rpc, seen, wait)
    if doubt:
        findings.append(doubt)
    reasons = tuple(r for r in (reason, *why) if r)
    proposal = Proposal(*row, reasons=reasons, findings=tuple(findings))
    return _advised(proposal, seen, wait)


def _row(
    rpc: str, seen: Seen, wait: Wait | None
) -> tuple[Row, tuple[str, ...], Contradiction | None]:
    """The table's row, adapted to the tool and to what the text adds."""
    tool, text = seen.tool, seen.text
    safe = tool is not None and tool.is_safe_to_repeat
    why: list[str] = []
    doubt = None
    if rpc == "CONFLICT":
        rpc, sentence = _meaning_of_409(text)
        why.append(sentence)
        if rpc == "CONFLICT":
            rpc = "FAILED_PRECONDITION"
            doubt = Contradiction(
                "conflict_meaning",
                "Say which conflict it is: newer version, key in use, or it exists.",
            )
    row = KEY_IN_USE if rpc == "KEY_IN_USE" else BY_RPC_CODE[rpc]
    if rpc == "RESOURCE_EXHAUSTED" and wait and wait.not_before:
        row = row._replace(directive=_D.AFTER_DELAY, next_action=_N.WAIT_AND_RETRY)
        why.append("A wait is given.")
    if rpc == "UNAVAILABLE" and _NEVER_LEFT.search(text):
        row = Row(_C.DEPENDENCY, _S.NOT_COMMITTED, _D.NEVER, _N.ESCALATE)
        why.append("The connection was refused, so the request never left.")
    # A time-out on a tool of which nothing is known stays "verify": never a retry.
    if rpc in ("UNAVAILABLE", "DEADLINE_EXCEEDED") and safe:
        row = row._replace(directive=_D.AFTER_DELAY, next_action=_N.WAIT_AND_RETRY)
        why.append("The tool may be called again: it reads, or is idempotent.")
    if rpc == "FAILED_PRECONDITION" and _named_tool(seen):
        row = row._replace(next_action=_N.SWITCH_TOOL)
        why.append("The text names another tool.")
    if tool is not None and tool.read_only:
        row = row._replace(commit_state=_S.NOT_APPLICABLE)
        if row.next_action is _N.VERIFY_OPERATION:  # there is nothing to verify
            row = row._replace(directive=_D.AFTER_DELAY, next_action=_N.WAIT_AND_RETRY)
        why.append("The tool only reads.")
    return row, tuple(why), doubt


def _advised(proposal: Proposal, seen: Seen, wait: Wait | None) -> Proposal:
    """Take in what the error itself advises; what contradicts is a finding."""
    findings, reasons = list(proposal.findings), list(proposal.reasons)
    advice = BY_ADVICE.get(seen.advice_code)
    if advice:
        proposal = replace(proposal, directive=advice[0], next_action=advice[1])
        reasons.append(f"It carries the advice {seen.advice_code}.")
    hint = seen.next_hint.strip()
    if hint in set(NextAction):
        proposal = replace(proposal, next_action=NextAction(hint))
        reasons.append("It says what is next.")
    tool = hint if hint in seen.known_tools else _named_tool(seen)
    if tool and (hint == tool or proposal.next_action is _N.SWITCH_TOOL):
        proposal = replace(
            proposal, next_action=_N.SWITCH_TOOL, directive=_D.NEVER,
            alternative_tool=tool,
        )  # fmt: skip
    retryable = _retryable(seen)
    if retryable is not None:
        proposal, finding = _flagged(proposal, seen, retryable)
        findings += [finding] if finding else []
        reasons.append(f"It says that it is {'' if retryable else 'not '}retryable.")
    if wait and wait.not_before and proposal.directive is _D.AFTER_DELAY:
        proposal = replace(proposal, not_before=wait.not_before)
    after_delay = proposal.directive is _D.AFTER_DELAY
    owner = RetryOwner.RUNTIME if after_delay else RetryOwner.MODEL
    return replace(
        proposal, owner=owner if proposal.directive else None,
        reasons=tuple(reasons), findings=tuple(findings),
    )  # fmt: skip


def _flagged(
    proposal: Proposal, seen: Seen, retryable: bool
) -> tuple[Proposal, Contradiction | None]:
    """Weigh a `retryable` flag against what the failure is."""
    directive = proposal.directive
    if retryable and proposal.category in (
        _C.VALIDATION,
        _C.AUTHORIZATION,
        _C.NOT_FOUND,
    ):
        return proposal, Contradiction(
            "retryable_business_rule",
            f"Say not retryable: the same call fails on {proposal.category} again.",
        )
    safe = seen.tool is not None and seen.tool.is_safe_to_repeat
    if retryable and directive in (None, _D.NEVER):
        if not safe:
            return proposal, Contradiction(
                "retryable_not_repeatable",
                "Mark the tool read-only or idempotent before it says retryable.",
            )
        action = _N.WAIT_AND_RETRY
        return replace(proposal, directive=_D.AFTER_DELAY, next_action=action), None
    if not retryable and directive not in (None, _D.NEVER):
        if directive is _D.AFTER_DELAY:
            action = _N.ESCALATE
            return replace(proposal, directive=_D.NEVER, next_action=action), None
        # "Not retryable" of a bad argument means: not unchanged.
        return proposal, None
    if not retryable and directive is None:
        return replace(proposal, directive=_D.NEVER), None
    return proposal, None


def is_empty_result(text: str) -> bool:
    """Whether a result says that there is nothing, and not that something failed."""
    return bool(_EMPTY.fullmatch(text.strip()))


def _flag_findings(seen: Seen) -> Iterable[Contradiction]:
    """Compare the result's flag with its text."""
    if seen.is_error and is_empty_result(seen.text):
        yield Contradiction(
            "empty_reported_as_error",
            "Report an empty result as a success with a count of 0.",
        )
    if seen.is_error is False and _ERROR_BODY.match(seen.text):
        yield Contradiction(
            "soft_error", "Flag this as an error: the result's body reports a failure."
        )


def _wait(seen: Seen) -> Wait | None:
    if seen.retry_after:
        return read_retry_after(seen.retry_after, seen.received_at)
    return find_wait(seen.text, seen.received_at)


def _rpc_code(seen: Seen) -> tuple[str | None, str]:
    """The failure's class and why: named, by status, or by the words of the text."""
    name = seen.rpc_code.upper().replace("-", "_")
    if name in BY_RPC_CODE:
        return name, f"google.rpc says {name}."
    status = seen.http_status
    if status is None:
        found = _RPC_NAME.search(seen.text)
        if found:
            words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", found[1] or found[2])
            return words.upper(), "The text holds a google.rpc code."
        in_text = _STATUS.search(seen.text)
        status = int(in_text[1]) if in_text else None
    if status in (403, 503) and _RATE.search(seen.text):
        return "RESOURCE_EXHAUSTED", f"HTTP {status} over a rate limit."
    if status in BY_STATUS:
        return BY_STATUS[status], f"HTTP status {status}."
    if status is not None and 400 <= status < 600:
        code = "INVALID_ARGUMENT" if status < 500 else "INTERNAL"
        return code, f"HTTP status {status}."
    for pattern, code in _WORDS:
        if pattern.search(seen.text):
            return code, "By the words of the text."
    return None, ""


def _meaning_of_409(text: str) -> tuple[str, str]:
    """Which of the three a conflict is: key in use, newer version, exists already."""
    for pattern, code, sentence in _CONFLICTS:
        if pattern.search(text):
            return code, sentence
    return "CONFLICT", "The text does not say which conflict it is."


def _retryable(seen: Seen) -> bool | None:
    if seen.retryable is not None:
        return seen.retryable
    found = _RETRYABLE.search(seen.text)
    return found[1].lower() in ("true", "yes") if found else None


def _named_tool(seen: Seen) -> str:
    """The first known tool that the text names, other than its own."""
    own = seen.tool.name if seen.tool else ""
    words = re.findall(r"[A-Za-z_][\w.-]*", seen.text)
    known = set(seen.known_tools) - {own}
    return next((w.rstrip(".") for w in words if w.rstrip(".") in known), "")


_RPC_NAME = re.compile(
    r"StatusCode\.([A-Z_]{5,20})\b|\bcode = ([A-Z][A-Za-z]{4,20})\b"
    r"(?<!OK)"
)
_STATUS = re.compile(
    r"(?i)\b(?:HTTP(?:/[0-9.]{1,3})?(?: error| status)?|status(?: ?code)?|Error)"
    r"[\"':= ]{1,4}([45][0-9]{2})\b"
)
_RATE = re.compile(r"(?i)rate.?limit|too many requests|quota")
_NEVER_LEFT = re.compile(
    r"(?i)connection refused|ECONNREFUSED|name or service not known|ENOTFOUND"
    r"|could not resolve|no route to host|failed to connect"
)
_RETRYABLE = re.compile(
    r"(?i)[\"']?(?:is_?)?retr(?:y|i)able[\"']?\s?[:=]\s?(true|false|yes|no)\b"
)
_EMPTY = re.compile(
    r"(?:\[\s*\]|\{\s*\}|null|\"\"|0 (?:results|rows|matches)\.?|"
    r"no (?:results|rows|matches|records)(?: (?:were )?found)?\.?|"
    r"\{\s*\"(?:results|items|rows|data)\"\s*:\s*\[\s*\][^\[\]]{0,80}\})?",
    re.IGNORECASE,
)
_ERROR_BODY = re.compile(
    r"\s*(?:\{[^{}]{0,200}\"(?:error|errors)\"\s*:\s*+(?!null|false|\[\]|\"\")|"
    r"\{[^{}]{0,200}\"(?:ok|success)\"\s*:\s*false|Error(?: executing tool|:)|"
    r"Traceback \(most recent)"
)
_CONFLICTS = (
    (
        re.compile(
            r"(?i)(?:key|request|operation)\b.{0,60}\b(?:in use|in progress|being "
            r"processed|still running)|concurrent request"
            r"|already (?:in progress|running)"
        ),
        "KEY_IN_USE",
        "The key is in use by a call that still runs.",
    ),
    (
        re.compile(
            r"(?i)version|etag|modified|changed (?:on|since)|stale|outdated|revision"
            r"|optimistic|out of date|lost update"
        ),
        "ABORTED",
        "Somebody changed the object: read it anew.",
    ),
    (
        re.compile(r"(?i)already exists|exists already|duplicate|is taken|not unique"),
        "ALREADY_EXISTS",
        "It exists already, perhaps from an earlier attempt.",
    ),
)
_WORDS = (
    (re.compile(r"(?i)\btim(?:ed|e)[ -]?out\b|deadline exceeded"), "DEADLINE_EXCEEDED"),
    (re.compile(r"(?i)rate.?limit|too many requests|quota (?:was )?exceeded"),
     "RESOURCE_EXHAUSTED"),
    (re.compile(r"(?i)service unavailable|bad gateway|connection (?:refused|reset)"
                r"|failed to connect|unexpectedly closed"), "UNAVAILABLE"),
    (re.compile(r"(?i)permission denied|forbidden|not (?:allowed|permitted)"),
     "PERMISSION_DENIED"),
    (re.compile(r"(?i)unauthori[sz]ed|unauthenticated|(?:invalid|expired) (?:api key"
                r"|credentials|token)"), "UNAUTHENTICATED"),
    (re.compile(r"(?i)already exists|exists already"), "ALREADY_EXISTS"),
    (re.compile(r"(?i)validation error|invalid (?:argument|value|input|date)"
                r"|field required|bad request|is required\b|must be\b"),
     "INVALID_ARGUMENT"),
    (re.compile(r"(?i)not found\b|no such|does not exist|unknown \w+"), "NOT_FOUND"),
    (re.compile(r"(?i)not implemented|not supported"), "UNIMPLEMENTED"),
    (re.compile(r"(?i)internal (?:server )?error"), "INTERNAL"),
)  # fmt: skip
