"""From a labelled sample to shares of all pairs, with their uncertainty. Pure.

Sections 10 and 11 of the project's statistics reference. Labels given outside a batch
have no chance of being drawn and belong in none of these.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from apps.runs.rates import Z95, check_counts, wilson_interval, wilson_limits

MIN_LABELS = 30  # fewer make no prediction-powered estimate


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its standard error and 95 % limits, in the unit of the answers."""

    value: float
    se: float
    low: float
    high: float


def _normal(value: float, se: float) -> Estimate:
    return Estimate(value, se, value - Z95 * se, value + Z95 * se)


@dataclass(frozen=True, slots=True)
class StratumSample:
    """What was found in one stratum."""

    size: int  # N_h, pairs in the stratum
    n: int  # n_h, pairs sampled
    mean: float
    variance: float  # s^2 with divisor n - 1

    @classmethod
    def of_share(cls, size: int, good: int, n: int) -> Self:
        """Make one of `good` yes answers among `n`; s^2 = p q n / (n - 1).

        The variance of a single answer is taken as 0.25, the most it can be. Raises
        ValueError unless 0 <= good <= n <= size and n > 0.
        """
        check_counts(good, n)
        if n > size:
            raise ValueError(f"Cannot sample {n} of {size}.")
        p = good / n
        return cls(size, n, p, p * (1 - p) * n / (n - 1) if n > 1 else 0.25)


def stratified_mean(strata: Iterable[StratumSample]) -> Estimate:
    """Weigh strata by their size, not by how many of them were sampled.

    Raises ValueError where a stratum has no sample: merge it with its neighbour
    first. Source: Cochran 1977, Sampling Techniques, theorems 5.1 and 5.3.
    """
    known = list(strata)
    if not known or any(not 0 < s.n <= s.size for s in known):
        raise ValueError("Each stratum needs a sample no larger than itself.")
    total = sum(s.size for s in known)
    mean = math.fsum(s.size / total * s.mean for s in known)
    variance = math.fsum(
        (s.size / total) ** 2 * (1 - s.n / s.size) * s.variance / s.n for s in known
    )
    return _normal(mean, math.sqrt(variance))


def horvitz_thompson_total(values: Sequence[float], chances: Sequence[float]) -> float:
    """Estimate the total of all items from the distinct sampled ones.

    `chances` holds each item's probability (0..1] of being in the sample; divide by
    the number of items for the mean. Raises ValueError on a chance outside that, or
    unequal lengths. Source: Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47:663-685.
    """
    _check_chances(chances)
    return math.fsum(y / pi for y, pi in zip(values, chances, strict=True))


def hajek_mean(values: Sequence[float], chances: Sequence[float]) -> float:
    """Estimate the mean where the number of items is itself uncertain.

    Raises ValueError as `horvitz_thompson_total`, or for no items at all.
    """
    if not values:
        raise ValueError("A mean needs at least one item.")
    total = horvitz_thompson_total(values, chances)
    return total / math.fsum(1 / pi for pi in chances)


def horvitz_thompson_variance(
    values: Sequence[float],
    chances: Sequence[float],
    joint: Sequence[Sequence[float]],
) -> float:
    """Estimate the variance of the total; joint[i][j]: chance that both are drawn.

    Unbiased, and may come out below 0 for an unlucky sample. Raises ValueError as
    `horvitz_thompson_total`, or on a joint chance of 0.
    """
    _check_chances(chances)
    size = range(len(values))
    own = math.fsum((1 - chances[i]) / chances[i] ** 2 * values[i] ** 2 for i in size)
    both = []
    for i in size:
        for j in size:
            if i == j:
                continue
            if not joint[i][j] > 0:
                raise ValueError(
                    "Items that are never drawn together have no variance."
                )
            gap = 1 / (chances[i] * chances[j]) - 1 / joint[i][j]
            both.append(gap * values[i] * values[j])
    return own + math.fsum(both)


def _check_chances(chances: Sequence[float]) -> None:
    if not all(0 < pi <= 1 for pi in chances):
        raise ValueError("Every chance must be above 0 and at most 1.")


@dataclass(frozen=True, slots=True)
class Predictions:
    """What a classifier says of items that nobody labelled, summed up."""

    n: int
    total: float  # sum of its values
    squares: float  # sum of their squares

    @classmethod
    def of_counts(cls, positive: int, n: int) -> Self:
        """Make one of yes/no values. Raises ValueError unless 0 <= positive <= n."""
        check_counts(positive, n)
        return cls(n, float(positive), float(positive))


@dataclass(frozen=True, slots=True)
class PoweredEstimate:
    """A mean from labels and a classifier together."""

    value: float
    se: float
    low: float  # 95 %
    high: float
    weight: float  # lambda: 0 leaves the classifier out, 1 trusts it fully


