"""Codex rollouts: each trait of both generations, counted by hand."""

import json
from typing import Any

import pytest

from apps.uploads.importers import codex
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


def line(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    at = f"2026-03-02T09:00:{second:02}.000Z"
    return {"timestamp": at, "type": kind, "payload": payload}


def item(second: int, kind: str, **rest: Any) -> dict[str, Any]:
    return line("response_item", second, type=kind, **rest)


def said(second: int, role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return item(second, "message", role=role, content=content)


def call(second: int, call_id: str, command: str) -> dict[str, Any]:
    given = json.dumps({"cmd": command})
    rest = {"name": "exec_command", "arguments": given, "call_id": call_id}
    return item(second, "function_call", **rest)


def output(second: int, call_id: str, text: Any) -> dict[str, Any]:
    return item(second, "function_call_output", call_id=call_id, output=text)


def event(second: int, kind: str, **rest: Any) -> dict[str, Any]:
    return line("event_msg", second, type=kind, **rest)


def ended(second: int, call_id: str, code: int, **rest: Any) -> dict[str, Any]:
    return event(second, "exec_command_end", call_id=call_id, exit_code=code, **rest)


META = line("session_meta", 0, id="r1", cwd="/home/ann/shop", cli_version="0.99.0")
TURN = line("turn_context", 1, model="gpt-x")
FAILED = "Wall time: 1 s\nProcess exited with code 2\nOutput:\nboom"
FAILING = [
    META,
    TURN,
    said(2, "user", "<environment_context>…</environment_context>"),
    said(3, "user", "run it"),
    event(3, "user_message", message="run it"),
    item(4, "reasoning", summary=[{"type": "summary_text", "text": "first run"}]),
    said(4, "assistant", "I run it."),
    call(5, "c1", "make"),
    event(5, "token_count", info={"last_token_usage": {"input_tokens": 9}}),
    ended(6, "c1", 2),
    output(6, "c1", FAILED),
    said(7, "assistant", "It failed."),
    event(8, "task_complete", last_agent_message="It failed."),
]
PARALLEL = [
    META,
    call(1, "c1", "ls"),
    call(1, "c2", "cat a"),
    output(2, "c2", "Process exited with code 0\nOutput:\na"),
    output(2, "c1", "Process exited with code 0\nOutput:\n"),
    call(3, "c3", "cat b"),
]
TOOLS = [
    META,
    item(1, "custom_tool_call", name="apply_patch", input="*** Begin", call_id="p"),
    item(2, "custom_tool_call_output", call_id="p", output="Success."),
    event(2, "patch_apply_end", call_id="p", success=False),
    item(3, "function_call", name="srv__get", arguments="{}", call_id="m"),
    event(4, "mcp_tool_call_end", call_id="m", result={"Ok": {"isError": True}}),
    output(4, "m", [{"type": "input_text", "text": "no such row"}]),
    item(5, "web_search_call", id="w", status="completed", action={"query": "x"}),
    item(6, "tool_search_call", call_id="t", arguments={"query": "x"}),
    item(6, "tool_search_output", call_id="t", tools=[{"name": "found"}]),
]
FORK = [
    line("session_meta", 0, id="r2", forked_from_id="r1"),
    META,
    *FAILING[1:],
    said(9, "user", "and now?"),
]
SUB_AGENT = [
    line(
        "session_meta",
        0,
        id="child",
        agent_role="scout",
        source={"subagent": {"thread_spawn": {"parent_thread_id": "r1"}}},
    ),
    said(1, "user", "look"),
    call(2, "c1", "ls"),
    output(3, "c1", "Process exited with code 0\nOutput:\na"),
]
ROLLED_BACK = [
    META,
    said(1, "user", "q1"),
    said(2, "assistant", "a1"),
    said(3, "user", "q2"),
    call(4, "c1", "false"),
    output(5, "c1", "Process exited with code 1\nOutput:\n"),
    event(6, "thread_rolled_back", num_turns=1),
    said(7, "user", "q3"),
    said(8, "assistant", "a3"),
]
COMPACTED = [
    *FAILING,
    line("compacted", 9, message="So far: it failed.", replacement_history=[]),
    said(10, "user", "go on"),
]
LEGACY = [
    {"id": "old1", "timestamp": "2025-06-01T09:00:00Z", "instructions": None},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text"}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": json.dumps({"output": "boom", "metadata": {"exit_code": 3}}),
    },
]
DRIFTED = [
    {"created_at": "2025-09-10T12:00:00Z", "role": "user", "message": "translate"},
    {"type": "function_call", "function": {"name": "look"}, "arguments": {"q": 1}},
    {"type": "function_result", "name": "look", "result": "hola"},
    {"role": "assistant", "content": "done"},
    line("world_state", 3, full=True),
]
SECOND = [line("session_meta", 20, id="r9"), said(21, "user", "another run")]


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        pytest.param(FAILING, Figures(1, 1, 0, 0, 4), id="a response, its result"),
        pytest.param(PARALLEL, Figures(1, 3, 1, 0, 2), id="parallel, other order"),
        pytest.param(TOOLS, Figures(1, 4, 0, 2, 3), id="patches, MCP, hosted tools"),
        pytest.param(FORK, Figures(1, 1, 0, 0, 5), id="a fork with its history"),
        pytest.param(SUB_AGENT, Figures(1, 1, 0, 0, 2), id="a sub-agent's file"),
        pytest.param(ROLLED_BACK, Figures(1, 1, 0, 0, 6, 2), id="taken back: a branch"),
        pytest.param(COMPACTED, Figures(1, 1, 0, 0, 6), id="compaction"),
        pytest.param(LEGACY, Figures(1, 1, 0, 0, 2), id="the older generation"),
        pytest.param(DRIFTED, Figures(1, 1, 0, 0, 3), id="odd names of fields"),
        pytest.param([*FAILING, *SECOND], Figures(2, 1, 0, 0, 5, 2), id="two runs"),
        pytest.param(FAILING[10:], Figures(1, 1, 0, 0, 2), id="result without call"),
        pytest.param([META, *FAILING], Figures(1, 1, 0, 0, 4), id="resumed"),
        pytest.param([META, {"a": 1}, 5], Figures(0, 0, 0, 0, 0, 0, 2), id="broken"),
    ],
)
def test_read_counts(records: list[Any], counted: Figures) -> None:
    assert figures(read_bytes(codex, json_lines(records))) == counted


