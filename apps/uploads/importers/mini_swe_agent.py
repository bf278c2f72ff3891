"""mini-swe-agent trajectories (`.traj.json`) and its list of exit statuses (YAML).

Export: the `.traj.json` files of a run's folder; `exit_statuses_….yaml` beside them.
Read: the object with `info` and `messages`, and the bare list of messages of older
versions, whose commands stand in a fenced block of the text; calls of `bash`, results
with their exit code and time, the model, tokens, how the run ended. The YAML gives the
ending of each instance.
Not read: the configuration, the provider's raw answer, the patch.
Errors: `extra.returncode` other than 0, `extra.exception_info`; a reply that the
harness could not parse (`FormatError`) is an error whose call is unknown. Bare lists
have text.
Outcomes: not in the file, but for forks that write `info.patch_repair.success`; upload
the list of resolved instances with it.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Outcome,
    OutcomeRecord,
    Record,
    Result,
    Transcript,
    Turn,
    Unreadable,
)

from . import chat_messages
from ._documents import unreadable
from ._names import instance_id, stem
from ._runs import joined, runs
from .head import peek
from .records import Document, documents, lines, utf8
from .thread import UNKNOWN_TOOL, ThreadBuilder
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

LABEL = "mini-swe-agent trajectory"

_FENCE = re.compile(r"```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n?```", re.DOTALL)
_FENCE_MARK = "```mswea_bash_command"
_STATUSES = b"instances_by_exit_status:"
_ITEM = re.compile(r"\s*-\s+(.+)")
_STATUS = re.compile(r"\s+([\w. ]+?)\s*:")
_BY = "mini-swe-agent exit statuses"


def detect(head: bytes) -> float:
    """See `trajectory_format`, `info.mini_version`, or messages in its text dialect."""
    seen = peek(head)
    if seen.start.startswith(_STATUSES):
        return 0.95
    if "messages" in seen.keys:
        info = mapping(seen.first.get("info"))
        if text(seen.first.get("trajectory_format")).startswith("mini-swe-agent"):
            return 0.98
        marks = (b'"mini_version"', b'"trajectory_format"', b"minisweagent.")
        if "mini_version" in info or any(mark in seen.cut for mark in marks):
            return 0.95
    if seen.is_array and seen.objects:
        roles = [message.get("role") for message in seen.objects]
        said = blocks_text(seen.objects[0].get("content"))
        if "assistant" not in roles or "tool" in roles:
            return 0.0
        own = any(
            _FENCE_MARK in blocks_text(m.get("content"))
            for m in seen.objects
            if m.get("role") == "assistant"
        )
        return 0.9 if own or ("THOUGHT" in said and "bash" in said) else 0.0
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file, or an ending for each instance of a status list."""
    start = peek(stream.read(512)).start
    stream.seek(0)
    if start.startswith(_STATUSES):
        yield from _statuses(stream)
    elif start[:1] == b"[":
        yield from _bare_list(stream, name)
    else:
        for item in runs(stream, _is_run, "a mini-swe-agent run"):
            if isinstance(item, Unreadable):
                yield item
            else:
                run = _transcript(item.value, item.document, name)
                run.unreadable = item.faults
                yield run


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("messages"), list)


