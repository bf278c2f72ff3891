"""Before and after, like for like: strata, other codes, regression to the mean. Pure.

Sections 5a, 5c and 6 of the project's statistics reference.
"""

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

from apps.runs.rates import THIN_BELOW, Z95, Interval, check_counts, newcombe_interval

PLACEBO_WEEKS = 4  # fewer weeks before the rewrite show no trend
SPILLOVER_ABOVE = 0.2  # share of shared runs from which a code is no control
MIX_POINTS = 0.05  # crude and adjusted further apart than this: the mix is the story


class Measure(NamedTuple):
    """One cell: a mean and the variance of that mean."""

    mean: float
    variance: float


def measure(good: int, n: int) -> Measure:
    """Measure the rate of `good` of `n` runs, variance p q / n.

    All right or all wrong would give a variance of 0, which no sample can claim: it
    is then that of half a run more each way. Raises ValueError unless n > 0. For a
    rate per event take the variance from `clusters` instead.
    """
    check_counts(good, n)
    p = good / n
    spread = p if 0 < p < 1 else (good + 0.5) / (n + 1)
    return Measure(p, spread * (1 - spread) / n)


@dataclass(frozen=True, slots=True)
class GapChange:
    """A difference in differences, in the unit of its cells."""

    delta: float
    se: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """True where the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


def difference_in_differences(
    treated_before: Measure,
    treated_after: Measure,
    control_before: Measure,
    control_after: Measure,
    z: float = Z95,
) -> GapChange:
    """Change of the rewritten code less the change of the controls (5a).

    The four cells count as independent. Source: Card & Krueger 1994, Am. Econ. Rev.
    84:772-793, table 3, for the construction.
    """
    cells = (treated_after, treated_before, control_after, control_before)
    delta = (treated_after.mean - treated_before.mean) - (
        control_after.mean - control_before.mean
    )
    se = math.sqrt(math.fsum(cell.variance for cell in cells))
    return GapChange(delta, se, delta - z * se, delta + z * se)


def placebo(
    treated: Sequence[tuple[int, int]], controls: Sequence[tuple[int, int]]
) -> GapChange | None:
    """Pretend the rewrite had come half-way through the weeks before it did.

    Both hold (good, n) of the same weeks, oldest first. An interval without 0 says
    that code and controls moved apart before the rewrite: no verdict then. None for
    fewer than four weeks, or fewer than 20 known outcomes in one of the four cells.
    Raises ValueError if the two differ in length.
    """
    if len(treated) != len(controls):
        raise ValueError("Code and controls need the same weeks.")
    if len(treated) < PLACEBO_WEEKS:
        return None
    middle = len(treated) // 2
    cells = [
        _sum(weeks)
        for weeks in (
            treated[:middle],
            treated[middle:],
            controls[:middle],
            controls[middle:],
        )
    ]
    if min(n for _, n in cells) < THIN_BELOW:
        return None
    first, second, control_first, control_second = (measure(*cell) for cell in cells)
    return difference_in_differences(first, second, control_first, control_second)


def _sum(weeks: Iterable[tuple[int, int]]) -> tuple[int, int]:
    pairs = list(weeks)
    return sum(good for good, _ in pairs), sum(n for _, n in pairs)


def usable_controls(
    code_runs: Mapping[str, int], shared_runs: Mapping[str, int]
) -> list[str]:
    """Name the codes that a rewrite cannot have reached through shared runs.

    `code_runs` counts the runs of each candidate, `shared_runs` those that also hit
    the rewritten code. Above 20 % shared, a code is left out. Sorted.
    """
    return sorted(
        code
        for code, runs in code_runs.items()
        if runs and shared_runs.get(code, 0) <= SPILLOVER_ABOVE * runs
    )


class Stratum(NamedTuple):
    """Runs that are alike but for the text they met; counts of known outcomes."""

    key: Hashable  # model, tool version, evidence …
    after_good: int
    after_n: int
    before_good: int
    before_n: int


class OneSided(NamedTuple):
    """A stratum seen on one side only: it has no weight, but it has volume."""

    key: Hashable
    side: Literal["before", "after"]
    n: int


@dataclass(frozen=True, slots=True)
class StratifiedDifference:
    """After minus before over strata (Mantel-Haenszel), the crude one beside it."""

    adjusted: float | None  # -1..1; None where no stratum has both sides
    variance: float | None  # Sato, Greenland & Robins
    null_variance: float | None  # of `adjusted` if no stratum differed (Cochran)
    low: float | None  # fixed-time limits: valid for one look only
    high: float | None
    crude: Interval | None  # Newcombe, all runs; None where a side is empty
    before_n: int  # known outcomes in strata with both sides
    after_n: int
    one_sided: tuple[OneSided, ...]

    @property
    def se(self) -> float | None:
        """Standard error of `adjusted`."""
        return None if self.variance is None else math.sqrt(self.variance)

    @property
    def mix_moved(self) -> bool:
        """True where crude and adjusted are more than 5 points apart."""
        if self.adjusted is None or self.crude is None:
            return False
        return abs(self.crude.value - self.adjusted) > MIX_POINTS


def mantel_haenszel(strata: Iterable[Stratum], z: float = Z95) -> StratifiedDifference:
    """Pool the strata's differences, each weighted by n1 n0 / N (6).

    Raises ValueError on good > n or a negative count; empty strata are passed over.
    Source: Greenland & Robins 1985, Biometrics 41:55-68; variance: Sato, Greenland &
    Robins 1989, Biometrics 45:1323-1324; null variance: Cochran 1954 as in Mantel &
    Haenszel 1959, J. Natl. Cancer Inst. 22:719-748.
    """
    known = [s for s in strata if _checked(s).after_n or s.before_n]
    both = [s for s in known if s.after_n and s.before_n]
    crude = None
    after = _sum((s.after_good, s.after_n) for s in known)
    before = _sum((s.before_good, s.before_n) for s in known)
    if after[1] and before[1]:
        crude = newcombe_interval(*after, *before, z)
    one_sided = tuple(
        OneSided(s.key, "after" if s.after_n else "before", s.after_n or s.before_n)
        for s in known
        if not (s.after_n and s.before_n)
    )
    before_n = sum(s.before_n for s in both)
    after_n = sum(s.after_n for s in both)
    if not both:
        return StratifiedDifference(
            None, None, None, None, None, crude, before_n, after_n, one_sided
        )
    weight = math.fsum(s.after_n * s.before_n / (s.after_n + s.before_n) for s in both)
    adjusted = math.fsum(map(_weighted_difference, both)) / weight
    p = math.fsum(map(_sato_p, both))
    q = math.fsum(map(_sato_q, both))
    variance = max(adjusted * p + q, 0.0) / weight**2
    null_variance = math.fsum(map(_cochran, both)) / weight**2
    half = z * math.sqrt(variance)
    return StratifiedDifference(
        adjusted,
        variance,
        null_variance,
        max(adjusted - half, -1.0),
        min(adjusted + half, 1.0),
        crude,
        before_n,
        after_n,
        one_sided,
    )


def _checked(s: Stratum) -> Stratum:
    if not (0 <= s.after_good <= s.after_n and 0 <= s.before_good <= s.before_n):
        raise ValueError(f"Need 0 <= good <= n on both sides, got {s}.")
    return s


def _weighted_difference(s: Stratum) -> float:
    return (s.after_good * s.before_n - s.before_good * s.after_n) / (
        s.after_n + s.before_n
    )


def _sato_p(s: Stratum) -> float:
    n1, n0 = s.after_n, s.before_n
    total = n1 + n0
    return (
        s.before_good * (n1 / total) ** 2
        - s.after_good * (n0 / total) ** 2
        + n1 * n0 / total**2 * (n0 - n1) / 2
    )


def _sato_q(s: Stratum) -> float:
    a, c = s.after_good, s.before_good
    crossed = a * (s.before_n - c) + c * (s.after_n - a)
    return crossed / (s.after_n + s.before_n) / 2


def _cochran(s: Stratum) -> float:
    n1, n0 = s.after_n, s.before_n
    total, good = n1 + n0, s.after_good + s.before_good
    return n1 * n0 * good * (total - good) / (total**2 * (total - 1))


def expected_next_rate(good: int, n: int, a: float, b: float) -> float:
    """Expect next week's rate of a code without any rewrite, prior Beta(a, b) (5c).

    A code picked for a bad week gets better by itself: compare with this. Raises
    ValueError unless 0 <= good <= n and a + b + n > 0.
    """
    if not 0 <= good <= n or a < 0 or b < 0 or a + b + n <= 0:
        raise ValueError(f"Need 0 <= good <= n and a prior, got {good}, {n}, {a}, {b}.")
    return (a + good) / (a + b + n)


def baseline_weeks(weeks: Iterable[date], picked: Collection[date]) -> list[date]:
    """Choose the weeks to compare with: those before the first that got it picked.

    The week whose bad figure got a code picked is bad by selection, and would make
    any rewrite look good. All weeks where none is known to have picked it. Sorted.
    """
    first = min(picked, default=date.max)
    return sorted(week for week in set(weeks) if week < first)
