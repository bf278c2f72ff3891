"""Envelopes proposed from what is seen, and waits made absolute."""

from datetime import UTC, datetime, timedelta

import pytest

from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    RetryOwner,
    ToolHints,
)
from apps.catalogue.proposals import BY_RPC_CODE, BY_STATUS, Seen, propose
from apps.catalogue.waits import find_wait, read_retry_after

C, S, D, N = Category, CommitState, RetryDirective, NextAction
READ = ToolHints("find_order", read_only=True)
KEYED = ToolHints("pay", read_only=False, idempotent=True)
WRITE = ToolHints("refund", read_only=False, idempotent=False)
BARE = ToolHints("send")
AT = datetime(2026, 9, 7, 10, 0, tzinfo=UTC)


def fields(seen: Seen) -> tuple[object, ...]:
    p = propose(seen)
    return p.category, p.commit_state, p.directive, p.next_action


# (seen, category, commit state, directive, next action)
CASES = [
    (Seen("Request timed out after 3000 ms", tool=BARE),
     C.DEPENDENCY, S.UNKNOWN, D.AFTER_VERIFICATION, N.VERIFY_OPERATION),
    (Seen("Request timed out after 3000 ms"),
     C.DEPENDENCY, S.UNKNOWN, D.AFTER_VERIFICATION, N.VERIFY_OPERATION),
    (Seen("Request timed out", tool=READ),
     C.DEPENDENCY, S.NOT_APPLICABLE, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen("Request timed out", tool=KEYED),
     C.DEPENDENCY, S.UNKNOWN, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen("HTTP 404 Not Found: https://x/y"),
     C.NOT_FOUND, S.NOT_COMMITTED, D.AFTER_INPUT_FIX, N.CORRECT_INPUT),
    (Seen("HTTP 401 Unauthorized"), C.AUTHORIZATION, S.NOT_COMMITTED, D.NEVER,
     N.ESCALATE),
    (Seen(http_status=403), C.AUTHORIZATION, S.NOT_COMMITTED, D.NEVER, N.STOP),
    (Seen("googleapi: Error 403: Rate Limit Exceeded, rateLimitExceeded"),
     C.LIMIT, S.NOT_COMMITTED, D.NEVER, N.ESCALATE),
    (Seen(http_status=429), C.LIMIT, S.NOT_COMMITTED, D.NEVER, N.ESCALATE),
    (Seen(http_status=429, retry_after="30", received_at=AT, tool=READ),
     C.LIMIT, S.NOT_APPLICABLE, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen("Rate limit reached. Wait 30 seconds.", received_at=AT),
     C.LIMIT, S.NOT_COMMITTED, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen("HTTP 500 Internal Server Error"), C.INTERNAL, S.UNKNOWN, D.NEVER,
     N.ESCALATE),
    (Seen("HTTP 502 Bad Gateway", tool=WRITE),
     C.DEPENDENCY, S.UNKNOWN, D.AFTER_VERIFICATION, N.VERIFY_OPERATION),
    (Seen("status = StatusCode.UNAVAILABLE details = Connection refused", tool=WRITE),
     C.DEPENDENCY, S.NOT_COMMITTED, D.NEVER, N.ESCALATE),
    (Seen("rpc error: code = DeadlineExceeded desc = x"),
     C.DEPENDENCY, S.UNKNOWN, D.AFTER_VERIFICATION, N.VERIFY_OPERATION),
    (Seen(rpc_code="UNIMPLEMENTED"), C.INTERNAL, S.NOT_COMMITTED, D.NEVER,
     N.SWITCH_TOOL),
    (Seen("HTTP 418 teapot"), C.VALIDATION, S.NOT_COMMITTED, D.AFTER_INPUT_FIX,
     N.CORRECT_INPUT),
    # 409 in its three meanings, and in none
    (Seen("HTTP 409: customer was modified by someone else (version 2 != 3)"),
     C.CONFLICT, S.NOT_COMMITTED, D.AFTER_INPUT_FIX, N.CORRECT_INPUT),
    (Seen("HTTP 409: a request with this idempotency key is still running"),
     C.CONFLICT, S.NOT_COMMITTED, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen("HTTP 409: a record with ref 7 exists already"),
     C.CONFLICT, S.NOT_COMMITTED, D.NEVER, N.VERIFY_OPERATION),
    (Seen("HTTP 409: Conflict"), C.CONFLICT, S.NOT_COMMITTED, D.NEVER, N.ESCALATE),
    # what the error advises
    (Seen("Your card was declined", http_status=402, advice_code="do_not_try_again"),
     C.CONFLICT, S.NOT_COMMITTED, D.NEVER, N.STOP),
    (Seen("declined", http_status=402, advice_code="confirm_card_data"),
     C.CONFLICT, S.NOT_COMMITTED, D.AFTER_INPUT_FIX, N.ASK_USER),
    (Seen('{"message": "busy", "retryable": true}', tool=KEYED, http_status=500),
     C.INTERNAL, S.UNKNOWN, D.AFTER_DELAY, N.WAIT_AND_RETRY),
    (Seen('{"message": "down", "retryable": false}', tool=READ, http_status=503),
     C.DEPENDENCY, S.NOT_APPLICABLE, D.NEVER, N.ESCALATE),
    (Seen("whatever", retryable=False), None, None, D.NEVER, None),
    (Seen("Already shipped. Use create_refund instead.", rpc_code="FAILED_PRECONDITION",
          known_tools=("create_refund",)),
     C.CONFLICT, S.NOT_COMMITTED, D.NEVER, N.SWITCH_TOOL),
    (Seen("Refund failed (code 7)."), None, None, None, None),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_propose_reads_class_state_and_branch(case):
    seen, *expected = case

    assert fields(seen) == tuple(expected)


# (seen, what is found)
FINDINGS = [
    (Seen("HTTP 409: Conflict"), "conflict_meaning"),
    (Seen("Invalid date", http_status=422, retryable=True), "retryable_business_rule"),
    (Seen("", http_status=500, retryable=True, tool=WRITE), "retryable_not_repeatable"),
    (Seen("[]", is_error=True), "empty_reported_as_error"),
    (Seen("No results found.", is_error=True), "empty_reported_as_error"),
    (Seen('{"results": [], "total": 0}', is_error=True), "empty_reported_as_error"),
    (Seen('{"error": "boom"}', is_error=False), "soft_error"),
    (Seen('{"ok": false, "message": "boom"}', is_error=False), "soft_error"),
    (Seen("x", http_status=429, retry_after="soon", received_at=AT), "wait_unreadable"),
    (Seen("x", http_status=429, retry_after="-5", received_at=AT), "wait_unreadable"),
]


@pytest.mark.parametrize(("seen", "name"), FINDINGS)
def test_propose_finds_what_contradicts(seen, name):
    assert [f.id for f in propose(seen).findings] == [name]


@pytest.mark.parametrize(
    "seen",
    [
        Seen("[]", is_error=False),
        Seen('{"error": null, "rows": [1]}', is_error=False),
        Seen('{"ok": true, "summary": "0 errors"}', is_error=False),
        Seen("Invalid date", http_status=422, retryable=False),
    ],
)
def test_propose_finds_nothing_where_nothing_contradicts(seen):
    assert propose(seen).findings == ()


@pytest.mark.parametrize("code", BY_RPC_CODE)
@pytest.mark.parametrize("tool", [None, READ, KEYED, WRITE, BARE])
def test_propose_never_lets_an_unknown_write_be_repeated(code, tool):
    proposal = propose(Seen(rpc_code=code, tool=tool))

    repeats = proposal.directive is D.AFTER_DELAY
    assert not repeats or tool in (READ, KEYED)
    assert tool is not READ or proposal.commit_state is S.NOT_APPLICABLE
    assert proposal.reasons


def test_every_status_has_a_row():
    assert {*BY_STATUS.values()} - {"CONFLICT"} <= {*BY_RPC_CODE}


def test_propose_lets_the_runtime_own_a_wait_and_makes_it_absolute():
    proposal = propose(
        Seen(http_status=429, retry_after="120", received_at=AT, tool=READ)
    )

    assert proposal.not_before == AT + timedelta(minutes=2)
    assert proposal.owner is RetryOwner.RUNTIME


def test_propose_names_the_tool_that_a_hint_names():
    proposal = propose(
        Seen(
            "Gone.", http_status=410, next_hint="get_order", known_tools=("get_order",)
        )
    )

    assert (proposal.next_action, proposal.alternative_tool) == (
        N.SWITCH_TOOL,
        "get_order",
    )


WAITS = [
    ("30", AT + timedelta(seconds=30)),
    (" 0 ", AT),
    ("Mon, 07 Sep 2026 10:05:00 GMT", AT + timedelta(minutes=5)),
    ("Monday, 07-Sep-26 10:05:00 GMT", AT + timedelta(minutes=5)),
    ("Sun, 06 Sep 2026 10:00:00 GMT", AT),
    ("-3", None),
    ("1.5", None),
    ("1,5", None),
    ("30 s", None),
    ("soon", None),
    ("", None),
    ("99999999999", None),
    ("Mon, 07 Sep 2099 10:05:00 GMT", None),
    ("٣٠", None),
]


@pytest.mark.parametrize(("raw", "moment"), WAITS)
def test_read_retry_after_gives_a_time_or_a_finding(raw, moment):
    wait = read_retry_after(raw, AT)

    assert (wait.raw, wait.not_before) == (raw, moment)
    assert bool(wait.finding) is (moment is None)


def test_read_retry_after_needs_the_time_of_receipt_for_seconds():
    assert read_retry_after("30", None).not_before is None
    assert "receipt" in read_retry_after("30", None).finding


IN_TEXT = [
    ("Wait 30 seconds, then make the same call again.", 30),
    ("Please try again in 5 minutes.", 300),
    ('{"retryDelay": "3.5s"}', 3.5),
    ('{"retry_after": 12}', 12),
    ('{"retry_after_ms": 1500}', 1.5),
    ("Retry-After: 60", 60),
    ("retry after 2 hours", 7200),
    ("limit resets in 45s", 45),
    ("Command timed out after 30 seconds", None),
    ("Wait for approval.", None),
]


@pytest.mark.parametrize(("text", "seconds"), IN_TEXT)
def test_find_wait_reads_waits_and_no_durations(text, seconds):
    wait = find_wait(text, AT)

    if seconds is None:
        assert wait is None
    else:
        assert wait is not None
        assert wait.not_before == AT + timedelta(seconds=seconds)
