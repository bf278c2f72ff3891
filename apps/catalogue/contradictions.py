"""Promises of a contract that cannot all be kept, as findings on its code."""

from typing import NamedTuple

from apps.catalogue.envelope import (
    Category,
    CommitState,
    Envelope,
    NextAction,
    RetryDirective,
    RetryOwner,
    ToolHints,
    directive_for,
)

# No wait changes what is wrong here.
_BUSINESS = frozenset({Category.VALIDATION, Category.AUTHORIZATION, Category.NOT_FOUND})


class Contradiction(NamedTuple):
    """Two promises that collide."""

    id: str
    message: str  # one sentence: what collides, and what to change


def contradictions(
    envelope: Envelope, tool: ToolHints | None = None
) -> list[Contradiction]:
    """Say where an envelope contradicts itself or what is known of its tool."""
    return [
        *_in_itself(envelope),
        *(_of_a_wait(envelope, tool) if _waits(envelope) else ()),
        *_about_state(envelope, tool),
    ]


def _waits(envelope: Envelope) -> bool:
    """Whether it asks for the same call again."""
    return (
        envelope.directive is RetryDirective.AFTER_DELAY
        or envelope.next_action is NextAction.WAIT_AND_RETRY
    )


def _in_itself(envelope: Envelope) -> list[Contradiction]:
    found = []
    action, directive = envelope.next_action, envelope.directive
    # "It was done before: look" needs no retry afterwards.
    looks_only = (NextAction.VERIFY_OPERATION, RetryDirective.NEVER)
    if directive_for(action) is not directive and (action, directive) != looks_only:
        message = f"{action} goes with {directive_for(action)}, not with {directive}."
        found.append(Contradiction("action_against_directive", message))
    if envelope.max_attempts_remaining == 0 and envelope.retryable:
        message = "No attempt is left: say never, and escalate or stop."
        found.append(Contradiction("no_attempts_left", message))
    return found


def _of_a_wait(envelope: Envelope, tool: ToolHints | None) -> list[Contradiction]:
    found = []
    idempotent = tool is not None and bool(tool.idempotent)
    same_operation = bool(envelope.operation_ref) and idempotent
    if envelope.commit_state is CommitState.UNKNOWN and not same_operation:
        message = "State is unknown: verify first, a retry may do the write twice."
        found.append(Contradiction("unknown_with_retry", message))
    if tool is None or not tool.is_safe_to_repeat:
        message = "Mark the tool read-only or idempotent, or let the agent verify."
        found.append(Contradiction("delay_not_repeatable", message))
    if envelope.category in _BUSINESS:
        message = f"Waiting changes nothing about {envelope.category}: ask for a fix."
        found.append(Contradiction("retry_on_business_rule", message))
    if envelope.owner is RetryOwner.MODEL:
        message = "Let the runtime wait: a model cannot tell the time."
        found.append(Contradiction("model_waits", message))
    return found


def _about_state(envelope: Envelope, tool: ToolHints | None) -> list[Contradiction]:
    found = []
    state = envelope.commit_state
    again = (RetryDirective.AFTER_DELAY, RetryDirective.AFTER_INPUT_FIX)
    if state is CommitState.COMMITTED and envelope.directive in again:
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
