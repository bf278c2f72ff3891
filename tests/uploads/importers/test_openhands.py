"""OpenHands: four dialects of one event list, each with its own way to pair."""

import pytest

from apps.uploads.importers import openhands

from .reading import (
    as_json,
    as_lines,
    calls,
    check_survives,
    one_run,
    read,
    shape,
    told_as,
)

AT = "2026-03-01T12:00:0"


def act(number, kind, args=None, tool="", call_id="", response="", source="agent"):
    event = {"id": number, "timestamp": f"{AT}{number % 10}", "source": source,
             "action": kind, "args": args or {}}  # fmt: skip
    if tool:
        event["tool_call_metadata"] = {
            "function_name": tool,
            "tool_call_id": call_id,
            "model_response": {
                "id": response or f"r{number}",
                "choices": [{"message": {"tool_calls": [{
                    "id": call_id,
                    "function": {"name": tool, "arguments": f'{{"n": {number}}}'},
                }]}}],
            },
        }  # fmt: skip
    return event


def saw(number, cause, kind="run", text="ok", extras=None, **other):
    return {"id": number, "timestamp": f"{AT}{number % 10}", "source": "agent",
            "cause": cause, "observation": kind, "content": text,
            "extras": extras or {}, **other}  # fmt: skip


def exited(code):
    return {"metadata": {"exit_code": code}}


HISTORY = [
    act(0, "system", {"content": "You fix.", "openhands_version": "0.35.0", "tools": [
        {"type": "function", "function": {"name": "execute_bash", "description": "d",
         "parameters": {"type": "object"}}}]}),
    act(1, "message", {"content": "Fix it."}, source="user"),
    act(2, "recall", {"query": "x"}, source="user"),
    saw(3, 2, "recall", "context"),
    act(4, "run", {"command": "ls x", "thought": "Look."}, "execute_bash", "c1"),
    saw(5, 4, "run", "no x", exited(2), success=False),
    act(6, "read", {"path": "/a.py"}, "str_replace_editor", "c2"),
    saw(7, 6, "read", "ERROR:\nno such path"),
    act(8, "finish", {"final_thought": "Done."}, "finish", "c3"),
]  # fmt: skip


def a_line(history=None, **other):
    return {"instance_id": "acme__widget-7", "instruction": "Fix it.",
            "metadata": {"agent_class": "CodeActAgent", "dataset": "bench",
                         "llm_config": {"model": "model-a", "api_key": "*"}},
            "history": HISTORY if history is None else history,
            "error": None, "test_result": {"git_patch": ""}, **other}  # fmt: skip


def test_read_pairs_events_by_their_cause():
    run = one_run(openhands, as_lines(a_line()))

    assert shape(run) == (3, 1, 1)
    first, second, finish = calls(run)
    assert (first.tool, first.id, first.arguments) == ("execute_bash", "c1", '{"n": 4}')
    assert first.result is not None
    assert (first.result.exit_code, first.result.is_error) == (2, True)
    assert first.result.flag == "success"
    assert first.result.at == 1772366405.0
    assert second.tool == "str_replace_editor"
    assert second.result is not None
    assert second.result.is_error is None
    assert finish.result is None
    assert [t.text for t in run.threads[0].turns] == [
        "You fix.", "Fix it.", "Look.", "", "Done.",
    ]  # fmt: skip
    assert (run.run_id, run.task_id, run.is_global_id) == (
        "acme__widget-7", "acme__widget-7", False,
    )  # fmt: skip
    assert (run.model, run.agent, run.agent_version) == (
        "model-a",
        "CodeActAgent",
        "0.35.0",
    )
    assert [tool.name for tool in run.tools] == ["execute_bash"]
    assert (run.started_at, run.ended_at) == (1772366400.0, 1772366408.0)
    assert run.ending == "submitted"


def test_read_drops_the_thought_from_arguments_that_the_model_s_answer_does_not_hold():
    run = one_run(openhands, as_lines(a_line([
        act(1, "run", {"command": "ls", "thought": "x", "hidden": False}), saw(2, 1),
    ])))  # fmt: skip

    assert [(c.tool, c.arguments) for c in calls(run)] == [("run", '{"command":"ls"}')]


