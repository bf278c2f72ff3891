"""Interrupted time series: a step in a weekly rate, its trend taken out. Pure.

Section 5b of the project's statistics reference: Poisson regression by iteratively
reweighted least squares, with a quasi-likelihood scale for overdispersion.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from apps.runs.rates import Z95, Interval

MIN_WEEKS = 8  # on each side
SEASON_HARMONICS = 2
_SETTLED = 1e-10  # change of a coefficient after which the fit has converged
_UNSETTLED = "The fit does not settle; one side may hold no event at all."


@dataclass(frozen=True, slots=True)
class PoissonFit:
    """A Poisson regression with log link."""

    coefficients: tuple[float, ...]  # in the order of the columns; log rate ratios
    covariance: tuple[tuple[float, ...], ...]  # at scale 1
    dispersion: float  # Pearson chi2 / df; 1 if counts vary as Poisson ones do
    residuals: tuple[float, ...]  # Pearson, in the order of the rows

    def rate_ratio(self, column: int, z: float = Z95, scale: float = 1.0) -> Interval:
        """Give exp(coefficient) with limits; scale=dispersion gives quasi-Poisson."""
        middle = self.coefficients[column]
        half = z * math.sqrt(scale * self.covariance[column][column])
        return Interval(
            math.exp(middle), math.exp(middle - half), math.exp(middle + half)
        )


def fit_poisson(
    rows: Sequence[Sequence[float]], counts: Sequence[int], exposures: Sequence[float]
) -> PoissonFit:
    """Fit counts ~ exposures x exp(rows . coefficients); every exposure > 0.

    Raises ValueError if the shapes differ, an exposure or a count is out of range,
    there are no more rows than columns, a column is a mixture of others, or the fit
    does not settle. Source: McCullagh & Nelder 1989, Generalized Linear Models, 2.5.
    """
    _check_shapes(rows, counts, exposures)
    offsets = [math.log(exposure) for exposure in exposures]
    means = [count + 0.5 for count in counts]
    width = len(rows[0])
    coefficients = [0.0] * width
    for _ in range(50):
        working = [
            math.log(mean) - offset + (count - mean) / mean
            for count, mean, offset in zip(counts, means, offsets, strict=True)
        ]
        right = [
            math.fsum(
                m * row[i] * y for m, row, y in zip(means, rows, working, strict=True)
            )
            for i in range(width)
        ]
        inverse = _inverse(_information(rows, means))
        previous = coefficients
        coefficients = [
            math.fsum(x * y for x, y in zip(line, right, strict=True))
            for line in inverse
        ]
        means = [
            exposure * math.exp(_dot(row, coefficients))
            for row, exposure in zip(rows, exposures, strict=True)
        ]
        if min(means) < 1e-9:  # towards log 0: no rate ratio is large enough
            raise ValueError(_UNSETTLED)
        moved = zip(previous, coefficients, strict=True)
        if max(abs(old - new) for old, new in moved) < _SETTLED:
            break
    else:
        raise ValueError(_UNSETTLED)
    covariance = _inverse(_information(rows, means))
    residuals = tuple(
        (count - mean) / math.sqrt(mean)
        for count, mean in zip(counts, means, strict=True)
    )
    dispersion = math.fsum(r * r for r in residuals) / (len(rows) - width)
    return PoissonFit(
        tuple(coefficients), tuple(map(tuple, covariance)), dispersion, residuals
    )


@dataclass(frozen=True, slots=True)
class Interruption:
    """The change of a weekly rate at one week."""

    step: Interval  # rate ratio, Poisson limits
    step_quasi: Interval  # same, limits widened by the dispersion
    slope: Interval | None  # change of the weekly rate ratio afterwards, quasi limits
    trend: Interval  # rate ratio a week before the change, quasi limits
    dispersion: float
    autocorrelation: float  # of the residuals at lag 1, -1..1
    weeks: int

    @property
    def is_autocorrelated(self) -> bool:
        """True where neighbouring weeks resemble each other: limits too narrow."""
        return abs(self.autocorrelation) > Z95 / math.sqrt(self.weeks)


def interrupted_series(
    counts: Sequence[int],
    exposures: Sequence[float],
    first_after: int,
    slope_changes: bool = False,
    season_weeks: float | None = None,
) -> Interruption:
    """Estimate the step of counts / exposures at week index `first_after` (from 0).

    Choose the shape beforehand: a step, or with `slope_changes` a step and another
    slope. `season_weeks` (52.18 for a year) takes out two harmonics and needs a full
    season. A scale below 1 is taken as 1. Raises ValueError for fewer than 8 weeks on a
    side, too short a season, or as `fit_poisson`. Source: Lopez Bernal, Cummins &
    Gasparrini 2017, Int. J. Epidemiol. 46:348-355.
    """
    weeks = len(counts)
    if first_after < MIN_WEEKS or weeks - first_after < MIN_WEEKS:
        raise ValueError(f"Need {MIN_WEEKS} weeks on each side of the change.")
    if season_weeks is not None and weeks < season_weeks:
        raise ValueError("A season needs at least one whole cycle of weeks.")
    rows = []
    for week in range(weeks):
        after = float(week >= first_after)
        row = [1.0, after, float(week)]
        if slope_changes:
            row.append(after * (week - first_after))
        if season_weeks is not None:
            for k in range(1, SEASON_HARMONICS + 1):
                angle = 2 * math.pi * k * week / season_weeks
                row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    fit = fit_poisson(rows, counts, exposures)
    scale = max(fit.dispersion, 1.0)
    return Interruption(
        step=fit.rate_ratio(1),
        step_quasi=fit.rate_ratio(1, scale=scale),
        slope=fit.rate_ratio(3, scale=scale) if slope_changes else None,
        trend=fit.rate_ratio(2, scale=scale),
        dispersion=fit.dispersion,
        autocorrelation=_lag_one(fit.residuals),
        weeks=weeks,
    )


def _check_shapes(
    rows: Sequence[Sequence[float]], counts: Sequence[int], exposures: Sequence[float]
) -> None:
    if not rows or len({len(row) for row in rows}) != 1:
        raise ValueError("Rows must be there and be of one length.")
    if not len(rows) == len(counts) == len(exposures):
        raise ValueError("Rows, counts and exposures must be as many.")
    if len(rows) <= len(rows[0]):
        raise ValueError("Need more rows than columns.")
    if min(counts) < 0 or not min(exposures) > 0:
        raise ValueError("Counts must not be negative, exposures must be above 0.")


def _information(
    rows: Sequence[Sequence[float]], weights: Sequence[float]
) -> list[list[float]]:
    width = range(len(rows[0]))
    return [
        [
            math.fsum(w * row[i] * row[j] for w, row in zip(weights, rows, strict=True))
            for j in width
        ]
        for i in width
    ]


def _inverse(matrix: list[list[float]]) -> list[list[float]]:
    """Invert by Gauss-Jordan with pivoting; ValueError where it is singular."""
    size = len(matrix)
    wide = [
        [*line, *(float(i == j) for j in range(size))] for i, line in enumerate(matrix)
    ]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(wide[k][i]))
        wide[i], wide[pivot] = wide[pivot], wide[i]
        head = wide[i][i]
        if abs(head) <= 1e-12 * max(abs(matrix[i][i]), 1e-300):
            raise ValueError("One column says nothing that the others do not.")
        wide[i] = [value / head for value in wide[i]]
        for k in range(size):
            if k != i and wide[k][i]:
                factor = wide[k][i]
                wide[k] = [
                    x - factor * y for x, y in zip(wide[k], wide[i], strict=True)
                ]
    return [line[size:] for line in wide]


def _dot(row: Sequence[float], coefficients: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(row, coefficients, strict=True))


def _lag_one(residuals: Sequence[float]) -> float:
    mean = math.fsum(residuals) / len(residuals)
    centred = [r - mean for r in residuals]
    total = math.fsum(r * r for r in centred)
    if total <= 0:
        return 0.0
    return math.fsum(x * y for x, y in pairwise(centred)) / total
