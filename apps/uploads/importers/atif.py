"""ATIF trajectories (`trajectory.json`), as Harbor's agents write them.

Export: `agent/trajectory.json` in a trial's folder, best the whole folder: the trial's
`result.json` holds the outcome.
Read: steps with their calls and results, times, tokens, tool schemas; continuations
(`.cont-N`) and the summarising agents as further threads of their session; embedded
sub-agents. Steps marked as copied context are passed over.
Not read: cost, log probabilities, `extra` of the agent.
Errors: the format has no field for them. Read are `is_error`, `status` and `exit_code`
in a result's `extra`, where a writer adds them; else the text tells. An agent that
writes its commands into the message has one call a result, of a tool with the agent's
name.
Outcomes: not in the file; in the trial's `result.json`, joined by the trial's name.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatch
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Record,
    Result,
    Thread,
    Transcript,
    Turn,
    Unreadable,
)

from ._harbor import is_harbor, is_terminal_bench, trial
from ._names import by_folder, parts
from ._runs import Found, runs
from ._wrapper import tool_definitions
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    boolean,
    decode,
    integer,
    mapping,
    sequence,
    text,
    timestamp,
)

LABEL = "ATIF trajectory"

companions: Collection[str] = ()

_PART = re.compile(r"(.+?)-(cont-\d+|summarization-\d+-\w+)")
_RESULTS = ("result.json", "results.json")


def detect(head: bytes) -> float:
    """See `schema_version` that begins with “ATIF”."""
    seen = peek(head)
    if "schema_version" not in seen.keys:
        return 0.0
    if text(seen.first.get("schema_version")).startswith("ATIF"):
        return 0.99
    return 0.99 if re.search(rb'"schema_version"\s*:\s*"ATIF', seen.cut) else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file, or the part of a run that it continues."""
    for item in runs(stream, _is_run, "an ATIF trajectory with a list `steps`"):
        yield item if isinstance(item, Unreadable) else _transcript(item, name)


def claims(names: Collection[str]) -> list[list[str]]:
    """Group each trial's trajectories with its result."""
    folders = by_folder(names)
    groups = []
    for folder, files in sorted(folders.items()):
        results = [name for name in files if parts(name)[-1] in _RESULTS]
        beside = folders.get((*folder, "agent"), [])
        own = [n for n in beside if fnmatch(parts(n)[-1], "trajectory*.json")]
        if results and own:
            groups.append([*sorted(own, key=lambda n: (len(n), n)), results[0]])
    return groups


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield a trial's run with the outcome of its result."""
    about: dict[str, Json] = {}
    for name, open_file in files.items():
        if parts(name)[-1] in _RESULTS:
            with open_file() as stream:
                about = _result_file(stream)
    for name, open_file in files.items():
        if parts(name)[-1] in _RESULTS:
            continue
        with open_file() as stream:
            for record in read(stream, name):
                if isinstance(record, Transcript) and about:
                    _add_trial(record, about)
                yield record


def _result_file(stream: BinaryIO) -> dict[str, Json]:
    for item in runs(
        stream, lambda r: is_harbor(r) or is_terminal_bench(r), "a result"
    ):
        if not isinstance(item, Unreadable):
            return item.value
    return {}


def _add_trial(run: Transcript, about: dict[str, Json]) -> None:
    result = trial(about)
    run.title = result.name
    run.task_id = result.task or result.name
    run.model = run.model or result.model
    if run.is_part:
        return
    run.outcome, run.outcome_by = result.outcome, result.outcome_by
    run.ending, run.scores = result.ending, result.scores
    run.started_at = run.started_at or result.started_at
    run.ended_at = run.ended_at or result.ended_at


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("steps"), list) and "schema_version" in record


