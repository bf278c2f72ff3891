"""A verdict in short plain sentences, for panel, triage and minutes. Pure.

Names of models come from logs: pages escape them, and so do the minutes.
"""

from dataclasses import dataclass

from apps.runs.weeks import WEEK

from .rivals import Rival
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """The sentences beside the word."""

    difference: str  # "" where nothing can be compared
    crude: str
    missing: str  # why no word can be said and what it takes; "" once it is said
    baseline: str
    controls: str
    rivals: tuple[str, ...]


def words_of(verdict: Verdict) -> VerdictWords:
    """Say a verdict in words."""
    difference = crude = ""
    if verdict.adjusted is not None:
        difference = (
            f"{_points(verdict.adjusted)} points"
            f" ({_points(verdict.low)} to {_points(verdict.high)})"
        )
    if verdict.crude is not None:
        c = verdict.crude
        crude = f"{_points(c.value)} ({_points(c.low)} to {_points(c.high)})"
    return VerdictWords(
        difference,
        crude,
        _missing(verdict),
        _baseline(verdict),
        _controls(verdict),
        tuple(_rival(rival) for rival in verdict.rivals),
    )


def _points(share: float) -> str:
    return f"{100 * share:+.0f}".replace("-", "−").replace("+0", "0").replace("−0", "0")


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{share:.0%}"


def _missing(verdict: Verdict) -> str:
    if verdict.is_final:
        return ""
    if verdict.reason == "no_baseline":
        return "no full week with known outcomes before it"
    if verdict.reason == "no_overlap":
        return "no model has runs on both sides yet"
    if verdict.reason == "placebo":
        return "the code and its controls moved apart before the rewrite"
    if not verdict.more_runs:
        if verdict.reason == "too_few":
            return "too few runs with a known outcome to compare with"
        return "too small a difference for any number of further runs to tell"
    runs = f"about {verdict.more_runs} more run{'s' if verdict.more_runs > 1 else ''}"
    if not verdict.more_weeks:
        return runs
    return f"{runs}, {verdict.more_weeks} week{'s' if verdict.more_weeks > 1 else ''}"


def _baseline(verdict: Verdict) -> str:
    weeks = verdict.baseline
    if not weeks:
        return "No week to compare with."
    end = weeks[-1] + WEEK
    count = f"{len(weeks)} week{'s' if len(weeks) > 1 else ''} with runs"
    return f"Compared with {count} from {weeks[0].isoformat()} up to {end.isoformat()}."


def _controls(verdict: Verdict) -> str:
    if verdict.against_controls is None:
        return (
            "No comparison with other codes: too few runs of codes without a rewrite."
        )
    change = verdict.against_controls
    said = (
        "Against codes without a rewrite:"
        f" {_points(change.delta)} points"
        f" ({_points(change.low)} to {_points(change.high)}, one look)."
    )
    if verdict.placebo is None:
        return f"{said} Too few weeks before to see whether both moved alike."
    if verdict.placebo.excludes_zero:
        return f"{said} They moved apart before it already: no verdict."
    return f"{said} No sign that they moved apart before it."


def _rival(rival: Rival) -> str:
    before, after = _percent(rival.before), _percent(rival.after)
    name = (rival.names[0] if rival.names else "") or "(not named)"
    if rival.kind == "mix" and rival.before is not None and rival.after is not None:
        return (
            f"The mix of models moved: {_points(rival.before)} points over all runs,"
            f" {_points(rival.after)} like for like."
        )
    return {
        "model": f"The model changed: {name} had {before} of the runs, now {after}.",
        "agent_version": f"The agent changed: {name} from {before} to {after}.",
        "tool_version": f"The tool changed: {name} from {before} to {after}.",
        "mix": "The mix of models moved.",
        "soft_errors": f"Errors known by text alone went from {before} to {after}.",
        "unknown_outcomes": f"Unknown outcomes went from {before} to {after} of runs.",
        "adoption": f"The new text reached only {after} of the runs.",
    }[rival.kind]