def test_read_takes_minus_one_as_still_running():
    run = one_run(openhands, as_lines(a_line([
        act(1, "run", {}, "execute_bash", "c1"), saw(2, 1, "run", "", exited(-1),
        success=False),
    ])))  # fmt: skip

    result = calls(run)[0].result
    assert result is not None
    assert (result.pending, result.exit_code, result.is_error) == (True, None, None)


def test_read_joins_calls_of_one_response_in_one_turn():
    run = one_run(openhands, as_lines(a_line([
        act(1, "run", {"thought": "Both."}, "execute_bash", "c1", "r1"),
        act(2, "run", {"thought": "Both."}, "execute_bash", "c2", "r1"),
        saw(3, 2, text="two"), saw(4, 1, text="one"),
    ])))  # fmt: skip

    (turn,) = run.threads[0].turns
    assert [(c.id, c.result.text) for c in turn.calls if c.result] == [
        ("c1", "one"),
        ("c2", "two"),
    ]
    assert turn.text == "Both."


def test_read_takes_an_error_without_its_action_as_a_call_that_was_refused():
    refused = {
        "id": 3,
        "source": "agent",
        "observation": "error",
        "content": "Parameter 'command' is expected",
        "extras": {"error_id": "E1"},
    }

    run = one_run(openhands, as_lines(a_line([
        act(1, "run", {}, "execute_bash", "c1"), saw(2, 1), refused,
    ])))  # fmt: skip

    _, unknown = calls(run)
    assert unknown.tool == "unknown"
    assert unknown.result is not None
    assert (unknown.result.cause, unknown.result.error_code) == ("rejected", "E1")
    assert (unknown.result.is_error, unknown.result.flag) == (True, "observation")


def test_read_takes_an_error_of_an_action_as_its_result():
    run = one_run(openhands, as_lines(a_line([
        act(1, "edit", {}, "editor", "c1"), saw(2, 1, "error", "no file"),
    ])))  # fmt: skip

    result = calls(run)[0].result
    assert result is not None
    assert (result.is_error, result.cause, result.text) == (True, "", "no file")


def test_read_leaves_out_what_the_user_runs():
    run = one_run(openhands, as_lines(a_line([
        act(1, "run", {"command": "ls"}, source="user"), saw(2, 1),
        act(3, "message", {"content": "See?"}, source="agent"),
    ])))  # fmt: skip

    assert calls(run) == []
    assert [(t.role, t.text) for t in run.threads[0].turns] == [("assistant", "See?")]


@pytest.mark.parametrize(
    ("other", "outcome", "by"),
    [
        ({"report": {"resolved": True}}, "correct", "report.resolved"),
        ({"report": {"resolved": False}}, "incorrect", "report.resolved"),
        ({"report": {"resolved": False, "error_eval": True}}, "unknown", ""),
        ({"test_result": {"report": {"resolved": True}}}, "correct",
         "test_result.report.resolved"),
        ({"test_result": {"result": False}}, "incorrect", "test_result.result"),
        ({"test_result": {"git_patch": "x"}}, "unknown", ""),
        ({"correct": "1", "hallucination": "0"}, "correct", "correct"),
        ({}, "unknown", ""),
        ({"report": {"resolved": False}, "error": "RuntimeError: container died"},
         "unknown", ""),
        ({"report": {"resolved": True}, "error": "RuntimeError: container died"},
         "correct", "report.resolved"),
    ],
)  # fmt: skip
def test_read_takes_the_outcome_where_the_evaluation_wrote_it(other, outcome, by):
    run = one_run(openhands, as_lines(a_line(**other)))

    assert (run.outcome, run.outcome_by) == (outcome, by)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        ("Agent reached maximum iteration in headless mode", "budget_spent"),
        ("Task budget exceeded", "budget_spent"),
        ("Runtime timed out", "timed_out"),
        ("AgentStuckInLoopError: stuck in a loop", "cancelled"),
        ("RuntimeError: container died", "crashed"),
    ],
)
def test_read_takes_the_ending_from_the_harness_s_error(error, ending):
    assert one_run(openhands, as_lines(a_line(error=error))).ending == ending