def _transcript(found: Found, name: str) -> Transcript:
    record = found.value
    agent = mapping(record.get("agent"))
    session = text(record.get("session_id"))
    match = _PART.fullmatch(session)
    thread = _thread(record)
    if match:
        thread.id = match.group(2)
        thread.kind = "main" if thread.id.startswith("cont") else "sub_agent"
    threads = [thread]
    for inner in sequence(record.get("subagent_trajectories")):
        child = _thread(mapping(inner))
        child.kind = "sub_agent"
        own_id = text(mapping(inner).get("trajectory_id"))
        child.id = own_id or text(mapping(inner).get("session_id")) or f"{len(threads)}"
        threads.append(child)
    times = [t.at for line in threads for t in line.turns if t.at is not None]
    folders = parts(name)[:-1]
    is_trial = len(folders) > 1 and folders[-1] == "agent"
    run_id = match.group(1) if match else session
    return Transcript(
        format="atif",
        threads=threads,
        run_id=run_id,
        # an id without a digit was put in by hand, in many files
        is_global_id=any(sign.isdigit() for sign in run_id),
        is_part=match is not None,
        task_id=folders[-2] if is_trial else "",
        model=text(agent.get("model_name")) or _first_model(threads),
        agent=text(agent.get("name")),
        agent_version=text(agent.get("version")),
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        tools=tool_definitions(agent.get("tool_definitions")),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _first_model(threads: list[Thread]) -> str:
    models = (turn.model for thread in threads for turn in thread.turns if turn.model)
    return next(models, "")


def _thread(record: dict[str, Json]) -> Thread:
    agent = mapping(record.get("agent"))
    builder = ThreadBuilder(agent=text(agent.get("name")))
    for item in sequence(record.get("steps")):
        step = mapping(item)
        if step.get("is_copied_context") is True:
            continue
        at = timestamp(step.get("timestamp"))
        said = blocks_text(step.get("message"))
        if step.get("source") == "agent":
            model = text(step.get("model_name")) or text(agent.get("model_name"))
            turn = builder.add("assistant", said, at=at, model=model)
            _add_step(builder, turn, step, said)
        elif step.get("source") == "system":
            turn = builder.add("system", said, at=at)
            if "observation" in step or builder.turns[0].role == "user":
                turn.kind = "notice"
        elif "source" in step:
            builder.add("user", said, at=at)
    return builder.thread


def _add_step(
    builder: ThreadBuilder, turn: Turn, step: dict[str, Json], said: str
) -> None:
    turn.reasoning = text(step.get("reasoning_content"))
    metrics = mapping(step.get("metrics"))
    turn.input_tokens = integer(metrics.get("prompt_tokens"))
    turn.output_tokens = integer(metrics.get("completion_tokens"))
    results = [
        mapping(item)
        for item in sequence(mapping(step.get("observation")).get("results"))
    ]
    calls = [mapping(item) for item in sequence(step.get("tool_calls"))]
    if not calls:
        _add_unnamed(builder, turn, results, said)
        return
    for made in calls:
        call = Call(
            tool=text(made.get("function_name")),
            arguments=text(made.get("arguments")),
            id=text(made.get("tool_call_id")),
            at=turn.at,
        )
        builder.call(turn, call)
    for item in results:
        if "content" in item or "subagent_trajectory_ref" not in item:
            result = _result(item, turn.at)
            builder.result(result, id=text(item.get("source_call_id")))


def _add_unnamed(
    builder: ThreadBuilder, turn: Turn, results: list[dict[str, Json]], said: str
) -> None:
    """Make a call of each result of an agent that writes commands into its message."""
    answered = [item for item in results if item.get("content") is not None]
    commands = _commands(said)
    tool = builder.thread.agent or "terminal"
    for index, item in enumerate(answered):
        arguments = text(commands) if commands else said
        if len(answered) > 1 and len(commands) == len(answered):
            arguments = text(commands[index])
        result = _result(item, turn.at)
        call = Call(tool=tool, arguments=arguments, at=turn.at, result=result)
        turn.calls = [*turn.calls, call]


def _commands(said: str) -> list[Json]:
    start = said.find("{")
    if start < 0 or '"commands"' not in said:
        return []
    try:
        return sequence(mapping(decode(said[start:].encode())).get("commands"))
    except ValueError:
        return []


def _result(item: dict[str, Json], at: float | None) -> Result:
    extra = mapping(item.get("extra"))
    result = Result(
        text=blocks_text(item.get("content")),
        exit_code=integer(extra.get("exit_code")),
        at=at,
    )
    flag = boolean(extra.get("is_error"))
    if flag is not None:
        result.is_error, result.flag = flag, "is_error"
    elif extra.get("status") in ("error", "success", "ok", "failed"):
        result.is_error = extra["status"] in ("error", "failed")
        result.flag = "status"
    return result
