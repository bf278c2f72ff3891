"""The typed error envelope: what a code promises about state, retries and what is next.

Its fields map to RFC 9457, google.rpc.Status and MCP results without loss (see the
exports); only `commit_state` has no equivalent anywhere. An `Envelope` that lacks what
it needs cannot be made (each refusal is one sentence); one that contradicts itself or
its tool can, and `contradictions.py` says how.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, NamedTuple

from apps.catalogue.secrets import find_secrets


class Category(StrEnum):
    """For people and logs; the branch decides behaviour."""

    VALIDATION = "validation"
    AUTHORIZATION = "authorization"
    CONFLICT = "conflict"
    DEPENDENCY = "dependency"
    INTERNAL = "internal"
    NOT_FOUND = "not_found"
    LIMIT = "limit"
    CANCELLED = "cancelled"


class CommitState(StrEnum):
    """Whether state changed; `not_applicable` is for reads."""

    NOT_COMMITTED = "not_committed"
    COMMITTED = "committed"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"


class RetryDirective(StrEnum):
    """Whether and when the same call may be made again."""

    NEVER = "never"
    AFTER_DELAY = "after_delay"
    AFTER_INPUT_FIX = "after_input_fix"
    AFTER_VERIFICATION = "after_verification"
    AFTER_APPROVAL = "after_approval"


class NextAction(StrEnum):
    """The one thing to do next."""

    CORRECT_INPUT = "correct_input"
    WAIT_AND_RETRY = "wait_and_retry"
    SWITCH_TOOL = "switch_tool"
    VERIFY_OPERATION = "verify_operation"
    ASK_USER = "ask_user"
    REQUEST_APPROVAL = "request_approval"
    ESCALATE = "escalate"
    STOP = "stop"


class RetryOwner(StrEnum):
    """Who acts on the directive: the program that runs the tools, or the model."""

    RUNTIME = "runtime"
    MODEL = "model"


class Branch(StrEnum):
    """What a text tells the agent to do."""

    RETRY_UNCHANGED = "retry_unchanged"
    RETRY_CHANGED = "retry_changed"
    SWITCH_TOOL = "switch_tool"
    VERIFY = "verify"
    ASK_USER = "ask_user"
    ASK_APPROVAL = "ask_approval"
    STOP = "stop"
    NONE = "none"  # the text selects no branch: the worst text
    SEVERAL = "several"  # it selects more than one: as bad


_N, _D, _B = NextAction, RetryDirective, Branch
# The directive that goes with a next action, and the branch that both stand for.
CROSSWALK: Final[Mapping[NextAction, tuple[RetryDirective, Branch]]] = {
    _N.WAIT_AND_RETRY: (_D.AFTER_DELAY, _B.RETRY_UNCHANGED),
    _N.CORRECT_INPUT: (_D.AFTER_INPUT_FIX, _B.RETRY_CHANGED),
    _N.SWITCH_TOOL: (_D.NEVER, _B.SWITCH_TOOL),
    _N.VERIFY_OPERATION: (_D.AFTER_VERIFICATION, _B.VERIFY),
    _N.ASK_USER: (_D.AFTER_INPUT_FIX, _B.ASK_USER),
    _N.REQUEST_APPROVAL: (_D.AFTER_APPROVAL, _B.ASK_APPROVAL),
    _N.STOP: (_D.NEVER, _B.STOP),
    _N.ESCALATE: (_D.NEVER, _B.STOP),
}


def directive_for(action: NextAction) -> RetryDirective:
    """The directive that an action goes with."""
    return CROSSWALK[action][0]


def branch_of(
    action: NextAction | None, directive: RetryDirective | None = None
) -> Branch:
    """The branch that an envelope selects; the next action decides if it is there.

    A directive alone decides where only one branch has it; `never` leaves open
    whether to stop or to switch, so that is no branch.
    """
    if action is not None:
        return CROSSWALK[action][1]
    alone = {
        _D.AFTER_DELAY: _B.RETRY_UNCHANGED,
        _D.AFTER_INPUT_FIX: _B.RETRY_CHANGED,
        _D.AFTER_VERIFICATION: _B.VERIFY,
        _D.AFTER_APPROVAL: _B.ASK_APPROVAL,
    }
    return _B.NONE if directive is None else alone.get(directive, _B.NONE)


def action_for(branch: Branch) -> NextAction | None:
    """The action to put into an envelope for a branch; a stop becomes `stop`.

    None for `none` and `several`: an envelope cannot say these.
    """
    return next((a for a, (_, b) in CROSSWALK.items() if b is branch), None)


class ToolHints(NamedTuple):
    """What is known of a tool. None: nobody said (MCP's defaults then hold)."""

    name: str
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    verification_tool: str = ""

    @property
    def is_safe_to_repeat(self) -> bool:
        """Whether the same call twice does what it does once, as far as was said."""
        return bool(self.read_only) or bool(self.idempotent)


Detail = str | int | float | bool | None | tuple[str | int | float | bool, ...]
# Codes seen in logs keep their spelling, whatever it is.
CODE: Final = re.compile(r"[A-Za-z0-9_](?:[^\x00-\x1f\x7f]{0,198}[^\s\x00-\x1f\x7f])?")
EXPORTED_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,61}[A-Z0-9]")
_DETAIL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


