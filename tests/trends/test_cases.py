"""From weekly rows to what a verdict judges, and the sentences beside the word."""

import math
from datetime import date, timedelta

import pytest

from apps.trends.cases import CellRow, cells_of, picked_weeks, ship_rho
from apps.trends.rivals import Rival
from apps.trends.verdict import Case, ControlWeek, Outcomes, StratumKey, WeekCell, judge
from apps.trends.wording import words_of

SHIPPED = date(2026, 11, 2)
KEY = StratumKey("m", "", "")


def week(number: int) -> date:
    """Weeks from that of shipping; negative ones lie before it."""
    return SHIPPED + timedelta(weeks=number)


def old(number: int, good: int, n: int, unknown: int = 0) -> WeekCell:
    return WeekCell(week(number), KEY, before=Outcomes(good, n, unknown))


def new(number: int, good: int, n: int) -> WeekCell:
    return WeekCell(week(number), KEY, after=Outcomes(good, n))


@pytest.mark.parametrize(
    ("rows", "cells"),
    [
        ([], ()),
        (
            [
                CellRow(week(-1), "m", "before", "correct", 3),
                CellRow(week(-1), "m", "before", "incorrect", 5),
                CellRow(week(-1), "m", "before", "unknown", 2),
            ],
            (old(-1, 3, 8, 2),),
        ),
        (  # a late log: both sides in one week are one cell
            [
                CellRow(week(0), "m", "before", "correct", 1),
                CellRow(week(0), "m", "after", "incorrect", 4),
            ],
            (WeekCell(week(0), KEY, Outcomes(1, 1), Outcomes(0, 4)),),
        ),
        (  # the old text after shipping is on no side
            [
                CellRow(week(1), "m", "other", "correct", 9),
                CellRow(week(1), "m", "after", "correct", 4),
            ],
            (new(1, 4, 4),),
        ),
        (  # models apart, weeks in order
            [
                CellRow(week(1), "b", "after", "correct", 1),
                CellRow(week(1), "a", "after", "correct", 2),
                CellRow(week(-1), "b", "before", "incorrect", 3),
            ],
            (
                WeekCell(week(-1), StratumKey("b", "", ""), before=Outcomes(0, 3)),
                WeekCell(week(1), StratumKey("a", "", ""), after=Outcomes(2, 2)),
                WeekCell(week(1), StratumKey("b", "", ""), after=Outcomes(1, 1)),
            ),
        ),
    ],
    ids=["none", "outcomes", "both sides", "other", "models"],
)
def test_cells_of_sums_rows_by_week_and_model(rows, cells):
    assert cells_of(rows) == cells


def rho(good: int, n: int, expected: float) -> float:
    """Section 4c written out: V at eight weeks over 2 log 20 + log(1 + 2 log 20)."""
    p = (good + 1) / (n + 2)
    v = 1 / (p * (1 - p) * (1 / n + 1 / expected))
    spent = 2 * math.log(20)
    return v / (spent + math.log(1 + spent))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([old(-2, 10, 20), old(-1, 10, 30)], rho(20, 50, 8 * 25)),
        ([old(-4, 10, 20), old(-1, 10, 30)], rho(20, 50, 8 * 12.5)),  # empty weeks
        ([old(-1, 10, 20), old(0, 9, 9), new(1, 50, 50)], rho(10, 20, 160)),
        ([old(0, 6, 24)], rho(6, 24, 192)),  # nothing before the week of shipping
        ([new(0, 5, 5)], 1.0),
        ([], 1.0),
    ],
)
def test_rho_is_fixed_by_the_weeks_before_shipping(cells, expected):
    assert ship_rho(cells, SHIPPED) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("drafted", "picked"),
    [
        (week(-1), {week(-2)}),
        (week(0), set()),  # drafted in the week of shipping, or its date entered later
        (week(3), set()),
        (week(-3), set()),  # 19 known outcomes would be left
    ],
)
def test_the_week_before_the_draft_got_the_code_picked(drafted, picked):
    cells = [old(-5, 9, 19), old(-4, 5, 10), old(-3, 5, 10), old(-2, 1, 10)]

    assert picked_weeks(cells, drafted, SHIPPED) == picked


def judged(*cells: WeekCell, controls: tuple[ControlWeek, ...] = ()):
    return words_of(
        judge(Case(cells, SHIPPED, ship_rho(cells, SHIPPED), controls=controls))
    )


def test_a_verdict_without_a_word_says_what_it_takes():
    short = judged(old(-1, 12, 24), new(0, 5, 5))
    nothing = judged(new(0, 9, 20))
    level = judged(old(-1, 50, 100), new(0, 25, 50))

    assert short.missing.startswith("about ")
    assert short.missing.endswith(" weeks")
    assert nothing.missing == "no full week with known outcomes before it"
    assert nothing.difference == ""
    assert level.missing.startswith("too small a difference")
    assert level.difference.startswith("0 points (−")


def test_controls_that_moved_apart_before_are_named():
    cells = [old(n, 18 if n < -2 else 2, 20) for n in range(-4, 0)]
    controls = tuple(ControlWeek(week(n), 50, 100) for n in range(-4, 2))

    words = judged(*cells, new(0, 40, 40), controls=controls)

    assert words.missing == "the code and its controls moved apart before the rewrite"
    assert "no verdict" in words.controls
    assert words.baseline == (
        "Compared with 4 weeks with runs from 2026-10-05 up to 2026-11-02."
    )


def test_rivals_are_sentences():
    apart = WeekCell(week(0), StratumKey("new", "", ""), after=Outcomes(20, 30))
    verdict = judge(Case((old(-1, 10, 30), apart), SHIPPED, 10.0, adoption=0.5))

    assert [type(rival) for rival in verdict.rivals] == [Rival, Rival]
    assert words_of(verdict).rivals == (
        "The model changed: m had 100% of the runs, now 0%.",
        "The new text reached only 50% of the runs.",
    )
