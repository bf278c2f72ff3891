"""Finds the JSON-RPC messages in MCP logs: tap lines, desktop and proxy logs."""

import json
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from apps.runs.transcript import Unreadable

from ._documents import unreadable
from .records import Document, documents
from .values import Json, decode, decode_all, mapping, text, timestamp

DESKTOP = re.compile(
    r"^(?P<ts>\d{4}-\d\d-\d\d[T ]\S+) +\[(?P<a>[^\]]*)\] +\[(?P<b>[^\]]*)\] +"
    r"Message from (?P<side>client|server): *(?P<json>.*)$",
    re.DOTALL,
)
PROXY = re.compile(
    r"^(?P<ts>\d{4}-\d\d-\d\d[T ][^\[]*?) - \[PID: ?(?P<pid>\d+)\] - "
    r"\[(?P<kind>REQUEST|RESPONSE|NOTIFICATION)\] Method: *(?P<method>[^|]*?) *\| "
    r"*ID: *(?P<id>[^|]*?) *\| *Payload: *(?P<json>.*)$",
    re.DOTALL,
)
_LEVELS = ("debug", "info", "warn", "warning", "error", "trace")
_INSIDE = ("message", "msg", "payload", "data", "frame")
_TIMES = ("ts", "timestamp", "time", "at")
_NAME = re.compile(r'"name"\s*:\s*"([^"]*)"')
_FLAG = re.compile(r'"isError"\s*:\s*(true|false)')


class Message(NamedTuple):
    """One JSON-RPC message, or one record of a call, and where it went."""

    json: dict[str, Json]
    document: Document
    server: str = ""
    from_client: bool | None = None  # None: the log does not say
    at: float | None = None


def messages(stream: BinaryIO) -> Iterator[Message | Unreadable]:
    """Yield each message of the log; a text log's other lines are passed over."""
    is_text_log = False
    for document in documents(stream):
        start = document.raw.lstrip()[:1]
        if start in (b"{", b"["):
            yield from _tap(document)
            continue
        line = document.raw.decode("utf-8", "replace").rstrip("\r")
        if match := DESKTOP.match(line):
            is_text_log = True
            yield _desktop(match, document)
        elif match := PROXY.match(line):
            is_text_log = True
            yield _proxy(match, document)
        elif not is_text_log and not re.match(r"\d{4}-\d\d-\d\d", line):
            yield unreadable(document, "neither a JSON-RPC message nor a line of a log")


def _tap(document: Document) -> Iterator[Message | Unreadable]:
    try:
        values = decode_all(document.raw)
    except ValueError as exc:
        yield unreadable(document, str(exc))
        return
    for value in values:
        record = mapping(value)
        batch = value if isinstance(value, list) else [value]
        inner: Json = None
        for key in _INSIDE:
            inner = inner if inner is not None else _rpc_in(record.get(key))
        if inner is not None and "jsonrpc" not in record:
            batch = inner if isinstance(inner, list) else [inner]
        found = False
        for item in map(mapping, batch):
            if "jsonrpc" in item or is_call_record(item):
                found = True
                yield Message(
                    item, document, _server(record), _direction(record), _time(record)
                )
        if not found:
            yield unreadable(document, "not a JSON-RPC message")


def _rpc_in(value: Json) -> Json:
    """Give a message, a batch of them, or one that stands as text; None for others."""
    if isinstance(value, str) and '"jsonrpc"' in value:
        try:
            value = decode_all(value.encode())[0]
        except ValueError:
            return None
    item = value[0] if isinstance(value, list) and value else value
    return value if "jsonrpc" in mapping(item) else None


def is_call_record(record: dict[str, Json]) -> bool:
    """Whether this is a whole call in one object, as one gateway writes them."""
    return "toolName" in record and ("mcpServerName" in record or "params" in record)


def _server(record: dict[str, Json]) -> str:
    for key in ("server", "serverName", "server_name", "mcpServerName"):
        if isinstance(record.get(key), str):
            return text(record[key])
    return ""


def _direction(record: dict[str, Json]) -> bool | None:
    """Whether the client sent it, by the words that taps use."""
    said = text(record.get("direction", record.get("dir"))).lower()
    ends = re.split(r"[^a-z]+(?:to)?[^a-z]*", said)
    if ends[0] == "client" or said in ("send", "out", "outgoing", "request"):
        return True
    if ends[0] == "server" or said in ("recv", "receive", "in", "incoming", "response"):
        return False
    return None


def _time(record: dict[str, Json]) -> float | None:
    for key in _TIMES:
        at = timestamp(record.get(key))
        if at is not None:
            return at
    return None


def _first_json(source: str) -> Json:
    """Decode the JSON value at the beginning of a text; None where there is none."""
    try:
        _, end = json.JSONDecoder().raw_decode(source)
        return decode(source[:end].encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _desktop(match: re.Match[str], document: Document) -> Message | Unreadable:
    """Read a line of the desktop client's log; several servers are mixed in it."""
    level, server = match["a"], match["b"]
    if server.lower() in _LEVELS:
        level, server = server, level
    value = _first_json(match["json"])
    if value is None:
        return unreadable(document, "the message of this line is not JSON")
    if not isinstance(value, dict):
        return unreadable(document, "the message of this line is no object")
    at = timestamp(match["ts"])
    return Message(value, document, server, match["side"] == "client", at)


def _proxy(match: re.Match[str], document: Document) -> Message:
    """Read a line of a proxy's log; a payload that was cut is kept as text."""
    is_request = match["kind"] != "RESPONSE"
    payload = match["json"]
    value = _first_json(payload)
    if value is None:
        value = _cut(payload, is_request)
    body = mapping(value)
    if not {"jsonrpc", "params", "result", "error"} & body.keys():
        body = {"params" if is_request else "result": value}
    filled: dict[str, Json] = {"id": match["id"], "jsonrpc": "2.0", **body}
    if is_request:
        filled.setdefault("method", match["method"])
    at = timestamp(match["ts"].replace(",", "."))
    return Message(filled, document, f"PID {match['pid']}", is_request, at)


def _cut(payload: str, is_request: bool) -> Json:
    """Make what can be made of a payload that ends too early."""
    if is_request:
        name = _NAME.search(payload)
        return {"params": {"name": name[1] if name else "", "arguments": payload}}
    flag = _FLAG.search(payload)
    result: dict[str, Json] = {"content": payload}
    if flag:
        result["isError"] = flag[1] == "true"
    return {"result": result}
