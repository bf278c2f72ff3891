"""The typed envelope: what cannot be made, what branch it selects, what collides."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from apps.catalogue.contradictions import contradictions
from apps.catalogue.envelope import (
    CROSSWALK,
    Branch,
    Category,
    CommitState,
    Envelope,
    EnvelopeError,
    NextAction,
    RetryDirective,
    RetryOwner,
    SuccessEnvelope,
    ToolHints,
    action_for,
    branch_of,
    directive_for,
    export_code,
)

READ = ToolHints("find_order", read_only=True)
KEYED = ToolHints("pay", read_only=False, idempotent=True)
WRITE = ToolHints("refund", read_only=False, idempotent=False)


def make_envelope(**changes) -> Envelope:
    fields = {
        "code": "refund.amount_too_high",
        "category": Category.VALIDATION,
        "commit_state": CommitState.NOT_COMMITTED,
        "directive": RetryDirective.AFTER_INPUT_FIX,
        "next_action": NextAction.CORRECT_INPUT,
        "agent_message": "The amount is above 40.00. Call refund with less.",
    }
    return Envelope(**{**fields, **changes})


def make_wait(**changes) -> Envelope:
    return make_envelope(
        **{
            "category": Category.LIMIT,
            "directive": RetryDirective.AFTER_DELAY,
            "next_action": NextAction.WAIT_AND_RETRY,
            **changes,
        }
    )


# (field, a value that cannot be, what the refusal tells)
REFUSED = [
    ("code", "", "Give a code"),
    ("code", "two\nlines", "Give a code"),
    ("code", "x" * 201, "Give a code"),
    ("agent_message", "  ", "Write the message"),
    ("next_action", NextAction.SWITCH_TOOL, "Name the tool"),
    ("not_before", datetime(2026, 9, 7, 10), "absolute time with its zone"),  # noqa: DTZ001
    ("max_attempts_remaining", -1, "0 or more"),
    ("safe_details", {"not a name": 1}, "Name the detail"),
    ("safe_details", {"nested": {"a": 1}}, "plain value or a list"),
    ("safe_details", {"field": "bob@example.com"}, "holds a secret"),
    ("safe_details", {"password": "Tr0ub4dor"}, "holds a secret"),
    ("safe_details", {"allowed": ("a", "bob@example.com")}, "holds a secret"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), REFUSED)
def test_envelope_refuses_in_one_sentence_what_would_mislead(name, value, sentence):
    with pytest.raises(EnvelopeError) as refused:
        make_envelope(**{name: value})

    assert sentence in str(refused.value)
    assert str(refused.value).endswith(".")


def test_envelope_derives_the_flag_and_the_owner():
    assert make_envelope().retryable
    assert make_envelope().owner is RetryOwner.MODEL
    assert make_wait().owner is RetryOwner.RUNTIME
    assert not make_envelope(
        directive=RetryDirective.NEVER, next_action=NextAction.STOP
    ).retryable


def test_envelope_writes_its_times_in_utc_and_keeps_the_trace_to_itself():
    zone = timezone(timedelta(hours=2))
    envelope = make_wait(
        not_before=datetime(2026, 9, 7, 12, 0, 5, tzinfo=zone),
        max_attempts_remaining=2,
        safe_details={"limit": 40},
        detail_ref="trace/77",
    )

    assert envelope.to_dict() == {
        "ok": False,
        "code": "refund.amount_too_high",
        "category": "limit",
        "commit_state": "not_committed",
        "retry": {
            "directive": "after_delay",
            "not_before": "2026-09-07T10:00:05Z",
            "max_attempts_remaining": 2,
            "owner": "runtime",
        },
        "retryable": True,
        "next_action": "wait_and_retry",
        "agent_message": "The amount is above 40.00. Call refund with less.",
        "safe_details": {"limit": 40},
    }


def test_success_envelope_names_its_operation_and_how_it_was_checked():
    at = datetime(2026, 9, 7, 10, tzinfo=UTC)

    assert SuccessEnvelope({"id": 1}, "op-1", checked_at=at, evidence_ref="r1").to_dict(
        ) == {
        "ok": True,
        "operation_ref": "op-1",
        "commit_state": "committed",
        "result": {"id": 1},
        "verification": {"checked_at": "2026-09-07T10:00:00Z", "evidence_ref": "r1"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "fields",
    [
        {"commit_state": CommitState.UNKNOWN, "operation_ref": "op"},
        {"operation_ref": ""},
        {"operation_ref": "op", "checked_at": datetime(2026, 9, 7)},  # noqa: DTZ001
        {"operation_ref": "op", "evidence_ref": "r1"},
    ],
)
def test_success_envelope_refuses_what_is_no_success(fields):
    with pytest.raises(EnvelopeError, match=r"\.$"):
        SuccessEnvelope([], **fields)


def test_an_empty_read_is_a_success():
    empty = SuccessEnvelope(
        {"count": 0, "rows": []}, commit_state=CommitState.NOT_APPLICABLE
    )

    assert empty.to_dict()["ok"] is True


@pytest.mark.parametrize("action", NextAction)
def test_branch_and_action_lead_to_each_other(action):
    directive, branch = CROSSWALK[action]

    assert branch_of(action) is branch
    assert directive_for(action) is directive
    back = action_for(branch)
    assert back is not None
    assert branch_of(back) is branch


def test_branch_of_a_directive_alone_is_none_where_it_leaves_the_choice_open():
    assert branch_of(None, RetryDirective.AFTER_DELAY) is Branch.RETRY_UNCHANGED
    assert branch_of(None, RetryDirective.NEVER) is Branch.NONE
    assert branch_of(None) is Branch.NONE
    assert action_for(Branch.NONE) is None
    assert action_for(Branch.SEVERAL) is None


@pytest.mark.parametrize(
    ("code", "exported"),
    [
        ("refund.amount_too_high", "REFUND_AMOUNT_TOO_HIGH"),
        ("cardDeclined", "CARD_DECLINED"),
        ("https://x.example/problems/out-of-stock", None),
        ("NOT_FOUND", "NOT_FOUND"),
    ],
)
def test_export_code_spells_as_standards_ask(code, exported):
    assert exported is None or export_code(code) == exported


@pytest.mark.parametrize("code", ["404", "x" * 64, "é", "a"])
def test_export_code_refuses_what_no_standard_takes(code):
    with pytest.raises(EnvelopeError, match=r"\.$"):
        export_code(code)


S, D, N = CommitState, RetryDirective, NextAction
# (what collides, envelope, tool)
COLLIDING = [
    ("action_against_directive", make_envelope(directive=D.NEVER), WRITE),
    ("unknown_with_retry", make_wait(commit_state=S.UNKNOWN), WRITE),
    ("unknown_with_retry", make_wait(commit_state=S.UNKNOWN), KEYED),
    ("delay_not_repeatable", make_wait(), WRITE),
    ("delay_not_repeatable", make_wait(), None),
    ("retry_on_business_rule", make_wait(category=Category.VALIDATION), KEYED),
    ("model_waits", make_wait(owner=RetryOwner.MODEL), KEYED),
    ("committed_with_retry", make_envelope(commit_state=S.COMMITTED), WRITE),
    ("read_with_commit_state", make_envelope(commit_state=S.UNKNOWN), READ),
    ("write_without_commit_state", make_envelope(commit_state=S.NOT_APPLICABLE), WRITE),
    ("no_attempts_left", make_envelope(max_attempts_remaining=0), WRITE),
]


@pytest.mark.parametrize(("name", "envelope", "tool"), COLLIDING)
def test_contradictions_names_what_collides(name, envelope, tool):
    found = contradictions(envelope, tool)

    assert name in [c.id for c in found]
    assert all(c.message.endswith(".") for c in found)


FITTING = [
    (make_envelope(), WRITE),
    (make_wait(commit_state=S.NOT_APPLICABLE), READ),
    (make_wait(commit_state=S.UNKNOWN, operation_ref="op-1"), KEYED),
    (make_envelope(category=Category.CONFLICT, directive=D.NEVER,
                   next_action=N.VERIFY_OPERATION), WRITE),
    (make_envelope(category=Category.DEPENDENCY, commit_state=S.UNKNOWN,
                   directive=D.AFTER_VERIFICATION,
                   next_action=N.VERIFY_OPERATION), None),
]  # fmt: skip


@pytest.mark.parametrize(("envelope", "tool"), FITTING)
def test_contradictions_finds_none_in_what_fits(envelope, tool):
    assert contradictions(envelope, tool) == []
