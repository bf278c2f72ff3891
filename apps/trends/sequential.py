"""Intervals and p values that stay valid though a team looks every week. Pure.

Section 4 of the project's statistics reference: confidence sequences for the rate
of one version (4a, 4b) and for a difference (4c). Each holds at all looks at once
with probability 1 - alpha.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from apps.runs.rates import check_counts
from apps.trends.bayes import log_beta

TUNED_WEEKS = 8  # of expected traffic; the look at which 4c is tightest
POCOCK = {2: 2.178, 5: 2.413, 10: 2.555}  # critical z by looks, alpha 0.05 (1977)


def log_beta_mixture(
    rate: float, good: int, n: int, a: float = 1.0, b: float = 1.0
) -> float:
    """Log of the evidence against `rate` (0 < rate < 1) after `good` of `n`.

    Its exponential is a martingale that starts at 1 if `rate` is the true one.
    Source: Robbins 1970, Ann. Math. Stat. 41:1397-1409.
    """
    mixed = log_beta(a + good, b + n - good) - log_beta(a, b)
    return mixed - good * math.log(rate) - (n - good) * math.log1p(-rate)


def beta_mixture_interval(
    good: int, n: int, alpha: float = 0.05, a: float = 1.0, b: float = 1.0
) -> tuple[float, float]:
    """Bound the rate of one version at every n at once (4a), in 0..1.

    (0, 1) where n is 0. Raises ValueError unless 0 <= good <= n. Source: as
    `log_beta_mixture`.
    """
    return _sequence(good, n, alpha, lambda p: log_beta_mixture(p, good, n, a, b))


def tuned_beta_interval(
    good: int, n: int, n_opt: float, alpha: float = 0.05
) -> tuple[float, float]:
    """As `beta_mixture_interval`, tightest when `n_opt` runs are in (4b).

    Source: Howard, Ramdas, McAuliffe & Sekhon 2021, Ann. Stat. 49:1055-1080.
    """

    def evidence(p: float) -> float:
        g, h = p, 1 - p
        rho = best_rho(n_opt * g * h, 0.05)
        r = max(rho - g * h, 0.001 * g * h)
        return log_beta_mixture(p, good, n, r / h, r / g)

    return _sequence(good, n, alpha, evidence)


def _sequence(
    good: int, n: int, alpha: float, evidence: Callable[[float], float]
) -> tuple[float, float]:
    """Find both ends of {p : evidence(p) < log(1 / alpha)} around good / n."""
    if n == 0 and good == 0:
        return 0.0, 1.0
    check_counts(good, n)
    limit = math.log(1 / alpha)
    share = good / n

    def end(outside: float) -> float:
        inside = share
        for _ in range(60):
            middle = (inside + outside) / 2
            if middle in (inside, outside):  # no number lies between them
                break
            if evidence(middle) < limit:
                inside = middle
            else:
                outside = middle
        return outside

    return (0.0 if good == 0 else end(0.0)), (1.0 if good == n else end(1.0))


def best_rho(v_opt: float, alpha: float = 0.05) -> float:
    """Tune a mixture so that its bound is tightest when the variance is `v_opt`.

    `v_opt` is in the unit of V, as the result is. Raises ValueError unless v_opt > 0
    and 0 < alpha < 1. Source: Howard et al. 2021, section 3.5.
    """
    if not v_opt > 0 or not 0 < alpha < 1:
        raise ValueError(f"Need v_opt > 0 and 0 < alpha < 1, got {v_opt}, {alpha}.")
    spent = 2 * math.log(1 / alpha)
    return v_opt / (spent + math.log1p(spent))


def rho_at_ship(
    before_good: int, before_n: int, after_n_expected: float, alpha: float = 0.05
) -> float:
    """Fix rho when a rewrite ships, from the traffic expected in eight weeks (4c).

    `before_good` of `before_n` runs of the baseline ended correct; `after_n_expected`
    known outcomes are expected in `TUNED_WEEKS` weeks. The rate is smoothed by one
    run each way. Raises ValueError unless before_n > 0 and after_n_expected > 0.
    """
    check_counts(before_good, before_n)
    if not after_n_expected > 0:
        raise ValueError(f"Expected traffic must be above 0, got {after_n_expected}.")
    rate = (before_good + 1) / (before_n + 2)
    variance = rate * (1 - rate) * (1 / before_n + 1 / after_n_expected)
    return best_rho(1 / variance, alpha)


def normal_mixture_bound(v: float, rho: float, alpha: float = 0.05) -> float:
    """Bound a sum |S| with variance process `v` at all times at once (4c).

    Source: Robbins 1970; Howard et al. 2021, equation 14, two-sided.
    """
    return math.sqrt((v + rho) * math.log((v + rho) / (rho * alpha * alpha)))


def log_normal_mixture(s: float, v: float, rho: float) -> float:
    """Log of the evidence against "no drift" after a sum `s` of variance `v`."""
    return s * s / (2 * (v + rho)) - math.log((v + rho) / rho) / 2


def always_valid_p(difference: float, variance: float, rho: float) -> float:
    """Give the p value of a difference at any look, chosen as one likes; in 0..1.

    At most alpha exactly where `difference_interval` leaves 0 out. `variance` is of
    the difference; 1.0 where it is 0: a variance of 0 is too little data, not
    certainty. Source: Johari, Koomen, Pekelis & Walsh 2022, Oper. Res. 70:1806-1821.
    """
    if variance <= 0:
        return 1.0
    v = 1 / variance
    return min(math.exp(-log_normal_mixture(difference * v, v, rho)), 1.0)


def difference_interval(
    difference: float, variance: float, rho: float, alpha: float = 0.05
) -> tuple[float, float]:
    """Bound a difference of rates (-1..1) at every look at once (4c).

    `variance` is of the difference, `rho` as fixed at ship. (-1, 1) where the
    variance is 0. Asymptotic: ask for 20 known outcomes in each arm.
    """
    if variance <= 0:
        return -1.0, 1.0
    half = normal_mixture_bound(1 / variance, rho, alpha) * variance
    return max(difference - half, -1.0), min(difference + half, 1.0)


@dataclass(frozen=True, slots=True)
class RunningDifference:
    """After minus before at one look, with its always-valid interval and p."""

    value: float  # -1..1
    low: float
    high: float
    p: float
    variance: float  # of `value`, at one fixed look


def running_difference(
    after_good: int,
    after_n: int,
    before_good: int,
    before_n: int,
    rho: float,
    alpha: float = 0.05,
) -> RunningDifference:
    """Compare two independent arms of runs at one of many looks (4c).

    Raises ValueError on counts that are none; n = 0 is not a difference of 0.
    """
    check_counts(after_good, after_n)
    check_counts(before_good, before_n)
    after, before = after_good / after_n, before_good / before_n
    variance = after * (1 - after) / after_n + before * (1 - before) / before_n
    value = after - before
    low, high = difference_interval(value, variance, rho, alpha)
    p = always_valid_p(value, variance, rho)
    return RunningDifference(value, low, high, p, variance)


def runs_to_exclude_zero(
    difference: float,
    fixed_variance: float,
    variance_per_run: float,
    rho: float,
    alpha: float = 0.05,
    limit: int = 1_000_000,
) -> int | None:
    """Count the runs after which 4c leaves out 0, should `difference` stay as it is.

    The variance after n runs is fixed_variance + variance_per_run / n; the fixed
    part is the baseline's. None where no number up to `limit` is enough: the
    baseline is too small for so small a difference.
    """
    level = math.log(1 / alpha)

    def excludes(n: int) -> bool:
        v = 1 / (fixed_variance + variance_per_run / n)
        return log_normal_mixture(difference * v, v, rho) >= level

    if variance_per_run <= 0 or not excludes(limit):
        return None
    few, enough = 0, limit
    while enough - few > 1:
        middle = (few + enough) // 2
        if excludes(middle):
            enough = middle
        else:
            few = middle
    return enough
