"""Beta-binomial rates: posterior, shrinkage over codes, avoidable loss. Pure.

Section 3 of the project's statistics reference. None of this is protected against
weekly looks: to stop and decide, use `sequential`.
"""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from apps.runs.rates import Interval, check_counts, difference_of, wilson_interval

MIN_CODES = 10  # with MIN_RUNS each: fewer cannot show how codes spread
MIN_RUNS = 10
LOSS_WEEKS = 4  # full weeks that the avoidable loss looks back on
_CLOSED_FORM_TERMS = 2_000  # beyond this the quadrature is faster, and as exact


@dataclass(frozen=True, slots=True)
class Beta:
    """A Beta distribution of a rate. Raises ValueError unless a > 0 and b > 0."""

    a: float  # weight of the good
    b: float  # weight of the bad

    def __post_init__(self) -> None:
        if not (self.a > 0 and self.b > 0):
            raise ValueError(f"Beta needs a > 0 and b > 0, got {self.a}, {self.b}.")

    @property
    def mean(self) -> float:
        """Expected rate, 0..1."""
        return self.a / (self.a + self.b)

    @property
    def sd(self) -> float:
        """Standard deviation of the rate."""
        total = self.a + self.b
        return math.sqrt(self.a * self.b / (total + 1)) / total

    def cdf(self, rate: float) -> float:
        """Probability that the rate is at most `rate`."""
        return incomplete_beta(rate, self.a, self.b)

    def quantile(self, share: float) -> float:
        """Give the rate below which lies `share` of the mass; share in 0..1.

        Newton's steps inside a shrinking bracket, to about 1e-14. Raises ValueError
        if `share` is outside 0..1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"A quantile needs a share in 0..1, got {share}.")
        if share in (0, 1):
            return float(share)
        low, high = 0.0, 1.0
        x = self.mean + NormalDist().inv_cdf(share) * self.sd
        log_norm = log_beta(self.a, self.b)
        for _ in range(200):
            if not low < x < high:
                x = (low + high) / 2
            miss = self.cdf(x) - share
            if miss > 0:
                high = x
            else:
                low = x
            log_density = (
                (self.a - 1) * math.log(x) + (self.b - 1) * math.log1p(-x) - log_norm
            )
            step = miss / math.exp(log_density) if log_density > -600 else math.inf
            if abs(step) <= 1e-14 * x or high - low <= 1e-16:
                break
            x -= step
        return x

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Give the central interval that holds `level` of the mass."""
        tail = (1 - level) / 2
        return self.quantile(tail), self.quantile(1 - tail)


UNIFORM = Beta(1, 1)


