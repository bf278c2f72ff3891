"""Section 5b of the statistics reference: I.

The published case I1 (a smoking ban, 59 months) is not reproduced: its data are not
shipped with this project. Its shape is tested on series made from a known model, and
the regression on a table whose answer is known in closed form.
"""

import math
import random

import pytest

from apps.trends.interrupted import fit_poisson, interrupted_series
from tests.printed import printed

MONTHS = 59
FIRST_AFTER = 36


def made_series(
    ratio: float, rng: random.Random, overdispersion: float = 0.0
) -> tuple[list[int], list[float]]:
    """Monthly counts around 800, rising 0.5 % a month, with a step of `ratio`."""
    counts: list[int] = []
    exposures: list[float] = []
    for month in range(MONTHS):
        exposure = 370_000 + 300 * month
        mean = exposure * 0.0021 * 1.005**month * (ratio if month >= FIRST_AFTER else 1)
        if overdispersion:
            mean *= rng.gammavariate(1 / overdispersion, overdispersion)
        counts.append(round(rng.gauss(mean, math.sqrt(mean))))
        exposures.append(exposure)
    return counts, exposures


@pytest.mark.parametrize("ratio", [pytest.param(0.894, id="I1-made"), 1.0, 1.3])
def test_interrupted_series_finds_the_step_that_made_it(ratio):
    rng = random.Random(1)
    held, found = 0, []
    for _ in range(100):
        got = interrupted_series(*made_series(ratio, rng), FIRST_AFTER)
        found.append(got.step.value)
        held += got.step.low <= ratio <= got.step.high

    assert sum(found) / len(found) == pytest.approx(ratio, abs=0.005)
    assert 89 <= held <= 100


def test_overdispersion_widens_the_limits_until_they_hold():
    rng = random.Random(2)
    plain = quasi = 0
    scales = []
    for _ in range(100):
        got = interrupted_series(*made_series(0.9, rng, 0.003), FIRST_AFTER)
        plain += got.step.low <= 0.9 <= got.step.high
        quasi += got.step_quasi.low <= 0.9 <= got.step_quasi.high
        scales.append(got.dispersion)

    assert sum(scales) / len(scales) == pytest.approx(3.5, abs=0.5)
    assert plain < 85
    assert quasi >= 89


def test_exact_counts_give_back_step_trend_and_slope():
    weeks, exposures = range(40), [1e7] * 40
    counts = [
        round(
            1e6
            * 1.01**week
            * (0.8 * 0.98 ** (week - 20) if week >= 20 else 1)
            * math.exp(0.1 * math.sin(2 * math.pi * week / 10))
        )
        for week in weeks
    ]

    got = interrupted_series(counts, exposures, 20, slope_changes=True, season_weeks=10)

    assert got.step.value == pytest.approx(0.8, abs=1e-4)
    assert got.trend.value == pytest.approx(1.01, abs=1e-5)
    assert got.slope is not None
    assert got.slope.value == pytest.approx(0.98, abs=1e-5)


def test_poisson_of_two_groups_is_the_closed_form():
    rows = [[1.0, 0.0]] * 3 + [[1.0, 1.0]] * 3
    counts = [8, 12, 10, 21, 19, 20]

    fit = fit_poisson(rows, counts, [100.0] * 6)

    ratio = fit.rate_ratio(1)
    assert ratio.value == pytest.approx(2)
    assert fit.covariance[1][1] == pytest.approx(1 / 30 + 1 / 60)
    assert fit.dispersion == pytest.approx((8 / 10 + 2 / 20) / 4)
    assert ratio.low == printed("1.290")


def test_autocorrelated_weeks_are_reported():
    wave = [round(1_000 + 200 * math.sin(week / 3)) for week in range(40)]

    got = interrupted_series(wave, [1.0] * 40, 20)

    assert got.autocorrelation > 0.5
    assert got.is_autocorrelated


def test_constant_counts_have_no_dispersion_and_no_step():
    got = interrupted_series([100] * 20, [1.0] * 20, 10)

    assert got.step.value == pytest.approx(1)
    assert got.dispersion == pytest.approx(0, abs=1e-9)
    assert got.step_quasi == got.step  # a scale below 1 is taken as 1


@pytest.mark.parametrize(("weeks", "first_after"), [(15, 8), (15, 7), (0, 0), (20, 13)])
def test_interrupted_series_needs_eight_weeks_on_each_side(weeks, first_after):
    with pytest.raises(ValueError, match="8 weeks"):
        interrupted_series([5] * weeks, [1.0] * weeks, first_after)


def test_interrupted_series_needs_a_whole_season():
    with pytest.raises(ValueError, match="whole cycle"):
        interrupted_series([5] * 20, [1.0] * 20, 10, season_weeks=52.18)


@pytest.mark.parametrize(
    ("rows", "counts", "exposures", "message"),
    [
        ([], [], [], "be there"),
        ([[1.0], [1.0, 2.0]], [1, 2], [1, 1], "one length"),
        ([[1.0]] * 3, [1, 2], [1, 1, 1], "as many"),
        ([[1.0]], [1], [1], "more rows"),
        ([[1.0]] * 3, [1, -2, 3], [1, 1, 1], "negative"),
        ([[1.0]] * 3, [1, 2, 3], [1, 0, 1], "above 0"),
        ([[1.0, 2.0]] * 3, [1, 2, 3], [1, 1, 1], "says nothing"),
        ([[1.0, 0.0]] * 3 + [[1.0, 1.0]] * 3, [0] * 3 + [5] * 3, [1] * 6, "settle"),
    ],
)
def test_fit_poisson_refuses_what_has_no_answer(rows, counts, exposures, message):
    with pytest.raises(ValueError, match=message):
        fit_poisson(rows, counts, exposures)
