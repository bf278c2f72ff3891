"""Gemini CLI: chats, contents and the telemetry log, each trait counted by hand."""

import json
from typing import Any

import pytest

from apps.uploads.importers import gemini_cli, gemini_contents, gemini_telemetry
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
    runs_of,
)
from tests.uploads.importers.reading import check_survives


def at(second: int) -> str:
    return f"2026-03-02T09:00:{second:02}.000Z"


def message(number: int, kind: str, content: Any, **rest: Any) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "timestamp": at(number),
        "type": kind,
        "content": content,
        **rest,
    }


def tool(call_id: str, status: str, response: Any, **rest: Any) -> dict[str, Any]:
    given = {"id": call_id, "name": "run_shell_command", "response": response}
    return {
        "id": call_id,
        "name": "run_shell_command",
        "args": {"command": "make"},
        "status": status,
        "timestamp": at(9),
        "result": [{"functionResponse": given}],
        **rest,
    }


SHELL = (
    "<untrusted_context>\nOutput: boom\nExit Code: 2\nProcess Group PGID: 7\n"
    "</untrusted_context>"
)
CALLS = [
    tool("c1", "success", {"output": SHELL}),
    tool("c2", "error", {"error": 'Tool "x" not found.'}),
    tool("c3", "cancelled", {"error": "[Operation Cancelled] Reason: User denied"}),
    tool("c4", "executing", None, result=None),
]
HEADER = {
    "sessionId": "g1",
    "projectHash": "ab",
    "startTime": at(0),
    "lastUpdated": at(30),
}
TOKENS = {"input": 90, "output": 4, "total": 94}
MESSAGES = [
    message(1, "user", "build it"),
    message(
        2,
        "gemini",
        "I build.",
        model="gemini-x",
        tokens=TOKENS,
        thoughts=[{"subject": "Plan", "description": "make"}],
        toolCalls=CALLS,
    ),
    message(3, "info", "Update available."),
    message(4, "gemini", "It failed."),
]
CHAT = json.dumps({**HEADER, "messages": MESSAGES}, indent=1).encode()
FIRST_WRITTEN = {**MESSAGES[1], "toolCalls": []}
REPEATED = message(
    3, "user", [{"functionResponse": CALLS[0]["result"][0]["functionResponse"]}]
)
STRANGER = message(5, "user", [{"functionResponse": {"name": "x", "response": {}}}])
CONTEXT = message(0, "user", [{"text": "<session_context>…</session_context>"}])
LINES = json_lines(
    [
        HEADER,
        {"$set": {"messages": [CONTEXT], "lastUpdated": at(1)}},
        MESSAGES[0],
        FIRST_WRITTEN,
        {"$set": {"lastUpdated": at(2)}},
        MESSAGES[1],
        REPEATED,
        MESSAGES[3],
    ]
)
TAKEN_BACK = json_lines(
    [HEADER, *MESSAGES[:2], {"$rewindTo": "m2"}, message(7, "gemini", "Otherwise.")]
)
COMPRESSED = json_lines(
    [
        HEADER,
        *MESSAGES[:2],
        {"$set": {"messages": [message(8, "user", "<state_snapshot>…")]}},
        message(9, "gemini", "On."),
    ]
)
TWO = LINES + json_lines([{**HEADER, "sessionId": "g2"}, MESSAGES[0]])


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        pytest.param(CHAT, Figures(1, 4, 1, 2, 4), id="one object"),
        pytest.param(LINES, Figures(1, 4, 1, 2, 4), id="lines, written again"),
        pytest.param(TAKEN_BACK, Figures(1, 4, 1, 2, 3, 2), id="taken back: a branch"),
        pytest.param(COMPRESSED, Figures(1, 4, 1, 2, 4), id="compression"),
        pytest.param(TWO, Figures(2, 4, 1, 2, 5, 2), id="two chats"),
        pytest.param(
            json_lines([HEADER, STRANGER]), Figures(1, 1, 0, 0, 1), id="no call"
        ),
        pytest.param(
            CHAT[: CHAT.index(b'"m4"')], Figures(1, 4, 1, 2, 3, 1, 1), id="cut"
        ),
        pytest.param(
            CHAT.replace(b'"m3"', b'"m3'), Figures(1, 4, 1, 2, 3, 1, 1), id="flipped"
        ),
        pytest.param(
            json_lines([HEADER, MESSAGES[0], {"a": 1}, 7]),
            Figures(1, 0, 0, 0, 1, 1, 2),
            id="broken lines",
        ),
        pytest.param(json_lines([HEADER]), Figures(0, threads=0), id="nothing said"),
    ],
)
def test_read_counts(raw: bytes, counted: Figures) -> None:
    assert figures(read_bytes(gemini_cli, raw)) == counted


