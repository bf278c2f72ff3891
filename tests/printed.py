"""Numbers as a page prints them, compared to half a unit of their last digit."""

import pytest


def printed(text: str) -> object:
    """Equal to any number that rounds to `text`; `text` sets the tolerance.

    "0.2553" is met by 0.25525 to 0.25535, "909,736,035" to half a unit.
    """
    digits = text.replace(",", "")
    places = len(digits.partition(".")[2])
    return pytest.approx(float(digits), abs=0.5 * 10**-places + 1e-12, rel=0)
