"""Masked failures: calls that seem to have gone well are suggested, never counted."""

import pytest

from apps.runs.analysis import analyse
from apps.runs.rules import Rules
from apps.runs.transcript import Result
from tests.runs.transcripts import acts, call, failed, run

PAY = '{"order_id": "ORD-1", "amount": 50}'


@pytest.mark.parametrize(
    ("tool", "others", "is_suggested"),
    [
        ("find_orders", [Result("[3 orders]")], True),
        ("find_orders", [failed("Error: timeout")], True),
        ("find_orders", [Result("Error: timeout")], True),
        ("find_orders", [Result("[]")], False),
        ("find_orders", [failed("The user denied it.")], False),
        ("find_orders", [None], False),
        ("bash", [Result("a.py")], False),
        ("think", [Result("hm")], False),
    ],
    ids=[
        "elsewhere it finds",
        "elsewhere it fails",
        "elsewhere it fails, by its text",
        "it never finds anything",
        "elsewhere a person refused it",
        "elsewhere there is no result",
        "a command may print nothing",
        "a thought gives nothing",
    ],
)
def test_nothing_from_a_call_that_elsewhere_tells_is_suggested(
    tool, others, is_suggested
):
    turns = [acts(call(tool, PAY, result)) for result in (Result("[]"), *others)]

    facts = analyse(run(*turns))

    assert [(f.rule, f.turn) for f in facts.masked] == [
        ("empty-result", 0)
    ] * is_suggested


def test_nothing_from_other_arguments_is_an_answer():
    found = acts(call("find_orders", '{"q": "a"}', Result("[3 orders]")))
    nothing = acts(call("find_orders", '{"q": "b"}', Result("[]")))

    assert analyse(run(found, nothing)).masked == []


def test_suggestions_are_in_no_count():
    hidden = acts(call("bash", "{}", Result("error: bad tree", is_error=False)))

    facts = analyse(run(hidden, acts(call("pay"))))

    (fact,) = facts.masked
    assert (fact.evidence, fact.rule, fact.is_counted) == (
        "masked",
        "error-prefix",
        False,
    )
    assert (fact.next_move, fact.fingerprint) == (None, None)
    assert facts.errors == []


def test_a_suggestion_can_be_switched_off():
    turns = [acts(call("find", PAY, Result(text))) for text in ("", "3 orders")]
    off = Rules(disabled_evidence=frozenset({"empty-result@find"}))

    assert analyse(run(*turns), off).masked == []
