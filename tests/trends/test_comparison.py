"""Sections 5a, 5c and 6 of the statistics reference: D and M."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trends.comparison import (
    Measure,
    OneSided,
    Stratum,
    baseline_weeks,
    difference_in_differences,
    expected_next_rate,
    mantel_haenszel,
    measure,
    placebo,
    usable_controls,
)
from tests.printed import printed

Z90 = 1.6448536269514722


@st.composite
def strata(draw: st.DrawFn) -> list[Stratum]:
    made = []
    for key in range(draw(st.integers(1, 5))):
        after_n, before_n = draw(st.integers(0, 60)), draw(st.integers(0, 60))
        after, before = (draw(st.integers(0, n)) for n in (after_n, before_n))
        made.append(Stratum(key, after, after_n, before, before_n))
    return made


@pytest.mark.parametrize(
    ("treated", "control", "delta", "tolerance"),
    [pytest.param((20.44, 21.03), (23.33, 21.17), 2.76, 0.02, id="D1")],
)
def test_difference_in_differences_of_means(treated, control, delta, tolerance):
    old, new, control_old, control_new = (
        Measure(mean, 0.0) for mean in (*treated, *control)
    )

    got = difference_in_differences(old, new, control_old, control_new)

    assert got.delta == pytest.approx(delta, abs=tolerance)


@pytest.mark.parametrize(
    ("treated", "control", "delta", "se", "low", "high"),
    [
        pytest.param(
            ((40, 80), (60, 80)),
            ((120, 200), (130, 200)),
            "0.200",
            "0.0884",
            "0.027",
            "0.373",
            id="D2",
        )
    ],
)
def test_difference_in_differences_of_rates(treated, control, delta, se, low, high):
    old, new, control_old, control_new = (
        measure(*cell) for cell in (*treated, *control)
    )

    got = difference_in_differences(old, new, control_old, control_new)

    assert (got.delta, got.se) == (printed(delta), printed(se))
    assert (got.low, got.high) == (printed(low), printed(high))
    assert got.excludes_zero


def test_measure_of_all_right_keeps_some_variance():
    assert measure(60, 80) == Measure(0.75, 0.75 * 0.25 / 80)
    assert measure(20, 20).variance > 0
    with pytest.raises(ValueError, match="Need 0 <= good <= n"):
        measure(0, 0)


def test_placebo_is_calm_on_parallel_weeks_and_speaks_up_on_a_trend():
    controls = [(70, 100)] * 6

    calm = placebo([(35, 50)] * 6, controls)
    rising = placebo([(20, 50)] * 3 + [(45, 50)] * 3, controls)

    assert calm is not None
    assert not calm.excludes_zero
    assert rising is not None
    assert rising.delta == pytest.approx(0.5)
    assert rising.excludes_zero


@pytest.mark.parametrize(
    ("treated", "controls"),
    [
        pytest.param([(35, 50)] * 3, [(70, 100)] * 3, id="three-weeks"),
        pytest.param([(3, 5)] * 4, [(70, 100)] * 4, id="few-runs"),
        pytest.param([], [], id="no-week"),
    ],
)
def test_placebo_is_none_where_it_cannot_tell(treated, controls):
    assert placebo(treated, controls) is None


def test_placebo_refuses_weeks_that_do_not_match():
    with pytest.raises(ValueError, match="same weeks"):
        placebo([(1, 2)], [])


def test_usable_controls_leaves_out_codes_that_share_runs():
    runs = {"a": 100, "b": 100, "c": 100, "empty": 0}

    assert usable_controls(runs, {"a": 21, "b": 20}) == ["b", "c"]


TOLBUTAMIDE = [
    Stratum("under 55", 8, 106, 5, 120),
    Stratum("55 and over", 22, 98, 16, 85),
]
KIDNEY_STONES = [
    Stratum("small", 81, 87, 234, 270),
    Stratum("large", 192, 263, 55, 80),
]
TWO_MODELS = [Stratum("A", 20, 40, 80, 160), Stratum("B", 144, 160, 36, 40)]


@pytest.mark.parametrize(
    ("groups", "z", "adjusted", "low", "high", "crude"),
    [
        pytest.param(
            TOLBUTAMIDE, Z90, "0.0349", "-0.0176", "0.0874", "0.0446", id="M1"
        ),
        pytest.param(
            KIDNEY_STONES, None, "0.0538", "-0.0119", "0.1196", "-0.046", id="M2"
        ),
        pytest.param(TWO_MODELS, None, "0.000000000", "-0.10", "0.10", "0.24", id="M3"),
    ],
)
def test_mantel_haenszel_gives_the_printed_difference(
    groups, z, adjusted, low, high, crude
):
    got = mantel_haenszel(groups, z) if z else mantel_haenszel(groups)

    assert got.adjusted == printed(adjusted)
    assert (got.low, got.high) == (printed(low), printed(high))
    assert got.crude is not None
    assert got.crude.value == printed(crude)


@pytest.mark.parametrize(("index", "difference"), [(0, "0.0338"), (1, "0.0363")])
def test_mantel_haenszel_of_one_stratum_is_its_difference(index, difference):
    assert mantel_haenszel([TOLBUTAMIDE[index]]).adjusted == printed(difference)


def test_crude_rates_of_the_kidney_stones_are_the_printed_ones():
    after = sum(s.after_good for s in KIDNEY_STONES), 350
    before = sum(s.before_good for s in KIDNEY_STONES), 350

    assert after[0] / after[1] == printed("0.780")
    assert before[0] / before[1] == printed("0.826")


def test_the_mix_is_the_story_where_crude_and_adjusted_part():
    assert mantel_haenszel(TWO_MODELS).mix_moved
    assert not mantel_haenszel(TOLBUTAMIDE).mix_moved


def test_strata_seen_on_one_side_are_named_and_carry_no_weight():
    alone = Stratum("new model", 30, 40, 0, 0)
    gone = Stratum("old model", 0, 0, 10, 25)

    got = mantel_haenszel([*TWO_MODELS, alone, gone, Stratum("empty", 0, 0, 0, 0)])

    assert got.adjusted == mantel_haenszel(TWO_MODELS).adjusted
    assert got.one_sided == (
        OneSided("new model", "after", 40),
        OneSided("old model", "before", 25),
    )
    assert (got.before_n, got.after_n) == (200, 200)


@pytest.mark.parametrize(
    "groups",
    [
        pytest.param([], id="none"),
        pytest.param([Stratum("a", 3, 5, 0, 0), Stratum("b", 0, 0, 3, 5)], id="apart"),
    ],
)
def test_without_overlap_there_is_no_adjusted_difference(groups):
    got = mantel_haenszel(groups)

    assert (got.adjusted, got.variance, got.se, got.low) == (None, None, None, None)
    assert not got.mix_moved


def test_mantel_haenszel_refuses_counts_that_are_none():
    with pytest.raises(ValueError, match="on both sides"):
        mantel_haenszel([Stratum("a", 6, 5, 1, 2)])


@given(strata())
def test_mantel_haenszel_is_mirrored_when_sides_swap(groups):
    swapped = [
        Stratum(s.key, s.before_good, s.before_n, s.after_good, s.after_n)
        for s in groups
    ]

    got, mirror = mantel_haenszel(groups), mantel_haenszel(swapped)

    if got.adjusted is None:
        assert mirror.adjusted is None
        return
    assert mirror.adjusted == pytest.approx(-got.adjusted, abs=1e-12)
    assert mirror.variance == pytest.approx(got.variance, abs=1e-12)
    assert mirror.null_variance == pytest.approx(got.null_variance, abs=1e-12)
    assert got.low is not None
    assert got.high is not None
    assert -1 <= got.low <= got.adjusted <= got.high <= 1


@given(st.integers(1, 99), st.integers(1, 99), st.integers(1, 9), st.integers(1, 9))
def test_one_stratum_gives_the_plain_difference_and_its_variance(g1, g0, k1, k0):
    n1, n0 = 100 * k1, 100 * k0
    p1, p0 = g1 / n1, g0 / n0

    got = mantel_haenszel([Stratum("only", g1, n1, g0, n0)])

    assert got.adjusted == pytest.approx(p1 - p0)
    assert got.variance == pytest.approx(p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0)


def test_a_code_picked_for_a_bad_week_gets_better_by_itself():
    assert expected_next_rate(2, 10, 7, 3) == printed("0.45")
    assert expected_next_rate(0, 0, 7, 3) == printed("0.70")
    with pytest.raises(ValueError, match="a prior"):
        expected_next_rate(0, 0, 0, 0)


def test_baseline_weeks_end_before_the_one_that_got_the_code_picked():
    weeks = [date(2026, 1, 5 + 7 * n) for n in range(4)]

    assert baseline_weeks(weeks[::-1], picked=[weeks[3], weeks[2]]) == weeks[:2]
    assert baseline_weeks(weeks, picked=[]) == weeks
    assert baseline_weeks(weeks, picked=[weeks[0]]) == []
