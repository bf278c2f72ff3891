"""The run around a list of messages: id, times, agent and outcome of a wrapper."""

from apps.runs.transcript import (
    Ending,
    Outcome,
    Score,
    Thread,
    ToolDefinition,
    Transcript,
)

from .records import Document
from .values import Json, boolean, mapping, number, sequence, text, timestamp

_OUTCOMES: dict[str, Outcome] = {
    **dict.fromkeys(("correct", "success", "succeeded", "passed", "pass"), "correct"),
    **dict.fromkeys(("incorrect", "failure", "failed", "fail", "wrong"), "incorrect"),
}
_ENDINGS: dict[str, Ending] = {
    "submitted": "submitted",
    "budget_spent": "budget_spent",
    "timed_out": "timed_out",
    "crashed": "crashed",
    "cancelled": "cancelled",
}


def wrapped(
    format_name: str, threads: list[Thread], record: dict[str, Json], document: Document
) -> Transcript:
    """Build a run of its threads and the wrapper's fields; absent ones stay unknown."""
    agent = record.get("agent")
    outcome, outcome_by = outcome_of(record)
    run_id = text(record.get("run_id", record.get("session_id")))
    return Transcript(
        format=format_name,
        threads=threads,
        run_id=run_id,
        is_global_id=bool(run_id),
        task_id=text(record.get("task_id")),
        title=text(record.get("title")),
        model=text(record.get("model")),
        agent=text(agent.get("name")) if isinstance(agent, dict) else text(agent),
        agent_version=text(mapping(agent).get("version")),
        source=text(record.get("source")),
        tags=[text(tag) for tag in sequence(record.get("tags"))],
        started_at=timestamp(record.get("started_at")),
        ended_at=timestamp(record.get("ended_at")),
        ending=_ENDINGS.get(text(record.get("ending")), ""),
        outcome=outcome,
        outcome_by=outcome_by,
        scores=scores_of(record.get("scores")),
        line=document.line,
        offset=document.offset,
    )


def is_global(run_id: str) -> bool:
    """Whether an id that users may choose themselves looks like one of a kind.

    "1" and "demo-session" are used again and again; what a program draws is long and
    has digits in it.
    """
    return len(run_id) >= 16 and any(sign.isdigit() for sign in run_id)


def outcome_of(record: dict[str, Json]) -> tuple[Outcome, str]:
    """Read the outcome of a wrapper; what is not said is unknown."""
    value, by = record.get("outcome"), "outcome"
    if isinstance(value, dict):
        value, by = value.get("success", value.get("result")), "outcome.success"
    if value is None and "success" in record:
        value, by = record["success"], "success"
    if isinstance(value, str) and value.lower() in _OUTCOMES:
        return _OUTCOMES[value.lower()], by
    flag = boolean(value)
    if flag is None:
        return "unknown", ""
    return ("correct" if flag else "incorrect"), by


def scores_of(value: Json) -> list[Score]:
    """Read scores as `{name: value}` or as a list of objects with a name and a value.

    No direction is taken from the name: the log does not say which way is better.
    """
    if isinstance(value, dict):
        value = [{"name": name, "value": score} for name, score in value.items()]
    scores = []
    for item in value if isinstance(value, list) else []:
        name = text(mapping(item).get("name", mapping(item).get("key")))
        if name:
            scores.append(Score(name, score_value(item)))
    return scores


def score_value(item: dict[str, Json]) -> float | str | bool | None:
    """Give the value of a score as the log has it, or its label where it has none."""
    for key in ("value", "score", "stringValue", "string_value", "label"):
        value = item.get(key)
        if isinstance(value, (bool, str)):
            return value
        if number(value) is not None:
            return number(value)
    return None


def tool_definitions(value: Json) -> list[ToolDefinition]:
    """Read the tools that a request offered, whichever API's schema it uses."""
    found: dict[str, ToolDefinition] = {}
    for item in sequence(value):
        tool = mapping(item)
        tool = mapping(tool.get("function")) or tool
        name = text(tool.get("name"))
        schema = None
        for key in ("input_schema", "inputSchema", "parameters", "json_schema"):
            schema = schema or tool.get(key)
        if name and name not in found:
            found[name] = ToolDefinition(
                name, text(tool.get("description")), text(schema)
            )
            _add_hints(found[name], mapping(tool.get("annotations")))
    return list(found.values())


def _add_hints(tool: ToolDefinition, hints: dict[str, Json]) -> None:
    tool.read_only = boolean(hints.get("readOnlyHint"))
    tool.destructive = boolean(hints.get("destructiveHint"))
    tool.idempotent = boolean(hints.get("idempotentHint"))