def _bare_list(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Read a file that is the list of messages and nothing else."""
    messages: list[Json] = []
    broken: list[Unreadable] = []
    first = Document(b"", 1, 0)
    for document in documents(stream):
        first = first if messages or broken else document
        try:
            messages.append(mapping(decode(document.raw)))
        except ValueError as exc:
            broken.append(unreadable(document, str(exc)))
    if not messages:
        yield from joined(broken)
        return
    run = _transcript({"messages": messages}, first, name)
    run.unreadable = joined(broken)
    yield run


def _transcript(record: dict[str, Json], document: Document, name: str) -> Transcript:
    info = mapping(record.get("info"))
    config = mapping(mapping(info.get("config")).get("model"))
    model = text(config.get("model_name"))
    builder = ThreadBuilder()
    messages = [mapping(item) for item in sequence(record.get("messages"))]
    if any("tool_calls" in m or m.get("role") == "tool" for m in messages):
        for message in messages:
            _add_message(builder, message, model)
    else:
        _add_text_dialect(builder, messages, model)
    repair = boolean(mapping(info.get("patch_repair")).get("success"))
    outcome: Outcome = "unknown"
    if repair is not None:
        outcome = "correct" if repair else "incorrect"
    own_id = text(record.get("instance_id")) or text(info.get("instance_id"))
    times = [turn.at for turn in builder.turns if turn.at is not None]
    return Transcript(
        format="mini_swe_agent",
        threads=[builder.thread],
        run_id=own_id or stem(name),
        task_id=own_id or instance_id(name),
        model=model,
        agent="mini-swe-agent",
        agent_version=text(info.get("mini_version")),
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        ending=_ending(text(info.get("exit_status"))),
        outcome=outcome,
        outcome_by="info.patch_repair.success" if repair is not None else "",
        line=document.line,
        offset=document.offset,
    )


def _add_message(builder: ThreadBuilder, message: dict[str, Json], model: str) -> None:
    """Add a message of the dialect with `tool_calls`."""
    extra = mapping(message.get("extra"))
    at = timestamp(extra.get("timestamp"))
    role = message.get("role")
    if role == "exit":
        _add_exit(builder, message, extra, at)
    elif role == "user" and extra.get("interrupt_type") == "FormatError":
        result = Result(
            text=blocks_text(message.get("content")),
            is_error=True,
            flag="interrupt_type",
            error_code="FormatError",
            cause="rejected",
            at=at,
        )
        turn = builder.add("assistant", at=at, model=model)
        turn.calls = [Call(tool=UNKNOWN_TOOL, result=result, at=at)]
    elif role == "tool":
        own_id = text(message.get("tool_call_id"))
        builder.result(_result(message, extra, at), id=own_id)
    else:
        turn_or_none = chat_messages.add_message(builder, message, model)
        if turn_or_none is not None and role == "assistant":
            _add_usage(turn_or_none, extra, at)
        elif turn_or_none is not None:
            turn_or_none.at = at


def _result(
    message: dict[str, Json], extra: dict[str, Json], at: float | None
) -> Result:
    raised = extra.get("exception_info")
    return Result(
        text=blocks_text(message.get("content")),
        is_error=True if raised else None,
        flag="exception_info" if raised else "",
        exit_code=integer(extra.get("returncode")),
        error_code=text(extra.get("exception_type")),
        at=at,
    )


def _add_usage(turn: Turn, extra: dict[str, Json], at: float | None) -> None:
    response = mapping(extra.get("response"))
    usage = mapping(response.get("usage"))
    turn.at = at
    turn.model = text(response.get("model")) or turn.model
    turn.input_tokens = integer(usage.get("prompt_tokens"))
    turn.output_tokens = integer(usage.get("completion_tokens"))
    for call in turn.calls:
        call.at = at


def _add_exit(
    builder: ThreadBuilder,
    message: dict[str, Json],
    extra: dict[str, Json],
    at: float | None,
) -> None:
    """Add the last message: what was submitted, or what ended the run.

    The submission is the output of the call that submitted; the model never saw it.
    """
    said = blocks_text(message.get("content"))
    last = builder.turns[-1].calls if builder.turns else []
    if extra.get("exit_status") == "Submitted" and last and last[-1].result is None:
        last[-1].result = Result(text=said, delivered=False, at=at)
    else:
        builder.add("user", said, at=at).kind = "notice"


def _add_text_dialect(
    builder: ThreadBuilder, messages: list[dict[str, Json]], model: str
) -> None:
    """Read commands from fenced blocks; the user message after one is its result."""
    waiting: Call | None = None
    was_refused = False
    for message in messages:
        role = message.get("role")
        said = blocks_text(message.get("content"))
        if role == "assistant":
            turn = builder.add("assistant", said, model=model)
            commands = _FENCE.findall(said)
            was_refused = len(commands) != 1
            waiting = None
            if not was_refused:
                waiting = Call(tool="bash", arguments=commands[0].strip())
                turn.calls = [waiting]
        elif role == "user" and waiting is not None:
            waiting.result = Result(text=said)
            waiting = None
        elif role == "system":
            builder.add("system", said)
        elif said:
            notice = was_refused or role == "exit"
            builder.add("user", said).kind = "notice" if notice else ""


def _statuses(stream: BinaryIO) -> Iterator[Record]:
    """Yield an ending for each instance of the YAML list."""
    status = ""
    for document in lines(utf8(stream)):
        line = document.raw.decode("utf-8", "replace").rstrip()
        if line.startswith(_STATUSES.decode()) or line.lstrip().startswith("#"):
            continue
        if item := _ITEM.fullmatch(line):
            yield OutcomeRecord(
                outcome="unknown",
                by=_BY,
                task_id=item.group(1).strip().strip("'\""),
                ending=_ending(status),
                note=status,
                line=document.line,
                offset=document.offset,
            )
        elif found := _STATUS.match(line):
            status = found.group(1)
        else:
            yield unreadable(document, "neither an exit status nor an instance")


def _ending(status: str) -> Ending:
    """Read an exit status; any other name is the exception that ended the run."""
    if not status:
        return ""
    if status == "Submitted":
        return "submitted"
    if "LimitsExceeded" in status or status == "RepeatedFormatError":
        return "budget_spent"
    if "TimeExceeded" in status or "TimeLimit" in status:
        return "timed_out"
    if "Interrupt" in status:
        return "cancelled"
    return "crashed"  # `Timeout` too: it is the model provider that did not answer
