"""MCP traffic: JSON-RPC taps, the desktop client's log, proxy logs.

Export: the lines of a tap, bare or as `{"ts", "direction", "message"}`; the desktop
client's `mcp.log`; a proxy's log with `[REQUEST]` and `[RESPONSE]`; or a gateway's
lines of one object a call.
Read: `tools/call` with its answer, `tools/list` as tool definitions, client and server.
One connection (from `initialize` to the next) is a run, or one conversation where the
client's `_meta` names it. Calls that were sent before an answer came are one batch.
Not read: other methods; connections without a call. The model's own turns are not in
such a log, so that text alone cannot be told from the end.
Errors: `isError` of a result, which the model reads. A protocol `error` may never reach
it: it counts as not delivered; unknown methods and bad parameters have the cause
rejected. A cancelled request has the cause cancelled.
Outcomes: not in the file.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Unreadable

from ._mcp_lines import DESKTOP, PROXY, Message, is_call_record, messages
from ._said import delivered
from ._wrapper import is_global, tool_definitions
from .head import peek
from .records import utf8
from .thread import UNKNOWN_TOOL, ThreadBuilder
from .values import Json, mapping, sequence, text, timestamp

LABEL = "MCP logs"

_CONVERSATION = re.compile(r"conversation|session|thread", re.IGNORECASE)
_REJECTED = (-32601, -32602)
_CANCELLED = -32800


def detect(head: bytes) -> float:
    """See JSON-RPC 2.0 messages, bare or inside a line."""
    start = utf8(BytesIO(head)).read()[:65536].decode("utf-8", "replace")
    lines = [line.rstrip("\r") for line in start.split("\n")[:40]]
    if any(DESKTOP.match(line) or PROXY.match(line) for line in lines):
        return 0.95
    records = peek(head).records
    hits = sum(_is_rpc(record) for record in records)
    return 0.9 if hits and hits >= len(records) / 2 else 0.0


def _is_rpc(record: Json) -> bool:
    if isinstance(record, list):
        return bool(record) and _is_rpc(record[0])
    source = mapping(record)
    if source.get("jsonrpc") == "2.0" or is_call_record(source):
        return True
    inner = [source.get(key) for key in ("message", "msg", "payload", "data", "frame")]
    return any(
        mapping(item).get("jsonrpc") == "2.0"
        or (isinstance(item, str) and '"jsonrpc"' in item)
        for item in inner
    )


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each connection or conversation that called a tool."""
    log = _Log()
    faults: list[Unreadable] = []
    for message in messages(stream):
        if isinstance(message, Unreadable):
            faults.append(message)
        elif is_call_record(message.json):
            log.call_record(message)
        else:
            yield from log.add(message)
    yield from log.finish()
    yield from faults


class _Run:
    """Collects the calls of one connection or conversation."""

    def __init__(self, message: Message) -> None:
        self.builder = ThreadBuilder()
        self.is_batch_open = False  # no answer has come since the last turn began
        self.run_id = ""
        self.client: dict[str, Json] = {}
        self.server = message.server
        self.tools: list[Json] = []
        self.times: list[float] = []
        self.line, self.offset = message.document.line, message.document.offset

    def call(self, message: Message, call: Call) -> Call:
        """Add a call: to the batch that is under way, or to a new turn."""
        self.seen(message)
        if not self.is_batch_open:
            self.builder.add("assistant", at=message.at)
        self.is_batch_open = True
        return self.builder.call(self.builder.turns[-1], call)

    def answer(self, message: Message, call: Call, result: Result) -> None:
        """Give a call its answer."""
        self.seen(message)
        self.is_batch_open = False
        result.at = message.at
        result.turns_before = len(self.builder.turns)
        call.result = result

    def seen(self, message: Message) -> None:
        """Note when something happened."""
        self.times += [message.at] if message.at is not None else []

    def transcript(self) -> Transcript:
        """Give the run."""
        return Transcript(
            format="mcp",
            threads=[self.builder.thread],
            run_id=self.run_id,
            is_global_id=is_global(self.run_id),
            title=self.server,
            agent=text(self.client.get("name")),
            agent_version=text(self.client.get("version")),
            started_at=min(self.times, default=None),
            ended_at=max(self.times, default=None),
            tools=tool_definitions(self.tools),
            line=self.line,
            offset=self.offset,
        )


class _Connection:
    """One client and one server; ids restart with each."""

    def __init__(self, message: Message) -> None:
        self.run = _Run(message)
        self.open: dict[str, tuple[_Run, Call]] = {}  # tools/call by request id
        self.asked: dict[str, str] = {}  # methods of other requests by id