def test_read_tells_the_run() -> None:
    run = run_of(codex, json_lines(FAILING))

    assert (run.run_id, run.is_global_id, run.is_part) == ("r1", True, False)
    assert (run.model, run.agent_version, run.source) == ("gpt-x", "0.99.0", "shop")
    assert (run.started_at, run.ended_at) == (1772442000.0, 1772442008.0)
    assert (run.outcome, run.ending) == ("unknown", "")


def test_read_builds_a_response_from_what_the_model_saw() -> None:
    notice, prompt, response, last = run_of(codex, json_lines(FAILING)).threads[0].turns

    assert (notice.kind, prompt.kind, prompt.text) == ("notice", "", "run it")
    assert (response.reasoning, response.text) == ("first run", "I run it.")
    assert response.input_tokens == 9
    assert last.text == "It failed."


def test_read_joins_exit_codes_of_events_to_results() -> None:
    (call,) = calls_of(run_of(codex, json_lines(FAILING)))

    assert call.result is not None
    assert (call.result.exit_code, call.result.is_error) == (2, None)
    assert call.result.text == FAILED
    assert call.result.turns_before == 3


def test_read_takes_a_process_that_goes_on_as_pending_without_an_exit_code() -> None:
    running = "Wall time: 1 s\nProcess running with session ID 7\nOutput:\n…"
    records = [
        META,
        call(1, "c1", "serve"),
        output(2, "c1", running),
        ended(9, "c1", 1),
    ]

    (call_,) = calls_of(run_of(codex, json_lines(records)))

    assert call_.result is not None
    assert (call_.result.pending, call_.result.exit_code) == (True, None)


def test_read_takes_the_exit_code_out_of_the_json_text_of_older_outputs() -> None:
    (call,) = calls_of(run_of(codex, json_lines(LEGACY)))

    assert call.result is not None
    assert call.result.exit_code == 3


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("unsupported call: run_tests", "rejected"),
        ("unsupported custom tool call: apply_patch", "rejected"),
        ("failed to parse function arguments: missing field", "rejected"),
        ("aborted by user after 2.0s", "denied"),
        ("exec_command failed for `x`", ""),
    ],
)
def test_read_knows_fixed_texts(text: str, cause: str) -> None:
    records = [META, call(1, "c1", "x"), output(2, "c1", text)]

    (call_,) = calls_of(run_of(codex, json_lines(records)))

    assert call_.result is not None
    assert (call_.result.cause, call_.result.is_error) == (cause, None)


