"""How long to wait: relative waits become absolute times, by the time of receipt.

RFC 9110 §10.2.3: Retry-After is an HTTP date or whole seconds. A model that reads a
transcript an hour later cannot use "in 30 seconds"; a time it can.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

_LONGEST = timedelta(days=366)  # what is longer is a mistake, not a wait
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_IN_TEXT = re.compile(
    r"""(?ix)
    (?: \bretry[-_ ]?after(?P<key_unit>_ms|_seconds|[-_]?s\b)? ["']? \s? [:=]? \s? ["']?
      | \bretry[_ ]?delay ["']? \s? [:=] \s? ["']?
      | \b(?:wait|try\ again\ in|retry\ in|available\ (?:again\ )?in|resets?\ in)
        (?:\ for|\ at\ least|\ about)? \s )
    (?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?) \s?
    (?P<unit>milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?)?\b
    """
)


class Wait(NamedTuple):
    """A wait as it was given and as it is meant; both are kept."""

    raw: str
    not_before: datetime | None  # UTC; None: no wait is given
    finding: str = ""  # what is wrong with it, one sentence


def read_retry_after(raw: str, received_at: datetime | None) -> Wait:
    """Read a Retry-After header: a date, or whole seconds from its receipt.

    A date in the past means now. Negative or unreadable means that no wait is given.
    """
    text = raw.strip()
    if re.fullmatch(r"[0-9]{1,12}", text):
        return _after(raw, float(text), received_at)
    if re.fullmatch(r"[-+]?[0-9.,]+(?: ?[a-z]+)?", text):
        return Wait(raw, None, "Send Retry-After as whole seconds, 0 or more.")
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return Wait(raw, None, "Send Retry-After as an HTTP date or whole seconds.")
    moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    if received_at is not None and moment < received_at:
        moment = received_at.astimezone(UTC)
    if received_at is not None and moment - received_at > _LONGEST:
        return Wait(raw, None, "Send a Retry-After of less than a year.")
    return Wait(raw, moment)


def find_wait(text: str, received_at: datetime | None) -> Wait | None:
    """Find a wait in an error's text: "Wait 30 seconds", `"retryDelay": "3.5s"`."""
    found = _IN_TEXT.search(text)
    if not found:
        return None
    unit = (found["unit"] or found["key_unit"] or "s").strip("_-").lower()
    unit = "ms" if unit.startswith(("ms", "mil")) else unit[:1]
    return _after(found[0], float(found["number"]) * _UNITS[unit], received_at)


def _after(raw: str, seconds: float, received_at: datetime | None) -> Wait:
    if received_at is None:
        return Wait(raw, None, "Keep the time of receipt: the wait counts from there.")
    if seconds > _LONGEST.total_seconds():
        return Wait(raw, None, "Send a Retry-After of less than a year.")
    return Wait(raw, received_at.astimezone(UTC) + timedelta(seconds=seconds))