class _Log:
    """Sorts the messages of a file into connections and conversations."""

    def __init__(self) -> None:
        self.connections: dict[str, _Connection] = {}  # by server
        self.conversations: dict[str, _Run] = {}

    def add(self, message: Message) -> Iterator[Record]:
        """Take one message; give the run of a connection that it ends."""
        source = message.json
        method = source.get("method")
        connection = self.connections.get(message.server)
        if method == "initialize" and message.from_client is not False:
            if connection is not None and connection.run.builder.turns:
                yield connection.run.transcript()
            connection = self.connections[message.server] = _Connection(message)
            client = mapping(source.get("params")).get("clientInfo")
            connection.run.client = mapping(client)
        if connection is None:
            connection = self.connections[message.server] = _Connection(message)
        request_id = text(source.get("id"))
        if method == "tools/call":
            self._call(connection, message, request_id)
        elif method == "notifications/cancelled":
            self._cancelled(connection, message)
        elif isinstance(method, str):
            if message.from_client is not False:
                connection.asked[request_id] = method
        elif message.from_client is not True:
            self._answer(connection, message, request_id)

    def _call(self, connection: _Connection, message: Message, request_id: str) -> None:
        params = mapping(message.json.get("params"))
        call = Call(
            tool=text(params.get("name")) or UNKNOWN_TOOL,
            arguments=text(params.get("arguments")),
            id=request_id,
            at=message.at,
        )
        run = self._run(connection, message, mapping(params.get("_meta")))
        connection.open[request_id] = (run, run.call(message, call))

    def _run(
        self, connection: _Connection, message: Message, meta: dict[str, Json]
    ) -> _Run:
        """Give the run of a call: its conversation's, where the client names one."""
        for key, value in meta.items():
            if isinstance(value, str) and value and _CONVERSATION.search(key):
                run = self.conversations.get(value) or _Run(message)
                run.run_id = value
                run.client = run.client or connection.run.client
                run.tools = run.tools or connection.run.tools
                self.conversations[value] = run
                return run
        return connection.run

    @staticmethod
    def _answer(connection: _Connection, message: Message, request_id: str) -> None:
        waiting = connection.open.pop(request_id, None)
        method = connection.asked.pop(request_id, "")
        result = mapping(message.json.get("result"))
        if waiting is not None:
            run, call = waiting
            run.answer(message, call, _result(message.json))
        elif method == "tools/list" or "tools" in result:
            connection.run.tools += sequence(result.get("tools"))
        elif "serverInfo" in result:
            name = text(mapping(result["serverInfo"]).get("name"))
            connection.run.server = connection.run.server or name

    @staticmethod
    def _cancelled(connection: _Connection, message: Message) -> None:
        params = mapping(message.json.get("params"))
        waiting = connection.open.pop(text(params.get("requestId")), None)
        if waiting is not None:
            run, call = waiting
            reason = text(params.get("reason"))
            cancelled = Result(text=reason, cause="cancelled", delivered=False)
            run.answer(message, call, cancelled)

    def call_record(self, message: Message) -> None:
        """Add a call that stands with its result in one object."""
        source = message.json
        meta = mapping(source.get("_meta"))
        agent = text(source.get("agentId"))
        message = message._replace(
            server=text(source.get("mcpServerName")),
            at=timestamp(source.get("timestamp")),
        )
        key = f"{agent} {message.server}"
        connection = self.connections.setdefault(key, _Connection(message))
        connection.run.client = {"name": agent}
        run = self._run(connection, message, meta)
        params = source.get("params")
        call = Call(text(source.get("toolName")), text(params), at=message.at)
        run.call(message, call)
        if source.get("result") is not None or source.get("error") is not None:
            run.answer(message, call, _result(source))
        else:
            run.is_batch_open = False

    def finish(self) -> Iterator[Record]:
        """Give the runs that are left."""
        for connection in self.connections.values():
            if connection.run.builder.turns:
                yield connection.run.transcript()
        for run in self.conversations.values():
            yield run.transcript()


def _result(message: dict[str, Json]) -> Result:
    """Read an answer: the tool's own, or the protocol's error."""
    error = message.get("error")
    if error is not None:
        source = mapping(error)
        code = source.get("code")
        said = text(source.get("message")) or text(error)
        data = source.get("data")
        if data not in (None, "", {}, []):
            said = f"{said}\n{text(data)}"
        result = Result(text=said, is_error=True, flag="error", delivered=False)
        result.error_code = text(code)
        result.cause = "rejected" if code in _REJECTED else ""
        result.cause = "cancelled" if code == _CANCELLED else result.cause
        return result
    value = message.get("result")
    source = mapping(value)
    result = delivered(value)
    if isinstance(source.get("content"), str):
        result.text = text(source["content"])
    elif source.get("content") in ([], None) and "structuredContent" in source:
        result.text = text(source["structuredContent"])
    elif source.get("content") == []:
        result.text = ""
    flag = source.get("isError")
    if isinstance(flag, bool):
        result.is_error, result.flag = flag, "isError"
    result.pending = "task" in source and "content" not in source
    return result
