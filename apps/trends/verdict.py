"""Did a rewrite help? From weekly counts to a word, its figures and its rivals. Pure.

The word comes from the always-valid interval (4c of the project's statistics
reference) of the stratified difference (6). Other codes (5a), the choice of baseline
weeks (5c) and rival explanations (5d) can hold it back or stand beside it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal, NamedTuple

from apps.runs.rates import THIN_BELOW, Interval
from apps.trends.comparison import (
    GapChange,
    OneSided,
    StratifiedDifference,
    Stratum,
    baseline_weeks,
    difference_in_differences,
    mantel_haenszel,
    measure,
    placebo,
)
from apps.trends.rivals import Rival, find_rivals
from apps.trends.sequential import (
    always_valid_p,
    difference_interval,
    runs_to_exclude_zero,
)

Word = Literal["better", "worse", "cannot tell yet"]
Reason = Literal[
    "excludes_zero",  # the interval leaves 0 out: better or worse
    "includes_zero",
    "too_few",  # fewer than 20 known outcomes in an arm
    "no_baseline",  # no week before the one that got the code picked
    "no_overlap",  # no stratum has runs on both sides
    "placebo",  # code and controls moved apart before the rewrite
]


class StratumKey(NamedTuple):
    """What must be alike for two runs to be compared."""

    model: str
    tool_version: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Runs that hit the code, by how they ended."""

    good: int = 0  # ended correct
    n: int = 0  # ended correct or incorrect
    unknown: int = 0  # not in `n`

    def __add__(self, other: "Outcomes") -> "Outcomes":
        return Outcomes(
            self.good + other.good, self.n + other.n, self.unknown + other.unknown
        )


@dataclass(frozen=True, slots=True)
class WeekCell:
    """One week of one stratum; before = met the old text, after = met the new."""

    week: date  # its first day, in the workspace's zone
    key: StratumKey
    before: Outcomes = Outcomes()
    after: Outcomes = Outcomes()


@dataclass(frozen=True, slots=True)
class ControlWeek:
    """One week of the codes without a rewrite, `comparison.usable_controls` alone."""

    week: date
    good: int
    n: int


