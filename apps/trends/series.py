"""Weekly points of a chart from weekly outcomes. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from apps.runs.queries import Outcomes
from apps.runs.rates import Rate
from apps.runs.weeks import WEEK, iso_name, weeks_between


@dataclass(frozen=True, slots=True)
class Point:
    """One week of a chart and one row of the table under it."""

    start: date
    rate: Rate
    is_current: bool  # the week is not over, so it will still change

    @property
    def name(self) -> str:
        """Name the week: W49."""
        return iso_name(self.start)


def weekly_points(
    weeks: Iterable[tuple[date | None, Outcomes]], current: date, most: int = 26
) -> list[Point]:
    """Give a point for each week, empty ones too, up to the last that has runs.

    `current` is the Monday of the week going on; undated runs have no point. At most
    the last `most` weeks.
    """
    known = {start: outcomes for start, outcomes in weeks if start is not None}
    if not known:
        return []
    span = weeks_between(min(known), max(known))[-most:]
    points = []
    for start in span:
        outcomes = known.get(start, Outcomes())
        points.append(Point(start, outcomes.rate, start == current))
    return points


def four_full_weeks(last_with_runs: date | None, current: date) -> tuple[date, date]:
    """Give the four full weeks (from, up to but not on) that figures of cost look at.

    They end before the current week; where the logs end earlier, with their last week.
    """
    end = current
    if last_with_runs is not None and last_with_runs < current:
        end = last_with_runs + WEEK
    return end - 4 * WEEK, end
