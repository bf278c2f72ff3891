"""SWE-agent trajectories: steps as calls, the id from the file's name."""

import json

import pytest

from apps.uploads.importers import swe_agent

from .reading import as_json, calls, check_survives, one_run, shape, told_as

NAME = "trajectories/run-1/acme__widget-7.traj"


def step(action, observation="ok", thought="I look."):
    return {"action": action, "observation": observation, "response": thought,
            "thought": thought, "state": '{"open_file": "n/a"}'}  # fmt: skip


def a_run(steps=None, status="submitted", history=None, **other):
    return {
        "environment": "swe_main",
        "trajectory": steps if steps is not None else [
            step('find_file "a.py" src', "No matches found"),
            step("edit 1:2\nx = 1\nend_of_edit", "[File: a.py]"),
            step("submit", "diff"),
        ],
        "history": history if history is not None else [
            {"role": "system", "content": "You fix bugs."},
            {"role": "user", "content": "An example.", "is_demo": True},
            {"role": "assistant", "content": "An example.", "is_demo": True},
            {"role": "user", "content": "Fix it."},
            {"role": "assistant", "content": "I look."},
        ],
        "info": {"exit_status": status, "submission": "diff"},
        **other,
    }  # fmt: skip


def test_read_takes_each_step_as_a_call_of_its_first_word():
    run = one_run(swe_agent, as_json(a_run()), NAME)

    assert [(c.tool, c.arguments) for c in calls(run)] == [
        ("find_file", '"a.py" src'),
        ("edit", "1:2\nx = 1\nend_of_edit"),
        ("submit", ""),
    ]
    assert shape(run) == (3, 0, 0)
    assert calls(run)[0].result.text == "No matches found"  # type: ignore[union-attr]
    assert [turn.text for turn in run.threads[0].turns[:3]] == [
        "You fix bugs.", "Fix it.", "I look.",
    ]  # fmt: skip


def test_read_takes_the_ids_from_the_file_s_name():
    run = one_run(swe_agent, as_json(a_run()), NAME)

    assert (run.run_id, run.is_global_id) == ("acme__widget-7", False)
    assert run.task_id == "acme__widget-7"
    renamed = one_run(swe_agent, as_json(a_run()), "acme__widget-7.model-b.traj")
    assert (renamed.run_id, renamed.task_id) == (
        "acme__widget-7.model-b",
        "acme__widget-7",
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_read_takes_instance_and_model_from_the_replay_configuration(as_text):
    config = {
        "agent": {"model": {"name": "model-a"}},
        "problem_statement": {"id": "w-1"},
    }
    value = json.dumps(config) if as_text else config

    run = one_run(swe_agent, as_json(a_run(replay_config=value)), "x.traj")

    assert (run.task_id, run.model) == ("w-1", "model-a")


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("submitted", "submitted"),
        ("submitted (exit_cost)", "budget_spent"),
        ("exit_cost", "budget_spent"),
        ("exit_context", "budget_spent"),
        ("exit_format", "budget_spent"),
        ("submitted (exit_total_execution_time)", "timed_out"),
        ("exit_command_timeout", "timed_out"),
        ("exit_forfeit", "cancelled"),
        ("exit_command", "cancelled"),
        ("exit_api", "crashed"),
        ("exit_environment_error", "crashed"),
        (None, ""),
    ],
)
def test_read_takes_the_ending_and_leaves_the_outcome_open(status, ending):
    run = one_run(swe_agent, as_json(a_run(status=status)), NAME)

    assert (run.ending, run.outcome) == (ending, "unknown")


def test_read_takes_a_step_without_an_action_as_text_and_the_reply_as_a_notice():
    run = one_run(swe_agent, as_json(a_run([
        step("", "Your output was not formatted correctly.", "Hm."),
        step("exit_format", "Exited", "Exit due to format error"),
    ])), NAME)  # fmt: skip

    assert [(t.role, t.kind, t.text) for t in run.threads[0].turns[2:]] == [
        ("assistant", "", "Hm."),
        ("user", "notice", "Your output was not formatted correctly."),
        ("user", "notice", "Exit due to format error"),
    ]
    assert shape(run) == (0, 0, 0)


def test_read_keeps_an_action_without_observation_as_a_call_without_result():
    run = one_run(swe_agent, as_json(a_run([step("ls", None)])), NAME)

    assert shape(run) == (1, 1, 0)


def test_read_keeps_the_steps_before_a_cut():
    sample = as_json(a_run())

    run = one_run(swe_agent, sample[: sample.index(b'"submit"')], NAME)

    assert [c.tool for c in calls(run)] == ["find_file", "edit"]
    assert run.unreadable


def test_detect_tells_it_in_any_order_of_keys():
    run = a_run()
    late = {key: run[key] for key in ("info", "history", "trajectory", "environment")}
    long = {
        "history": [{"role": "user", "content": "x" * 300_000, "is_demo": True}],
        "environment": "e",
        **{k: run[k] for k in ("trajectory", "info")},
    }
    long_steps = a_run([step("ls", "x" * 300_000), step("submit")])
    for sample in (run, late, long_steps, a_run([])):
        assert told_as(as_json(sample)) == "swe_agent"
    first_keys = {"environment": "e", **long}
    assert told_as(as_json(first_keys)) in ("swe_agent", "")


def test_read_survives_every_damage():
    check_survives(swe_agent, as_json(a_run()), seed=4)