def prediction_powered_mean(
    labelled: Sequence[tuple[float, float]],
    unlabelled: Predictions,
    weight: float | None = None,
) -> PoweredEstimate:
    """Correct a classifier's mean by a simple random sample of labels.

    `labelled` holds (label, prediction); no item may be in both. `weight` is lambda,
    tuned for the least error if None. The predictions must have been fixed before
    the labels were seen. Raises ValueError for fewer than 30 labels, no unlabelled
    item, or a weight outside 0..1. Source: Angelopoulos et al. 2023, Science
    382:669-674; tuned: Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453.
    """
    n, others = len(labelled), unlabelled.n
    if n < MIN_LABELS or others < 1:
        raise ValueError(f"Need {MIN_LABELS} labels and one item without label.")
    if weight is None:
        weight = _tuned_weight(labelled, unlabelled)
    if not 0 <= weight <= 1:
        raise ValueError(f"The weight must be in 0..1, got {weight}.")
    predicted = unlabelled.total / others
    spread = max(unlabelled.squares / others - predicted**2, 0.0)
    misses = [y - weight * f for y, f in labelled]
    miss = math.fsum(misses) / n
    miss_variance = math.fsum((m - miss) ** 2 for m in misses) / n
    value = weight * predicted + miss
    se = math.sqrt(weight**2 * spread / others + miss_variance / n)
    return PoweredEstimate(value, se, value - Z95 * se, value + Z95 * se, weight)


def _tuned_weight(
    labelled: Sequence[tuple[float, float]], unlabelled: Predictions
) -> float:
    n, others = len(labelled), unlabelled.n
    mean_y = math.fsum(y for y, _ in labelled) / n
    mean_f = math.fsum(f for _, f in labelled) / n
    together = math.fsum((y - mean_y) * (f - mean_f) for y, f in labelled) / n
    everything = n + others
    pooled = (mean_f * n + unlabelled.total) / everything
    squares = math.fsum(f * f for _, f in labelled) + unlabelled.squares
    spread = squares / everything - pooled**2
    if spread <= 1e-12:  # a classifier that always says the same says nothing
        return 0.0
    return min(max(together / ((1 + n / others) * spread), 0.0), 1.0)


def rogan_gladen(
    positive: int, n: int, sensitivity: float, specificity: float
) -> Estimate | None:
    """Correct a classifier's share by its known error rates (0..1).

    The limits are Wilson's, carried over: they take both rates as certain, which the
    page must say. `se` likewise. None where sensitivity + specificity <= 1: it tells
    nothing apart. Raises ValueError on counts or rates out of range. Source: Rogan &
    Gladen 1978, Am. J. Epidemiol. 107:71-76.
    """
    check_counts(positive, n)
    if not (0 <= sensitivity <= 1 and 0 <= specificity <= 1):
        raise ValueError("Sensitivity and specificity must be in 0..1.")
    power = sensitivity + specificity - 1
    if power <= 0:
        return None

    def corrected(share: float) -> float:
        return min(max((share + specificity - 1) / power, 0.0), 1.0)

    share = positive / n
    low, high = wilson_interval(positive, n, Z95)
    se = math.sqrt(share * (1 - share) / n) / power
    return Estimate(corrected(share), se, corrected(low), corrected(high))


@dataclass(frozen=True, slots=True)
class JudgedShare:
    """How often the machine was right on one kind of pair."""

    rate: float | None  # 0..1; None where there was none
    n: int
    low: float  # Wilson, 95 %; 0..1 where n is 0
    high: float


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """A classifier held against people, one class against the rest."""

    sensitivity: JudgedShare  # of the pairs where people said yes
    specificity: JudgedShare  # of the pairs where people said no


def judge_quality(pairs: Iterable[tuple[bool, bool, float]]) -> JudgeQuality:
    """Measure a classifier from (machine says yes, person says yes, weight).

    The weight is 1 / chance of being drawn, in any unit; limits use the effective
    number of labels, which with equal weights is their number. Raises ValueError
    unless each weight is above 0. Source: Kish 1965, Survey Sampling, section 11.7.
    """
    hits: dict[bool, list[tuple[bool, float]]] = {True: [], False: []}
    for machine, person, weight in pairs:
        if not weight > 0:
            raise ValueError(f"A weight must be above 0, got {weight}.")
        hits[person].append((machine == person, weight))
    return JudgeQuality(_judged(hits[True]), _judged(hits[False]))


def _judged(hits: Sequence[tuple[bool, float]]) -> JudgedShare:
    if not hits:
        return JudgedShare(None, 0, 0.0, 1.0)
    total = math.fsum(weight for _, weight in hits)
    squares = math.fsum(weight * weight for _, weight in hits)
    if all(is_right for is_right, _ in hits):
        rate = 1.0  # exactly: a sum of weights may miss it by rounding
    else:
        rate = math.fsum(weight for is_right, weight in hits if is_right) / total
    low, high = wilson_limits(rate, total * total / squares, Z95)
    return JudgedShare(rate, len(hits), low, high)