class EnvelopeError(ValueError):
    """An envelope that would mislead; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One failure as the three readers get it. Raises EnvelopeError, one sentence."""

    code: str  # as its owner spells it; `export_code` gives the exported spelling
    category: Category
    commit_state: CommitState
    directive: RetryDirective
    next_action: NextAction
    agent_message: str  # for the model
    user_message: str = ""  # safe to show to a customer
    domain: str = ""  # who owns the code: a tool server or a service
    not_before: datetime | None = None
    max_attempts_remaining: int | None = None
    owner: RetryOwner | None = None  # None: the runtime after a delay, else the model
    alternative_tool: str = ""
    operation_ref: str = ""
    safe_details: Mapping[str, Detail] = field(default_factory=dict)
    detail_ref: str = ""  # points to the trace; never in the transcript

    def __post_init__(self) -> None:
        if not CODE.fullmatch(self.code):
            raise EnvelopeError("Give a code of 1 to 200 characters in one line.")
        if not self.agent_message.strip():
            raise EnvelopeError("Write the message that the model reads.")
        if self.next_action is NextAction.SWITCH_TOOL and not self.alternative_tool:
            raise EnvelopeError("Name the tool to switch to.")
        if self.not_before is not None and self.not_before.utcoffset() is None:
            raise EnvelopeError("Give the wait as an absolute time with its zone.")
        if self.max_attempts_remaining is not None and self.max_attempts_remaining < 0:
            raise EnvelopeError("Give the attempts that remain as 0 or more.")
        _check_details(self.safe_details)
        if self.owner is None:
            after_delay = self.directive is RetryDirective.AFTER_DELAY
            owner = RetryOwner.RUNTIME if after_delay else RetryOwner.MODEL
            object.__setattr__(self, "owner", owner)

    @property
    def retryable(self) -> bool:
        """The flag for consumers that know no more; derived, never stored."""
        return self.directive is not RetryDirective.NEVER

    @property
    def branch(self) -> Branch:
        """The branch it selects."""
        return branch_of(self.next_action)

    def to_dict(self) -> dict[str, object]:
        """The JSON form, without fields that say nothing; `detail_ref` stays out.

        The trace is for people: what points to it is no business of the model.
        """
        retry: dict[str, object] = {"directive": self.directive.value}
        if self.not_before:
            moment = self.not_before.astimezone(UTC).replace(microsecond=0)
            retry["not_before"] = moment.isoformat().replace("+00:00", "Z")
        if self.max_attempts_remaining is not None:
            retry["max_attempts_remaining"] = self.max_attempts_remaining
        if self.owner:
            retry["owner"] = self.owner.value
        optional = {
            "domain": self.domain,
            "alternative_tool": self.alternative_tool,
            "operation_ref": self.operation_ref,
            "user_message": self.user_message,
            "safe_details": dict(self.safe_details),
        }
        return {
            "ok": False,
            "code": self.code,
            "category": self.category.value,
            "commit_state": self.commit_state.value,
            "retry": retry,
            "retryable": self.retryable,
            "next_action": self.next_action.value,
            "agent_message": self.agent_message,
            **{key: value for key, value in optional.items() if value},
        }


@dataclass(frozen=True, slots=True)
class SuccessEnvelope:
    """What a tool answers when it did what it was asked; an empty result is one too."""

    result: object
    operation_ref: str = ""
    commit_state: CommitState = CommitState.COMMITTED
    checked_at: datetime | None = None  # when a look-up last confirmed the effect
    evidence_ref: str = ""  # what it found

    def __post_init__(self) -> None:
        if self.commit_state not in (
            CommitState.COMMITTED,
            CommitState.NOT_APPLICABLE,
        ):
            raise EnvelopeError("Report a success only once the effect is committed.")
        if self.commit_state is CommitState.COMMITTED and not self.operation_ref:
            raise EnvelopeError("Give the reference that was made before the write.")
        if self.checked_at is not None and self.checked_at.utcoffset() is None:
            raise EnvelopeError("Give the time of the check with its zone.")
        if self.evidence_ref and self.checked_at is None:
            raise EnvelopeError("Say when the evidence was looked up.")

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        verification: dict[str, object] = {}
        if self.checked_at:
            moment = self.checked_at.astimezone(UTC).replace(microsecond=0)
            verification["checked_at"] = moment.isoformat().replace("+00:00", "Z")
            verification["evidence_ref"] = self.evidence_ref
        return {
            "ok": True,
            "operation_ref": self.operation_ref,
            "commit_state": self.commit_state.value,
            "result": self.result,
            **({"verification": verification} if verification else {}),
        }


def export_code(code: str) -> str:
    """Spell a code as exports do: `crm.lookup_failed` becomes `CRM_LOOKUP_FAILED`.

    Raises EnvelopeError where that leaves no valid name: google.rpc allows a reason
    63 characters.
    """
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", code)
    name = re.sub(r"[^A-Za-z0-9]+", "_", words).strip("_").upper()
    if not EXPORTED_CODE.fullmatch(name):
        raise EnvelopeError(
            f"Rename the code {code!r}: exported it must have 2 to 63 characters,"
            " the first a letter."
        )
    return name


def _check_details(details: Mapping[str, Detail]) -> None:
    for name, value in details.items():
        if not _DETAIL_NAME.fullmatch(name):
            raise EnvelopeError(f"Name the detail {name!r} in letters, digits and _.")
        values: Iterable[object] = value if isinstance(value, tuple) else (value,)
        for item in values:
            if item is not None and not isinstance(item, str | int | float | bool):
                raise EnvelopeError(
                    f"Make the detail {name!r} a plain value or a list."
                )
            if isinstance(item, str) and _looks_secret(name, item):
                raise EnvelopeError(
                    f"Leave out the detail {name!r}: it holds a secret."
                )


def _looks_secret(name: str, value: str) -> bool:
    """Whether a value is a secret by itself, or as the value of its name."""
    return bool(find_secrets(value) or find_secrets(f'"{name}": "{value}"'))