def log_beta(a: float, b: float) -> float:
    """Natural logarithm of the Beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b), in 0..1.

    Lentz's continued fraction. Source: Abramowitz & Stegun 26.5.8.
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c = 1.0
    d = 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 20_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def posterior(good: int, n: int, a: float = 1.0, b: float = 1.0) -> Beta:
    """Update the prior Beta(a, b) by `good` of `n` runs; n may be 0.

    a or b may be 0 as long as the outcome is proper. Raises ValueError else, or
    unless 0 <= good <= n.
    """
    if not 0 <= good <= n:
        raise ValueError(f"Need 0 <= good <= n, got {good} of {n}.")
    return Beta(a + good, b + n - good)


def prob_better(after: Beta, before: Beta) -> float:
    """Probability that a rate drawn from `after` exceeds one drawn from `before`.

    Exact sum where `after.a` is a whole number, else quadrature. Not a stopping
    rule. Source: Altham 1969, J. R. Stat. Soc. B 31:261-269.
    """
    if after.a == int(after.a) and after.a <= _CLOSED_FORM_TERMS:
        return prob_better_exact(after, before)
    return prob_better_by_quadrature(after, before)


def prob_better_exact(after: Beta, before: Beta) -> float:
    """As `prob_better`, by the finite sum. Raises ValueError if after.a is broken."""
    if after.a != int(after.a):
        raise ValueError(f"The closed form needs a whole after.a, got {after.a}.")
    rest = before.b + after.b
    log_term = log_beta(before.a, rest) - log_beta(before.a, before.b)
    terms = []
    for i in range(int(after.a)):
        terms.append(math.exp(log_term))
        log_term += math.log(
            (before.a + i) / (before.a + i + rest) * ((after.b + i) / (1 + i))
        )
    return min(math.fsum(terms), 1.0)


def prob_better_by_quadrature(after: Beta, before: Beta) -> float:
    """As `prob_better`, by integrating one density times the other's cdf.

    The narrower one gives the density: a steep cdf would fall between the nodes.
    """
    if before.sd < after.sd:
        return 1 - prob_better_by_quadrature(before, after)
    log_norm = log_beta(after.a, after.b)

    def mass(t: float, rest: float) -> float:
        log_density = (after.a - 1) * math.log(t) + (after.b - 1) * math.log(rest)
        return math.exp(log_density - log_norm) * before.cdf(t)

    reach = 25 * after.sd
    value = _integrate(mass, max(after.mean - reach, 0), min(after.mean + reach, 1))
    return min(max(value, 0.0), 1.0)


def _integrate(f: Callable[[float, float], float], low: float, high: float) -> float:
    """Tanh-sinh rule over low..high for f(t, 1 - t); ends may be singular."""
    width = high - low
    step = 1 / 64
    parts = []
    for k in range(-288, 289):
        x = math.pi / 2 * math.sinh(k * step)
        share = 1 / (1 + math.exp(-2 * x))
        t = low + width * share
        rest = (1 - high) + width / (1 + math.exp(2 * x))
        if t > 0 and rest > 0:
            slope = math.pi / 4 * math.cosh(k * step) / math.cosh(x) ** 2
            parts.append(f(t, rest) * slope)
    return width * step * math.fsum(parts)


@dataclass(frozen=True, slots=True)
class Lift:
    """How much better `after` is than `before`, with posterior intervals."""

    points: Interval  # after - before, -1..1
    ratio: Interval  # after / before


def lift(
    after: Beta, before: Beta, level: float = 0.95, draws: int = 4_000, seed: int = 1
) -> Lift:
    """Compare two posteriors by draws with a fixed seed; equal input, equal output."""
    rng = random.Random(seed)  # noqa: S311 - draws for figures, no secret
    pairs = [
        (rng.betavariate(after.a, after.b), rng.betavariate(before.a, before.b))
        for _ in range(draws)
    ]
    points = sorted(new - old for new, old in pairs)
    ratios = sorted(new / old if old > 0 else math.inf for new, old in pairs)
    cut = int(draws * (1 - level) / 2)
    return Lift(
        Interval(after.mean - before.mean, points[cut], points[-cut - 1]),
        Interval(after.mean / before.mean, ratios[cut], ratios[-cut - 1]),
    )


def fit_prior(codes: Iterable[tuple[int, int]]) -> Beta:
    """Fit the Beta that the codes' rates spread by, from (good, n) of each code.

    By moments with weights that follow the fit; cheap enough for a page. Beta(1, 1)
    where fewer than 10 codes have 10 runs, or all rates are 0 or all 1. Where the
    codes vary no more than chance, the prior weighs as much as all their runs, not
    more. Raises ValueError on good > n. Source: Kleinman 1973, J. Am. Stat. Assoc.
    68:46-54.
    """
    seen = [(good, n) for good, n in codes if n]
    for good, n in seen:
        check_counts(good, n)
    if sum(n >= MIN_RUNS for _, n in seen) < MIN_CODES:
        return UNIFORM
    runs = sum(n for _, n in seen)
    spread = 1.0  # correlation within a code, 1 / (a + b + 1); 1 weighs codes alike
    mean = 0.0
    for _ in range(100):
        weights = [n / (1 + spread * (n - 1)) for _, n in seen]
        mean, next_spread = _moments(seen, weights)
        if not 0 < mean < 1:
            return UNIFORM
        next_spread = min(max(next_spread, 1 / (runs + 1)), 0.9)
        if abs(next_spread - spread) < 1e-10:
            break
        spread = next_spread
    strength = 1 / spread - 1
    return Beta(mean * strength, (1 - mean) * strength)


def _moments(
    codes: Sequence[tuple[int, int]], weights: Sequence[float]
) -> tuple[float, float]:
    total = math.fsum(weights)
    pairs = list(zip(codes, weights, strict=True))
    mean = math.fsum(w * good / n for (good, n), w in pairs) / total
    noise = mean * (1 - mean)
    if noise <= 0:
        return mean, 0.0
    seen = math.fsum(w * (good / n - mean) ** 2 for (good, n), w in pairs)
    free = math.fsum(w * (1 - w / total) for w in weights)
    by_chance = math.fsum(w / n * (1 - w / total) for (_, n), w in pairs)
    if free <= by_chance:
        return mean, 0.0
    return mean, (seen - noise * by_chance) / (noise * (free - by_chance))


def shrink(good: int, n: int, prior: Beta) -> float:
    """Pull a code's rate towards what codes have in common; n may be 0. In 0..1."""
    return posterior(good, n, prior.a, prior.b).mean


