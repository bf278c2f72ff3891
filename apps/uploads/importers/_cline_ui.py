"""What Cline and Roo showed the person: says and asks, one after another."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from apps.runs.transcript import Call, Ending, Result, Turn

from .thread import ThreadBuilder
from .values import Json, decode, integer, mapping, text, timestamp

_CALLS = {"tool": "", "command": "execute_command", "use_mcp_server": "use_mcp_tool"}
_CALLS["browser_action"] = "browser_action"
_CALLS["browser_action_launch"] = "browser_action"
_RESULTS = ("command_output", "mcp_server_response", "browser_action_result")
_FAILURES = ("error", "diff_error")
_PROVIDER = ("error_retry", "api_req_retried", "api_req_failed")
_PROMPTS = ("task", "user_feedback", "user_feedback_diff")
_SHOWN = ("path", "regex", "filePattern", "query", "url", "mode")
# of a tool's text: what was given to it; the rest is its result or a picture of it


class Response(NamedTuple):
    """What the screen says of one response of the model."""

    place: int  # of its message in the conversation, from 0
    at: float | None
    input_tokens: int | None
    output_tokens: int | None


def responses(records: Sequence[dict[str, Json]]) -> list[Response]:
    """Give time and tokens of each request, by the place of its answer."""
    found = []
    for record in records:
        index = integer(record.get("conversationHistoryIndex"))
        if record.get("say") == "api_req_started" and index is not None:
            request = _json(record)
            at, (sent, got) = timestamp(record.get("ts")), _tokens(request)
            # a request is shown before its prompt is added, then comes the answer
            found.append(Response(index + 2, at, sent, got))
    return found


def _tokens(request: dict[str, Json]) -> tuple[int | None, int | None]:
    keys = ("tokensIn", "cacheReads", "cacheWrites")
    counts = [n for key in keys if (n := integer(request.get(key))) is not None]
    return (sum(counts) if counts else None), integer(request.get("tokensOut"))


def _json(record: dict[str, Json]) -> dict[str, Json]:
    try:
        return mapping(decode(text(record.get("text")).encode("utf-8", "replace")))
    except ValueError:
        return {}


class Screen:
    """Builds the main thread from what was shown."""

    def __init__(self) -> None:
        """Begin without a turn."""
        self.builder = ThreadBuilder()
        self.ending: Ending = ""
        self._turn: Turn | None = None
        self._call: Call | None = None

    def read(self, records: Sequence[dict[str, Json]]) -> "Screen":
        """Add all records; give this back."""
        for record in records:
            if record.get("partial") is not True:
                kind = record.get("say") or record.get("ask")
                self._add(text(kind), record, timestamp(record.get("ts")))
        return self

    def _add(self, kind: str, record: dict[str, Json], at: float | None) -> None:
        said = text(record.get("text"))
        if kind == "api_req_started":
            self._request(_json(record), at)
        elif kind in _PROMPTS or (kind == "text" and not self.builder.turns):
            self._turn, self._call, self.ending = None, None, ""
            self.builder.add("user", said, at=at)
        elif kind == "text":
            turn = self._response(at)
            turn.text = "\n".join(filter(None, (turn.text, said)))
        elif kind == "reasoning":
            self._response(at).reasoning += said
        elif kind == "followup":
            self._begin("ask_followup_question", said, at)
        elif kind == "completion_result" and said:
            self._begin("attempt_completion", _encoded({"result": said}), at)
            self.ending = "submitted"
        elif kind in _CALLS:
            self._tool(kind, record, at)
        elif kind in _RESULTS:
            self._output(said, at)
        elif kind in _FAILURES:
            self._failure(kind, said, at)
        elif kind in _PROVIDER or kind.startswith("resume_"):
            self.builder.add("system", said or kind, at=at).kind = "notice"

    def _request(self, request: dict[str, Json], at: float | None) -> None:
        self._turn = self._call = None
        if request.get("cancelReason") == "user_cancelled":
            self.ending = "cancelled"
        sent, got = _tokens(request)
        if got is not None:
            turn = self._response(at)
            turn.input_tokens, turn.output_tokens = sent, got

    def _response(self, at: float | None) -> Turn:
        if self._turn is None:
            self._turn = self.builder.add("assistant", at=at)
        return self._turn

    def _begin(self, tool: str, arguments: str, at: float | None) -> None:
        call = Call(tool=tool, arguments=text(arguments), at=at)
        self._call = self.builder.call(self._response(at), call)

    def _tool(self, kind: str, record: dict[str, Json], at: float | None) -> None:
        said = text(record.get("text"))
        shown = _json(record)
        if kind == "command":
            if not (self._call and said in self._call.arguments):  # asked, then said
                self._begin("execute_command", _encoded({"command": said}), at)
            return
        tool = _CALLS[kind] or text(shown.get("tool")) or "tool"
        if kind == "use_mcp_server":
            tool = text(shown.get("toolName")) or tool
        given = {key: shown[key] for key in _SHOWN if key in shown}
        if kind != "tool":
            given = shown
        arguments = _encoded(given) if given else said
        if self._call is None or self._call.arguments != arguments:
            self._begin(tool, arguments, at)

    def _output(self, said: str, at: float | None) -> None:
        """Add a chunk of a result."""
        if self._call is None:
            self._begin("unknown", "", at)
        call = self._call
        if call is not None and call.result is not None:
            call.result.text = text("\n".join(filter(None, (call.result.text, said))))
        elif call is not None:
            self.builder.answer(call, Result(said, at=at))

    def _failure(self, kind: str, said: str, at: float | None) -> None:
        if self._call is not None and self._call.result is None:
            failure = Result(said, is_error=True, flag=kind, at=at)
            self.builder.answer(self._call, failure)
        else:
            self.builder.add("system", said, at=at).kind = "notice"


def _encoded(value: dict[str, Json]) -> str:
    return msgspec.json.encode(value).decode()
