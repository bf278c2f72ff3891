"""From weekly rows of the rollups to what a verdict's `Case` is made of. Pure."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from apps.runs.rates import THIN_BELOW
from apps.runs.weeks import WEEK

from .sequential import TUNED_WEEKS, rho_at_ship
from .verdict import Outcomes, StratumKey, WeekCell


class CellRow(NamedTuple):
    """Runs of one week, model, side and outcome."""

    week: date
    model: str
    side: str  # before, after, or other: the old text after the day of shipping
    outcome: str  # correct, incorrect, unknown
    runs: int


def cells_of(rows: Iterable[CellRow]) -> tuple[WeekCell, ...]:
    """Sum rows into a cell a week and model; rows of the side `other` are in none.

    Tool version and evidence are not in the rollups: their keys stay empty.
    """
    sums: dict[tuple[date, str], dict[str, Outcomes]] = {}
    for row in rows:
        if row.side == "other":
            continue
        sides = sums.setdefault((row.week, row.model), {})
        sides[row.side] = sides.get(row.side, Outcomes()) + Outcomes(
            good=row.runs if row.outcome == "correct" else 0,
            n=0 if row.outcome == "unknown" else row.runs,
            unknown=row.runs if row.outcome == "unknown" else 0,
        )
    return tuple(
        WeekCell(
            week,
            StratumKey(model, "", ""),
            sides.get("before", Outcomes()),
            sides.get("after", Outcomes()),
        )
        for (week, model), sides in sorted(sums.items())
    )


def ship_rho(cells: Sequence[WeekCell], shipped: date) -> float:
    """Fix rho from the weeks before the week of shipping, and nothing after it.

    Eight weeks of traffic are expected to be like those weeks, from the first with
    runs. Where all runs lie in the week of shipping itself, that week stands in; 1.0
    where no outcome is known before: there is no interval then.
    """
    old = [c for c in cells if c.before.n and c.week < shipped]
    weeks = (shipped - min(c.week for c in old)) // WEEK if old else 1
    old = old or [c for c in cells if c.before.n]
    good, n = sum(c.before.good for c in old), sum(c.before.n for c in old)
    if not n:
        return 1.0
    return rho_at_ship(good, n, TUNED_WEEKS * n / weeks)


def picked_weeks(
    cells: Sequence[WeekCell], drafted: date, shipped: date
) -> frozenset[date]:
    """Name the week whose figures got the code picked: the one before its draft.

    Empty where the draft is not older than the week of shipping (a date entered
    later), or where fewer than 20 known outcomes would be left to compare with.
    """
    picked = drafted - WEEK
    left = sum(c.before.n for c in cells if c.week < picked)
    if drafted >= shipped or left < THIN_BELOW:
        return frozenset()
    return frozenset({picked})
