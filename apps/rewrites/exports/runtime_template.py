# ruff: noqa: UP006, UP007, UP017, UP035, UP045 - the export runs on Python 3.9
"""Error envelopes of a catalogue, as a tool makes them.

Typical use in a tool:

    try:
        return success(pay(...), operation_ref=ref).to_dict()
    except LimitReached as reason:
        return to_mcp(failure("refund.too_high", {"limit": reason.limit}))
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Mapping, Optional, Union

# <catalogue>
CATALOGUE: Dict[str, Any] = {
    "content_hash": "0" * 64,
    "format_version": 1,
    "name": "example",
    "version": "1",
    "domain": "example.com",
    "problem_base": "urn:errata:example.com:problem:",
    "codes": {
        "refund.too_high": {
            "exported_code": "REFUND_TOO_HIGH",
            "title": "Refund above the limit",
            "tool": "refund",
            "category": "validation",
            "commit_state": "not_committed",
            "directive": "after_input_fix",
            "next_action": "correct_input",
            "alternative_tool": "",
            "max_attempts": None,
            "safe_details": ["limit"],
            "help_url": "",
            "texts": [
                {
                    "version": 1,
                    "agent_message": "Call refund again with at most {limit}.",
                    "user_message": "",
                }
            ],
        }
    },
    "tools": {},
}
# </catalogue>

CODES: Dict[str, Dict[str, Any]] = CATALOGUE["codes"]
TOOLS: Dict[str, Dict[str, Any]] = CATALOGUE["tools"]
CATALOGUE_VERSION: str = CATALOGUE["version"]
CONTENT_HASH: str = CATALOGUE["content_hash"]

CATEGORIES = (
    "validation",
    "authorization",
    "conflict",
    "dependency",
    "internal",
    "not_found",
    "limit",
    "cancelled",
)
COMMIT_STATES = ("not_committed", "committed", "unknown", "not_applicable")
DIRECTIVES = (
    "never",
    "after_delay",
    "after_input_fix",
    "after_verification",
    "after_approval",
)
NEXT_ACTIONS = (
    "correct_input",
    "wait_and_retry",
    "switch_tool",
    "verify_operation",
    "ask_user",
    "request_approval",
    "escalate",
    "stop",
)
OWNERS = ("runtime", "model")

Scalar = Union[str, int, float, bool, None]
Detail = Union[Scalar, List[Scalar]]


class ContractError(ValueError):
    """A use of the catalogue that its contract forbids; the message says why."""


@dataclass(frozen=True)
class Envelope:
    """One failure. Raises ContractError for a value that no enum has."""

    code: str
    category: str
    commit_state: str
    directive: str
    next_action: str
    agent_message: str  # for the model
    user_message: str = ""  # for a customer
    domain: str = ""
    not_before: str = ""  # ISO 8601, UTC; "": no wait is known
    max_attempts_remaining: Optional[int] = None
    owner: str = ""
    alternative_tool: str = ""
    operation_ref: str = ""
    safe_details: Mapping[str, Detail] = field(default_factory=dict)
    text_version: int = 0  # 0: the text is of no catalogue
    catalogue_version: str = ""
    detail_ref: str = ""  # points to the trace: for people, in no rendering

    def __post_init__(self) -> None:
        for name, allowed in (
            ("category", CATEGORIES),
            ("commit_state", COMMIT_STATES),
            ("directive", DIRECTIVES),
            ("next_action", NEXT_ACTIONS),
            ("owner", ("", *OWNERS)),
        ):
            if getattr(self, name) not in allowed:
                raise ContractError(f"{name} cannot be {getattr(self, name)!r}.")

    @property
    def retryable(self) -> bool:
        """The flag for consumers that know no more; derived, never stored."""
        return self.directive != "never"

    def to_dict(self) -> Dict[str, Any]:
        """The JSON form, without what is empty and without `detail_ref`."""
        retry: Dict[str, Any] = {"directive": self.directive}
        if self.not_before:
            retry["not_before"] = self.not_before
        if self.max_attempts_remaining is not None:
            retry["max_attempts_remaining"] = self.max_attempts_remaining
        if self.owner:
            retry["owner"] = self.owner
        plain: Dict[str, Any] = {
            "ok": False,
            "code": self.code,
            "domain": self.domain,
            "category": self.category,
            "commit_state": self.commit_state,
            "retry": retry,
            "retryable": self.retryable,
            "next_action": self.next_action,
            "agent_message": self.agent_message,
            "text_version": self.text_version,
            "catalogue_version": self.catalogue_version,
        }
        for name in ("alternative_tool", "operation_ref", "user_message"):
            if getattr(self, name):
                plain[name] = getattr(self, name)
        if self.safe_details:
            plain["safe_details"] = dict(self.safe_details)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Envelope:
        """Read what `to_dict` wrote; fields that are not known are left out."""
        retry = plain.get("retry") or {}
        names = cls.__dataclass_fields__
        fields = {key: value for key, value in plain.items() if key in names}
        fields.update({key: value for key, value in retry.items() if key in names})
        try:
            return cls(**fields)
        except TypeError as exc:
            raise ContractError(f"This is no envelope: {exc}.") from exc


@dataclass(frozen=True)
class Success:
    """A result; an empty one is a success too. A write names its operation."""

    result: Any
    operation_ref: str = ""
    commit_state: str = "committed"
    checked_at: str = ""  # when a look-up last confirmed the effect
    evidence_ref: str = ""  # what it found

    def __post_init__(self) -> None:
        if self.commit_state not in ("committed", "not_applicable"):
            raise ContractError("A success is committed, or a read.")
        if self.commit_state == "committed" and not self.operation_ref:
            raise ContractError("A write needs the reference made before it.")

    def to_dict(self) -> Dict[str, Any]:
        """The JSON form."""
        plain: Dict[str, Any] = {
            "ok": True,
            "operation_ref": self.operation_ref,
            "commit_state": self.commit_state,
            "result": self.result,
        }
        if self.checked_at:
            plain["verification"] = {
                "checked_at": self.checked_at,
                "evidence_ref": self.evidence_ref,
            }
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Success:
        """Read what `to_dict` wrote."""
        checked = plain.get("verification") or {}
        return cls(
            result=plain.get("result"),
            operation_ref=plain.get("operation_ref", ""),
            commit_state=plain.get("commit_state", "committed"),
            checked_at=checked.get("checked_at", ""),
            evidence_ref=checked.get("evidence_ref", ""),
        )


def success(result: Any, operation_ref: str = "") -> Success:
    """A result. With a reference it is a write that took effect, else a read."""
    state = "committed" if operation_ref else "not_applicable"
    return Success(result, operation_ref, state)


_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_SECRET = re.compile(
    r"-----BEGIN|\bsk-[A-Za-z0-9_-]{16}|\b(?:sk|rk)_(?:live|test)_|\bgh[pousr]_\w{20}"
    r"|\bgithub_pat_|\bglpat-|\bxox[abprs]-|\bA(?:KIA|SIA)[A-Z2-7]{16}|\bAIza\w{20}"
    r"|\beyJ[\w-]{10,}\.eyJ|(?i:\bbearer\s+\S{12}|\b(?:password|passwd|pwd|secret"
    r"|api[_-]?key|token)\s*[=:]\s*\S)|://[^\s/:@]{0,80}:[^\s/@]{1,80}@"
)
_ADDRESSES_MODEL = re.compile(
    r"(?i)\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|all"
    r"|your|system)\b.{0,30}\b(?:instruction|prompt|rule|message|polic)|you are now\b"
    r"|<\/?(?:system|instructions?|assistant)>|system prompt|\[/?INST\]|<\|im_"
)
_LONGEST_DETAIL = 200


def failure(
    code: str,
    details: Optional[Mapping[str, Detail]] = None,
    *,
    operation_ref: str = "",
    commit_state: str = "",
    wait_seconds: Optional[float] = None,
    received_at: Optional[datetime] = None,
    max_attempts_remaining: Optional[int] = None,
    detail_ref: str = "",
) -> Envelope:
    """Make the envelope of a code, with its newest text.

    Raises ContractError for a code that is not in the catalogue, a detail that is not
    on the code's list or looks like a secret, a missing one, or a wait in the past.
    A relative wait counts from `received_at` (now, if it is not given).

    `commit_state` is what this occurrence is known to have done, where it differs
    from the code's own. If that is `unknown`, nothing may be repeated unseen: the
    envelope then asks to verify, unless the tool is idempotent under the reference.
    """
    entry = CODES.get(code)
    if entry is None:
        raise ContractError(f"The code {code!r} is not in the catalogue.")
    given = dict(details or {})
    _check_details(code, given, entry["safe_details"])
    directive, action = entry["directive"], entry["next_action"]
    state = commit_state or entry["commit_state"]
    tool = TOOLS.get(entry["tool"], {})
    repeatable = bool(tool.get("read_only")) or (
        bool(tool.get("idempotent")) and bool(operation_ref)
    )
    if state == "unknown" and directive == "after_delay" and not repeatable:
        directive, action = "after_verification", "verify_operation"
    if max_attempts_remaining is None:
        max_attempts_remaining = entry["max_attempts"]
    text = entry["texts"][-1]
    after_delay = directive == "after_delay"
    return Envelope(
        code=code,
        domain=CATALOGUE["domain"],
        category=entry["category"],
        commit_state=state,
        directive=directive,
        next_action=action,
        agent_message=_filled(code, text["agent_message"], given),
        user_message=_filled(code, text["user_message"], given),
        not_before=_absolute(wait_seconds, received_at) if after_delay else "",
        max_attempts_remaining=max_attempts_remaining,
        owner="runtime" if after_delay else "model",
        alternative_tool=entry["alternative_tool"],
        operation_ref=operation_ref,
        safe_details=given,
        text_version=text["version"],
        catalogue_version=CATALOGUE_VERSION,
        detail_ref=detail_ref,
    )


def _check_details(code: str, given: Mapping[str, Detail], allowed: List[str]) -> None:
    for name, value in given.items():
        if name not in allowed:
            raise ContractError(f"{code} allows no detail {name!r}.")
        for item in value if isinstance(value, list) else [value]:
            if item is not None and not isinstance(item, (str, int, float, bool)):
                raise ContractError(f"The detail {name!r} is no plain value.")
            text = str(item)
            if len(text) > _LONGEST_DETAIL or "\n" in text:
                raise ContractError(f"The detail {name!r} is no short line.")
            if _SECRET.search(text) or _SECRET.search(f"{name}={text}"):
                raise ContractError(f"The detail {name!r} looks like a secret.")
            if _ADDRESSES_MODEL.search(text):
                raise ContractError(f"The detail {name!r} addresses the model.")


def _filled(code: str, text: str, given: Mapping[str, Detail]) -> str:
    def value(match: Any) -> str:
        if match[1] not in given:
            raise ContractError(f"{code} needs the detail {match[1]!r}.")
        detail = given[match[1]]
        return ", ".join(map(_shown, detail if isinstance(detail, list) else [detail]))

    return _PLACEHOLDER.sub(value, text)


def _shown(value: Scalar) -> str:
    """Write a value as JSON does, so that both languages fill in the same text."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


def _absolute(seconds: Optional[float], received_at: Optional[datetime]) -> str:
    if seconds is None:
        return ""
    if not 0 <= seconds < 366 * 86400:
        raise ContractError("A wait is 0 seconds or more, and less than a year.")
    start = received_at or datetime.now(timezone.utc)
    if start.utcoffset() is None:
        raise ContractError("The time of receipt needs its zone.")
    return iso((start + timedelta(seconds=seconds)).timestamp())


def iso(epoch: float) -> str:
    """Epoch seconds as ISO 8601 in UTC; a part of a second is a second more."""
    moment = datetime.fromtimestamp(-(-epoch // 1), timezone.utc)
    return moment.isoformat().replace("+00:00", "Z")


def epoch_of(moment: str) -> float:
    """The reverse of `iso`."""
    # Python 3.9 and 3.10 read no "Z".
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()  # noqa: FURB162


def canonical(value: Any) -> str:
    """One spelling for equal JSON values: keys sorted, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
