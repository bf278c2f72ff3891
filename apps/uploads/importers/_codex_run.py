"""One Codex run, built line by line."""

from collections.abc import Iterator
from typing import NamedTuple

from apps.runs.transcript import (
    Call,
    Cause,
    Ending,
    Record,
    Result,
    Thread,
    Transcript,
    Turn,
    Unreadable,
)

from ._objects import id_text, project, word
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

_RUNS_ON = "Process running with session ID"
_HEADER_CHARS = 300  # the header of an output stands before the program's own text
_NOTICES = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
    "# AGENTS.md instructions",
)
_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("aborted by user", "denied"),
    ("exec command rejected by user", "denied"),
    ("patch rejected by user", "denied"),
    ("unsupported call: ", "rejected"),
    ("unsupported custom tool call: ", "rejected"),
    ("failed to parse function arguments: ", "rejected"),
)  # texts that the program itself writes
_OUTPUTS = (
    *("function_call_output", "custom_tool_call_output", "local_shell_call_output"),
    *("tool_search_output", "mcp_tool_call_output", "function_result"),
)
_HOSTED = {"web_search_call": "web_search", "image_generation_call": "image_generation"}
_UNKNOWN_RESULT = "[the log does not hold the result]"


class Event(NamedTuple):
    """What the UI was told of a call, beyond what the model saw."""

    exit_code: int | None
    was_declined: bool
    succeeded: bool | None  # None: the event has no flag