@pytest.mark.parametrize("raw", [CHAT, LINES])
def test_read_tells_the_run(raw: bytes) -> None:
    run = run_of(gemini_cli, raw)

    assert (run.run_id, run.is_global_id, run.is_part) == ("g1", True, False)
    assert (run.model, run.agent, run.outcome) == ("gemini-x", "Gemini CLI", "unknown")
    assert run.started_at == 1772442000.0


def test_read_tells_what_came_of_each_call() -> None:
    ran, unknown, denied, open_ = calls_of(run_of(gemini_cli, CHAT))

    assert ran.result is not None
    assert (ran.result.exit_code, ran.result.is_error) == (2, False)
    assert (ran.result.text, ran.result.flag) == (SHELL, "status")
    assert unknown.result is not None
    assert (unknown.result.is_error, unknown.result.cause) == (True, "rejected")
    assert denied.result is not None
    assert (denied.result.is_error, denied.result.cause) == (True, "denied")
    assert open_.result is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (
            "Command: x\nOutput: (empty)\nError: (none)\nExit Code: 1\nSignal: 0\n"
            "Background PIDs: (none)\nProcess Group PGID: 7",
            1,
        ),
        ("Output: a\nExit Code: 3\nb", None),
        ("Output: ok\nProcess Group PGID: 7", None),
    ],
)
def test_read_takes_an_exit_code_from_the_shells_last_lines_only(
    text: str, code: int | None
) -> None:
    chat = [
        HEADER,
        message(1, "gemini", "", toolCalls=[tool("c", "success", {"output": text})]),
    ]

    (call,) = calls_of(run_of(gemini_cli, json_lines(chat)))

    assert call.result is not None
    assert call.result.exit_code == code


def test_read_builds_turns() -> None:
    prompt, answer, notice, last = run_of(gemini_cli, CHAT).threads[0].turns

    assert (prompt.text, notice.kind, last.text) == ("build it", "notice", "It failed.")
    assert (answer.text, answer.reasoning) == ("I build.", "Plan\nmake")
    assert (answer.input_tokens, answer.output_tokens) == (90, 4)


def test_read_tells_context_and_summary_from_prompts() -> None:
    first = run_of(gemini_cli, LINES).threads[0].turns[0]
    summary = run_of(gemini_cli, COMPRESSED).threads[0].turns[2]

    assert (first.kind, summary.kind) == ("notice", "summary")


def test_read_sets_messages_apart_that_were_taken_back() -> None:
    main, branch = run_of(gemini_cli, TAKEN_BACK).threads

    assert [turn.text for turn in main.turns] == ["build it", "Otherwise."]
    assert (branch.kind, [turn.text for turn in branch.turns]) == (
        "branch",
        ["I build."],
    )


@pytest.mark.parametrize(
    ("name", "run_id", "is_part"),
    [("chats/parent/child.jsonl", "parent", True), ("child.jsonl", "g1", False)],
)
def test_read_gives_a_sub_agents_file_to_its_run(
    name: str, run_id: str, is_part: bool
) -> None:
    raw = json_lines([{**HEADER, "kind": "subagent"}, MESSAGES[0]])

    run = run_of(gemini_cli, raw, name)

    assert (run.run_id, run.is_part) == (run_id, is_part)
    assert [(t.kind, t.id) for t in run.threads] == [("sub_agent", "g1")]


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        (message(8, "error", "[API Error: quota]"), "crashed"),
        (message(8, "info", "Request cancelled."), "cancelled"),
        (message(8, "info", "Update available."), ""),
    ],
)
def test_read_tells_how_the_chat_ended(last: dict[str, Any], ending: str) -> None:
    raw = json_lines([HEADER, MESSAGES[0], last])

    assert run_of(gemini_cli, raw).ending == ending


