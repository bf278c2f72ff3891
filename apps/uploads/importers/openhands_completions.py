"""OpenHands completion logs: one JSON file a model call, in a folder per instance.

Export: the folder `llm_completions/<instance>/` of an evaluation. Each file repeats the
whole conversation, so the last one with its `response` is the run; of a single file,
what it holds is the run so far.
Read: the chat messages (in the native form `fncall_messages` where it is kept), the
last response, tool schemas, model, the time of the call, which stands for the run's.
Not read: cost, the calls before the last, cache marks.
Errors: no flag in the file; the text tells (`[Command finished with exit code N]`).
Outcomes: not in the file; upload the report of the evaluation with it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Transcript, Unreadable

from ._names import by_folder, instance_id, parts
from ._runs import Found, runs
from ._wrapper import tool_definitions
from .chat_messages import add_message
from .head import peek
from .thread import ThreadBuilder
from .values import Json, integer, mapping, sequence, text, timestamp

LABEL = "OpenHands completion log"

companions: Collection[str] = ()

_NAME = re.compile(r"__[^/]*-(\d{9,}(?:\.\d+)?)\.json$")
_MARKS = frozenset({"response", "kwargs", "args", "timestamp", "cost"})


def detect(head: bytes) -> float:
    """See `messages` and `response` beside the call's own arguments and cost."""
    seen = peek(head)
    if "messages" not in seen.keys and "fncall_messages" not in seen.keys:
        return 0.0
    if seen.keys >= {"response", "timestamp"} and seen.keys & {
        "kwargs",
        "args",
        "cost",
    }:
        return 0.95
    # a long conversation hides the keys that follow it
    return 0.7 if b"You are OpenHands agent" in seen.cut[:4096] else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the conversation of the file as a run."""
    wanted = "a completion log with `messages` and `response`"
    for item in runs(stream, _is_run, wanted):
        yield item if isinstance(item, Unreadable) else _transcript(item, name)


def claims(names: Collection[str]) -> list[list[str]]:
    """Group the files of each instance, the last call first."""
    calls = [name for name in names if _NAME.search(name)]
    folders = by_folder(calls).values()
    return [sorted(own, key=_number, reverse=True) for own in folders]


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield the run of an instance: its last file, dated by its first."""
    first_at = min((timestamp(_number(name)) or 0 for name in files), default=0)
    for name, open_file in files.items():
        with open_file() as stream:
            records = list(read(stream, name))
        yield from (r for r in records if isinstance(r, Unreadable))
        runs_found = [r for r in records if isinstance(r, Transcript)]
        for run in runs_found:
            run.started_at = first_at or run.started_at
            yield run
        if runs_found:
            return  # the other files are the beginnings of this one


def _instance(name: str) -> str:
    """Give the instance: the folder's name; a file's own is that of its model."""
    folders = parts(name)[:-1]
    return instance_id("/".join(folders) if _NAME.search(name) else name)


def _number(name: str) -> float:
    """Give the time of the call, which ends the file's name."""
    match = _NAME.search(name)
    return float(match.group(1)) if match else 0.0


def _is_run(record: dict[str, Json]) -> bool:
    messages = record.get("fncall_messages", record.get("messages"))
    return isinstance(messages, list) and bool(record.keys() & _MARKS)


def _transcript(found: Found, name: str) -> Transcript:
    record = found.value
    messages = record.get("fncall_messages", record.get("messages"))
    response = mapping(record.get("fncall_response")) or mapping(record.get("response"))
    model = text(response.get("model"))
    at = timestamp(record.get("timestamp"))
    builder = ThreadBuilder()
    for item in sequence(messages):
        add_message(builder, mapping(item), model)
    choices = sequence(response.get("choices"))
    answer = mapping(mapping(choices[0] if choices else None).get("message"))
    turn = (
        add_message(builder, {"role": "assistant", **answer}, model) if answer else None
    )
    if turn is not None:
        usage = mapping(response.get("usage"))
        turn.input_tokens = integer(usage.get("prompt_tokens"))
        turn.output_tokens = integer(usage.get("completion_tokens"))
        turn.at = at
        for call in turn.calls:
            call.at = at
    return Transcript(
        format="openhands_completions",
        threads=[builder.thread],
        task_id=_instance(name),
        model=model,
        agent="OpenHands",
        started_at=at,
        ended_at=at,
        ending="submitted" if turn and _is_finished(turn.calls) else "",
        tools=tool_definitions(mapping(record.get("kwargs")).get("tools")),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _is_finished(calls: list[Call]) -> bool:
    return any(call.tool == "finish" for call in calls)
