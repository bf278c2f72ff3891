"""Sections 1 and 2 of the statistics reference: W and N, with their properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trends.recovery import (
    Z95,
    Rate,
    clopper_pearson,
    more_runs_needed,
    newcombe_interval,
    rule_of_three,
    sample_size,
    unknown_bounds,
    upper_bound_if_never,
    wilson_interval,
    wilson_limits,
    wilson_with_continuity,
)
from tests.printed import printed


@st.composite
def counts(draw: st.DrawFn, most: int = 5_000) -> tuple[int, int]:
    n = draw(st.integers(1, most))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("good", "n", "low", "high"),
    [
        pytest.param(81, 263, "0.2553", "0.3662", id="W1"),
        pytest.param(0, 20, "0.0000", "0.1611", id="W2"),
        pytest.param(70, 100, "0.6042", "0.7811", id="W5-70-of-100"),
        pytest.param(8, 10, "0.4902", "0.9433", id="W5-8-of-10"),
        pytest.param(7, 10, "0.3968", "0.8922", id="W5-7-of-10"),
    ],
)
def test_wilson_interval_gives_the_printed_limits(good, n, low, high):
    assert wilson_interval(good, n) == (printed(low), printed(high))


@pytest.mark.parametrize(
    ("interval", "high"),
    [
        pytest.param(clopper_pearson, "0.1684", id="W3"),
        pytest.param(wilson_with_continuity, "0.2005", id="W4"),
    ],
)
def test_other_intervals_give_the_printed_limits_for_none_of_twenty(interval, high):
    assert interval(0, 20) == (0.0, printed(high))


@pytest.mark.parametrize(
    "interval",
    [
        pytest.param(wilson_interval, id="W6"),
        pytest.param(clopper_pearson, id="W6-clopper-pearson"),
        pytest.param(wilson_with_continuity, id="W6-with-continuity"),
    ],
)
@given(st.integers(1, 100_000))
def test_intervals_end_at_exactly_0_and_1(interval, n):
    assert interval(0, n)[0] == 0.0
    assert interval(n, n)[1] == 1.0
    assert interval(n, n)[0] < 1.0


@given(counts(), st.floats(0.5, 6))
def test_wilson_interval_holds_the_rate_and_stays_in_0_to_1(count, z):
    good, n = count

    low, high = wilson_interval(good, n, z)

    assert 0 <= low <= good / n <= high <= 1
    assert high > low


@given(counts())
def test_wilson_interval_is_mirrored_when_good_and_bad_swap(count):
    good, n = count

    low, high = wilson_interval(good, n)

    assert wilson_interval(n - good, n) == pytest.approx((1 - high, 1 - low), abs=1e-12)


@given(counts())
def test_wilson_interval_rises_with_each_good_run(count):
    good, n = count

    low, high = wilson_interval(good, n + 1)
    next_low, next_high = wilson_interval(good + 1, n + 1)

    assert next_low > low
    assert next_high > high


@given(counts(500))
def test_exact_and_corrected_limits_hold_the_rate(count):
    good, n = count

    low, high = clopper_pearson(good, n)
    low_corrected, high_corrected = wilson_with_continuity(good, n)

    assert 0 <= low <= good / n <= high <= 1
    assert 0 <= low_corrected <= good / n <= high_corrected <= 1


@pytest.mark.parametrize(("good", "n"), [(1, 0), (0, 0), (-1, 3), (4, 3), (0, -1)])
@pytest.mark.parametrize(
    "interval", [wilson_interval, clopper_pearson, wilson_with_continuity]
)
def test_intervals_refuse_counts_that_are_none(interval, good, n):
    with pytest.raises(ValueError, match="Need 0 <= good <= n"):
        interval(good, n)


def test_wilson_limits_take_a_broken_number_of_trials():
    assert wilson_limits(0.7, 100.0) == wilson_interval(70, 100)
    with pytest.raises(ValueError, match="n > 0"):
        wilson_limits(0.5, 0.0)


def test_wald_is_the_wrong_interval_for_none_of_twenty():
    p, n = 0 / 20, 20

    wald = p + Z95 * math.sqrt(p * (1 - p) / n)

    assert wald == 0.0  # zero width: the reason for Wilson
    assert wilson_interval(0, 20)[1] > 0.16


def test_rule_of_three_and_its_exact_form_give_the_printed_bounds():
    assert rule_of_three(14) == printed("0.214")
    assert upper_bound_if_never(14) == printed("0.193")
    assert rule_of_three(2) == 1.0


NEWCOMBE = [
    pytest.param((56, 70, 48, 80), "0.2000", "0.0524", "0.3339", id="N1"),
    pytest.param((5, 56, 0, 29), "0.0893", "-0.0381", "0.1926", id="N2"),
    pytest.param((0, 10, 0, 20), "0", "-0.1611", "0.2775", id="N3"),
    pytest.param((0, 10, 0, 10), "0", "-0.2775", "0.2775", id="N4"),
    pytest.param((10, 10, 0, 20), "1", "0.6791", "1.0000", id="N5-of-20"),
    pytest.param((10, 10, 0, 10), "1", "0.6075", "1.0000", id="N5-of-10"),
    pytest.param((7, 34, 1, 34), "0.1765", "0.019", "0.340", id="N6"),
]


@pytest.mark.parametrize(("groups", "value", "low", "high"), NEWCOMBE)
def test_newcombe_interval_gives_the_printed_limits(groups, value, low, high):
    got = newcombe_interval(*groups)

    assert got == (printed(value), printed(low), printed(high))


@pytest.mark.parametrize(
    ("groups", "wanted_low", "actual_low"),
    [
        pytest.param((5, 56, 0, 29), "-0.0381", 0.0394, id="N2"),
        pytest.param((0, 10, 0, 20), "-0.1611", 0.0, id="N3"),
    ],
)
def test_newcombe_by_the_wrong_pairs_is_caught(groups, wanted_low, actual_low):
    after_good, after_n, before_good, before_n = groups
    after, before = after_good / after_n, before_good / before_n
    after_low, _ = wilson_interval(after_good, after_n)
    before_low, _ = wilson_interval(before_good, before_n)

    wrong = after - before - math.hypot(after - after_low, before - before_low)

    assert wrong == pytest.approx(actual_low, abs=0.001)
    assert wrong != printed(wanted_low)


@given(counts(), counts())
def test_newcombe_interval_is_mirrored_when_groups_swap(after, before):
    value, low, high = newcombe_interval(*after, *before)

    assert newcombe_interval(*before, *after) == pytest.approx((-value, -high, -low))
    assert -1 <= low <= value <= high <= 1


@pytest.mark.parametrize("groups", [(0, 0, 1, 2), (1, 2, 0, 0), (3, 2, 1, 2)])
def test_newcombe_interval_refuses_an_empty_side(groups):
    with pytest.raises(ValueError, match="Need 0 <= good <= n"):
        newcombe_interval(*groups)


@pytest.mark.parametrize(
    ("before", "after", "runs"), [(0.70, 0.85, 121), (0.65, 0.70, 1_377)]
)
def test_sample_size_gives_the_printed_numbers(before, after, runs):
    assert sample_size(before, after) == runs
    assert sample_size(after, before) == runs


def test_more_runs_needed_counts_down_to_zero():
    assert more_runs_needed(0.70, 0.85, 100) == 21
    assert more_runs_needed(0.70, 0.85, 500) == 0
    with pytest.raises(ValueError, match="two different rates"):
        more_runs_needed(0.7, 0.7, 0)


def test_rate_keeps_unknown_outcomes_out_and_bounds_them():
    rate = Rate.of(correct=30, incorrect=10, unknown=10)

    assert (rate.good, rate.n, rate.rate) == (30, 40, 0.75)
    assert (rate.low, rate.high) == wilson_interval(30, 40)
    assert (rate.bound_low, rate.bound_high) == (0.6, 0.8)
    assert rate.unknown_share == 0.2
    assert not rate.is_thin


def test_rate_of_no_known_outcome_is_none_and_could_be_anything():
    rate = Rate.of(correct=0, incorrect=0, unknown=3)

    assert rate.rate is None
    assert (rate.low, rate.high) == (0.0, 1.0)
    assert (rate.bound_low, rate.bound_high) == (0.0, 1.0)
    assert Rate.of(0, 0).unknown_share is None


@pytest.mark.parametrize(
    ("n", "is_counts_only", "is_thin"),
    [(4, True, True), (5, False, True), (19, False, True), (20, False, False)],
)
def test_rate_says_how_much_of_it_may_be_shown(n, is_counts_only, is_thin):
    rate = Rate.of(correct=n, incorrect=0)

    assert (rate.is_counts_only, rate.is_thin) == (is_counts_only, is_thin)


@given(st.integers(0, 999), st.integers(0, 999), st.integers(0, 999))
def test_unknown_bounds_hold_the_rate_of_the_known(correct, incorrect, unknown):
    low, high = unknown_bounds(correct, incorrect, unknown)

    assert 0 <= low <= high <= 1
    if correct + incorrect:
        assert low <= correct / (correct + incorrect) + 1e-12
        assert high >= correct / (correct + incorrect) - 1e-12


def test_rate_refuses_a_negative_count():
    with pytest.raises(ValueError, match="Negative count"):
        Rate.of(correct=1, incorrect=-1)
