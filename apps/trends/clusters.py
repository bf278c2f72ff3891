"""Rates per event when a run holds several: errors of one run are not independent.

Section 8 of the project's statistics reference. Pure.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from apps.runs.rates import Z95, wilson_limits


@dataclass(frozen=True, slots=True)
class ClusteredRate:
    """A share of events whose uncertainty counts runs, not events."""

    good: int  # events
    events: int
    runs: int  # with at least one event
    rate: float | None  # None only where there is no event
    se: float | None  # None for fewer than two runs
    design_effect: float | None  # None where it is 0 / 0: all good, or all bad
    effective_n: float  # events that were worth as much if independent
    low: float  # Wilson limits at `effective_n`; 0..1 where there is no event
    high: float

    @property
    def variance(self) -> float | None:
        """Variance of `rate`; feed it to a `comparison.Measure`."""
        return None if self.se is None else self.se**2


def clustered_rate(runs: Iterable[tuple[int, int]], z: float = Z95) -> ClusteredRate:
    """Take the share of good events over all runs from (good, events) of each run.

    Runs without an event are passed over. The limits never claim more than the
    events seen, and count runs alone where the design effect is unknown. Raises
    ValueError unless 0 <= good <= events in each run. Source: Cochran 1977,
    Sampling Techniques, section 9A (ratio to size); Miller 2024, arXiv:2411.00640.
    """
    seen = [(good, events) for good, events in runs if good or events]
    for good, events in seen:
        if not 0 <= good <= events:
            raise ValueError(f"Need 0 <= good <= events, got {good} of {events}.")
    count = len(seen)
    good_all = sum(good for good, _ in seen)
    events_all = sum(events for _, events in seen)
    if not events_all:
        return ClusteredRate(0, 0, 0, None, None, None, 0.0, 0.0, 1.0)
    rate = good_all / events_all
    se = effect = None
    effective = float(count)
    if count > 1:
        squares = math.fsum((good - rate * events) ** 2 for good, events in seen)
        variance = count / (count - 1) * squares / events_all**2
        se = math.sqrt(variance)
        naive = rate * (1 - rate) / events_all
        if naive > 0:
            effect = variance / naive
            effective = events_all / max(effect, 1.0)
    low, high = wilson_limits(rate, effective, z)
    return ClusteredRate(
        good_all, events_all, count, rate, se, effect, effective, low, high
    )