def test_read_pairs_the_older_dialect_by_its_pairs():
    none = {"observation": "null", "content": "", "extras": {}}
    line = {
        "id": "logic_1", "metadata": {"model_name": "model-a"},
        "test_result": {"result": True},
        "history": [
            [act(0, "message", {"content": "Solve."}, source="user"), none],
            [act(3, "run_ipython", {"code": "1/0"}), saw(4, 3, "run_ipython", "Zero…")],
            [act(5, "message", {"content": "It is A."}), none],
            [act(6, "message", {"content": "Go on."}, source="user"), none],
            [act(7, "finish", {}), none],
        ],
    }  # fmt: skip

    run = one_run(openhands, as_lines(line))

    assert (run.run_id, run.outcome, run.model) == ("logic_1", "correct", "model-a")
    assert shape(run) == (2, 1, 0)
    assert calls(run)[0].result.text == "Zero…"  # type: ignore[union-attr]
    assert [t.role for t in run.threads[0].turns] == [
        "user", "assistant", "assistant", "user", "assistant",
    ]  # fmt: skip


def test_read_pairs_the_resolver_s_flat_events_by_order():
    line = {
        "issue": {"owner": "acme", "repo": "widget", "number": 5, "title": "Dark mode"},
        "success": True, "git_patch": "", "instruction": "Fix.",
        "history": [
            {"action": "message", "content": "Fix.", "wait_for_response": False},
            {"action": "run", "command": "ls", "thought": "Look.", "keep_prompt": True},
            {"observation": "run", "content": "none", "command": "ls", "exit_code": 1},
            {"action": "run_ipython", "code": "2", "thought": ""},
            {"observation": "run_ipython", "content": "2", "code": "2"},
            {"action": "finish", "thought": "Done.", "outputs": {}},
        ],
    }  # fmt: skip

    run = one_run(openhands, as_lines(line))

    assert (run.run_id, run.title) == ("acme/widget#5", "Dark mode")
    assert (run.outcome, run.outcome_by) == ("correct", "success")
    assert shape(run) == (3, 1, 1)
    assert [(c.tool, c.arguments) for c in calls(run)] == [
        ("run", '{"command":"ls"}'),
        ("run_ipython", '{"code":"2"}'),
        ("finish", '{"outputs":{}}'),
    ]


def test_read_takes_a_bare_list_of_events_as_one_run():
    state = {
        "id": 9,
        "timestamp": f"{AT}9",
        "source": "environment",
        "content": "",
        "observation": "agent_state_changed",
        "extras": {"agent_state": "error"},
    }

    run = one_run(openhands, as_json([*HISTORY[:8], state]))

    assert (run.run_id, run.outcome, run.ending) == ("", "unknown", "crashed")
    assert shape(run) == (2, 0, 1)


def test_read_sets_a_broken_line_aside_and_reads_the_rest():
    data = as_lines(a_line()) + b'{"instance_id": \n' + as_lines(a_line())

    records = read(openhands, data)

    assert [type(record).__name__ for record in records] == [
        "Transcript", "Unreadable", "Transcript",
    ]  # fmt: skip
    assert records[1].line == 2


def test_detect_tells_every_dialect():
    pairs = {"id": "q1", "test_result": {"result": True}, "history": [HISTORY[4:6]]}
    flat = {"issue": {}, "git_patch": "", "history": [{"action": "message"}]}
    long = a_line([act(1, "run", {"command": "x" * 300_000})])
    for sample in (a_line(), pairs, flat, long):
        assert told_as(as_lines(sample)) == "openhands"
    assert told_as(as_json(HISTORY)) == "openhands"
    other = {"history": [{"role": "user", "content": "x"}], "question_id": 1}
    assert openhands.detect(as_json(other)) == 0


def test_read_survives_every_damage():
    check_survives(openhands, as_lines(a_line(), a_line()), seed=8)
    check_survives(openhands, as_json(HISTORY), seed=9, count=150)
