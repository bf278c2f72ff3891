"""OpenAI Responses API: lists of items, responses, and logs of both.

Export: save what the Agents SDK's `result.to_input_list()` gives, one file a run; or
log each call as a line `{"request": {"input": …}, "response": {…}}`; or each response
alone.
Read: messages, `function_call` and its output, custom, shell and computer tools, hosted
tools (web and file search, code interpreter, MCP) with the result that their item
holds, usage. Responses that name the one before (`previous_response_id`), or repeat its
items, are one run.
Not read: encrypted reasoning, annotations, log probabilities.
Errors: no flag on a function's output: its text decides. The Agents SDK writes one
fixed text for every failure. Hosted tools: `error` or `status: failed`; an MCP call
that was not approved has the cause denied.
Outcomes: only a wrapper's `outcome` or `success`.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Transcript, Unreadable

from ._documents import Value, odd_item, unreadable, values
from ._histories import Histories
from ._response_items import CALLS, HOSTED, ItemThread
from ._wrapper import tool_definitions, wrapped
from .head import peek
from .thread import ThreadBuilder
from .values import Json, mapping, sequence, text, timestamp

LABEL = "OpenAI Responses"

_SURE = ("function_call", "function_call_output", *HOSTED, *CALLS[1:])
_BESIDE = (
    *("message", "reasoning", "item_reference", "compaction"),
    *("mcp_list_tools", "mcp_approval_request", "mcp_approval_response"),
)
_MARK = "errata:response"  # where one model response ends and what it cost


def detect(head: bytes) -> float:
    """See items of type `function_call` with a `call_id`, or response objects."""
    seen = peek(head)
    items: list[dict[str, Json]] = []
    for record in seen.records:
        if mapping(record).get("object") == "response":
            return 0.85
        items += [mapping(item) for item in _items(record) or [record]]
    if not items:
        cut = seen.cut if seen.keys & {"input", "output"} else b""
        return 0.6 if b'"function_call"' in cut and b'"call_id"' in cut else 0.0
    fits = [item for item in items if _is_item(item)]
    if len(fits) < len(items) / 2:
        return 0.0
    return 0.75 if any(_is_sure(item) for item in fits) else 0.0


def _is_sure(item: dict[str, Json]) -> bool:
    if item.get("type") not in _SURE:
        return False
    return any(isinstance(item.get(key), str) for key in ("call_id", "id"))


def _is_run(value: Json) -> bool:
    return bool(_items(value))


def _is_item(value: Json) -> bool:
    item = mapping(value)
    kind = item.get("type")
    if kind in (*_SURE, *_BESIDE) or text(kind).endswith("_call_output"):
        return True
    return "type" not in item and "role" in item and "content" in item


def _items(record: Json) -> list[Json]:
    """Give the items of a line that is a list, a logged call, or a response."""
    if isinstance(record, list):
        return record
    source = mapping(record)
    if isinstance(source.get("type"), str):
        return []  # an item: some have an `input` or an `output` too
    request = mapping(source.get("request")) or source
    response = mapping(source.get("response")) or source
    given = request.get("input", request.get("items"))
    items: list[Json] = []
    if isinstance(given, str):
        items.append({"role": "user", "content": given})
    items += given if isinstance(given, list) else []
    output = response.get("output")
    if isinstance(output, list):
        items += output
        mark: dict[str, Json] = {"type": _MARK, "usage": response.get("usage")}
        items.append({**mark, "model": response.get("model")})
    return items


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each list or chain of responses; bare items are one run."""
    runs = _Runs()
    for value in values(stream, _is_run, _is_item):
        items = _items(value.json)
        record = mapping(value.json)
        if items:
            yield from runs.add(items, value)
        elif value.fault is not None:
            runs.unreadable.append(value.fault)
        elif _is_item(record):
            runs.bare.append(record)
        else:
            reason = "neither a response nor an item of one"
            runs.unreadable.append(unreadable(value.document, reason))
    yield from runs.finish()


class _Runs:
    """Joins the lists of a file to runs."""

    def __init__(self) -> None:
        self.histories: Histories[tuple[list[Json], Value]] = Histories()
        self.chains: dict[str, list[Json]] = {}  # items so far, by the last response
        self.heads: dict[int, Value] = {}  # where a chain began
        self.bare: list[Json] = []
        self.unreadable: list[Unreadable] = []

    def add(self, items: list[Json], value: Value) -> Iterator[Record]:
        """Take the items of one value; give runs that are complete."""
        record = mapping(value.json)
        response = mapping(record.get("response")) or record
        request = mapping(record.get("request"))
        before = text(
            response.get("previous_response_id") or request.get("previous_response_id")
        )
        response_id = text(response.get("id"))
        if not response_id or "output" not in response:
            yield from self._offer(items, value)
            return
        chain = self.chains.pop(before, None) if before else None
        if chain is None:
            chain = []
            self.heads[id(chain)] = value
        chain += items
        self.chains[response_id] = chain

    def _offer(self, items: list[Json], where: Value) -> Iterator[Record]:
        """Take one whole history; give those that it shows to be complete."""
        said = [item for item in items if mapping(item).get("type") != _MARK]
        for known, at in self.histories.offer(said, (items, where)):
            yield _run(known, at)

    def finish(self) -> Iterator[Record]:
        """Give what is left: chains, histories, and the bare items as one run."""
        for chain in self.chains.values():
            yield from self._offer(chain, self.heads[id(chain)])
        for known, at in self.histories.finish():
            yield _run(known, at)
        if not self.bare:
            yield from self.unreadable
            return
        thread = ItemThread(ThreadBuilder())
        for item in self.bare:
            thread.add(mapping(item))
        yield Transcript(
            format="openai_responses",
            threads=[thread.builder.thread],
            tools=tool_definitions(thread.tools),
            unreadable=self.unreadable,
            line=1,
            offset=0,
        )


def _run(items: list[Json], where: Value) -> Transcript:
    """Build a run from the items of one list."""
    record = mapping(where.json)
    response = mapping(record.get("response")) or record
    request = mapping(record.get("request")) or record
    thread = ItemThread(ThreadBuilder())
    faults = [where.fault] if where.fault is not None else []
    instructions = response.get("instructions", request.get("instructions"))
    if isinstance(instructions, str) and instructions:
        thread.builder.add("system", instructions)
    for item in items:
        source = mapping(item)
        if source.get("type") == _MARK:
            thread.end_response(mapping(source.get("usage")), text(source.get("model")))
        elif not source or not thread.add(source):
            faults.append(
                odd_item(item, where.document, "an item of no known type, or")
            )
    run = wrapped("openai_responses", [thread.builder.thread], record, where.document)
    run.model = run.model or text(response.get("model"))
    at = timestamp(response.get("created_at"))
    run.started_at = run.started_at if run.started_at is not None else at
    offered = sequence(response.get("tools")) or sequence(request.get("tools"))
    run.tools = tool_definitions([*offered, *thread.tools])
    run.unreadable = faults
    return run