@dataclass(frozen=True, slots=True)
class Shrunk:
    """Rates pulled to their mean by one common factor."""

    mean: float
    factor: float  # 1 keeps each rate, 0 makes all equal to the mean
    rates: tuple[float, ...]  # in the order given


def efron_morris(rates: Sequence[float], trials: int) -> Shrunk:
    """Shrink rates (0..1) that all rest on the same number of trials.

    Raises ValueError for fewer than four rates or trials < 1. Source: Efron &
    Morris 1977, Scientific American 236(5):119-127.
    """
    if len(rates) < 4 or trials < 1:
        raise ValueError("Shrinkage needs at least four rates of one trial or more.")
    mean = math.fsum(rates) / len(rates)
    seen = math.fsum((rate - mean) ** 2 for rate in rates)
    by_chance = (len(rates) - 3) * mean * (1 - mean) / trials
    factor = max(1 - by_chance / seen, 0.0) if seen > 0 else 0.0
    return Shrunk(mean, factor, tuple(mean + factor * (r - mean) for r in rates))


@dataclass(frozen=True, slots=True)
class AvoidableLoss:
    """What a code costs: runs a week that would else have ended correct."""

    runs_per_week: float  # below 0 where its runs end better than clean ones
    low: float  # 95 %
    high: float
    shrunk_rate: float  # of the code, 0..1
    clean_rate: float  # of runs without errors, 0..1


def avoidable_loss(
    good: int, n: int, clean_good: int, clean_n: int, prior: Beta
) -> AvoidableLoss | None:
    """Cost of a code, in runs a week, from four full weeks of known outcomes.

    `good` of `n` runs that hit the code and `clean_good` of `clean_n` runs without
    an error ended correct. Loss = (clean rate - shrunken rate) x n / 4. The interval
    joins the clean rate's Wilson limits and the code's posterior ones; `n` is taken
    as it is. None where no clean run is known. Raises ValueError on good > n.
    """
    if clean_n == 0:
        return None
    code = posterior(good, n, prior.a, prior.b)
    clean_rate = clean_good / clean_n
    gap = difference_of(
        Interval(clean_rate, *wilson_interval(clean_good, clean_n)),
        Interval(code.mean, *code.interval()),
    )
    weekly = n / LOSS_WEEKS
    return AvoidableLoss(
        gap.value * weekly, gap.low * weekly, gap.high * weekly, code.mean, clean_rate
    )
