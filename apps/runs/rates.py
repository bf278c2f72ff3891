"""Shares of runs and how far to trust them: Wilson, Newcombe, `Rate`. Pure.

Methods and the numbers they are tested against: sections 0 to 2 of the project's
statistics reference.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

Z95 = 1.959963984540054  # two-sided 95 %
COUNTS_ONLY_BELOW = 5  # known outcomes; a rate of fewer is noise
THIN_BELOW = 20  # known outcomes; a rate of fewer is greyed


class Interval(NamedTuple):
    """An estimate with its limits, all in the unit of `value`."""

    value: float
    low: float
    high: float


def wilson_interval(good: int, runs: int, z: float = Z95) -> tuple[float, float]:
    """Bound a recovery rate, honest also for few runs.

    `good` of `runs` runs that met the error still ended correctly. Returns
    (low, high) as fractions in 0..1; the default z covers 95 %. Raises ValueError
    unless 0 <= good <= runs and runs > 0: "no runs" must not read as "0 %".
    Source: Wilson 1927, J. Am. Stat. Assoc. 22:209-212.
    """
    check_counts(good, runs)
    return wilson_limits(good / runs, runs, z)


def wilson_limits(share: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Bound a share (0..1) seen in `n` trials; `n` may be an effective, broken one.

    Raises ValueError unless 0 <= share <= 1 and n > 0. All right ends at exactly
    1 and none right starts at exactly 0. Source: as `wilson_interval`.
    """
    if not 0 <= share <= 1 or not n > 0:
        raise ValueError(f"Need a share in 0..1 of n > 0, got {share} of {n}.")
    shrink = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrink
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / shrink
    low = 0.0 if share == 0 else min(max(centre - half, 0.0), share)
    high = 1.0 if share == 1 else max(min(centre + half, 1.0), share)
    return low, high


def difference_of(first: Interval, second: Interval) -> Interval:
    """Take `second` from `first`, two independent estimates with their limits.

    The limits keep each estimate's own skew: the hybrid ("MOVER") construction,
    Newcombe 1998, Stat. Med. 17:873-890.
    """
    value = first.value - second.value
    down = math.hypot(first.value - first.low, second.high - second.value)
    up = math.hypot(first.high - first.value, second.value - second.low)
    return Interval(value, value - down, value + up)


def newcombe_interval(
    after_good: int, after_n: int, before_good: int, before_n: int, z: float = Z95
) -> Interval:
    """Bound the rate after minus the rate before, in -1..1; the default z covers 95 %.

    Newcombe's hybrid score interval (his method 10). For one comparison of two
    independent groups, looked at once. Raises ValueError on counts that are none.
    Source: Newcombe 1998, Stat. Med. 17:873-890.
    """
    after = wilson_interval(after_good, after_n, z)
    before = wilson_interval(before_good, before_n, z)
    value, low, high = difference_of(
        Interval(after_good / after_n, *after),
        Interval(before_good / before_n, *before),
    )
    return Interval(value, max(low, -1.0), min(high, 1.0))


def check_counts(good: int, n: int) -> None:
    """Raise ValueError unless 0 <= good <= n and n > 0."""
    if n <= 0 or not 0 <= good <= n:
        raise ValueError(f"Need 0 <= good <= n and n > 0, got {good} of {n}.")


def unknown_bounds(correct: int, incorrect: int, unknown: int) -> tuple[float, float]:
    """Say what the rate would be with all unknown outcomes wrong, and all right.

    Fractions in 0..1; (0, 1) where there is no run at all. Raises ValueError on a
    negative count.
    """
    if min(correct, incorrect, unknown) < 0:
        raise ValueError(f"Negative count: {correct}, {incorrect}, {unknown}.")
    runs = correct + incorrect + unknown
    if runs == 0:
        return 0.0, 1.0
    return correct / runs, (correct + unknown) / runs


@dataclass(frozen=True, slots=True)
class Rate:
    """A recovery rate as every page shows it; build it with `Rate.of`."""

    good: int  # runs that ended correct
    n: int  # runs with a known outcome
    unknown: int  # runs whose outcome is unknown; in neither `good` nor `n`
    rate: float | None  # good / n; None only where n is 0
    low: float  # Wilson, 95 %; 0 where n is 0: nothing is known
    high: float  # Wilson, 95 %; 1 where n is 0
    bound_low: float  # if every unknown outcome were wrong
    bound_high: float  # if every unknown outcome were right

    @classmethod
    def of(cls, correct: int, incorrect: int, unknown: int = 0) -> Self:
        """Make the rate of runs by outcome. Raises ValueError on a negative count."""
        bound_low, bound_high = unknown_bounds(correct, incorrect, unknown)
        n = correct + incorrect
        low, high = wilson_interval(correct, n) if n else (0.0, 1.0)
        rate = correct / n if n else None
        return cls(correct, n, unknown, rate, low, high, bound_low, bound_high)

    @property
    def unknown_share(self) -> float | None:
        """Share of all runs whose outcome is unknown; None where there is no run."""
        runs = self.n + self.unknown
        return self.unknown / runs if runs else None

    @property
    def is_counts_only(self) -> bool:
        """True where there are too few known outcomes to print a rate."""
        return self.n < COUNTS_ONLY_BELOW

    @property
    def is_thin(self) -> bool:
        """True where the rate is to be greyed and shown with its interval."""
        return self.n < THIN_BELOW
