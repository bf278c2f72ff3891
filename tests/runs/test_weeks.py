"""Weeks: Mondays, in any zone, over the turn of the year."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.weeks import iso_name, this_week, week_at, week_of, weeks_between

DAYS = st.dates(date(1990, 1, 1), date(2100, 12, 31))


@pytest.mark.parametrize(
    ("day", "monday", "name"),
    [
        (date(2026, 11, 30), date(2026, 11, 30), "W49"),
        (date(2026, 12, 6), date(2026, 11, 30), "W49"),
        (date(2020, 12, 31), date(2020, 12, 28), "W53"),  # a year of 53 weeks
        (date(2021, 1, 3), date(2020, 12, 28), "W53"),
        (date(2021, 1, 4), date(2021, 1, 4), "W1"),
        (date(2024, 12, 29), date(2024, 12, 23), "W52"),
        (date(2024, 12, 30), date(2024, 12, 30), "W1"),  # of 2025
        (date(2026, 12, 31), date(2026, 12, 28), "W53"),
        (date(2027, 1, 1), date(2026, 12, 28), "W53"),
        (date(2024, 2, 29), date(2024, 2, 26), "W9"),
    ],
)
def test_a_day_belongs_to_the_week_of_its_monday(day, monday, name):
    assert week_of(day) == monday
    assert iso_name(monday) == name


@given(DAYS)
def test_week_of_is_the_last_monday(day):
    monday = week_of(day)

    assert monday.weekday() == 0
    assert timedelta(0) <= day - monday < timedelta(days=7)
    assert week_of(monday) == monday


MOMENT = datetime(2026, 11, 29, 11, 30, tzinfo=UTC)  # a Sunday, before noon


@pytest.mark.parametrize(
    ("zone", "monday"),
    [
        ("Etc/GMT+12", date(2026, 11, 23)),  # −12: still Saturday
        ("Pacific/Honolulu", date(2026, 11, 23)),
        ("America/New_York", date(2026, 11, 23)),
        ("UTC", date(2026, 11, 23)),
        ("Asia/Kolkata", date(2026, 11, 23)),
        ("Pacific/Auckland", date(2026, 11, 30)),  # +13 in its summer: Monday
        ("Pacific/Kiritimati", date(2026, 11, 30)),  # +14
    ],
)
def test_a_moment_falls_in_the_week_of_the_zones_own_calendar(zone, monday):
    assert week_at(MOMENT, ZoneInfo(zone)) == monday


@given(DAYS, st.times(), st.integers(-12, 14))
def test_a_moment_is_in_the_same_week_whatever_zone_says_it(day, time, hours):
    # the names of these zones have the opposite sign of their offset
    zone = ZoneInfo(f"Etc/GMT{-hours:+d}" if hours else "Etc/GMT")
    moment = datetime.combine(day, time, UTC)
    there = (moment + timedelta(hours=hours)).date()

    assert week_at(moment, zone) == week_of(there)


@pytest.mark.parametrize("zone", ["Etc/GMT+12", "UTC", "Pacific/Kiritimati"])
def test_this_week_is_the_week_of_now(zone):
    before = week_at(datetime.now(UTC), ZoneInfo(zone))
    found = this_week(ZoneInfo(zone))
    after = week_at(datetime.now(UTC), ZoneInfo(zone))

    assert found in (before, after)


@pytest.mark.parametrize(
    ("first", "last", "mondays"),
    [
        (date(2026, 11, 30), date(2026, 11, 30), [date(2026, 11, 30)]),
        (date(2026, 12, 2), date(2026, 12, 6), [date(2026, 11, 30)]),
        (date(2026, 12, 6), date(2026, 12, 7), [date(2026, 11, 30), date(2026, 12, 7)]),
        (
            date(2020, 12, 27),
            date(2021, 1, 4),
            [date(2020, 12, 21), date(2020, 12, 28), date(2021, 1, 4)],
        ),
        (date(2026, 12, 7), date(2026, 12, 6), []),
    ],
)
def test_weeks_between_holds_both_ends(first, last, mondays):
    assert weeks_between(first, last) == mondays


@given(DAYS, st.integers(0, 400))
def test_weeks_between_leaves_no_gap(first, days):
    last = first + timedelta(days=days)

    mondays = weeks_between(first, last)

    assert mondays[0] == week_of(first)
    assert mondays[-1] == week_of(last)
    steps = {b - a for a, b in pairwise(mondays)}
    assert steps <= {timedelta(days=7)}
