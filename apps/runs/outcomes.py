"""Who says how a run ended, and whose word counts. Pure.

A word counts in this order: the run's own log, a list of results, the workspace's rule
on a score, a person. So a person fills what nothing else knows, and what a program can
say does not hang on who looked. `outcome_by` says whose word it was, by how it begins.
"""

import math
from collections.abc import Iterable
from typing import Literal, NamedTuple

from .rules import Rules
from .transcript import Outcome, Score

BY_LIST = "list: "
BY_RULE = "rule: "
BY_PERSON = "person: "
_PREFIXES = (BY_LIST, BY_RULE, BY_PERSON)
Speaker = Literal["", "log", "list", "rule", "person"]


class Said(NamedTuple):
    """An outcome and whose word it is."""

    outcome: Outcome
    by: str


NOBODY = Said("unknown", "")


def decide(
    log: Said | None, listed: Said | None, scored: Said | None, person: Said | None
) -> Said:
    """Give the first word that says something: log, list, rule, person.

    A log may hold any words; where they look like another's, “log: ” goes before them.
    """
    if log is not None and log.outcome != "unknown":
        by = f"log: {log.by}" if log.by.startswith(_PREFIXES) else log.by
        return Said(log.outcome, by)
    for said in (listed, scored, person):
        if said is not None and said.outcome != "unknown":
            return said
    return NOBODY if log is None else Said("unknown", log.by)


def speaker(outcome: str, by: str) -> Speaker:
    """Tell whose word a stored outcome is; "": nobody's."""
    if outcome == "unknown":
        return ""
    if by.startswith(BY_LIST):
        return "list"
    if by.startswith(BY_RULE):
        return "rule"
    return "person" if by.startswith(BY_PERSON) else "log"


def scored(scores: Iterable[Score], rules: Rules) -> Said | None:
    """Say how a run ended by the score that the workspace chose; None: it has none.

    Scores of that name that fall on both sides of the threshold say nothing.
    """
    if not rules.score_name or rules.score_threshold is None:
        return None
    higher, threshold = rules.score_higher_is_better, rules.score_threshold
    values = [as_number(s.value) for s in scores if s.name == rules.score_name]
    sides = {
        value >= threshold if higher else value <= threshold
        for value in values
        if value is not None
    }
    if len(sides) != 1:
        return None
    sign = ">=" if higher else "<="
    by = f"{BY_RULE}{rules.score_name} {sign} {threshold:g}"
    return Said("correct" if sides == {True} else "incorrect", by)


def as_number(value: float | str | bool | None) -> float | None:
    """Give a score as a number, true as 1; None for words and what is no number."""
    if isinstance(value, str) or value is None or not math.isfinite(value):
        return None
    return float(value)
