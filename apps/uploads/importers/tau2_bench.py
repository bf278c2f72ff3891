"""tau2-bench results: an object with `simulations`, a list of them, or one alone.

Export: the file that `tau2 run` writes to `data/simulations`; of the folder layout, all
of `simulations/`, with `results.json` beside it (which holds no run).
Read: the agent's messages and calls, results with their flag and time, the reward, how
the conversation ended, the agent's model.
Not read: calls of the simulated user and their results, `raw_data` (the provider's own
answer), the task list with its expected actions, `llm_args` (it may hold keys). Voice
runs (`ticks`) are set aside.
Errors: the flag `error` of a result. Some submitters never set it: there the text
tells.
Outcomes: `reward_info.reward` 1 is correct, less is incorrect; none, or an end by an
infrastructure error, is unknown.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Record,
    Result,
    Score,
    Thread,
    Transcript,
    Unreadable,
)

from ._documents import unreadable
from ._members import header, members
from ._names import by_folder, parts
from ._outcomes import from_reward
from ._runs import Found, Sieve, runs
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    boolean,
    integer,
    mapping,
    number,
    sequence,
    text,
    timestamp,
)

LABEL = "tau2-bench results"

companions: Collection[str] = ()

_WANTED = "a tau2-bench simulation"
_FILE_KEYS = frozenset({"simulations", "info", "tasks"})
_ENDINGS: dict[str, Ending] = {
    "user_stop": "submitted",
    "agent_stop": "submitted",
    "max_steps": "budget_spent",
    "too_many_errors": "budget_spent",
    "timeout": "timed_out",
    "infrastructure_error": "crashed",
    "agent_error": "crashed",
    "user_error": "crashed",
}


def detect(head: bytes) -> float:
    """See `simulations` with `info` or `tasks`, or records with `reward_info`."""
    seen = peek(head)
    if "simulations" in seen.keys and seen.keys & {"info", "tasks", "timestamp"}:
        return 0.95
    if _is_simulation(dict.fromkeys(seen.keys)):
        return 0.95
    if {"info", "tasks"} <= seen.keys:  # a long task list, or `results.json` alone
        info = mapping(seen.first.get("info"))
        sure = "agent_info" in info and "environment_info" in info
        cut = b'"agent_info"' in seen.cut and b'"environment_info"' in seen.cut
        return 0.9 if sure or cut else 0.0
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run a simulation; a file of `info` and `tasks` alone has none."""
    head = peek(stream.read(256 << 10))
    stream.seek(0)
    if head.is_array or not head.keys & _FILE_KEYS:
        for item in runs(stream, _is_simulation, _WANTED):
            yield from _records(item, {})
        return
    about = header(stream, ("info",))
    info = mapping(about.get("info"))
    sieve = Sieve(_is_simulation, _WANTED)
    for member in members(stream, arrays=("simulations",), only=()):
        for item in sieve.take(member.document):
            yield from _records(item, info)
    for item in sieve.finish():
        yield from _records(item, info)


def claims(names: Collection[str]) -> list[list[str]]:
    """Group each `results.json` with the simulations in the folder beside it."""
    folders = by_folder(names)
    groups = []
    for folder, files in sorted(folders.items()):
        about = [name for name in files if parts(name)[-1] == "results.json"]
        beside = folders.get((*folder, "simulations"), [])
        own = [name for name in beside if name.endswith(".json")]
        if about and own:
            groups.append([about[0], *sorted(own)])
    return groups


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield the simulations of a folder, with the agent that `results.json` names."""
    info: dict[str, Json] = {}
    for name, open_file in files.items():
        with open_file() as stream:
            if parts(name)[-1] == "results.json":
                info = mapping(header(stream, ("info",)).get("info"))
                continue
            for item in runs(stream, _is_simulation, _WANTED):
                yield from _records(item, info)


def _is_simulation(record: dict[str, Json]) -> bool:
    return "reward_info" in record and ("messages" in record or "ticks" in record)


def _records(item: Found | Unreadable, info: dict[str, Json]) -> Iterator[Record]:
    if isinstance(item, Unreadable):
        yield item
    elif not isinstance(item.value.get("messages"), list) or item.value.get("ticks"):
        yield unreadable(item.document, "a voice run (`ticks`): it is not read")
    else:
        yield _transcript(item, info)


def _transcript(found: Found, info: dict[str, Json]) -> Transcript:
    record = found.value
    agent = mapping(info.get("agent_info"))
    domain = text(mapping(info.get("environment_info")).get("domain_name"))
    model = text(agent.get("llm"))
    reward = number(mapping(record.get("reward_info")).get("reward"))
    ending = _ENDINGS.get(text(record.get("termination_reason")), "")
    outcome = "unknown" if ending == "crashed" else from_reward(reward)
    run_id, task = text(record.get("id")), text(record.get("task_id"))
    return Transcript(
        format="tau2_bench",
        threads=[_thread(sequence(record.get("messages")), model)],
        run_id=run_id or f"{task}/{text(record.get('trial'))}",
        is_global_id=bool(run_id),
        task_id=task,
        model=model,
        agent=text(agent.get("implementation")),
        tags=[domain] if domain else [],
        started_at=timestamp(record.get("start_time", record.get("timestamp"))),
        ended_at=timestamp(record.get("end_time")),
        ending=ending,
        outcome=outcome,
        outcome_by="reward_info.reward" if outcome != "unknown" else "",
        scores=[Score("reward", reward, higher_is_better=True)],
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _thread(messages: list[Json], model: str) -> Thread:
    builder = ThreadBuilder()
    for item in messages:
        message = mapping(item)
        role = message.get("role")
        at = timestamp(message.get("timestamp"))
        if role == "tool":
            for result in sequence(message.get("tool_messages")) or [message]:
                _add_result(builder, mapping(result))
        elif role == "assistant":
            _add_turn(builder, message, at, model)
        elif role in ("user", "system") and (
            said := blocks_text(message.get("content"))
        ):
            builder.add("system" if role == "system" else "user", said, at=at)
    return builder.thread


def _add_turn(
    builder: ThreadBuilder, message: dict[str, Json], at: float | None, model: str
) -> None:
    said = blocks_text(message.get("content"))
    turn = builder.add("assistant", said, at=at, model=model)
    usage = mapping(message.get("usage"))
    turn.input_tokens = integer(usage.get("prompt_tokens"))
    turn.output_tokens = integer(usage.get("completion_tokens"))
    for item in sequence(message.get("tool_calls")):
        call = mapping(item)
        if not _is_agents(call):
            continue
        builder.call(
            turn,
            Call(
                tool=text(call.get("name")),
                arguments=text(call.get("arguments")),
                id=text(call.get("id")),
                at=at,
            ),
        )


def _add_result(builder: ThreadBuilder, message: dict[str, Json]) -> None:
    if not _is_agents(message):
        return
    flag = boolean(message.get("error"))
    builder.result(
        Result(
            text=blocks_text(message.get("content")),
            is_error=flag,
            flag="error" if flag is not None else "",
            at=timestamp(message.get("timestamp")),
        ),
        id=text(message.get("id")),
    )


def _is_agents(item: dict[str, Json]) -> bool:
    """Whether the agent made this call: the simulated user has tools of its own."""
    return bool(item.get("requestor", "assistant") != "user")
