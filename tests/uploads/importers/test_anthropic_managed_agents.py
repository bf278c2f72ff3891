"""Managed agents: the events of a session."""

import json

from apps.uploads.importers import anthropic_managed_agents as reader

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

STREAM = "client.beta.sessions.events.stream"
SEND = "client.beta.sessions.events.send"
SESSION = {
    "id": "sesn_made1",
    "type": "session",
    "title": "Lamp",
    "created_at": "2026-03-02T10:00:00Z",
    "agent": {
        "name": "Stock agent",
        "version": 3,
        "model": {"id": "claude-test-1"},
        "system": "You sell lamps.",
        "tools": [
            {"type": "agent_toolset_20260401", "configs": []},
            {"type": "custom", "name": "get_stock", "input_schema": {"type": "object"}},
        ],
    },
}


def event(number, kind, **fields):
    at = f"2026-03-02T10:00:{number:02}.5Z"
    return [
        STREAM,
        {"id": f"sevt_{number}", "type": kind, "processed_at": at, **fields},
    ]


def text(said):
    return [{"type": "text", "text": said}]


USAGE = {"input_tokens": 2, "cache_read_input_tokens": 40, "output_tokens": 9}
ASKED = {"type": "user.message", "content": text("Is the lamp there?")}
LOG = [
    ["client.beta.sessions.create", SESSION],
    [SEND, ["sesn_made1", {"events": [ASKED]}]],
    event(1, "user.message", content=text("Is the lamp there?")),
    event(2, "span.model_request_start"),
    event(3, "agent.message", content=text("Looking.")),
    event(4, "agent.custom_tool_use", name="get_stock", input={"item": "lmp"}),
    event(5, "agent.mcp_tool_use", name="search", input={"q": "lamp"}),
    event(6, "span.model_request_end", is_error=False,
          model_usage=USAGE),
    event(7, "session.status_idle", stop_reason={"type": "requires_action"}),
    [SEND, ["sesn_made1", {"events": [{"type": "user.custom_tool_result"}]}]],
    event(8, "user.custom_tool_result", custom_tool_use_id="sevt_4", is_error=True,
          content=text("no item lmp")),
    event(9, "user.tool_confirmation", tool_use_id="sevt_5", result="deny"),
    event(10, "agent.mcp_tool_result", mcp_tool_use_id="sevt_5", is_error=True,
          content=text("Permission to use search has been rejected.")),
    event(11, "span.model_request_start"),
    event(12, "agent.tool_use", name="web_fetch", input={"url": "u"}),
    event(13, "span.model_request_end", is_error=False),
    event(14, "agent.tool_result", tool_use_id="sevt_12", is_error=False, content=[
        {"type": "document", "source": {"type": "text", "data": "In stock: lamp"}}]),
    event(15, "span.model_request_start"),
    event(16, "span.model_request_end", is_error=True),
    event(17, "span.model_request_start"),
    event(18, "agent.message", content=text("It is there.")),
    event(19, "span.model_request_end", is_error=False),
]  # fmt: skip


def test_read_counts_calls_and_errors():
    # system, user, answer with two calls, answer with one, notice, answer
    wanted = Figures(calls=3, flagged=2, turns=6)

    assert figures(read_bytes(reader, json_lines(LOG))) == wanted


def test_read_tells_results_causes_and_usage():
    run = run_of(reader, json_lines(LOG))

    failed, denied, fetched = calls_of(run)
    assert (failed.result.text, failed.result.cause) == ("no item lmp", "")
    assert (denied.result.cause, denied.result.flag) == ("denied", "is_error")
    assert (fetched.result.text, fetched.result.is_error) == ("In stock: lamp", False)
    answer = run.threads[0].turns[2]
    assert (answer.text, answer.input_tokens, answer.output_tokens) == (
        "Looking.",
        42,
        9,
    )
    assert [turn.kind for turn in run.threads[0].turns].count("notice") == 1
    assert failed.result.turns_before == denied.result.turns_before == 3


def test_read_takes_the_session_s_description():
    run = run_of(reader, json_lines(LOG))

    assert (run.run_id, run.is_global_id, run.title) == ("sesn_made1", True, "Lamp")
    assert (run.model, run.agent, run.agent_version) == (
        "claude-test-1",
        "Stock agent",
        "3",
    )
    assert [tool.name for tool in run.tools] == ["get_stock"]
    assert run.started_at == 1772445600.0
    assert run.ended_at == 1772445619.5


def test_events_that_are_listed_alone_are_a_run_too():
    listed = {"data": [payload for method, payload in LOG[2:] if method == STREAM]}

    assert figures([run_of(reader, json.dumps(listed).encode())]) == Figures(
        calls=3, flagged=2, turns=5
    )


def test_two_sessions_of_a_client_are_two_runs():
    second = [["client.beta.sessions.create", {**SESSION, "id": "sesn_made2"}], LOG[2]]

    runs = runs_of(reader, json_lines([*LOG, *second]))

    assert [run.run_id for run in runs] == ["sesn_made1", "sesn_made2"]


def test_events_of_another_thread_are_a_sub_agent():
    said = event(30, "agent.message", content=text("I am another."))
    said[1] |= {"session_thread_id": "sthr_2", "agent_name": "helper"}
    first = event(1, "session.thread_status_running", session_thread_id="sthr_1")

    run = run_of(reader, json_lines([LOG[0], first, *LOG[2:], said]))

    assert [(t.id, t.kind, t.agent) for t in run.threads] == [
        ("", "main", ""),
        ("sthr_2", "sub_agent", "helper"),
    ]


def test_a_cut_log_keeps_the_call_without_a_result():
    raw = json_lines(LOG[:13])[:-20]

    run = run_of(reader, raw)

    assert figures([run]) == Figures(
        calls=2, missing=1, flagged=1, turns=3, set_aside=1
    )


def test_detect_knows_methods_and_bare_events():
    assert reader.detect(json_lines(LOG)) == 0.95
    assert reader.detect(json_lines([LOG[5][1]])) == 0.95
    other = {"id": "1", "type": "user.message", "data": {}, "timestamp": "2026"}
    assert reader.detect(json_lines([other, other])) == 0.0
    assert reader.detect(b'["a", {"type": "b"}]\n["c", {}]\n') == 0.0


def test_nothing_escapes_from_spoiled_files():
    check_survives(reader, json_lines(LOG), seed=1, count=300)
