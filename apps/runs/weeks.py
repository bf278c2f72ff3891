"""Weeks: from Monday, in a workspace's zone. Pure but for the clock of `this_week`."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

WEEK = timedelta(days=7)


def week_of(day: date) -> date:
    """Give the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def week_at(moment: datetime, zone: ZoneInfo) -> date:
    """Give the Monday of the week that a moment falls in, as a zone's calendar has it.

    The moment must know its own zone.
    """
    return week_of(moment.astimezone(zone).date())


def this_week(zone: ZoneInfo) -> date:
    """Give the Monday of the week that is going on in a zone."""
    return week_at(datetime.now(UTC), zone)


def weeks_between(first: date, last: date) -> list[date]:
    """List the Mondays from the week of `first` to that of `last`, both included."""
    start = week_of(first)
    count = (week_of(last) - start).days // 7 + 1
    return [start + i * WEEK for i in range(max(0, count))]


def iso_name(monday: date) -> str:
    """Name a week as people do: W49."""
    return f"W{monday.isocalendar().week}"
