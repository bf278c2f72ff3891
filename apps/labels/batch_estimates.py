"""Shares of all errors from one batch, whose pairs were drawn as `sampling` does.

Each run put forward one of its m errors, and those were drawn by strata. So a label
speaks for m x N_h / n_h errors. With the machine's classes of all errors known, only
its mistakes need estimating, which is narrower. Pure.

Section 11 of the project's statistics reference, for the design of section 10.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from apps.labels.estimates import MIN_LABELS
from apps.runs.rates import Z95, wilson_limits


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """One pair of a batch with what people said of it."""

    stratum: str
    errors_in_run: int  # m: the run put forward one of so many
    answer: float  # 1 yes, 0 no
    machine: float = 0.0  # the machine's answer to the same question, fixed before
    is_in_domain: bool = True  # False: another code than the one asked about


@dataclass(frozen=True, slots=True)
class BatchShare:
    """A share of all errors of the frame (or of one code), estimated by a batch."""

    value: float  # 0..1
    se: float
    low: float  # 95 %, by an effective number of labels
    high: float
    n: int  # labels in the domain
    covered: float  # share of the frame's runs in strata that have a label, 0..1
    weight: float  # lambda given to the machine; 0 where only labels speak


def batch_share(
    pairs: Iterable[LabelledPair], sizes: Mapping[str, int]
) -> BatchShare | None:
    """Estimate the share of errors with answer yes from labels alone.

    `sizes` has N_h, the runs of each stratum of the frame. Give all labelled pairs of
    the batch, also those outside the domain. None where the domain has no label.
    Raises ValueError for a stratum without size. Source: Hajek's ratio with
    linearised variance, Sarndal, Swensson & Wretman 1992, Model Assisted Survey
    Sampling, results 5.6.1 and 9.3.1.
    """
    known = _Design(list(pairs), sizes)
    return known.share(0.0, 0.0) if known.n else None


def batch_share_with_machine(
    pairs: Iterable[LabelledPair],
    sizes: Mapping[str, int],
    machine_share: float,
    weight: float | None = None,
) -> BatchShare | None:
    """As `batch_share`, with the machine's share among all errors of the domain.

    `machine_share` is over every error of the frame, labelled or not. `weight` is
    lambda; None tunes it to the labels, within 0..1. None where the domain
    has fewer than 30 labels. Source: the difference estimator of Sarndal et al. 1992,
    chapter 6, which is the prediction-powered mean of Angelopoulos et al. 2023 for a
    finite frame.
    """
    known = _Design(list(pairs), sizes)
    if known.n < MIN_LABELS:
        return None
    return known.share(
        known.tuned_weight() if weight is None else weight, machine_share
    )


class _Design:
    """Labels by stratum, and what each of them stands for."""

    def __init__(self, pairs: Sequence[LabelledPair], sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.strata: dict[str, list[LabelledPair]] = {}
        for pair in pairs:
            self.strata.setdefault(pair.stratum, []).append(pair)
        for key, members in self.strata.items():
            if sizes.get(key, 0) < len(members):
                raise ValueError(f"Stratum {key!r} is smaller than its labels.")
        self.domain = [pair for pair in pairs if pair.is_in_domain]
        self.n = len(self.domain)
        self.stands_for = [  # errors, for each pair of the domain
            pair.errors_in_run * (sizes[pair.stratum] / len(self.strata[pair.stratum]))
            for pair in self.domain
        ]
        self.errors = math.fsum(self.stands_for)

    def mean(self, values: Sequence[float]) -> float:
        """Weighted mean of a value of each pair of the domain."""
        if len(set(values)) == 1:
            return values[0]  # exactly: a sum may miss it by rounding
        stands_for = zip(self.stands_for, values, strict=True)
        return math.fsum(w * value for w, value in stands_for) / self.errors

    def share(self, weight: float, machine_share: float) -> BatchShare:
        """Estimate with a given lambda."""
        misses = self.mean([p.answer - weight * p.machine for p in self.domain])
        variance = self.variance(weight, misses)
        value = min(max(weight * machine_share + misses, 0.0), 1.0)
        low, high = self.limits(value, weight)
        covered = sum(self.sizes[key] for key in self.strata) / sum(self.sizes.values())
        se = math.sqrt(variance)
        return BatchShare(value, se, low, high, self.n, covered, weight)

    def tuned_weight(self) -> float:
        """Slope of people's answers on the machine's, within 0..1.

        Plain, not by what each pair stands for: a few heavy runs would decide it, and
        lambda would fit their noise (intervals of 60 labels then cover 90 % for 95).
        0 for a constant machine.
        """
        people = math.fsum(pair.answer for pair in self.domain) / self.n
        machine = math.fsum(pair.machine for pair in self.domain) / self.n
        spread = math.fsum((pair.machine - machine) ** 2 for pair in self.domain)
        if spread <= 1e-12:
            return 0.0
        together = math.fsum(
            (pair.answer - people) * (pair.machine - machine) for pair in self.domain
        )
        return min(max(together / spread, 0.0), 1.0)

    def variance(self, weight: float, misses: float) -> float:
        """Variance of the share over both steps of the draw.

        Strata: N (N - n) s^2 / n. Within a run of several errors one label cannot show
        how they differ, so the square of its residual stands in: too much rather than
        too little. A stratum of one label takes its residual as its deviation.
        """
        parts = []
        for key, members in self.strata.items():
            size, n = self.sizes[key], len(members)
            residuals = [
                p.errors_in_run * (p.answer - weight * p.machine - misses)
                if p.is_in_domain
                else 0.0
                for p in members
            ]
            centre = math.fsum(residuals) / n if n > 1 else 0.0
            squares = math.fsum((r - centre) ** 2 for r in residuals)
            parts.append(size * (size - n) / n * squares / max(n - 1, 1))
            inside = zip(members, residuals, strict=True)
            within = math.fsum(r * r for p, r in inside if p.errors_in_run > 1)
            parts.append(size / n * within)
        return math.fsum(parts) / self.errors**2

    def limits(self, value: float, weight: float) -> tuple[float, float]:
        """Wilson's limits at an effective number of labels (Kish).

        As if strata had not helped, and one label at least had shown the machine
        wrong: `se` is right on average, but where a few heavy labels decide it, it
        is small just when the estimate is off (88 % of such limits hold, not 95 %).
        """
        squares = math.fsum(w * w for w in self.stands_for)
        effective = self.errors**2 / squares
        misses = [p.answer - weight * p.machine for p in self.domain]
        spread = value * (1 - value)
        if spread > 0:
            centre = math.fsum(misses) / self.n
            noise = math.fsum((m - centre) ** 2 for m in misses) / max(self.n - 1, 1)
            effective *= spread / max(noise, 1 / (self.n + 1))
        return wilson_limits(value, effective, Z95)
