"""MCP: taps, the desktop log, proxy logs, records of whole calls."""

import json

import pytest

from apps.uploads.importers import mcp as reader

from .loose import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
    runs_of,
)
from .reading import check_survives

ABOUT = {"clientInfo": {"name": "desk", "version": "2.1"}}
STARTED = {"capabilities": {}, "serverInfo": {"name": "stock", "version": "1"}}
TOOLS = [{"name": "stock", "description": "Count", "inputSchema": {"type": "object"},
          "annotations": {"readOnlyHint": True, "destructiveHint": False}}]  # fmt: skip


def ask(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number, tool, **arguments):
    return ask(number, "tools/call", name=tool, arguments=arguments)


def answer(number, text, failed=False):
    content = [{"type": "text", "text": text}]
    result = {"content": content, "isError": failed}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def refuse(number, code, text):
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


TALK = [
    ask(0, "initialize", **ABOUT),
    {"jsonrpc": "2.0", "id": 0, "result": STARTED},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ask(1, "tools/list"),
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": TOOLS}},
    ask(2, "prompts/list"),
    refuse(2, -32601, "Method not found"),
    call(3, "stock", item="lmp"),
    answer(3, "no item lmp", failed=True),
    call(4, "stock", item="lamp"),
    call(5, "stock", item="desk"),
    answer(5, "0"),
    answer(4, "3"),
    call(6, "stok"),
    refuse(6, -32602, "Unknown tool: stok"),
    call(7, "slow"),
    {"jsonrpc": "2.0", "method": "notifications/cancelled",
     "params": {"requestId": 7, "reason": "timeout"}},
    call(8, "stock"),
]  # fmt: skip
COUNTED = Figures(calls=6, missing=1, flagged=2, turns=5)


def tapped(message, number=0):
    side = "client->server" if "method" in message else "server->client"
    at = f"2026-03-02T10:00:{number:02}+00:00"
    return {"ts": at, "direction": side, "message": message}


def desktop(message, number=0, server="stock"):
    side = "client" if "method" in message else "server"
    at = f"2026-03-02T10:00:{number:02}.000Z"
    said = json.dumps(message)
    return (
        f"{at} [info] [{server}] Message from {side}: {said} {{ metadata: undefined }}"
    )


def proxied(message, payload=None):
    kind = "REQUEST" if "method" in message else "RESPONSE"
    method, number = message.get("method", "unknown"), message.get("id")
    payload = payload or json.dumps(message)
    return (
        f"2026-03-02 10:00:00,250 - [PID:7] - [{kind}] Method: {method}"
        f" | ID: {number} | Payload: {payload}"
    )


TAP = json_lines(map(tapped, TALK))
DESKTOP = "\n".join(["2026-03-02T10:00:00.000Z [info] [stock] Server started",
                     *map(desktop, TALK)]).encode()  # fmt: skip
PROXY = "\n".join(map(proxied, TALK)).encode()


@pytest.mark.parametrize(
    "raw",
    [json_lines(TALK), json.dumps(TALK).encode(), TAP, DESKTOP, PROXY,
     DESKTOP.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + DESKTOP,
     DESKTOP.decode().encode("utf-16")],
    ids=["bare", "array", "tap", "desktop", "proxy", "CRLF", "BOM", "UTF-16"],
)  # fmt: skip
def test_all_carriers_read_alike(raw):
    run = run_of(reader, raw)

    assert figures([run]) == COUNTED
    assert (run.agent, run.agent_version) == ("desk", "2.1")
    assert reader.detect(raw) >= 0.9


def test_read_tells_the_two_kinds_of_error():
    run = run_of(reader, TAP)

    failed, third, desk, unknown, slow, last = calls_of(run)
    assert (failed.result.text, failed.result.flag) == ("no item lmp", "isError")
    assert failed.result.delivered
    assert (third.result.text, desk.result.text) == ("3", "0")
    protocol = unknown.result
    assert (protocol.flag, protocol.error_code, protocol.cause) == (
        "error",
        "-32602",
        "rejected",
    )
    assert (protocol.text, protocol.delivered) == ("Unknown tool: stok", False)
    assert (slow.result.cause, slow.result.text) == ("cancelled", "timeout")
    assert last.result is None
    assert [len(turn.calls) for turn in run.threads[0].turns] == [1, 2, 1, 1, 1]