class CodexRun:
    """Collects one run."""

    def __init__(self, line: int = 1, offset: int = 0) -> None:
        """Begin at this place of the file."""
        self.unreadable: list[Unreadable] = []
        self._line, self._offset = line, offset
        self._main = ThreadBuilder()
        self._branches: list[Thread] = []
        self._turn: Turn | None = None  # the response that is being written
        self._events: dict[str, Event] = {}  # by call id
        self._ids: list[str] = []
        self._meta: dict[str, Json] = {}
        self._has_items = False
        self._model = ""
        self._title = ""
        self._ending: Ending = ""
        self._times: list[float] = []

    def is_other(self, run_id: str) -> bool:
        """Whether a meta line with this id begins another run, not copied history."""
        return self._has_items and bool(self._ids) and run_id not in self._ids

    def add_meta(self, meta: dict[str, Json]) -> None:
        """Take what is said of the run; a second one is that of a copied history."""
        self._meta = self._meta or meta
        self._ids.append(id_text(meta.get("id")))
        self._time(meta.get("timestamp"))

    def add(self, record: dict[str, Json]) -> bool:
        """Add one line; False if it is none of this format."""
        kind = record.get("type")
        payload = mapping(record.get("payload"))
        if kind is None and "record_type" in record:
            return True
        if "payload" not in record:
            return self._bare(record)
        at = self._time(record.get("timestamp"))
        if kind == "session_meta":
            self.add_meta(payload)
        elif kind == "response_item":
            self._has_items = True
            return self._item(payload, at)
        elif kind == "turn_context":
            self._model = self._model or text(payload.get("model"))
        elif kind == "compacted":
            self._turn = None
            self._main.add("user", text(payload.get("message")), at=at).kind = "summary"
        elif kind == "token_usage_record":
            self._usage(mapping(payload.get("usage")))
        elif kind == "event_msg":
            self._has_items = True
            self._event(payload, at)
        return isinstance(kind, str)

    def _time(self, value: Json) -> float | None:
        at = timestamp(value)
        if at is not None:
            self._times.append(at)
        return at

    def _bare(self, record: dict[str, Json]) -> bool:
        """Add an item that stands without a wrapper, as older files have it."""
        at = self._time(record.get("timestamp", record.get("created_at")))
        item = dict(record)
        if "type" not in item and "role" in item:
            item["type"] = "message"
            item.setdefault("content", item.get("message"))
            self._model = self._model or text(item.get("model"))
        function = mapping(item.get("function"))
        if function:
            item.setdefault("name", function.get("name"))
        if item.get("type") == "function_result":
            item["output"] = item.get("result")
        self._has_items = True
        return isinstance(item.get("type"), str) and self._item(item, at)

    def _item(self, item: dict[str, Json], at: float | None) -> bool:
        kind = word(item.get("type"))
        if kind == "message":
            self._message(item, at)
        elif kind == "agent_message":  # from another agent
            self._turn = None
            said = blocks_text(item.get("content"))
            self._main.add("user", said, at=at).kind = "notice"
        elif kind == "reasoning":
            thoughts = [*sequence(item.get("summary")), *sequence(item.get("content"))]
            turn = self._response(at)
            said = blocks_text(thoughts)
            turn.reasoning = "\n".join(filter(None, (turn.reasoning, said)))
        elif kind in _OUTPUTS:
            self._output(item, at)
        elif kind in _HOSTED:
            self._hosted(_HOSTED[kind], item, at)
        elif kind.endswith("_call"):
            self._call(kind, item, at)
        return bool(kind)

    def _response(self, at: float | None) -> Turn:
        """Give the turn of the response that is being written; begin it if need be."""
        if self._turn is None:
            self._turn = self._main.add("assistant", at=at, model=self._model)
        return self._turn

    def _message(self, item: dict[str, Json], at: float | None) -> None:
        said = blocks_text(item.get("content"))
        role = item.get("role")
        if role == "assistant":
            turn = self._response(at)
            turn.text = f"{turn.text}\n{said}" if turn.text else said
            return
        self._turn = None
        if role in ("system", "developer"):
            self._main.add("system", said, at=at)
            return
        turn = self._main.add("user", said, at=at)
        if said.startswith(_NOTICES):
            turn.kind = "notice"

    def _call(self, kind: str, item: dict[str, Json], at: float | None) -> Call:
        name = text(item.get("name")) or kind.removesuffix("_call")
        arguments = item.get("arguments", item.get("input", item.get("action")))
        call_id = id_text(item.get("call_id")) or id_text(item.get("id"))
        call = Call(tool=name, arguments=text(arguments), id=call_id, at=at)
        return self._main.call(self._response(at), call)

    def _hosted(self, tool: str, item: dict[str, Json], at: float | None) -> None:
        """Add a call that the provider itself ran: only its status is in the log."""
        call = self._call(tool, {**item, "name": tool}, at)
        status = text(item.get("status"))
        if status in ("completed", "failed"):
            failed = status == "failed"
            result = Result(_UNKNOWN_RESULT, is_error=failed, flag="status", at=at)
            self._main.answer(call, result)

    def _output(self, item: dict[str, Json], at: float | None) -> None:
        output = item.get("output", item.get("tools"))
        result = Result(text=_output_text(output), at=at)
        flag = boolean(mapping(output).get("success"))
        if flag is not None:
            result.is_error, result.flag = not flag, "success"
        result.exit_code = _json_exit_code(output)
        result.pending = _RUNS_ON in result.text[:_HEADER_CHARS].partition("Output:")[0]
        head = result.text[:60]
        result.cause = next((c for lead, c in _CAUSES if head.startswith(lead)), "")
        call_id = id_text(item.get("call_id"))
        self._main.result(result, id=call_id, tool=text(item.get("name")))
        self._turn = None

    def _usage(self, usage: dict[str, Json]) -> None:
        """Give a response's tokens to its turn, which they end."""
        turns = reversed(self._main.turns)
        turn = self._turn or next((t for t in turns if t.role == "assistant"), None)
        if turn is not None and usage:
            turn.input_tokens = integer(usage.get("input_tokens"))
            turn.output_tokens = integer(usage.get("output_tokens"))
        self._turn = None

    def _event(self, event: dict[str, Json], at: float | None) -> None:
        kind = event.get("type")
        if kind == "token_count":
            self._usage(mapping(mapping(event.get("info")).get("last_token_usage")))
        elif kind in ("task_started", "user_message"):
            self._ending = ""
        elif kind == "turn_aborted":
            self._ending = "cancelled"
        elif kind == "task_complete" and mapping(event.get("error")):
            self._ending = "crashed"
        elif kind in ("error", "stream_error"):
            self._turn = None
            self._main.add("system", text(event.get("message")), at=at).kind = "notice"
        elif kind == "thread_name_updated":
            self._title = text(event.get("thread_name"))
        elif kind == "thread_rolled_back":
            self._roll_back(integer(event.get("num_turns")) or 0)
        elif kind == "item_completed":
            item = mapping(event.get("item"))
            self._events[id_text(item.get("id"))] = _what_was_told(item)
        elif isinstance(kind, str) and kind.endswith(("_end", "_response")):
            self._events[id_text(event.get("call_id"))] = _what_was_told(event)

    def _roll_back(self, prompts: int) -> None:
        """Move the last `prompts` prompts, and all since, to a branch."""
        starts = [
            index
            for index, turn in enumerate(self._main.turns)
            if turn.role == "user" and not turn.kind
        ]
        if 0 < prompts <= len(starts):
            name = f"taken-back-{len(self._branches) + 1}"
            self._branches.append(self._main.branch_off(starts[-prompts], name))
            self._turn = None

    def _join_events(self) -> None:
        """Give each result what the UI's event of its call says besides."""
        for thread in [self._main.thread, *self._branches]:
            for call in (call for turn in thread.turns for call in turn.calls):
                event = self._events.get(call.id)
                if event is not None and call.id and call.result is not None:
                    _join(call.result, event)

    def records(self) -> Iterator[Record]:
        """Yield the run, if there is one."""
        if not self._main.turns and not self._branches:
            yield from self.unreadable
            return
        self._join_events()
        own = self._ids[0] if self._ids else ""
        parent = _parent(self._meta)
        copied = next((other for other in self._ids if other != own), "")
        thread = self._main.thread
        if parent:
            thread.id, thread.kind = own, "sub_agent"
            thread.agent = text(self._meta.get("agent_role"))
        yield Transcript(
            format="codex",
            threads=[thread, *self._branches],
            run_id=parent or own,
            is_global_id=bool(parent or own),
            is_part=bool(parent),
            forked_from=id_text(self._meta.get("forked_from_id")) or copied,
            title=self._title,
            model=self._model,
            agent="Codex CLI",
            agent_version=text(self._meta.get("cli_version")),
            source=project(self._meta.get("cwd")),
            started_at=timestamp(self._meta.get("timestamp"))
            or min(self._times, default=None),
            ended_at=max(self._times, default=None),
            ending=self._ending,
            unreadable=self.unreadable,
            line=self._line,
            offset=self._offset,
        )


