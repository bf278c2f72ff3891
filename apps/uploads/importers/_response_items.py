"""Turns of a thread from items of OpenAI's Responses API."""

from apps.runs.transcript import Call, Result, Turn

from ._said import NOT_RECORDED, call_in, delivered, first
from .thread import ThreadBuilder
from .values import Json, blocks_text, integer, mapping, sequence, text

CALLS = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "computer_call",
)
HOSTED = (  # the provider runs them; their result stands in the item itself
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
)
_HOSTED_ARGUMENTS = ("arguments", "action", "queries", "code", "input")
_HOSTED_RESULTS = ("output", "results", "outputs")


class ItemThread:
    """Collects the items of one thread; items of one model response are one turn."""

    def __init__(self, builder: ThreadBuilder) -> None:
        """Add to this thread."""
        self.builder = builder
        self.tools: list[Json] = []
        self._open: Turn | None = None
        self._asked: dict[str, tuple[Turn, dict[str, Json]]] = {}  # approvals, by id

    def end_response(self, usage: dict[str, Json], model: str) -> None:
        """Close the turn that a model response made, with what it cost."""
        if self._open is not None:
            self._open.model = model
            self._open.input_tokens = integer(usage.get("input_tokens"))
            self._open.output_tokens = integer(usage.get("output_tokens"))
        self._open = None

    def add(self, item: dict[str, Json], at: float | None = None) -> bool:
        """Add one item; False where it is none of this API."""
        kind = text(item.get("type"))
        role = item.get("role")
        if isinstance(role, str) and kind in ("", "message"):
            self._message(role, item, at)
        elif kind in CALLS:
            self.builder.call(self._turn(at), self._call(kind, item, at))
        elif kind in HOSTED:
            self._hosted(kind, item, at)
        elif kind.endswith("_call_output"):
            self._output(kind, item, at)
        elif kind == "reasoning":
            summary = first(item, ("summary", "content"))
            self._turn(at).reasoning += blocks_text(summary)
        elif kind == "mcp_list_tools":
            self.tools += sequence(item.get("tools"))
        elif kind == "mcp_approval_request":
            self._asked[text(item.get("id"))] = (self._turn(at), item)
        elif kind == "mcp_approval_response":
            self._approval(item, at)
        elif kind not in ("item_reference", "compaction"):
            return False
        return True

    def _turn(self, at: float | None) -> Turn:
        if self._open is None:
            self._open = self.builder.add("assistant", at=at)
        return self._open

    def _message(self, role: str, item: dict[str, Json], at: float | None) -> None:
        said = blocks_text(item.get("content"))
        if role == "assistant":
            turn = self._turn(at)
            turn.text = f"{turn.text}\n{said}" if turn.text else said
            return
        self._open = None
        is_system = role in ("system", "developer")
        self.builder.add("system" if is_system else "user", said, at=at)

    @staticmethod
    def _call(kind: str, item: dict[str, Json], at: float | None) -> Call:
        call = call_in(item)
        if "name" not in item:  # a built-in tool: the item's type is its name
            call.tool = kind.removesuffix("_call")
            call.arguments = text(first(item, ("action", "operation", "arguments")))
        call.at = at
        return call

    def _hosted(self, kind: str, item: dict[str, Json], at: float | None) -> None:
        call = Call(
            tool=text(item.get("name")) or kind.removesuffix("_call"),
            arguments=text(first(item, _HOSTED_ARGUMENTS)),
            id=text(item.get("id")),
            at=at,
        )
        self.builder.call(self._turn(at), call)
        error, status = item.get("error"), item.get("status")
        if error is None and status not in ("completed", "failed", "incomplete"):
            return
        output = first(item, _HOSTED_RESULTS)
        result = Result(text=NOT_RECORDED) if output is None else delivered(output)
        if error is not None:
            result.is_error, result.flag = True, "error"
            result.text = text(mapping(error).get("message")) or text(error)
            result.error_code = text(mapping(error).get("code"))
        elif status == "failed":
            result.is_error, result.flag = True, "status"
        result.at = at
        self.builder.result(result, id=call.id, tool=call.tool)

    def _output(self, kind: str, item: dict[str, Json], at: float | None) -> None:
        self._open = None
        result = delivered(item.get("output"))
        result.at = at
        if item.get("status") == "incomplete":
            result.pending = True
        tool = kind.removesuffix("_call_output")
        named = tool not in ("function", "custom_tool")
        call_id = text(first(item, ("call_id", "id")))
        self.builder.result(result, id=call_id, tool=tool if named else "")

    def _approval(self, item: dict[str, Json], at: float | None) -> None:
        """Add the MCP call that a person refused: it leaves no item of its own."""
        self._open = None
        asked = self._asked.pop(text(item.get("approval_request_id")), None)
        if asked is None or item.get("approve") is not False:
            return
        turn, request = asked
        self.builder.call(turn, self._call("mcp_call", request, at))
        result = Result(text=text(item.get("reason")), is_error=True, at=at)
        result.flag, result.cause = "approve", "denied"
        self.builder.result(result, id=text(request.get("id")))
