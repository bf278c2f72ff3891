"""Promises of a contract that cannot all be kept, as findings on its code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Self

from apps.catalogue.envelope import (
    Category,
    CommitState,
    Detail,
    Envelope,
    NextAction,
    RetryDirective,
    RetryOwner,
    ToolHints,
    directive_for,
)

# No wait changes what is wrong here.
_BUSINESS = frozenset({Category.VALIDATION, Category.AUTHORIZATION, Category.NOT_FOUND})


@dataclass(frozen=True, slots=True)
class Contract:
    """An envelope as far as it was filled in. None: not said yet."""

    category: Category | None = None
    commit_state: CommitState | None = None
    directive: RetryDirective | None = None
    next_action: NextAction | None = None
    not_before: datetime | None = None
    max_attempts_remaining: int | None = None
    owner: RetryOwner | None = None
    alternative_tool: str = ""
    operation_ref: str = ""
    user_message: str = ""
    safe_details: Mapping[str, Detail] = field(default_factory=dict)

    @classmethod
    def of(cls, envelope: Envelope) -> Self:
        """The contract of a whole envelope."""
        return cls(**{name: getattr(envelope, name) for name in cls.__slots__})

    @property
    def retryable(self) -> bool:
        """Whether it allows another attempt, as far as it says."""
        return self.directive not in (None, RetryDirective.NEVER)

    @property
    def waits(self) -> bool:
        """Whether it asks for the same call again."""
        return (
            self.directive is RetryDirective.AFTER_DELAY
            or self.next_action is NextAction.WAIT_AND_RETRY
        )


class Contradiction(NamedTuple):
    """Two promises that collide."""

    id: str
    message: str  # one sentence: what collides, and what to change


def contradictions(
    envelope: Envelope | Contract, tool: ToolHints | None = None
) -> list[Contradiction]:
    """Say where an envelope contradicts itself or what is known of its tool."""
    said = Contract.of(envelope) if isinstance(envelope, Envelope) else envelope
    return [
        *_in_itself(said),
        *(_of_a_wait(said, tool) if said.waits else ()),
        *_about_state(said, tool),
    ]


def _in_itself(said: Contract) -> list[Contradiction]:
    found = []
    action, directive = said.next_action, said.directive
    # "It was done before: look" needs no retry afterwards.
    looks_only = (NextAction.VERIFY_OPERATION, RetryDirective.NEVER)
    expected = directive_for(action) if action else directive
    if directive and expected is not directive and (action, directive) != looks_only:
        message = f"{action} goes with {expected}, not with {directive}."
        found.append(Contradiction("action_against_directive", message))
    if said.max_attempts_remaining == 0 and said.retryable:
        message = "No attempt is left: say never, and escalate or stop."
        found.append(Contradiction("no_attempts_left", message))
    return found


def _of_a_wait(said: Contract, tool: ToolHints | None) -> list[Contradiction]:
    found = []
    idempotent = tool is not None and bool(tool.idempotent)
    same_operation = bool(said.operation_ref) and idempotent
    if said.commit_state is CommitState.UNKNOWN and not same_operation:
        message = "State is unknown: verify first, a retry may do the write twice."
        found.append(Contradiction("unknown_with_retry", message))
    if tool is None or not tool.is_safe_to_repeat:
        message = "Mark the tool read-only or idempotent, or let the agent verify."
        found.append(Contradiction("delay_not_repeatable", message))
    if said.category in _BUSINESS:
        message = f"Waiting changes nothing about {said.category}: ask for a fix."
        found.append(Contradiction("retry_on_business_rule", message))
    if said.owner is RetryOwner.MODEL:
        message = "Let the runtime wait: a model cannot tell the time."
        found.append(Contradiction("model_waits", message))
    return found


def _about_state(said: Contract, tool: ToolHints | None) -> list[Contradiction]:
    found = []
    state = said.commit_state
    again = (RetryDirective.AFTER_DELAY, RetryDirective.AFTER_INPUT_FIX)
    if state is CommitState.COMMITTED and said.directive in again:
        message = "The effect is there already: a retry would do it twice."
        found.append(Contradiction("committed_with_retry", message))
    changed = state in (CommitState.COMMITTED, CommitState.UNKNOWN)
    if tool and tool.read_only and changed:
        message = "A read commits nothing: use not_applicable."
        found.append(Contradiction("read_with_commit_state", message))
    if tool and tool.read_only is False and state is CommitState.NOT_APPLICABLE:
        message = "Say whether this write changed anything."
        found.append(Contradiction("write_without_commit_state", message))
    return found
