"""Whose word on an outcome counts, and what a score says by a rule."""

import pytest

from apps.runs.outcomes import NOBODY, Said, decide, scored, speaker
from apps.runs.rules import Rules
from apps.runs.transcript import Score

LOG = Said("correct", "reward")
LISTED = Said("incorrect", "list: swe-bench results")
BY_SCORE = Said("correct", "rule: accuracy >= 0.5")
PERSON = Said("incorrect", "person: Ada")
SILENT = Said("unknown", "")


@pytest.mark.parametrize(
    ("log", "listed", "score", "person", "wanted"),
    [
        (LOG, LISTED, BY_SCORE, PERSON, LOG),
        (SILENT, LISTED, BY_SCORE, PERSON, LISTED),
        (SILENT, None, BY_SCORE, PERSON, BY_SCORE),
        (SILENT, None, None, PERSON, PERSON),
        (SILENT, SILENT, SILENT, PERSON, PERSON),
        (SILENT, None, None, None, NOBODY),
        (None, None, None, None, NOBODY),
        (Said("unknown", "timed out"), None, None, None, Said("unknown", "timed out")),
        (Said("correct", "list: mine"), LISTED, None, None,
         Said("correct", "log: list: mine")),
    ],
)  # fmt: skip
def test_the_first_that_says_something_counts(log, listed, score, person, wanted):
    assert decide(log, listed, score, person) == wanted


@pytest.mark.parametrize(
    ("value", "higher", "wanted"),
    [
        (0.7, True, "correct"),
        (0.5, True, "correct"),
        (0.4, True, "incorrect"),
        (0.4, False, "correct"),
        (True, True, "correct"),
        (False, True, "incorrect"),
        (1, True, "correct"),
        ("good", True, None),
        (None, True, None),
        (float("nan"), True, None),
        (float("inf"), True, None),
    ],
)
def test_a_score_is_an_outcome_by_threshold_and_direction(value, higher, wanted):
    rules = Rules(
        score_name="accuracy", score_threshold=0.5, score_higher_is_better=higher
    )

    said = scored([Score("other", 0.1), Score("accuracy", value)], rules)

    assert (said and said.outcome) == wanted


def test_scores_on_both_sides_of_the_threshold_say_nothing():
    rules = Rules(score_name="accuracy", score_threshold=0.5)

    assert scored([Score("accuracy", 0.9), Score("accuracy", 0.1)], rules) is None
    assert scored([Score("accuracy", 0.9), Score("accuracy", 0.8)], rules) == Said(
        "correct", "rule: accuracy >= 0.5"
    )


def test_without_a_threshold_no_score_is_an_outcome():
    assert scored([Score("accuracy", 1.0)], Rules(score_name="accuracy")) is None
    assert scored([Score("", 1.0)], Rules(score_threshold=0.5)) is None


@pytest.mark.parametrize(
    ("outcome", "by", "wanted"),
    [
        ("correct", "reward", "log"),
        ("correct", "", "log"),
        ("incorrect", "list: x", "list"),
        ("correct", "rule: a >= 1", "rule"),
        ("correct", "person: Ada", "person"),
        ("unknown", "timed out", ""),
    ],
)
def test_who_says_an_outcome_is_read_from_what_is_stored(outcome, by, wanted):
    assert speaker(outcome, by) == wanted
