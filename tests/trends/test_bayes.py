"""Section 3 of the statistics reference: B, shrinkage and the avoidable loss."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.rates import wilson_interval
from apps.trends.bayes import (
    UNIFORM,
    Beta,
    avoidable_loss,
    efron_morris,
    fit_prior,
    incomplete_beta,
    lift,
    posterior,
    prob_better,
    prob_better_by_quadrature,
    prob_better_exact,
    shrink,
)
from tests.printed import printed

HITS_OF_45 = [18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7]
shapes = st.floats(0.2, 2_000)


@pytest.mark.parametrize(
    ("good", "n", "mean", "sd", "low", "high"),
    [pytest.param(437, 980, "0.446", "0.016", "0.415", "0.477", id="B1")],
)
def test_posterior_gives_the_printed_moments_and_limits(good, n, mean, sd, low, high):
    got = posterior(good, n)

    assert got == Beta(438, 544)
    assert (got.mean, got.sd) == (printed(mean), printed(sd))
    assert got.interval() == (printed(low), printed(high))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param((3, 4), (1, 4), "0.2429", id="B2-tea"),
        pytest.param((9, 10), (3, 10), "0.00988", id="B2-tens"),
    ],
)
def test_prob_better_equals_fishers_one_sided_p(first, second, expected):
    (x1, n1), (x2, n2) = first, second

    got = prob_better(posterior(x2, n2, a=1, b=0), posterior(x1, n1, a=0, b=1))

    ways = [
        math.comb(n1, k) * math.comb(n2, x1 + x2 - k)
        for k in range(x1, min(n1, x1 + x2) + 1)
    ]
    assert got == pytest.approx(sum(ways) / math.comb(n1 + n2, x1 + x2))
    assert got == printed(expected)


@pytest.mark.parametrize(
    ("mean", "factor", "first"),
    [pytest.param("0.265", "0.212", "0.294", id="B3")],
)
def test_efron_morris_shrinks_the_batting_averages(mean, factor, first):
    got = efron_morris([hits / 45 for hits in HITS_OF_45], 45)

    assert got.mean == printed(mean)
    assert got.factor == printed(factor)
    assert got.rates[0] == printed(first)


def test_efron_morris_makes_equal_rates_equal_and_needs_four():
    assert efron_morris([0.5] * 4, 10).rates == (0.5,) * 4
    with pytest.raises(ValueError, match="at least four"):
        efron_morris([0.1, 0.2, 0.3], 45)


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [pytest.param(Beta(57, 15), Beta(49, 33), "0.995930", id="B4")],
)
@pytest.mark.parametrize("method", [prob_better_exact, prob_better_by_quadrature])
def test_prob_better_is_the_printed_one(method, after, before, expected):
    assert method(after, before) == printed(expected)


@given(st.integers(1, 300), shapes, shapes, shapes)
def test_closed_form_and_quadrature_agree(a, b, before_a, before_b):
    after, before = Beta(a, b), Beta(before_a, before_b)

    exact = prob_better_exact(after, before)

    assert prob_better_by_quadrature(after, before) == pytest.approx(exact, abs=1e-5)


@given(shapes, shapes, shapes, shapes)
def test_better_and_worse_sum_to_one(a, b, c, d):
    one, other = Beta(a, b), Beta(c, d)

    both = prob_better_by_quadrature(one, other) + prob_better_by_quadrature(other, one)

    assert both == pytest.approx(1, abs=1e-5)


def test_prob_better_of_a_broken_shape_goes_by_quadrature():
    with pytest.raises(ValueError, match="whole"):
        prob_better_exact(Beta(1.5, 2), Beta(1, 1))
    assert prob_better(Beta(1.5, 1), Beta(1, 1)) == pytest.approx(0.6)


@given(st.floats(0, 1), shapes, shapes)
def test_incomplete_beta_is_mirrored(x, a, b):
    got = incomplete_beta(x, a, b)

    assert 0 <= got <= 1 + 1e-9
    assert got == pytest.approx(1 - incomplete_beta(1 - x, b, a), abs=1e-8)


@given(st.integers(1, 40), st.integers(0, 39), st.floats(0.01, 0.99))
def test_incomplete_beta_is_the_binomial_tail(n, k, p):
    k = min(k, n - 1)
    tail = sum(math.comb(n, s) * p**s * (1 - p) ** (n - s) for s in range(k + 1, n + 1))

    assert incomplete_beta(p, k + 1, n - k) == pytest.approx(tail, abs=1e-10)


@given(st.floats(0.001, 0.999), shapes, shapes)
def test_quantile_inverts_the_cdf(share, a, b):
    x = Beta(a, b).quantile(share)

    assert 0 <= x <= 1
    if 1e-12 < x < 1 - 1e-12:  # nearer to an end a float cannot hold the answer
        assert Beta(a, b).cdf(x) == pytest.approx(share, abs=1e-6)


def test_quantile_at_the_ends_and_outside():
    assert (UNIFORM.quantile(0), UNIFORM.quantile(1)) == (0.0, 1.0)
    with pytest.raises(ValueError, match="needs a share"):
        UNIFORM.quantile(1.1)


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0), (-1, 2), (math.nan, 1)])
def test_beta_refuses_what_is_no_distribution(a, b):
    with pytest.raises(ValueError, match="a > 0"):
        Beta(a, b)


def test_posterior_of_no_runs_is_the_prior():
    assert posterior(0, 0, 7, 3) == Beta(7, 3)
    with pytest.raises(ValueError, match="good <= n"):
        posterior(2, 1)


def test_lift_is_the_same_twice_and_holds_its_value():
    one, other = Beta(57, 15), Beta(49, 33)

    got = lift(one, other)

    assert got == lift(one, other)
    assert got.points.low < got.points.value < got.points.high
    assert got.points.value == pytest.approx(57 / 72 - 49 / 82)
    assert got.ratio.low > 1


def test_fit_prior_finds_the_spread_that_made_the_codes():
    rng = random.Random(3)
    codes = []
    for _ in range(400):
        n, rate = rng.randint(5, 300), rng.betavariate(7, 3)
        codes.append((sum(rng.random() < rate for _ in range(n)), n))

    got = fit_prior(codes)

    assert got.mean == pytest.approx(0.7, abs=0.02)
    assert got.a + got.b == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize(
    "codes",
    [
        pytest.param([], id="none"),
        pytest.param([(7, 10)] * 9 + [(3, 9)] * 50, id="nine-with-ten-runs"),
        pytest.param([(10, 10)] * 20, id="all-right"),
        pytest.param([(0, 10)] * 20, id="all-wrong"),
        pytest.param([(0, 0)] * 20, id="empty"),
    ],
)
def test_fit_prior_falls_back_to_uniform(codes):
    assert fit_prior(codes) == UNIFORM


def test_fit_prior_of_equal_codes_weighs_no_more_than_all_their_runs():
    got = fit_prior([(7, 10)] * 12)

    assert got.mean == pytest.approx(0.7)
    assert got.a + got.b == pytest.approx(120)


@given(st.integers(0, 50), st.integers(0, 50))
def test_shrink_stays_between_the_rate_and_the_prior(good, bad):
    got = shrink(good, good + bad, Beta(7, 3))

    rate = good / (good + bad) if good + bad else 0.7
    assert min(rate, 0.7) - 1e-12 <= got <= max(rate, 0.7) + 1e-12


def test_avoidable_loss_is_what_the_design_says():
    prior = Beta(7, 3)

    got = avoidable_loss(good=40, n=80, clean_good=90, clean_n=100, prior=prior)

    assert got is not None
    assert got.shrunk_rate == 47 / 90
    assert got.runs_per_week == pytest.approx((0.9 - 47 / 90) * 80 / 4)
    low, high = wilson_interval(90, 100)
    code_low, code_high = Beta(47, 43).interval()
    down = math.hypot(0.9 - low, code_high - 47 / 90)
    up = math.hypot(high - 0.9, 47 / 90 - code_low)
    assert got.low == pytest.approx(got.runs_per_week - down * 20)
    assert got.high == pytest.approx(got.runs_per_week + up * 20)


def test_two_of_three_do_not_lead_the_list():
    prior = Beta(7, 3)

    rare = avoidable_loss(1, 3, 950, 1_000, prior)
    common = avoidable_loss(120, 200, 950, 1_000, prior)

    assert rare is not None
    assert common is not None
    assert common.runs_per_week > 20 * rare.runs_per_week


def test_avoidable_loss_of_no_runs_is_nothing_and_without_clean_runs_unknown():
    nothing = avoidable_loss(0, 0, 9, 10, Beta(7, 3))

    assert nothing is not None
    assert (nothing.low, nothing.runs_per_week, nothing.high) == (0, 0, 0)
    assert avoidable_loss(1, 2, 0, 0, Beta(7, 3)) is None


def test_avoidable_loss_falls_below_zero_for_a_code_better_than_clean_runs():
    got = avoidable_loss(95, 100, 50, 100, Beta(7, 3))

    assert got is not None
    assert got.runs_per_week < 0
