"""One OpenCode session, built from its messages and their parts."""

from collections.abc import Iterable, Iterator

from apps.runs.transcript import (
    Call,
    Cause,
    Ending,
    Record,
    Result,
    Transcript,
    Turn,
    Unreadable,
)

from ._objects import id_text, project
from .thread import ThreadBuilder
from .values import Json, integer, mapping, sequence, text, timestamp

_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("The user rejected permission", "denied"),
    ("The user dismissed ", "denied"),
    ("The user has specified a rule which prevents you", "denied"),
    ("Tool execution aborted", "cancelled"),
)  # texts that the program itself writes
_REJECTED = " tool was called with invalid arguments"
_INVALID = "invalid"  # the tool that stands in for one that does not exist


def transcript(
    info: dict[str, Json],
    messages: Iterable[Json],
    lost: list[Unreadable],
    *,
    root: str = "",
    line: int | None = None,
    offset: int | None = None,
) -> Iterator[Record]:
    """Yield the session as a run; with a parent, as threads of it (or of `root`)."""
    builder = ThreadBuilder()
    ending: Ending = ""
    model = ""
    for item in messages:
        message = mapping(mapping(item).get("info"))
        found = [mapping(part) for part in sequence(mapping(item).get("parts"))]
        if message.get("role") == "assistant":
            model = model or text(message.get("modelID"))
            _assistant(builder, message, found)
            ending = _ending(mapping(message.get("error")))
        elif found or message:
            _user(builder, message, found)
            ending = ""
    if not builder.turns:
        yield from lost
        return
    session = id_text(info.get("id"))
    parent = root or id_text(info.get("parentID"))
    if parent:
        builder.thread.id, builder.thread.kind = session, "sub_agent"
        builder.thread.agent = text(info.get("agent"))
    time = mapping(info.get("time"))
    said = [turn.at for turn in builder.turns if turn.at is not None]
    yield Transcript(
        format="opencode",
        threads=[builder.thread],
        run_id=parent or session,
        is_global_id=bool(parent or session),
        is_part=bool(parent),
        title=text(info.get("title")),
        model=model or text(mapping(info.get("model")).get("id")),
        agent="OpenCode",
        agent_version=text(info.get("version")),
        source=project(info.get("directory")),
        started_at=timestamp(time.get("created")) or min(said, default=None),
        ended_at=timestamp(time.get("updated")) or max(said, default=None),
        ending=ending,
        unreadable=lost,
        line=line,
        offset=offset,
    )


def _ending(error: dict[str, Json]) -> Ending:
    if not error:
        return ""
    return "cancelled" if error.get("name") == "MessageAbortedError" else "crashed"


def _user(
    builder: ThreadBuilder, message: dict[str, Json], found: list[dict[str, Json]]
) -> None:
    at = timestamp(mapping(message.get("time")).get("created"))
    texts = [part for part in found if part.get("type") == "text"]
    own = [text(p.get("text")) for p in texts if p.get("synthetic") is not True]
    added = [text(p.get("text")) for p in texts if p.get("synthetic") is True]
    if own:
        builder.add("user", "\n".join(own), at=at)
    if added:  # what the program put in: a file's content, a reminder
        builder.add("user", "\n".join(added), at=at).kind = "notice"


def _assistant(
    builder: ThreadBuilder, message: dict[str, Json], found: list[dict[str, Json]]
) -> None:
    at = timestamp(mapping(message.get("time")).get("created"))
    model = text(message.get("modelID"))
    turn: Turn | None = None
    for part in found:
        kind = part.get("type")
        if kind == "step-start":
            turn = None  # each step is a response of the model
        elif (
            kind in ("text", "reasoning", "tool") and part.get("synthetic") is not True
        ):
            turn = turn or builder.add("assistant", at=at, model=model)
            _part(builder, turn, part)
        elif kind == "step-finish" and turn is not None:
            _tokens(turn, part)
    if turn is not None and turn.input_tokens is None:
        _tokens(turn, message)
    if turn is not None and message.get("summary") is True:
        turn.kind = "summary"
    error = mapping(message.get("error"))
    if error:
        said = text(mapping(error.get("data")).get("message")) or text(
            error.get("name")
        )
        builder.add("system", said, at=at).kind = "notice"


def _tokens(turn: Turn, counted: dict[str, Json]) -> None:
    tokens = mapping(counted.get("tokens"))
    cache = mapping(tokens.get("cache"))
    counts = (tokens.get("input"), cache.get("read"), cache.get("write"))
    known = [n for count in counts if (n := integer(count)) is not None]
    turn.input_tokens = sum(known) if known else None
    turn.output_tokens = integer(tokens.get("output"))


def _part(builder: ThreadBuilder, turn: Turn, part: dict[str, Json]) -> None:
    kind = part.get("type")
    if kind == "reasoning":
        turn.reasoning += text(part.get("text"))
    elif kind == "text":
        turn.text = "\n".join(filter(None, (turn.text, text(part.get("text")))))
    else:
        _tool(builder, turn, part)


def _tool(builder: ThreadBuilder, turn: Turn, part: dict[str, Json]) -> None:
    """Add a call and its result, which are one part here."""
    state = mapping(part.get("state"))
    time, given = mapping(state.get("time")), state.get("input")
    tool, call_id = text(part.get("tool")), id_text(part.get("callID"))
    wanted = text(mapping(given).get("tool")) if tool == _INVALID else ""
    call = Call(
        tool=wanted or tool,
        arguments=text(given),
        id=call_id,
        at=timestamp(time.get("start")),
    )
    builder.call(turn, call)
    status = state.get("status")
    if status not in ("completed", "error"):
        return
    failed = status == "error"
    said = text(state.get("error") if failed else state.get("output"))
    result = Result(said, is_error=failed, flag="status", at=timestamp(time.get("end")))
    result.exit_code = integer(mapping(state.get("metadata")).get("exit"))
    if tool == _INVALID:
        result.is_error, result.flag, result.cause = True, "tool: invalid", "rejected"
    elif failed:
        result.cause = next((c for lead, c in _CAUSES if said.startswith(lead)), "")
        if _REJECTED in said[:200]:
            result.cause = "rejected"
    builder.answer(call, result)
