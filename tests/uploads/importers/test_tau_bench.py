"""tau-bench results: what is read of a list of runs, whole and damaged."""

import json

import pytest

from apps.runs.transcript import Transcript, Unreadable
from apps.uploads.importers import tau_bench

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


def call(call_id, tool, arguments="{}"):
    function = {"name": tool, "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def answer(call_id, tool, text):
    return {"role": "tool", "tool_call_id": call_id, "name": tool, "content": text}


def a_run(task=3, trial=1, reward=1.0, traj=None, info=None):
    traj = traj if traj is not None else [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Cancel my order W1."},
        call("c1", "get_order", '{"id": "W1"}'),
        answer("c1", "get_order", "Error: order not found"),
        call("c2", "get_order", '{"id": "#W1"}'),
        answer("c2", "get_order", '{"status": "pending"}'),
        {"role": "assistant", "content": "It is cancelled."},
    ]  # fmt: skip
    return {"task_id": task, "trial": trial, "reward": reward,
            "info": info or {"reward_info": {}}, "traj": traj}  # fmt: skip


def test_read_gives_the_run_with_its_calls_and_reward():
    run = one_run(tau_bench, as_json([a_run()]))

    assert (run.run_id, run.is_global_id, run.task_id) == ("3/1", False, "3")
    assert (run.outcome, run.outcome_by, run.ending) == ("correct", "reward", "")
    assert run.scores[0].value == 1.0
    assert shape(run) == (2, 0, 0)
    first = calls(run)[0]
    assert (first.tool, first.arguments, first.id) == (
        "get_order",
        '{"id": "W1"}',
        "c1",
    )
    assert first.result is not None
    assert first.result.text == "Error: order not found"
    assert first.result.is_error is None
    assert [turn.role for turn in run.threads[0].turns] == [
        "system", "user", "assistant", "assistant", "assistant",
    ]  # fmt: skip


def test_read_takes_less_than_a_whole_reward_as_incorrect():
    assert one_run(tau_bench, as_json([a_run(reward=0.0)])).outcome == "incorrect"
    assert one_run(tau_bench, as_json([a_run(reward=0.5)])).outcome == "incorrect"
    assert one_run(tau_bench, as_json([a_run(reward=None)])).outcome == "unknown"


def test_read_takes_a_crash_as_unknown_though_its_reward_is_zero():
    crashed = a_run(reward=0.0, traj=[], info={"error": "EOF", "traceback": "…"})

    run = one_run(tau_bench, as_json([crashed]))

    assert (run.outcome, run.outcome_by, run.ending) == ("unknown", "", "crashed")
    assert run.scores[0].value == 0.0


def test_read_gives_each_trial_an_id_of_its_own():
    runs = read(tau_bench, as_json([a_run(trial=0), a_run(trial=1), a_run(task="x")]))

    assert [run.run_id for run in runs] == ["3/0", "3/1", "x/1"]  # type: ignore[union-attr]


def test_read_pairs_results_with_the_nearest_call_where_ids_repeat():
    run = one_run(tau_bench, as_json([a_run(traj=[
        call("same", "look", '{"n": 1}'), answer("same", "look", "first"),
        call("same", "look", '{"n": 2}'), answer("same", "look", "second"),
    ])]))  # fmt: skip

    assert [c.result.text for c in calls(run) if c.result] == ["first", "second"]


def test_read_keeps_a_call_without_a_result():
    run = one_run(tau_bench, as_json([a_run(traj=[call("c1", "look")])]))

    assert shape(run) == (1, 1, 0)


def test_read_keeps_the_runs_after_a_flipped_quote():
    """The fault hides where its item ends; the next ones are found all the same."""
    sample = as_json([a_run(trial=n) for n in range(4)])
    at = sample.index(b"order not found")

    check_rest_stands(tau_bench, sample, lambda s: s[:at] + b'"' + s[at + 1 :], 3)


def test_read_keeps_the_runs_around_a_broken_one():
    sample = as_json([a_run(trial=n) for n in range(3)])

    check_rest_stands(
        tau_bench, sample, lambda s: s.replace(b'"reward": 1.0', b'"reward": 1.', 1), 2
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_read_finds_the_runs_of_a_file_that_lost_its_beginning(indent):
    """What is left of the first run is one stretch, in however many lines it stands."""
    sample = json.dumps([a_run(trial=n) for n in range(3)], indent=indent).encode()
    at = sample.index(b"order not found")

    broken, *runs = read(tau_bench, sample[at:])

    assert isinstance(broken, Unreadable)
    assert (broken.line, broken.offset) == (1, 0)
    assert [run.run_id for run in runs] == ["3/1", "3/2"]  # type: ignore[union-attr]
    for run in runs:
        assert isinstance(run, Transcript)
        assert run.offset is not None
        assert sample[at + run.offset :].lstrip().startswith(b"{")


def test_read_sets_aside_what_is_no_run():
    records = read(tau_bench, as_json([a_run(), {"a": 1}, {"traj": "x"}]))

    assert [type(record) for record in records] == [Transcript, Unreadable, Unreadable]


def test_read_keeps_the_turns_of_a_run_that_was_cut():
    sample = as_json([a_run()])

    run = one_run(tau_bench, sample[: sample.index(b"pending")])

    assert shape(run) == (2, 1, 0)
    assert run.outcome == "correct"
    assert run.unreadable[0].reason == "the file ends in the middle of this record"


def test_detect_tells_it_also_where_the_first_run_is_cut():
    sample = as_json([a_run()])

    assert told_as(sample) == "tau_bench"
    assert told_as(sample[:300]) == "tau_bench"
    assert told_as(sample.decode().encode("utf-16")) == "tau_bench"
    assert tau_bench.detect(as_json([{"role": "user", "content": "hi"}])) == 0


def test_read_survives_every_damage():
    check_survives(tau_bench, as_json([a_run(), a_run(trial=2)]), seed=1)
