"""Recovery rates: exact bounds for rare cases, and how many runs a question takes.

The rate itself, its Wilson interval and the difference of two rates are in
`apps.runs.rates`, which the lower apps use too. Pure.
"""

import math
from statistics import NormalDist

from apps.runs.rates import (
    Z95,
    Interval,
    Rate,
    check_counts,
    newcombe_interval,
    unknown_bounds,
    wilson_interval,
    wilson_limits,
)
from apps.trends.bayes import Beta

__all__ = [
    "Z95",
    "Interval",
    "Rate",
    "clopper_pearson",
    "more_runs_needed",
    "newcombe_interval",
    "rule_of_three",
    "sample_size",
    "unknown_bounds",
    "upper_bound_if_never",
    "wilson_interval",
    "wilson_limits",
    "wilson_with_continuity",
]


def clopper_pearson(good: int, n: int, alpha: float = 0.05) -> tuple[float, float]:
    """Bound a rate so that it is covered with at least 1 - alpha, whatever it is.

    For claims of the kind "this never happened"; wider than Wilson. Returns
    fractions in 0..1. Raises ValueError unless 0 <= good <= n, n > 0 and
    0 < alpha < 1. Source: Clopper & Pearson 1934, Biometrika 26:404-413.
    """
    check_counts(good, n)
    _check_share(alpha)
    low = 0.0 if good == 0 else Beta(good, n - good + 1).quantile(alpha / 2)
    high = 1.0 if good == n else Beta(good + 1, n - good).quantile(1 - alpha / 2)
    return low, high


def wilson_with_continuity(good: int, n: int, z: float = Z95) -> tuple[float, float]:
    """Bound a rate by Wilson's interval with continuity correction, in 0..1.

    Raises ValueError unless 0 <= good <= n and n > 0. Source: Newcombe 1998,
    Stat. Med. 17:857-872, method 4.
    """
    check_counts(good, n)
    p = good / n
    q = 1 - p
    low, high = 0.0, 1.0
    if good > 0:
        root = z * z - 2 - 1 / n + 4 * p * (n * q + 1)
        low = (2 * n * p + z * z - 1 - z * math.sqrt(root)) / (2 * (n + z * z))
    if good < n:
        root = z * z + 2 - 1 / n + 4 * p * (n * q - 1)
        high = (2 * n * p + z * z + 1 + z * math.sqrt(root)) / (2 * (n + z * z))
    return min(max(low, 0.0), p), max(min(high, 1.0), p)


def rule_of_three(n: int) -> float:
    """Give the quick upper 95 % bound of a rate seen 0 times in `n`, at most 1.

    Raises ValueError unless n > 0. Source: Hanley & Lippman-Hand 1983, JAMA
    249:1743-1745.
    """
    check_counts(0, n)
    return min(3 / n, 1.0)


def upper_bound_if_never(n: int, alpha: float = 0.05) -> float:
    """Give the exact one-sided upper bound of a rate seen 0 times in `n`.

    Raises ValueError unless n > 0 and 0 < alpha < 1.
    """
    check_counts(0, n)
    _check_share(alpha)
    return 1 - math.exp(math.log(alpha) / n)


def sample_size(
    before: float, after: float, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Count the runs that each side needs to tell two rates (0..1) apart.

    For one look at the end, two-sided `alpha`, without continuity correction;
    rounded up. Weekly looks need more: `sequential.runs_to_exclude_zero`. Raises
    ValueError if the rates are equal or not in 0..1. Source: Fleiss, Levin & Paik
    2003, Statistical Methods for Rates and Proportions, section 4.2.
    """
    if not (0 <= before <= 1 and 0 <= after <= 1) or before == after:
        raise ValueError(f"Need two different rates in 0..1, got {before}, {after}.")
    _check_share(alpha)
    _check_share(power)
    z_alpha = NormalDist().inv_cdf(1 - alpha / 2)
    z_power = NormalDist().inv_cdf(power)
    mean = (before + after) / 2
    spread = z_alpha * math.sqrt(2 * mean * (1 - mean)) + z_power * math.sqrt(
        before * (1 - before) + after * (1 - after)
    )
    return math.ceil((spread / (after - before)) ** 2)


def more_runs_needed(before: float, after: float, runs_so_far: int) -> int:
    """Say how many runs one side still lacks: "about N more runs needed", from 0.

    Raises ValueError as `sample_size`, or if `runs_so_far` is negative.
    """
    if runs_so_far < 0:
        raise ValueError(f"Runs so far cannot be {runs_so_far}.")
    return max(sample_size(before, after) - runs_so_far, 0)


def _check_share(value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"Need a value between 0 and 1, got {value}.")
