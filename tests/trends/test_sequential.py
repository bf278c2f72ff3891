"""Section 4 of the statistics reference: Q, and what weekly looks do to a 5 % test."""

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apps.trends.recovery import Z95, wilson_interval
from apps.trends.sequential import (
    POCOCK,
    always_valid_p,
    best_rho,
    beta_mixture_interval,
    difference_interval,
    log_beta_mixture,
    log_normal_mixture,
    normal_mixture_bound,
    rho_at_ship,
    running_difference,
    runs_to_exclude_zero,
    tuned_beta_interval,
)
from tests.printed import printed


@pytest.mark.parametrize(
    ("good", "n", "low", "high"),
    [
        pytest.param(70, 100, "0.5428", "0.8306", id="Q1"),
        pytest.param(700, 1_000, "0.6470", "0.7497", id="Q2"),
        pytest.param(8, 10, "0.3530", "0.9895", id="Q3"),
        pytest.param(0, 20, "0", "0.2607", id="Q4"),
    ],
)
def test_beta_mixture_interval_gives_the_printed_limits(good, n, low, high):
    assert beta_mixture_interval(good, n) == (printed(low), printed(high))


@pytest.mark.parametrize(
    ("good", "n", "low", "high"),
    [
        # the reference prints 0.7275, cut off where it should be rounded (0.72759)
        pytest.param(700, 1_000, "0.6709", "0.7276", id="Q2-wilson"),
        pytest.param(0, 20, "0", "0.1611", id="Q4-wilson"),
    ],
)
def test_wilson_beside_the_sequence_is_narrower(good, n, low, high):
    assert wilson_interval(good, n) == (printed(low), printed(high))


@pytest.mark.parametrize(
    ("good", "n", "n_opt", "low", "high"),
    [
        pytest.param(700, 1_000, 100, "0.651629", "0.745949", id="Q5"),
        pytest.param(1, 50, 50, "0", "0.13489", id="Q6"),
    ],
)
def test_tuned_beta_interval_gives_the_printed_limits(good, n, n_opt, low, high):
    got_low, got_high = tuned_beta_interval(good, n, n_opt)

    assert got_low == pytest.approx(float(low), abs=1e-6)
    assert got_high == pytest.approx(float(high), abs=5e-6)


def test_normal_mixture_gives_the_printed_numbers():
    rho = best_rho(100)

    assert rho == printed("12.60056")
    assert normal_mixture_bound(100, rho) == printed("30.35209")
    assert log_normal_mixture(10, 100, rho) == printed("-0.6510052")


@pytest.mark.parametrize(
    ("after", "before", "value", "variance", "half", "low", "high", "fixed"),
    [
        pytest.param(
            (70, 100),
            (100, 200),
            "0.200",
            "0.00335",
            "0.1757",
            "0.024",
            "0.376",
            "0.113",
            id="Q7",
        )
    ],
)
def test_running_difference_gives_the_printed_interval(
    after, before, value, variance, half, low, high, fixed
):
    rho = best_rho(1 / 0.00335)

    got = running_difference(after[0], after[1], before[0], before[1], rho)

    assert got.value == printed(value)
    assert got.variance == printed(variance)
    assert (got.high - got.low) / 2 == printed(half)
    assert (got.low, got.high) == (printed(low), printed(high))
    assert Z95 * math.sqrt(got.variance) == printed(fixed)
    assert got.p < 0.05


@given(
    st.floats(0.01, 0.99),
    st.integers(0, 60),
    st.floats(0.3, 20),
    st.floats(0.3, 20),
)
def test_evidence_against_the_true_rate_is_1_on_average(p, n, a, b):
    average = sum(
        math.comb(n, s)
        * p**s
        * (1 - p) ** (n - s)
        * math.exp(log_beta_mixture(p, s, n, a, b))
        for s in range(n + 1)
    )

    assert average == pytest.approx(1)


@given(st.integers(1, 2_000), st.data())
def test_sequences_hold_the_rate_and_mirror(n, data):
    good = data.draw(st.integers(0, n))

    for interval in (
        beta_mixture_interval,
        lambda good, n: tuned_beta_interval(good, n, 100),
    ):
        low, high = interval(good, n)
        mirrored = interval(n - good, n)

        assert 0 <= low <= good / n <= high <= 1
        assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@pytest.mark.parametrize("interval", [beta_mixture_interval, wilson_interval])
def test_sequences_end_at_exactly_0_and_1(interval):
    assert interval(0, 7)[0] == 0.0
    assert interval(7, 7)[1] == 1.0


