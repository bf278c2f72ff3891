"""InterCode results: parallel lists of actions, observations and flags."""

import json

import pytest

from apps.uploads.importers import intercode

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


def a_task(task=0, reward=1.0, taken=2, history=None, **other):
    return {
        "environment": "ic_sql", "dataset": "spider", "task_id": task,
        "query": "How many?",
        "turn_history": history or {
            "actions": ["SELECT x", "SELECT 1"],
            "observations": ["Error executing query: no column x", "[(1,)]"],
            "rewards": [0, reward], "valid_action": [False, True],
        },
        "summary": {"max_reward": reward, "turns_taken": taken, "turns_max": 10},
        **other,
    }  # fmt: skip


def test_read_zips_the_lists_to_calls_with_their_flag():
    run = one_run(intercode, as_json({"0": a_task()}))

    assert shape(run) == (2, 0, 1)
    first, second = calls(run)
    assert (first.tool, first.arguments) == ("ic_sql", "SELECT x")
    assert first.result is not None
    assert (first.result.is_error, first.result.flag) == (True, "valid_action")
    assert second.result is not None
    assert (second.result.is_error, second.result.text) == (False, "[(1,)]")
    assert run.threads[0].turns[0].text == "How many?"
    assert (run.run_id, run.task_id, run.is_global_id) == ("ic_sql/0", "0", False)


@pytest.mark.parametrize(
    ("reward", "taken", "outcome", "ending"),
    [
        (1.0, 2, "correct", "submitted"),
        (0.67, 10, "incorrect", "budget_spent"),
        (0.67, 3, "incorrect", ""),
        (1, 10, "correct", "submitted"),
        (None, 10, "unknown", "budget_spent"),
    ],
)
def test_read_takes_the_highest_reward_as_the_outcome(reward, taken, outcome, ending):
    run = one_run(intercode, as_json({"0": a_task(reward=reward, taken=taken)}))

    assert (run.outcome, run.ending) == (outcome, ending)


def test_read_keeps_what_the_longer_of_uneven_lists_holds():
    run = one_run(intercode, as_json({"0": a_task(history={
        "actions": ["ls", "pwd", "id"], "observations": ["a", "/"],
        "valid_action": [True], "thoughts": ["Look."],
    })}))  # fmt: skip

    assert shape(run) == (3, 1, 0)
    assert [c.result.is_error if c.result else "none" for c in calls(run)] == [
        False, None, "none",
    ]  # fmt: skip
    assert [turn.text for turn in run.threads[0].turns] == [
        "How many?",
        "Look.",
        "",
        "",
    ]


def test_read_leaves_errors_to_the_text_where_there_is_no_list_of_flags():
    run = one_run(intercode, as_json({"7": a_task(history={
        "actions": ["cat flag"], "observations": ["Error executing"],
    }, environment="ic_ctf")}))  # fmt: skip

    result = calls(run)[0].result
    assert result is not None
    assert (result.is_error, result.flag) == (None, "")


def test_read_takes_the_agent_s_own_submission_as_the_ending():
    run = one_run(intercode, as_json({"0": a_task(reward=0.5, history={
        "actions": ["submit"], "observations": [""]})}))  # fmt: skip

    assert run.ending == "submitted"


def test_read_keeps_the_runs_around_a_broken_one():
    sample = as_json({str(n): a_task(n) for n in range(4)})
    at = sample.index(b"no column")

    check_rest_stands(intercode, sample, lambda s: s[:at] + b'"' + s[at + 1 :], 3)


def test_read_finds_the_runs_of_a_file_that_lost_its_beginning():
    sample = as_json({str(n): a_task(n) for n in range(4)})
    at = sample.index(b"no column")

    check_rest_stands(intercode, sample, lambda s: s[at:], 3)


def test_read_streams_a_file_of_many_runs():
    sample = as_json({str(n): a_task(n) for n in range(2000)})

    assert len(read(intercode, sample)) == 2000
    assert told_as(sample) == "intercode"


def test_detect_tells_it_by_its_first_task():
    assert told_as(as_json({"0": a_task()})) == "intercode"
    assert told_as(json.dumps({"5": a_task()}, indent=4).encode()) == "intercode"
    assert intercode.detect(as_json({"a": {"environment": "x"}})) == 0


def test_read_survives_every_damage():
    check_survives(intercode, as_json({"0": a_task(), "1": a_task(1)}), seed=16)
