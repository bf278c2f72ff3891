"""The conversation that Cline and Roo sent to the model, message by message."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from apps.runs.transcript import Call, Cause, Ending, Result, Turn

from ._cline_ui import Response
from ._objects import id_text
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    boolean,
    integer,
    mapping,
    sequence,
    text,
    timestamp,
)

_TOOLS = frozenset(
    {
        *("execute_command", "read_file", "write_to_file", "replace_in_file"),
        *("apply_diff", "insert_content", "search_and_replace", "search_files"),
        *("list_files", "list_code_definition_names", "codebase_search"),
        *("browser_action", "use_mcp_tool", "access_mcp_resource", "new_rule"),
        *("ask_followup_question", "attempt_completion", "plan_mode_respond"),
        *("new_task", "switch_mode", "fetch_instructions", "condense", "web_fetch"),
        *("load_mcp_documentation", "update_todo_list", "run_slash_command"),
        *("web_search", "apply_patch", "edit_file", "generate_image", "use_skill"),
    }
)
HEADER = re.compile(r"\[(\w{3,40})(?: for '[\s\S]{0,20000}?)?\] Result:[ \t]*\n?")
# "[tool for 'what'] Result:", where what may hold brackets and line breaks
_TAG = re.compile(r"<(\w+)>")
_LONG = ("content", "diff", "result", "arguments", "patch")  # may hold tags themselves
_DETAILS = "<environment_details>"
_NOTICES = (
    "[ERROR] You did not use a tool",
    "[TASK RESUMPTION]",
    "# task_progress",
    "# TODO LIST",
    "<explicit_instructions",
)
_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("The user denied this operation", "denied"),
    (
        "The tool execution failed with the following error:\n<error>\nMissing",
        "rejected",
    ),
)  # texts that the program itself writes


class History:
    """Builds the main thread."""

    def __init__(self, heard: Sequence[Response] = ()) -> None:
        """Take what the other file says of each response of the model."""
        self.builder = ThreadBuilder()
        self.ending: Ending = ""
        self._heard = {response.place: response for response in heard}

    def read(self, messages: Sequence[dict[str, Json]]) -> "History":
        """Add all messages; give this back."""
        for index, message in enumerate(messages):
            if message.get("role") == "assistant":
                self._answer(message, self._heard.get(index))
            else:
                self._user(message)
        return self

    def _answer(self, message: dict[str, Json], heard: Response | None) -> None:
        at = timestamp(message.get("ts"))
        model = text(mapping(message.get("modelInfo")).get("modelId"))
        turn = self.builder.add("assistant", at=at, model=model)
        tokens = mapping(mapping(message.get("metrics")).get("tokens"))
        turn.input_tokens = integer(tokens.get("prompt"))
        turn.output_tokens = integer(tokens.get("completion"))
        if heard is not None:
            turn.at = at if at is not None else heard.at
            if turn.output_tokens is None:
                turn.input_tokens = heard.input_tokens
                turn.output_tokens = heard.output_tokens
        said = []
        has_blocks = False
        for item in sequence(message.get("content")):
            block = mapping(item)
            kind = block.get("type")
            if kind == "tool_use":
                has_blocks = True
                name, given = text(block.get("name")), text(block.get("input"))
                call_id = id_text(block.get("id"))
                self._call(turn, Call(name, arguments=given, id=call_id, at=turn.at))
            elif kind in ("thinking", "reasoning"):
                turn.reasoning += text(block.get("thinking", block.get("text")))
            else:
                said.append(blocks_text([item]))
        turn.text = "\n".join(filter(None, said)).strip()
        if not has_blocks:
            for name, given in _xml_calls(turn.text):
                self._call(turn, Call(name, arguments=given, at=turn.at))

    def _call(self, turn: Turn, call: Call) -> None:
        self.builder.call(turn, call)
        self.ending = "submitted" if call.tool == "attempt_completion" else ""

    def _user(self, message: dict[str, Json]) -> None:
        at = timestamp(message.get("ts"))
        prompts: list[str] = []
        waiting: Result | None = None  # its header stands alone, its text comes next
        for item in sequence(message.get("content")):
            block = mapping(item)
            if block.get("type") == "tool_result":
                waiting = None
                self._native(block, at)
                continue
            said = blocks_text([item]).partition(_DETAILS)[0]
            if not said.strip():
                continue
            header = HEADER.match(said)
            if header is not None:
                waiting = self._result(header[1], said[header.end() :].rstrip(), at)
                if waiting.text:
                    waiting = None
            elif waiting is not None:
                waiting.text = said.rstrip()
                waiting.cause = _cause(waiting.text)
                waiting = None
            else:
                prompts.append(said.strip())
        for said in prompts:
            turn = self.builder.add("user", said, at=at)
            if message.get("isSummary") is True:
                turn.kind = "summary"
            elif said.startswith(_NOTICES):
                turn.kind = "notice"
            else:
                self.ending = ""

    def _result(self, tool: str, said: str, at: float | None) -> Result:
        result = Result(said, cause=_cause(said), at=at)
        self.builder.result(result, tool=tool)
        return result

    def _native(self, block: dict[str, Json], at: float | None) -> None:
        said = blocks_text(block.get("content"))
        header = HEADER.match(said)
        if header is not None:
            said = said[header.end() :]
        flag = boolean(block.get("is_error"))
        result = Result(said, is_error=flag, cause=_cause(said), at=at)
        result.flag = "is_error" if flag is not None else ""
        self.builder.result(result, id=id_text(block.get("tool_use_id")))


def _cause(said: str) -> Cause | Literal[""]:
    return next((cause for lead, cause in _CAUSES if said.startswith(lead)), "")


def _xml_calls(said: str) -> Iterator[tuple[str, str]]:
    """Yield tool and arguments of each call that stands as XML in the text."""
    position = 0
    while match := _TAG.search(said, position):
        position = match.end()
        if match[1] not in _TOOLS:
            continue
        end = said.find(f"</{match[1]}>", position)
        body = said[position : end if end >= 0 else len(said)]
        position = end if end >= 0 else len(said)
        yield match[1], msgspec.json.encode(_parameters(body)).decode()


def _parameters(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while match := _TAG.search(body, position):
        closing = f"</{match[1]}>"
        find = body.rfind if match[1] in _LONG else body.find
        end = find(closing, match.end())
        if end < 0:
            end = len(body)
        found[match[1]] = body[match.end() : end].strip("\n")
        position = end + len(closing)
    return found
