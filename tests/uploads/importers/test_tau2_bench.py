"""tau2-bench results: all layouts of the file, and only the agent's calls."""

import io
import json

import pytest

from apps.runs.transcript import Transcript, Unreadable
from apps.uploads.importers import tau2_bench

from .reading import (
    as_json,
    calls,
    check_rest_stands,
    check_survives,
    one_run,
    read,
    shape,
    told_as,
)

INFO = {
    "agent_info": {
        "implementation": "llm_agent", "llm": "model-a",
        "llm_args": {"api_key": "secret"},
    },
    "environment_info": {"domain_name": "airline", "policy": "Be kind."},
    "user_info": {"implementation": "user_simulator"},
}  # fmt: skip


def asked(role, call_id, tool, arguments, requestor=None):
    made = {"id": call_id, "name": tool, "arguments": arguments,
            "requestor": requestor or role}  # fmt: skip
    return {"role": role, "content": None, "tool_calls": [made],
            "timestamp": "2026-02-01T10:00:01", "usage": {"prompt_tokens": 9,
            "completion_tokens": 4}, "raw_data": {"tool_calls": [made]}}  # fmt: skip


def answered(call_id, text, error=False, requestor="assistant"):
    return {"role": "tool", "id": call_id, "content": text, "error": error,
            "requestor": requestor, "timestamp": "2026-02-01T10:00:02"}  # fmt: skip


def simulation(run_id="u-1", reward=1.0, reason="user_stop", messages=None, **other):
    messages = messages if messages is not None else [
        {"role": "assistant", "content": "Hello.", "timestamp": "2026-02-01T10:00:00"},
        {"role": "user", "content": "Where is my bag?"},
        asked("assistant", "c1", "find_bag", {"tag": "A"}),
        answered("c1", "Error: no such tag", error=True),
        asked("assistant", "c2", "find_bag", {"tag": "B"}),
        answered("c2", "Berlin"),
    ]  # fmt: skip
    return {"id": run_id, "task_id": "12", "trial": 0, "seed": 5,
            "start_time": "2026-02-01T10:00:00", "end_time": "2026-02-01T10:01:00",
            "termination_reason": reason, "reward_info": {"reward": reward},
            "messages": messages, **other}  # fmt: skip


def a_file(*simulations, **other):
    return {"timestamp": "2026-02-01T09:00:00", "info": INFO,
            "tasks": [{"id": "12", "evaluation_criteria": {"actions": []}}],
            "simulations": list(simulations), **other}  # fmt: skip


def test_read_gives_the_run_with_the_file_s_model():
    run = one_run(tau2_bench, as_json(a_file(simulation())))

    assert (run.run_id, run.is_global_id, run.task_id) == ("u-1", True, "12")
    assert (run.model, run.agent, run.tags) == ("model-a", "llm_agent", ["airline"])
    assert (run.outcome, run.outcome_by) == ("correct", "reward_info.reward")
    assert run.ending == "submitted"
    assert (run.started_at, run.ended_at) == (1769940000.0, 1769940060.0)
    assert shape(run) == (2, 0, 1)
    first, second = calls(run)
    assert (first.tool, first.arguments) == ("find_bag", '{"tag":"A"}')
    assert first.result is not None
    assert (first.result.is_error, first.result.flag) == (True, "error")
    assert first.result.at == 1769940002.0
    assert second.result is not None
    assert second.result.is_error is False
    assert run.threads[0].turns[2].input_tokens == 9


def test_read_leaves_the_simulated_user_s_calls_out():
    run = one_run(tau2_bench, as_json(a_file(simulation(messages=[
        {"role": "user", "content": "My phone is dead."},
        asked("user", "u1", "toggle_data", {}),
        answered("u1", "Error: no signal", error=True, requestor="user"),
        asked("assistant", "c1", "find_line", {}),
        answered("c1", "ok"),
    ]))))  # fmt: skip

    assert [call.tool for call in calls(run)] == ["find_line"]
    assert shape(run) == (1, 0, 0)
    assert [turn.role for turn in run.threads[0].turns] == ["user", "assistant"]


def test_read_takes_several_results_wrapped_in_one_message():
    run = one_run(tau2_bench, as_json(a_file(simulation(messages=[
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "c1", "name": "a", "arguments": {}},
            {"id": "c2", "name": "b", "arguments": {}}]},
        {"role": "tool", "tool_messages": [answered("c2", "two"), answered("c1",
         "one")]},
    ]))))  # fmt: skip

    assert [c.result.text for c in calls(run) if c.result] == ["one", "two"]