def test_a_sequence_of_no_runs_could_be_anything():
    assert beta_mixture_interval(0, 0) == (0.0, 1.0)
    assert tuned_beta_interval(0, 0, 100) == (0.0, 1.0)
    with pytest.raises(ValueError, match="Need 0 <= good <= n"):
        beta_mixture_interval(1, 0)


@given(
    st.floats(-1, 1),
    st.floats(1e-6, 0.1),
    st.floats(1, 1_000),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_p_is_at_most_alpha_exactly_where_the_interval_leaves_0_out(
    difference, variance, rho, alpha
):
    low, high = difference_interval(difference, variance, rho, alpha)
    p = always_valid_p(difference, variance, rho)

    assume(abs(p - alpha) > 1e-9)
    assert (low > 0 or high < 0) == (p < alpha)
    assert always_valid_p(-difference, variance, rho) == p


def test_no_variance_is_no_certainty():
    assert difference_interval(1.0, 0.0, 10.0) == (-1.0, 1.0)
    assert always_valid_p(1.0, 0.0, 10.0) == 1.0


@pytest.mark.parametrize(("after", "before"), [((0, 0), (1, 2)), ((1, 2), (0, 0))])
def test_running_difference_refuses_an_empty_arm(after, before):
    with pytest.raises(ValueError, match="Need 0 <= good <= n"):
        running_difference(after[0], after[1], before[0], before[1], 10.0)


def test_rho_at_ship_is_tuned_to_the_variance_expected_in_eight_weeks():
    rate = 51 / 102
    variance = rate * (1 - rate) * (1 / 100 + 1 / 200)

    assert rho_at_ship(50, 100, 200) == best_rho(1 / variance)
    assert rho_at_ship(100, 100, 200) > 0  # all right: still a variance
    with pytest.raises(ValueError, match="above 0"):
        rho_at_ship(50, 100, 0)
    with pytest.raises(ValueError, match="v_opt"):
        best_rho(0)


@given(st.floats(0.05, 0.6), st.integers(20, 2_000))
def test_runs_to_exclude_zero_is_the_first_number_that_does(difference, before_n):
    fixed, per_run, rho = 0.25 / before_n, 0.25, 50.0

    needed = runs_to_exclude_zero(difference, fixed, per_run, rho)

    def excludes(n: int) -> bool:
        low, _ = difference_interval(difference, fixed + per_run / n, rho)
        return low > 0

    if needed is None:
        assert not excludes(1_000_000)
    else:
        assert excludes(needed)
        assert needed == 1 or not excludes(needed - 1)


def test_runs_to_exclude_zero_is_none_where_nothing_differs():
    assert runs_to_exclude_zero(0.0, 0.001, 0.25, 50.0) is None
    assert runs_to_exclude_zero(0.3, 0.001, 0.0, 50.0) is None


WALKS = 4_000


@pytest.fixture(scope="module")
def walks() -> list[list[float]]:
    """Running z values of 20 looks at nothing, of many independent series."""
    rng = random.Random(4)
    series = []
    for _ in range(WALKS):
        total, values = 0.0, []
        for look in range(1, 21):
            total += rng.gauss()
            values.append(total / math.sqrt(look))
        series.append(values)
    return series


def _crossing(walks: list[list[float]], looks: int, critical: float) -> float:
    return sum(any(abs(z) > critical for z in w[:looks]) for w in walks) / len(walks)


@pytest.mark.parametrize(
    ("looks", "share"), [(1, 0.050), (2, 0.083), (5, 0.142), (10, 0.193), (20, 0.248)]
)
def test_weekly_looks_at_a_5_percent_test_raise_false_alarms(walks, looks, share):
    noise = math.sqrt(share * (1 - share) / WALKS)

    assert _crossing(walks, looks, Z95) == pytest.approx(share, abs=3 * noise)


@pytest.mark.parametrize("looks", POCOCK)
def test_pococks_constants_keep_5_percent(walks, looks):
    noise = math.sqrt(0.05 * 0.95 / WALKS)

    assert _crossing(walks, looks, POCOCK[looks]) == pytest.approx(0.05, abs=3 * noise)


@pytest.mark.parametrize(
    ("looks", "nominal"), [(2, "0.0294"), (5, "0.0158"), (10, "0.0106")]
)
def test_pococks_constants_have_the_printed_nominal_p(looks, nominal):
    assert math.erfc(POCOCK[looks] / math.sqrt(2)) == printed(nominal)


def test_the_mixture_bound_keeps_5_percent_over_all_looks(walks):
    rho = best_rho(8)

    false = sum(
        any(
            abs(z) * math.sqrt(look) > normal_mixture_bound(look, rho)
            for look, z in enumerate(walk, 1)
        )
        for walk in walks
    )

    assert false / WALKS <= 0.05