CONTENTS: list[Any] = [
    {"role": "user", "parts": [{"text": "<state_snapshot>so far</state_snapshot>"}]},
    {"role": "model", "parts": [{"text": "Understood."}]},
    {"role": "user", "parts": [{"text": "see"}, {"inlineData": {"data": "AAAA"}}]},
    {
        "role": "model",
        "parts": [
            {"text": "I think", "thought": True},
            {"functionCall": {"name": "look", "args": {"q": 1}}},
            {"functionCall": {"name": "find", "args": {"q": 2}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "find", "response": {"error": "no"}}},
            {"functionResponse": {"name": "look", "response": {"output": "yes"}}},
        ],
    },
]
WRAPPED = {"history": CONTENTS, "meta": {"model": "gemini-x"}, "start_time": at(0)}


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        pytest.param(json.dumps(CONTENTS).encode(), Figures(1, 2, 0, 1, 4), id="list"),
        pytest.param(
            json.dumps(WRAPPED).encode(), Figures(1, 2, 0, 1, 4), id="wrapped"
        ),
        pytest.param(
            json.dumps(WRAPPED).encode()[:-120],
            Figures(1, 2, 1, 1, 4, 1, 1),
            id="cut in the last item",
        ),
        pytest.param(
            json.dumps([*CONTENTS[:2], 5, {"role": "user"}]).encode(),
            Figures(1, 0, 0, 0, 2, 1, 1),
            id="broken items",
        ),
        pytest.param(
            json_lines([WRAPPED, WRAPPED]), Figures(2, 4, 0, 2, 8, 2), id="two of them"
        ),
    ],
)
def test_read_counts_contents(raw: bytes, counted: Figures) -> None:
    assert figures(read_bytes(gemini_contents, raw)) == counted


def test_read_matches_responses_by_name_where_there_is_no_id() -> None:
    run = run_of(gemini_contents, json.dumps(WRAPPED).encode())

    look, find = calls_of(run)

    assert (look.result and look.result.text, find.result and find.result.text) == (
        *("yes",),
        "no",
    )
    assert (run.run_id, run.model, run.started_at) == ("", "gemini-x", 1772442000.0)
    kinds = [turn.kind for turn in run.threads[0].turns]
    assert kinds == ["summary", "", "", ""]
    assert run.threads[0].turns[2].text == "see\n[data, 4 characters]"


def logged(second: int, event: str, session: str = "s1", **rest: Any) -> dict[str, Any]:
    attributes = {
        "session.id": session,
        "event.name": f"gemini_cli.{event}",
        "event.timestamp": at(second),
        **rest,
    }
    return {"hrTime": [1, 2], "_body": "…", "attributes": attributes}


LOG = [
    {"resource": {}, "scopeMetrics": []},
    logged(1, "user_prompt", prompt="go"),
    logged(2, "api_response", model="gemini-x", input_token_count=9),
    logged(3, "tool_call", function_name="look", function_args="{}", success=True),
    logged(
        *(4, "tool_call"),
        function_name="edit",
        success=False,
        error="no match",
        error_type="edit_no_occurrence_found",
    ),
    logged(5, "tool_call", "s2", function_name="rm", success=False, decision="reject"),
    logged(6, "api_response", model="gemini-x"),
]
PRETTY = b"".join(json.dumps(record, indent=2).encode() for record in LOG)


def test_read_takes_a_telemetry_log_as_a_run_for_each_session() -> None:
    first, second = runs_of(gemini_telemetry, PRETTY)

    assert figures([first]) == Figures(1, 2, 0, 1, 3)
    assert figures([second]) == Figures(1, 1, 0, 1, 1)
    assert (first.run_id, second.run_id, first.model) == ("s1", "s2", "gemini-x")
    failed, denied = calls_of(first)[1].result, calls_of(second)[0].result
    assert failed is not None
    assert (failed.text, failed.error_code) == ("no match", "edit_no_occurrence_found")
    assert denied is not None
    assert denied.cause == "denied"


def test_detect_tells_the_carriers_apart() -> None:
    contents, wrapped = json.dumps(CONTENTS).encode(), json.dumps(WRAPPED).encode()
    readers = (gemini_cli, gemini_contents, gemini_telemetry)

    def scores(raw: bytes) -> list[bool]:
        return [reader.detect(raw) > 0.5 for reader in readers]

    assert scores(CHAT) == scores(LINES) == [True, False, False]
    assert scores(CHAT[:400]) == [True, False, False]
    assert scores(contents) == scores(wrapped) == [False, True, False]
    assert scores(PRETTY) == [False, False, True]


@pytest.mark.parametrize("raw", [CHAT, LINES, TAKEN_BACK, COMPRESSED])
def test_read_survives_spoiled_chats(raw: bytes) -> None:
    check_survives(gemini_cli, raw, seed=1, count=80, name="chats/p/c.jsonl")


@pytest.mark.parametrize("value", [CONTENTS, WRAPPED])
def test_read_survives_spoiled_contents(value: Any) -> None:
    check_survives(gemini_contents, json.dumps(value).encode(), seed=1, count=150)


def test_read_survives_a_spoiled_log() -> None:
    check_survives(gemini_telemetry, PRETTY, seed=1, count=150)
    check_survives(gemini_telemetry, json_lines(LOG), seed=2, count=150)
