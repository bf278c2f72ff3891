"""Weeks: from Monday, in the workspace's zone. Pure but for the clock of `this_week`."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

WEEK = timedelta(days=7)


def week_of(day: date) -> date:
    """Give the Monday of a day's week."""
    return day - timedelta(days=day.weekday())


def this_week(zone: ZoneInfo) -> date:
    """Give the Monday of the week that is going on in a zone."""
    return week_of(datetime.now(zone).date())


def weeks_between(first: date, last: date) -> list[date]:
    """List the Mondays from the week of `first` to the week of `last`, both included."""
    start = week_of(first)
    count = (week_of(last) - start).days // 7 + 1
    return [start + i * WEEK for i in range(max(0, count))]


def iso_name(monday: date) -> str:
    """Name a week as people do: W49."""
    return f"W{monday.isocalendar().week}"