@pytest.mark.parametrize(
    ("reason", "reward", "ending", "outcome"),
    [
        ("user_stop", 1.0, "submitted", "correct"),
        ("agent_stop", 0.0, "submitted", "incorrect"),
        ("max_steps", 0.0, "budget_spent", "incorrect"),
        ("too_many_errors", 0.0, "budget_spent", "incorrect"),
        ("infrastructure_error", 0.0, "crashed", "unknown"),
        (None, None, "", "unknown"),
        ("user_stop", "1.0", "submitted", "correct"),
    ],
)
def test_read_keeps_the_ending_apart_from_the_outcome(reason, reward, ending, outcome):
    run = one_run(tau2_bench, as_json(a_file(simulation(reward=reward, reason=reason))))

    assert (run.ending, run.outcome) == (ending, outcome)


def test_read_finds_the_model_where_it_stands_after_the_runs():
    late = {"simulations": [simulation()], "tasks": [], "info": INFO}

    assert one_run(tau2_bench, as_json(late)).model == "model-a"


def test_read_takes_a_list_of_runs_and_a_single_run():
    for data in (
        as_json([simulation(), simulation("u-2")]),
        as_json(simulation()) + b"\n" + as_json(simulation("u-2")),
    ):
        runs = read(tau2_bench, data)

        assert [run.run_id for run in runs] == ["u-1", "u-2"]  # type: ignore[union-attr]
    assert shape(one_run(tau2_bench, as_json(simulation()))) == (2, 0, 1)


def test_read_gives_nothing_for_the_folder_s_results_file():
    about = as_json({"timestamp": "2026-02-01", "info": INFO, "tasks": []})

    assert read(tau2_bench, about) == []
    assert told_as(about) == "tau2_bench"


def test_read_folder_gives_the_runs_with_the_results_file_s_model():
    files = {
        "day/results.json": as_json({"info": INFO, "tasks": []}),
        "day/simulations/u-1.json": as_json(simulation()),
        "day/simulations/u-2.json": as_json(simulation("u-2")),
        "day/notes.txt": b"x",
    }

    (group,) = tau2_bench.claims(files)
    opened = {name: (lambda n=name: io.BytesIO(files[n])) for name in group}
    runs = list(tau2_bench.read_folder(opened))

    assert group == list(files)[:3]
    assert [(run.run_id, run.model) for run in runs] == [  # type: ignore[union-attr]
        ("u-1", "model-a"),
        ("u-2", "model-a"),
    ]


def test_read_sets_a_voice_run_aside():
    voice = simulation(messages=[])
    voice["ticks"] = [{"tick": 1}]
    del voice["messages"]

    records = read(tau2_bench, as_json(a_file(voice, simulation("u-2"))))

    assert [type(record) for record in records] == [Unreadable, Transcript]
    assert records[0].reason == "a voice run (`ticks`): it is not read"  # type: ignore[union-attr]


def test_read_keeps_the_runs_around_a_broken_one():
    sample = as_json(a_file(*[simulation(f"u-{n}") for n in range(4)]))
    at = sample.index(b"no such tag")

    check_rest_stands(tau2_bench, sample, lambda s: s[:at] + b'"' + s[at + 1 :], 3)
    check_rest_stands(
        tau2_bench, sample, lambda s: s.replace(b'"reward": 1.0', b'"reward": +', 1), 3
    )


def test_read_finds_the_runs_of_a_file_that_lost_its_beginning():
    sample = as_json(a_file(*[simulation(f"u-{n}") for n in range(4)]))
    at = sample.index(b"no such tag")

    check_rest_stands(tau2_bench, sample, lambda s: s[at:], 3)


def test_read_gives_line_and_offset_of_each_run():
    sample = json.dumps(a_file(simulation(), simulation("u-2")), indent=2).encode()

    first, second = read(tau2_bench, sample)

    assert isinstance(first, Transcript)
    assert isinstance(second, Transcript)
    assert sample[first.offset :].startswith(b'{\n      "id": "u-1"')
    assert sample[second.offset :].startswith(b'{\n      "id": "u-2"')
    assert sample[: second.offset].count(b"\n") + 1 == second.line


def test_detect_tells_every_layout():
    long_tasks = a_file(simulation())
    long_tasks["tasks"] = [{"id": "x" * 1000}] * 400
    for sample in (
        a_file(simulation()), [simulation()], simulation(), long_tasks,
        {"simulations": [simulation()], "info": INFO},
    ):  # fmt: skip
        assert told_as(as_json(sample)) == "tau2_bench"
        assert told_as(json.dumps(sample, indent=1).encode()) == "tau2_bench"


def test_read_survives_every_damage():
    check_survives(tau2_bench, as_json(a_file(simulation(), simulation("u-2"))), seed=2)
    check_survives(tau2_bench, as_json([simulation()]), seed=3, count=100)
