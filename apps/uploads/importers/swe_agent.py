"""SWE-agent trajectories (`.traj`): one JSON object a run.

Export: the `.traj` files in the folder `trajectories`, named after their instance.
Read: the prompt (without demonstrations), each step of `trajectory` as one call, how
the run ended, the model where `replay_config` names it. The tool is the first word of
`action`, the arguments are the rest.
Not read: the patch, the state of the shell, the processed history.
Errors: no flag in the file; the text of the observation tells.
Outcomes: not in the file; upload the list of resolved instances with it.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Ending, Record, Result, Transcript, Unreadable

from ._names import instance_id, stem
from ._runs import Found, runs
from .head import peek
from .thread import ThreadBuilder
from .values import Json, blocks_text, decode, mapping, sequence, text

LABEL = "SWE-agent trajectory"

_HARNESS = re.compile(
    r"(exit_\w+|skip)\s*"
)  # what the harness writes in an action's place
_BUDGETS = ("exit_cost", "exit_context", "exit_format", "exit_token", "exit_step")
_TIMEOUTS = ("exit_command_timeout", "exit_total_execution_time", "exit_timeout")
_STOPS = ("exit_forfeit", "exit_command", "early_exit", "skip")


def detect(head: bytes) -> float:
    """See `trajectory`, a list of steps with action and observation."""
    seen = peek(head)
    if seen.is_array or "trajectory_format" in seen.keys:
        return 0.0
    steps = sequence(seen.first.get("trajectory"))
    if _is_step(next(iter(steps), None)):
        return 0.95
    if "history" in seen.keys and seen.keys & {"info", "environment", "trajectory"}:
        marks = (b'"action"', b'"observation"', b'"message_type"', b'"is_demo"')
        if "trajectory" in seen.keys and all(m in seen.cut for m in marks[:2]):
            return 0.95
        if seen.first and isinstance(seen.first.get("trajectory"), list):
            return 0.9  # it ended before its first step
        return 0.6 if any(m in seen.cut for m in marks[2:]) else 0.0
    return 0.95 if "trajectory" in seen.keys and _has_steps(seen.cut) else 0.0


def _is_step(step: Json) -> bool:
    return {"action", "observation"} <= mapping(step).keys()


def _has_steps(cut: bytes) -> bool:
    return all(mark in cut for mark in (b'"action"', b'"observation"'))


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file."""
    wanted = "a SWE-agent run with a list `trajectory`"
    for item in runs(stream, _is_run, wanted):
        yield item if isinstance(item, Unreadable) else _transcript(item, name)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("trajectory"), list)


def _transcript(found: Found, name: str) -> Transcript:
    record = found.value
    info = mapping(record.get("info"))
    config = _config(record.get("replay_config"))
    model = text(mapping(mapping(config.get("agent")).get("model")).get("name"))
    problem = text(mapping(config.get("problem_statement")).get("id"))
    builder = ThreadBuilder()
    _add_prompt(builder, sequence(record.get("history")))
    for step in sequence(record.get("trajectory")):
        _add_step(builder, mapping(step), model)
    return Transcript(
        format="swe_agent",
        threads=[builder.thread],
        run_id=stem(name),
        task_id=problem or instance_id(name) or stem(name),
        model=model,
        agent="SWE-agent",
        agent_version=text(info.get("swe_agent_version")),
        ending=_ending(text(info.get("exit_status"))),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _config(value: Json) -> dict[str, Json]:
    """Read the configuration, which newer versions write as text."""
    if isinstance(value, str):
        try:
            return mapping(decode(value.encode("utf-8", "replace")))
        except ValueError:
            return {}
    return mapping(value)


def _add_prompt(builder: ThreadBuilder, history: list[Json]) -> None:
    """Add what stood before the agent's first own turn."""
    for item in history:
        message = mapping(item)
        if message.get("is_demo") is True:
            continue
        role = message.get("role")
        if role not in ("system", "user"):
            return
        said = blocks_text(message.get("content"))
        builder.add("system" if role == "system" else "user", said)


def _add_step(builder: ThreadBuilder, step: dict[str, Json], model: str) -> None:
    action = text(step.get("action")).strip()
    said = text(step.get("thought")) or text(step.get("response"))
    observed = step.get("observation")
    if _HARNESS.fullmatch(action):
        builder.add("user", said or action).kind = "notice"
        return
    turn = builder.add("assistant", said, model=model)
    if action:
        tool, *rest = action.split(maxsplit=1)
        result = Result(text=text(observed)) if observed is not None else None
        turn.calls = [Call(tool=tool, arguments="".join(rest), result=result)]
    elif observed:  # the harness's word on a reply without a command
        builder.add("user", text(observed)).kind = "notice"


def _ending(status: str) -> Ending:
    if not status or status == "None":
        return ""
    if any(word in status for word in _BUDGETS):
        return "budget_spent"
    if status.startswith("submitted"):
        return "timed_out" if "time" in status else "submitted"
    if any(word in status for word in _TIMEOUTS):
        return "timed_out"
    if any(word in status for word in _STOPS):
        return "cancelled"
    return "crashed"
