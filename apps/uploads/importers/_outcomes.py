"""Reads what people and programs write for an outcome."""

from apps.runs.transcript import Ending, Outcome

from .values import Json, boolean

_WORDS: dict[str, Outcome] = {
    **dict.fromkeys(
        ("correct", "success", "succeeded", "passed", "pass", "resolved", "solved"),
        "correct",
    ),
    **dict.fromkeys(
        ("incorrect", "failure", "failed", "fail", "wrong", "unresolved", "unsolved"),
        "incorrect",
    ),
    **dict.fromkeys(("unknown", "", "none", "null", "n/a"), "unknown"),
}
ENDINGS: dict[str, Ending] = {
    "": "",
    "submitted": "submitted",
    "budget_spent": "budget_spent",
    "timed_out": "timed_out",
    "crashed": "crashed",
    "cancelled": "cancelled",
}


def outcome_of(value: Json) -> Outcome | None:
    """Read a word, a flag or 0 and 1 as an outcome; None if it is none of these."""
    if value is None:
        return "unknown"
    flag = boolean(value)
    if flag is not None:
        return "correct" if flag else "incorrect"
    if isinstance(value, str):
        word = value.strip().lower()
        if word in ("0", "1", "0.0", "1.0"):
            return "correct" if word.startswith("1") else "incorrect"
        return _WORDS.get(word)
    return None


def from_reward(reward: float | None) -> Outcome:
    """A full reward of 1 is correct, a lesser one incorrect, none unknown."""
    if reward is None or reward != reward:
        return "unknown"
    return "correct" if reward >= 1 - 1e-6 else "incorrect"
