"""Many verdicts at once: the false discovery rate. Pure.

Section 7 of the project's statistics reference.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """The tests of one list, each answer at the place of its p value."""

    adjusted: tuple[float, ...]  # the least q at which the test is called
    called: tuple[bool, ...]  # True: one of the discoveries at `q`
    q: float  # share of false ones to expect among the called


def benjamini_hochberg(p_values: Sequence[float], q: float = 0.10) -> Family:
    """Call as many tests as keeps the expected share of false calls at `q`.

    One family a list: "these rewrites worked" is one, "these codes got worse" is
    another. Takes p values in any order; always-valid ones stay valid. An empty
    list is an empty family. Raises ValueError on a p or q outside 0..1. Source:
    Benjamini & Hochberg 1995, J. R. Stat. Soc. B 57:289-300.
    """
    if not all(0 <= p <= 1 for p in (*p_values, q)):
        raise ValueError("Every p value and q must be in 0..1.")
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    adjusted = [1.0] * m
    called = [False] * m
    smallest = 1.0
    is_called = False
    for rank in range(m, 0, -1):  # from the largest p down: one hit calls the rest
        i = order[rank - 1]
        smallest = min(smallest, m * p_values[i] / rank)
        is_called = is_called or m * p_values[i] <= rank * q
        adjusted[i] = smallest
        called[i] = is_called
    return Family(tuple(adjusted), tuple(called), q)