def _parent(meta: dict[str, Json]) -> str:
    """Give the id of the run whose sub-agent this is; "" if it is none."""
    sub_agent = mapping(mapping(meta.get("source")).get("subagent"))
    spawn = mapping(sub_agent.get("thread_spawn"))
    parent = id_text(spawn.get("parent_thread_id"))
    parent = parent or id_text(meta.get("parent_thread_id"))
    root = id_text(meta.get("session_id"))  # the same for all agents under one run
    return root if parent and root not in ("", id_text(meta.get("id"))) else parent


def _output_text(output: Json) -> str:
    if isinstance(output, dict) and "text" not in output and "content" not in output:
        return text(output)
    if isinstance(output, list) and any("name" in mapping(item) for item in output):
        return text(output)  # a list of tools
    return blocks_text(output)


def _json_exit_code(output: Json) -> int | None:
    """Read the exit code of older outputs: JSON text with `metadata`."""
    if isinstance(output, str) and output.startswith("{") and '"exit_code"' in output:
        try:
            output = decode(output.encode("utf-8", "replace"))
        except ValueError:
            return None
    return integer(mapping(mapping(output).get("metadata")).get("exit_code"))


def _what_was_told(event: dict[str, Json]) -> Event:
    flag = boolean(event.get("success"))
    outcome = mapping(event.get("result"))
    if flag is None and "Err" in outcome:
        flag = False
    if flag is None and "Ok" in outcome:
        flag = mapping(outcome["Ok"]).get("isError") is not True
    declined = event.get("status") == "declined"
    return Event(integer(event.get("exit_code")), declined, flag)


def _join(result: Result, event: Event) -> None:
    if not result.pending and result.exit_code is None:
        result.exit_code = event.exit_code
    if event.was_declined:
        result.cause = "denied"
    if event.succeeded is not None and result.is_error is None:
        result.is_error, result.flag = not event.succeeded, "success"
