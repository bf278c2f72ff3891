"""Reads the result of one trial, as Harbor and Terminal-Bench write it."""

from typing import NamedTuple

from apps.runs.transcript import Ending, Outcome, Score

from ._outcomes import from_reward
from .values import Json, boolean, mapping, number, text, timestamp

_FAILURES: dict[str, Ending] = {
    "agent_timeout": "timed_out",
    "unknown_agent_error": "crashed",
    "agent_installation_failed": "crashed",
    "context_length_exceeded": "budget_spent",
    "output_length_exceeded": "budget_spent",
}
_NOT_JUDGED = frozenset({"test_timeout", "parse_error", "agent_installation_failed"})


class Trial(NamedTuple):
    """What a result file says of its trial."""

    name: str
    task: str
    outcome: Outcome
    outcome_by: str
    ending: Ending
    note: str
    scores: list[Score]
    model: str
    started_at: float | None
    ended_at: float | None


def is_harbor(record: dict[str, Json]) -> bool:
    """Whether it is a trial's `result.json` (a job's has no trial)."""
    return "trial_name" in record and bool(
        record.keys() & {"verifier_result", "exception_info", "agent_info"}
    )


def is_terminal_bench(record: dict[str, Json]) -> bool:
    """Whether it is the result of a trial of Terminal-Bench 1."""
    return "is_resolved" in record and bool(
        record.keys() & {"trial_name", "task_id", "failure_mode"}
    )


def trial(record: dict[str, Json]) -> Trial:
    """Read the result of a trial."""
    return _harbor(record) if is_harbor(record) else _terminal_bench(record)


def _harbor(record: dict[str, Json]) -> Trial:
    rewards = mapping(mapping(record.get("verifier_result")).get("rewards"))
    scores = [
        Score(name, number(value), higher_is_better=True if name == "reward" else None)
        for name, value in rewards.items()
    ]
    found = rewards.get("reward")
    if found is None and len(rewards) == 1:
        found = next(iter(rewards.values()))
    reward = number(found)
    exception = mapping(record.get("exception_info"))
    kind = text(exception.get("exception_type"))
    ending = _exception_ending(kind, bool(record.get("exception_info")))
    if not ending and reward is not None:
        ending = "submitted"
    outcome = from_reward(reward)
    if ending == "crashed" and outcome == "incorrect":
        outcome = "unknown"
    model = mapping(mapping(record.get("agent_info")).get("model_info"))
    return Trial(
        name=text(record.get("trial_name")),
        task=text(record.get("task_name")),
        outcome=outcome,
        outcome_by="verifier_result.rewards" if outcome != "unknown" else "",
        ending=ending,
        note=kind,
        scores=scores,
        model=text(model.get("name")),
        started_at=timestamp(record.get("started_at")),
        ended_at=timestamp(record.get("finished_at")),
    )


def _exception_ending(kind: str, has_one: bool) -> Ending:
    if not has_one:
        return ""
    lowered = kind.lower()
    if "timeout" in lowered and "agent" in lowered and "setup" not in lowered:
        return "timed_out"
    return "cancelled" if "cancel" in lowered else "crashed"


def _terminal_bench(record: dict[str, Json]) -> Trial:
    resolved = boolean(record.get("is_resolved"))
    failure = text(record.get("failure_mode"))
    outcome: Outcome = "unknown"
    if resolved is not None and (resolved or failure not in _NOT_JUDGED):
        outcome = "correct" if resolved else "incorrect"
    ending = _FAILURES.get(failure, "")
    if ending == "crashed" and not resolved:
        outcome = "unknown"
    if failure in ("unset", "none") and resolved is not None:
        ending = "submitted"
    started, ended = "trial_started_at", "trial_ended_at"
    return Trial(
        name=text(record.get("trial_name")),
        task=text(record.get("task_id")),
        outcome=outcome,
        outcome_by="is_resolved" if outcome != "unknown" else "",
        ending=ending,
        note="" if failure == "unset" else failure,
        scores=[],
        model=text(record.get("model_name")),
        started_at=timestamp(record.get(started)),
        ended_at=timestamp(record.get(ended)),
    )