def test_tool_lists_are_definitions():
    (tool,) = run_of(reader, TAP).tools

    assert (tool.name, tool.read_only, tool.destructive) == ("stock", True, False)
    assert (tool.input_schema, tool.idempotent) == ('{"type":"object"}', None)


def test_an_initialize_begins_another_connection():
    raw = json_lines(
        map(tapped, [*TALK[:9], *TALK[:6], call(3, "stock"), answer(3, "1")])
    )

    first, second = runs_of(reader, raw)

    assert (figures([first]).calls, figures([second]).calls) == (1, 1)
    assert calls_of(second)[0].result.text == "1"


def test_servers_of_one_desktop_log_stay_apart():
    lines = [desktop(message, server=name) for message in TALK for name in ("a", "b")]

    first, second = runs_of(reader, "\n".join(lines).encode())

    assert (first.title, second.title) == ("a", "b")
    assert figures([first]) == figures([second]) == COUNTED


def test_a_conversation_that_the_client_names_joins_its_servers():
    def named(message):
        if message.get("method") != "tools/call":
            return message
        meta = {"example/conversationId": "conv-0123456789abcdef"}
        return {**message, "params": {**message["params"], "_meta": meta}}

    lines = [desktop(named(message), server=name) for name in "ab" for message in TALK]

    (run,) = runs_of(reader, "\n".join(lines).encode())

    assert (run.run_id, run.is_global_id) == ("conv-0123456789abcdef", True)
    assert figures([run]).calls == 12


def test_a_server_s_own_requests_take_no_answers_away():
    asked = {**ask(3, "sampling/createMessage"), "id": 3}
    talk = [
        TALK[7],
        asked,
        {"jsonrpc": "2.0", "id": 3, "result": {"role": "assistant"}},
    ]
    sides = ("client->server", "server->client", "client->server")
    lines = [{"direction": s, "message": m} for s, m in zip(sides, talk, strict=True)]

    done = run_of(reader, json_lines([*lines, tapped(TALK[8])]))

    assert calls_of(done)[0].result.text == "no item lmp"


def test_payloads_that_a_proxy_cut_are_kept_as_text():
    cut = [
        '{"jsonrpc":"2.0","method":"tools/call","params":{"name": "stock", "arg',
        '{"jsonrpc":"2.0","result":{"isError": true, "content": [{"text": "no',
    ]
    lines = [proxied(TALK[7], cut[0]), proxied(TALK[8], cut[1])]

    (made,) = calls_of(run_of(reader, "\n".join(lines).encode()))

    assert (made.tool, made.arguments) == ("stock", cut[0])
    assert (made.result.text, made.result.is_error) == (cut[1], True)


def test_records_of_whole_calls():
    def record(number, failed):
        result = {"content": [{"type": "text", "text": "t"}], "isError": failed}
        return {"mcpServerName": "stock", "agentId": "agent-1", "toolName": "count",
                "timestamp": 1772445600000 + number, "params": {"n": number},
                "_meta": {}, "result": result}  # fmt: skip

    run = run_of(reader, json_lines([record(1, True), record(2, False)]))

    assert figures([run]) == Figures(calls=2, flagged=1, turns=2)
    assert (run.agent, run.title, run.started_at) == (
        "agent-1",
        "stock",
        1772445600.001,
    )


def test_structured_content_alone_is_the_text():
    result = {"content": [], "structuredContent": {"n": 3}}
    talk = [call(1, "count"), {"jsonrpc": "2.0", "id": 1, "result": result}]

    (made,) = calls_of(run_of(reader, json_lines(talk)))

    assert made.result.text == '{"n":3}'


def test_lines_that_are_no_messages_are_set_aside():
    raw = json_lines(TALK[:9]) + b'{"other": 1}\nplain text\n{"jsonrpc": '

    wanted = Figures(calls=1, flagged=1, turns=1, set_aside=3)
    assert figures(read_bytes(reader, raw)) == wanted


def test_detect_leaves_other_logs_alone():
    assert reader.detect(b'{"message": {"role": "user"}}\n') == 0.0
    assert reader.detect(b"2026-03-02T10:00:00 [info] started\n") == 0.0


@pytest.mark.parametrize("raw", [TAP, DESKTOP, PROXY], ids=["tap", "desktop", "proxy"])
def test_nothing_escapes_from_spoiled_files(raw):
    check_survives(reader, raw, seed=9, count=200)