@dataclass(frozen=True, slots=True)
class Case:
    """All that a verdict rests on. Full weeks only; a running week is no evidence."""

    cells: tuple[WeekCell, ...]
    shipped: date  # first day of the week in which the rewrite shipped
    rho: float  # `sequential.rho_at_ship`, stored then and never changed
    alpha: float = 0.05
    controls: tuple[ControlWeek, ...] = ()
    picked: frozenset[date] = frozenset()  # weeks whose figures got the code picked
    adoption: float | None = None
    # share (0..1) of the code's errors since `shipped` that carried the new text
    agents_before: Mapping[str, int] = field(default_factory=dict)  # runs by version
    agents_after: Mapping[str, int] = field(default_factory=dict)
    is_side_by_side: bool = False
    # True: both texts live in the same weeks (a canary), compared week by week


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of a rewrite at one look; store it with date and cut-off."""

    word: Word
    reason: Reason
    adjusted: float | None  # after - before, like for like; -1..1
    crude: Interval | None  # the same over all runs, valid for one look only
    low: float  # always-valid limits of `adjusted`; -1..1 where there is none
    high: float
    p: float  # always-valid; for the false discovery rate over the week's verdicts
    before: Outcomes  # of the baseline weeks
    after: Outcomes
    more_runs: int | None
    # known outcomes of the new text still needed if the difference stays as it is:
    # 0 once the word is said, None where no number would do
    more_weeks: int | None  # at the traffic seen since; None also without traffic
    rivals: tuple[Rival, ...]
    placebo: GapChange | None  # None: too few weeks or runs, no controls, side by side
    against_controls: GapChange | None  # difference in differences
    baseline: tuple[date, ...]  # weeks compared with; empty side by side
    one_sided: tuple[OneSided, ...]  # strata without a counterpart, with volume

    @property
    def is_final(self) -> bool:
        """True where the word is better or worse."""
        return self.word != "cannot tell yet"


def judge(case: Case) -> Verdict:
    """Give the verdict of one look; the same case gives the same verdict.

    Raises ValueError on counts that are none, or unless rho > 0 and 0 < alpha < 1.
    """
    if not case.rho > 0 or not 0 < case.alpha < 1:
        raise ValueError("A verdict needs rho > 0, fixed at ship, and 0 < alpha < 1.")
    baseline = _baseline(case)
    cells = [
        cell if case.is_side_by_side or cell.week in baseline else _without_before(cell)
        for cell in case.cells
    ]
    before = sum((cell.before for cell in cells), Outcomes())
    after = sum((cell.after for cell in cells), Outcomes())
    pooled = mantel_haenszel(_strata(cells, by_week=case.is_side_by_side))
    variance = decision_variance(pooled)
    low, high, p = -1.0, 1.0, 1.0
    if pooled.adjusted is not None:
        low, high = difference_interval(pooled.adjusted, variance, case.rho, case.alpha)
        p = always_valid_p(pooled.adjusted, variance, case.rho)
    trend = None if case.is_side_by_side else _placebo(case, cells, baseline)
    reason = _reason(case, pooled, trend, before, low, high)
    word: Word = "cannot tell yet"
    if reason == "excludes_zero":
        word = "better" if low > 0 else "worse"
    more_runs = 0 if reason == "excludes_zero" else _more_runs(case, pooled, variance)
    return Verdict(
        word=word,
        reason=reason,
        adjusted=pooled.adjusted,
        crude=pooled.crude,
        low=low,
        high=high,
        p=p,
        before=before,
        after=after,
        more_runs=more_runs,
        more_weeks=_weeks_for(more_runs, case.cells),
        rivals=find_rivals(
            [(cell.key, cell.before, cell.after) for cell in cells],
            pooled,
            case.adoption,
            case.agents_before,
            case.agents_after,
        ),
        placebo=trend,
        against_controls=_against_controls(case, before, after, baseline),
        baseline=baseline,
        one_sided=pooled.one_sided,
    )


def decision_variance(pooled: StratifiedDifference) -> float:
    """Give the variance that the always-valid interval of a verdict rests on.

    Sato's, but never below Cochran's, which is that under "no difference": where an
    arm is all right or all wrong, Sato's forgets that arm, and 20 of 20 would look
    like certainty. 0 where no stratum has both sides.
    """
    return max(pooled.variance or 0.0, pooled.null_variance or 0.0)


def _baseline(case: Case) -> tuple[date, ...]:
    if case.is_side_by_side:
        return ()
    weeks = (cell.week for cell in case.cells if cell.before.n or cell.before.unknown)
    return tuple(baseline_weeks(weeks, case.picked))


def _without_before(cell: WeekCell) -> WeekCell:
    return WeekCell(cell.week, cell.key, after=cell.after)


def _strata(cells: Iterable[WeekCell], by_week: bool) -> list[Stratum]:
    sums: dict[tuple[date | None, StratumKey], tuple[Outcomes, Outcomes]] = {}
    for cell in cells:
        key = (cell.week if by_week else None, cell.key)
        before, after = sums.get(key, (Outcomes(), Outcomes()))
        sums[key] = (before + cell.before, after + cell.after)
    return [
        Stratum(key if by_week else key[1], after.good, after.n, before.good, before.n)
        for key, (before, after) in sums.items()
    ]


def _reason(
    case: Case,
    pooled: StratifiedDifference,
    trend: GapChange | None,
    before: Outcomes,
    low: float,
    high: float,
) -> Reason:
    if not case.is_side_by_side and not before.n:
        return "no_baseline"
    if pooled.adjusted is None:
        return "no_overlap"
    if min(pooled.before_n, pooled.after_n) < THIN_BELOW:
        return "too_few"
    if trend is not None and trend.excludes_zero:
        return "placebo"
    return "excludes_zero" if low > 0 or high < 0 else "includes_zero"


def _by_week(cells: Iterable[WeekCell]) -> dict[date, Outcomes]:
    weeks: dict[date, Outcomes] = {}
    for cell in cells:
        weeks[cell.week] = weeks.get(cell.week, Outcomes()) + cell.before
    return weeks


def _placebo(
    case: Case, cells: Iterable[WeekCell], baseline: tuple[date, ...]
) -> GapChange | None:
    treated = _by_week(cells)
    controls = {week.week: (week.good, week.n) for week in case.controls}
    weeks = [week for week in baseline if week in controls and week < case.shipped]
    return placebo(
        [(treated[week].good, treated[week].n) for week in weeks],
        [controls[week] for week in weeks],
    )


def _against_controls(
    case: Case, before: Outcomes, after: Outcomes, baseline: tuple[date, ...]
) -> GapChange | None:
    """Compare with the controls of the baseline weeks and of those since shipping."""
    chosen = set(baseline)
    old = [week for week in case.controls if week.week in chosen]
    new = [week for week in case.controls if week.week >= case.shipped]
    old_n, new_n = sum(week.n for week in old), sum(week.n for week in new)
    if min(before.n, after.n, old_n, new_n) < THIN_BELOW:
        return None
    return difference_in_differences(
        measure(before.good, before.n),
        measure(after.good, after.n),
        measure(sum(week.good for week in old), old_n),
        measure(sum(week.good for week in new), new_n),
    )


def _more_runs(case: Case, pooled: StratifiedDifference, variance: float) -> int | None:
    """Estimate the known outcomes of the new text that are still missing.

    The baseline's part of the variance stays, the new text's shrinks with its runs;
    side by side both grow, and the whole variance shrinks.
    """
    missing = max(THIN_BELOW - pooled.after_n, 0)
    if pooled.adjusted is None or not variance > 0:
        return None
    if pooled.before_n < THIN_BELOW and not case.is_side_by_side:
        return None
    share_after = pooled.before_n / (pooled.before_n + pooled.after_n)
    if case.is_side_by_side:
        share_after = 1.0
    enough = runs_to_exclude_zero(
        pooled.adjusted,
        variance * (1 - share_after),
        variance * share_after * pooled.after_n,
        case.rho,
        case.alpha,
    )
    return None if enough is None else max(enough - pooled.after_n, missing)


def _weeks_for(runs: int | None, cells: Iterable[WeekCell]) -> int | None:
    by_week: dict[date, int] = {}
    for cell in cells:
        if cell.after.n:
            by_week[cell.week] = by_week.get(cell.week, 0) + cell.after.n
    if runs is None or not by_week:
        return None
    return math.ceil(runs * len(by_week) / sum(by_week.values()))
