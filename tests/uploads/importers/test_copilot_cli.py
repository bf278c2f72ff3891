"""Copilot CLI events: each trait counted by hand."""

from typing import Any

import pytest

from apps.uploads.importers import copilot_cli
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


def event(second: int, kind: str, **data: Any) -> dict[str, Any]:
    at = f"2026-03-02T09:00:{second:02}.000Z"
    return {
        "type": kind,
        "data": data,
        "id": f"e{second}",
        "timestamp": at,
        "parentId": None,
    }


def request(call_id: str, tool: str = "bash", **given: Any) -> dict[str, Any]:
    return {"toolCallId": call_id, "name": tool, "arguments": given}


def answer(second: int, content: str, *requests: Any, **rest: Any) -> dict[str, Any]:
    data = {"content": content, "toolRequests": list(requests), "model": "gpt-x"}
    return event(second, "assistant.message", **data, outputTokens=4, **rest)


def began(second: int, call_id: str, **rest: Any) -> dict[str, Any]:
    return event(second, "tool.execution_start", toolCallId=call_id, **rest)


def done(second: int, call_id: str, text: str, **rest: Any) -> dict[str, Any]:
    data = {"toolCallId": call_id, "success": True, "result": {"content": text}}
    return event(second, "tool.execution_complete", **data, **rest)


def failed(
    second: int, call_id: str, text: str, code: str = "failure"
) -> dict[str, Any]:
    error = {"message": text, "code": code}
    data = {"toolCallId": call_id, "success": False, "error": error}
    return event(second, "tool.execution_complete", **data)


START = event(
    *(0, "session.start"),
    sessionId="p1",
    copilotVersion="1.0.7",
    startTime="2026-03-02T09:00:00Z",
    context={"cwd": "/home/ann/shop"},
)
BATCH = [
    START,
    event(1, "hook.start", hookType="userPromptSubmitted"),
    event(1, "hook.end", success=False, error={"message": "no such script"}),
    event(2, "user.message", content="look", transformedContent="<now/>look"),
    event(3, "assistant.turn_start", turnId="0"),
    answer(4, "I look."),
    answer(4, "", request("c1", "view", path="a"), request("c2", command="make")),
    began(5, "c1", toolName="view"),
    began(5, "c2", toolName="bash"),
    done(6, "c2", "boom\n<shellId: 3 completed with exit code 2>"),
    failed(7, "c1", "Path does not exist"),
    event(8, "assistant.turn_end", turnId="0"),
    answer(9, "It is not there."),
]
OPEN = [*BATCH[:-1], answer(9, "", request("c3")), began(10, "c3")]
STARTED_ONLY = [
    START,
    event(1, "user.message", content="x"),
    began(2, "c1", toolName="ls"),
]
SUB_AGENT = [
    START,
    event(1, "user.message", content="delegate"),
    answer(2, "", request("t1", "task")),
    event(3, "subagent.started", toolCallId="t1", agentName="scout"),
    answer(4, "", request("c1", "rg"), parentToolCallId="t1"),
    {
        **done(5, "c1", "a.py"),
        "data": {**done(5, "c1", "a.py")["data"], "parentToolCallId": "t1"},
    },
    done(6, "t1", "a.py has it"),
]
DENIED = [
    START,
    answer(1, "", request("c1", command="rm")),
    event(2, "permission.requested", requestId="q"),
    event(
        *(3, "permission.completed"),
        toolCallId="c1",
        result={"kind": "denied-interactively-by-user"},
    ),
    failed(4, "c1", "The tool call was not allowed", "denied"),
]
COMPACTED = [
    *BATCH,
    event(20, "session.compaction_complete", summaryContent="So far: …"),
    event(21, "session.truncation", reason="context"),
    event(22, "user.message", content="", transformedContent="<system_reminder/>"),
]
SECOND = [
    event(40, "session.start", sessionId="p2"),
    event(41, "user.message", content="other"),
]


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        pytest.param(BATCH, Figures(1, 2, 0, 1, 3), id="a batch"),
        pytest.param(OPEN, Figures(1, 3, 1, 1, 3), id="a call without a result"),
        pytest.param(STARTED_ONLY, Figures(1, 1, 1, 0, 2), id="no request in the log"),
        pytest.param(SUB_AGENT, Figures(1, 2, 0, 0, 3, 2), id="a sub-agent"),
        pytest.param(DENIED, Figures(1, 1, 0, 1, 1), id="a permission refused"),
        pytest.param(COMPACTED, Figures(1, 2, 0, 1, 6), id="compaction"),
        pytest.param(BATCH + SECOND, Figures(2, 2, 0, 1, 4, 2), id="two sessions"),
        pytest.param(BATCH[9:11], Figures(1, 2, 0, 1, 1), id="results without calls"),
        pytest.param([START], Figures(0, threads=0), id="nothing said"),
        pytest.param(
            [*BATCH, {"type": "user.message", "data": 5}, []],
            Figures(1, 2, 0, 1, 3, 1, 2),
            id="broken",
        ),
    ],
)
def test_read_counts(records: list[Any], counted: Figures) -> None:
    assert figures(read_bytes(copilot_cli, json_lines(records))) == counted


