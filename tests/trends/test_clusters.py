"""Section 8 of the statistics reference: C."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trends.clusters import clustered_rate
from apps.trends.recovery import Z95, wilson_interval
from tests.printed import printed


@pytest.mark.parametrize(
    ("runs", "rate", "se", "naive", "effect"),
    [
        pytest.param(
            [(3, 3), (0, 3), (1, 1), (1, 1), (0, 1), (2, 4)],
            "0.5385",
            "0.1934",
            "0.1383",
            "1.956",
            id="C1",
        )
    ],
)
def test_clustered_rate_gives_the_printed_figures(runs, rate, se, naive, effect):
    got = clustered_rate(runs)

    assert (got.rate, got.se) == (printed(rate), printed(se))
    assert got.design_effect == printed(effect)
    assert got.rate is not None
    assert got.design_effect is not None
    assert math.sqrt(got.rate * (1 - got.rate) / got.events) == printed(naive)
    assert got.effective_n == pytest.approx(13 / got.design_effect)


def test_events_as_if_independent_are_the_wrong_interval():
    runs = [(5, 5), (0, 5)] * 5

    got = clustered_rate(runs)
    wrong_low, wrong_high = wilson_interval(25, 50)

    assert got.design_effect == pytest.approx(50 / 9)
    assert got.high - got.low > 2 * (wrong_high - wrong_low)


def test_runs_of_one_event_each_are_nearly_independent():
    got = clustered_rate([(1, 1)] * 70 + [(0, 1)] * 30)

    assert got.design_effect == pytest.approx(100 / 99)
    assert (got.low, got.high) == pytest.approx(wilson_interval(70, 100), abs=0.001)


def test_all_good_counts_runs_and_ends_at_exactly_one():
    got = clustered_rate([(5, 5)] * 4)

    assert (got.rate, got.se, got.design_effect) == (1.0, 0.0, None)
    assert (got.low, got.high) == wilson_interval(4, 4, Z95)


def test_one_run_says_nothing_of_its_spread():
    got = clustered_rate([(2, 4)])

    assert (got.rate, got.se, got.variance) == (0.5, None, None)
    assert got.effective_n == 1


@pytest.mark.parametrize("runs", [[], [(0, 0), (0, 0)]])
def test_no_event_is_no_rate(runs):
    got = clustered_rate(runs)

    assert (got.rate, got.se, got.low, got.high) == (None, None, 0.0, 1.0)


@pytest.mark.parametrize("run", [(2, 1), (-1, 2), (1, 0)])
def test_clustered_rate_refuses_counts_that_are_none(run):
    with pytest.raises(ValueError, match="Need 0 <= good <= events"):
        clustered_rate([run])


@given(
    st.lists(
        st.integers(1, 9).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))),
        min_size=2,
        max_size=30,
    )
)
def test_limits_hold_the_rate_and_claim_no_more_than_the_events(runs):
    got = clustered_rate(runs)

    assert got.rate is not None
    assert 0 <= got.low <= got.rate <= got.high <= 1
    assert got.effective_n <= got.events