def test_read_takes_a_declined_command_as_denied() -> None:
    done = {"type": "CommandExecution", "id": "c1", "status": "declined"}
    records = [META, call(1, "c1", "rm"), event(2, "item_completed", item=done)]
    records.append(output(3, "c1", "no"))

    (call_,) = calls_of(run_of(codex, json_lines(records)))

    assert call_.result is not None
    assert call_.result.cause == "denied"


def test_read_takes_flags_of_events() -> None:
    patch, mcp, search, tools = calls_of(run_of(codex, json_lines(TOOLS)))

    flags = [c.result and (c.result.is_error, c.result.flag) for c in (patch, mcp)]
    assert flags == [(True, "success"), (True, "success")]
    assert (search.tool, search.result and search.result.is_error) == (
        *("web_search",),
        False,
    )
    assert tools.result is not None
    assert tools.result.text == '[{"name":"found"}]'


@pytest.mark.parametrize(
    ("records", "run_id", "forked_from", "is_part"),
    [
        (FORK, "r2", "r1", False),
        ([line("session_meta", 0, id="r3"), *FAILING], "r3", "r1", False),
        (SUB_AGENT, "r1", "", True),
    ],
)
def test_read_tells_forks_and_sub_agents(
    records: list[Any], run_id: str, forked_from: str, is_part: bool
) -> None:
    run = run_of(codex, json_lines(records))

    assert (run.run_id, run.forked_from, run.is_part) == (run_id, forked_from, is_part)


def test_read_gives_a_sub_agent_to_the_run_at_the_root() -> None:
    meta = line("session_meta", 0, id="c", session_id="root", parent_thread_id="r1")

    run = run_of(codex, json_lines([meta, *SUB_AGENT[1:]]))

    assert (run.run_id, run.is_part, run.threads[0].id) == ("root", True, "c")


def test_read_sets_turns_apart_that_were_taken_back() -> None:
    main, branch = run_of(codex, json_lines(ROLLED_BACK)).threads

    assert [turn.text for turn in main.turns] == ["q1", "a1", "q3", "a3"]
    assert (branch.kind, [turn.text for turn in branch.turns]) == ("branch", ["q2", ""])


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        (event(9, "turn_aborted", reason="interrupted"), "cancelled"),
        (event(9, "task_complete", error={"message": "quota"}), "crashed"),
        (event(9, "task_complete"), ""),
    ],
)
def test_read_tells_how_the_run_ended(last: dict[str, Any], ending: str) -> None:
    assert run_of(codex, json_lines([*FAILING, last])).ending == ending


def test_read_yields_runs_with_their_places() -> None:
    first, second = runs_of(codex, json_lines([*FAILING, *SECOND]))

    assert (first.run_id, first.line) == ("r1", 1)
    assert (second.run_id, second.line) == ("r9", len(FAILING) + 1)


@pytest.mark.parametrize(
    ("records", "least"), [(FAILING, 0.95), (LEGACY, 0.9), (DRIFTED, 0.6)]
)
def test_detect_knows_both_generations(records: list[Any], least: float) -> None:
    assert codex.detect(json_lines(records)) >= least


def test_detect_leaves_bare_response_items_alone() -> None:
    assert codex.detect(json_lines(LEGACY[2:])) == 0
    assert codex.detect(json.dumps(LEGACY[2:]).encode()) == 0


@pytest.mark.parametrize(
    "records", [FAILING, TOOLS, FORK, SUB_AGENT, ROLLED_BACK, LEGACY, DRIFTED]
)
def test_read_survives_spoiled_files(records: list[Any]) -> None:
    check_survives(codex, json_lines(records), seed=1, count=60)


def test_a_spoiled_line_is_set_aside_and_the_rest_stands() -> None:
    raw = json_lines(FAILING).replace(b'"I run it."', b'"I run it.', 1)

    assert figures(read_bytes(codex, raw)) == Figures(1, 1, 0, 0, 4, 1, 1)