def test_read_tells_the_run() -> None:
    run = run_of(copilot_cli, json_lines(BATCH))

    assert (run.run_id, run.is_global_id) == ("p1", True)
    assert (run.model, run.agent_version, run.source) == ("gpt-x", "1.0.7", "shop")
    assert (run.started_at, run.ended_at) == (1772442000.0, 1772442009.0)
    assert (run.outcome, run.ending) == ("unknown", "")


def test_read_takes_the_prompt_as_the_model_got_it_and_joins_a_response() -> None:
    prompt, response, _ = run_of(copilot_cli, json_lines(BATCH)).threads[0].turns

    assert prompt.text == "<now/>look"
    assert (response.text, response.output_tokens) == ("I look.", 8)
    assert [call.id for call in response.calls] == ["c1", "c2"]


def test_read_tells_flags_codes_and_times() -> None:
    view, make = calls_of(run_of(copilot_cli, json_lines(BATCH)))

    assert view.result is not None
    assert (view.result.is_error, view.result.flag) == (True, "success")
    assert (view.result.text, view.result.error_code) == (
        "Path does not exist",
        "failure",
    )
    assert make.result is not None
    assert (make.result.is_error, make.result.exit_code) == (False, 2)
    assert (make.at, make.result.at) == (1772442005.0, 1772442006.0)


def test_read_takes_a_refused_permission_as_denied() -> None:
    (call,) = calls_of(run_of(copilot_cli, json_lines(DENIED)))

    assert call.result is not None
    assert call.result.cause == "denied"


def test_read_names_a_sub_agents_thread() -> None:
    main, side = run_of(copilot_cli, json_lines(SUB_AGENT)).threads

    assert (main.kind, len(main.turns)) == ("main", 2)
    assert (side.kind, side.id, side.agent) == ("sub_agent", "t1", "scout")


def test_read_marks_what_is_no_prompt() -> None:
    turns = run_of(copilot_cli, json_lines(COMPACTED)).threads[0].turns

    assert [turn.kind for turn in turns[3:]] == ["summary", "notice", "notice"]


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("abort", "cancelled"), ("session.error", "crashed"), ("session.info", "")],
)
def test_read_tells_how_the_run_ended(kind: str, ending: str) -> None:
    records = [*BATCH, event(30, kind, reason="x", message="y")]

    assert run_of(copilot_cli, json_lines(records)).ending == ending


def test_read_tells_where_each_session_begins() -> None:
    first, second = runs_of(copilot_cli, json_lines(BATCH + SECOND))

    assert (first.line, second.line) == (1, len(BATCH) + 1)


def test_detect_knows_the_events() -> None:
    assert copilot_cli.detect(json_lines(BATCH)) > 0.9
    assert copilot_cli.detect(json_lines(BATCH[3:])) > 0.8
    assert copilot_cli.detect(json_lines([{"type": "user", "data": {}}])) == 0


@pytest.mark.parametrize("records", [BATCH, SUB_AGENT, DENIED, COMPACTED])
def test_read_survives_spoiled_files(records: list[Any]) -> None:
    check_survives(copilot_cli, json_lines(records), seed=1, count=80)
