"""trae-agent trajectories: steps with their results; success is only a claim."""

import pytest

from apps.uploads.importers import trae_agent

from .reading import as_json, calls, check_survives, one_run, shape, told_as


def a_step(number, call_id, tool, result, state="calling_tool", **other):
    return {
        "step_number": number, "timestamp": f"2026-07-01T09:00:0{number}",
        "state": state,
        "llm_response": {"content": "I edit.", "usage": {"input_tokens": 40,
                                                         "output_tokens": 5}},
        "tool_calls": [{"call_id": call_id, "name": tool, "arguments": {"path": "/a"}}],
        "tool_results": [{"call_id": call_id, **result}], "reflection": None,
        "error": None, **other,
    }  # fmt: skip


STEPS = [
    a_step(1, "c1", "edit", {"success": False, "result": None,
        "error": "no such file"}),
    a_step(2, "c2", "task_done", {"success": True, "result": "done", "error": None},
           "completed"),
]  # fmt: skip


def a_run(steps=None, success=True, **other):
    return {
        "task": "Fix the bug.", "start_time": "2026-07-01T09:00:00",
        "end_time": "2026-07-01T09:01:00", "provider": "p", "model": "model-a",
        "max_steps": 9, "llm_interactions": [{"tools_available": ["edit",
        "task_done"]}],
        "agent_steps": STEPS if steps is None else steps, "success": success,
        "final_result": "done", "execution_time": 60.0, **other,
    }  # fmt: skip


def test_read_pairs_calls_and_results_of_a_step():
    run = one_run(trae_agent, as_json(a_run()))

    assert shape(run) == (2, 0, 1)
    first, second = calls(run)
    assert (first.tool, first.arguments, first.at) == (
        "edit", '{"path":"/a"}', 1782896401.0,
    )  # fmt: skip
    assert first.result is not None
    assert (first.result.text, first.result.flag) == ("no such file", "success")
    assert second.result is not None
    assert second.result.is_error is False
    assert run.threads[0].turns[1].input_tokens == 40
    assert [tool.name for tool in run.tools] == ["edit", "task_done"]
    assert (run.started_at, run.ended_at) == (1782896400.0, 1782896460.0)


def test_read_takes_success_as_a_claim_and_no_outcome():
    run = one_run(trae_agent, as_json(a_run()))

    assert (run.outcome, run.outcome_by, run.ending) == ("unknown", "", "submitted")
    assert [(s.name, s.value) for s in run.scores] == [("success", True)]


@pytest.mark.parametrize(
    ("steps", "other", "ending"),
    [
        ([a_step(9, "c1", "edit", {"success": True})], {}, "budget_spent"),
        (
            [a_step(2, "c1", "edit", {"success": True}, error="rate limit")],
            {},
            "crashed",
        ),
        ([a_step(2, "c1", "edit", {"success": True})], {"end_time": None}, ""),
        ([], {}, "crashed"),
    ],
)
def test_read_takes_the_ending_from_the_last_step(steps, other, ending):
    assert one_run(trae_agent, as_json(a_run(steps, False, **other))).ending == ending


def test_read_takes_a_step_s_error_as_a_notice_of_the_program():
    steps = [{"step_number": 1, "state": "error", "error": "provider failed"}]

    run = one_run(trae_agent, as_json(a_run(steps, False)))

    last = run.threads[0].turns[-1]
    assert (last.kind, last.text, calls(run)) == ("notice", "provider failed", [])


def test_detect_tells_it_by_its_steps():
    assert told_as(as_json(a_run())) == "trae_agent"
    long = a_run(llm_interactions=[{"input_messages": ["x" * 300_000]}])
    assert told_as(as_json(long)) == "trae_agent"
    assert trae_agent.detect(as_json({"task": "x", "steps": []})) == 0


def test_read_survives_every_damage():
    check_survives(trae_agent, as_json(a_run()), seed=20)
