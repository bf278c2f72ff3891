"""AgentDojo runs: the original's files and those of suites derived from it."""

import pytest

from apps.uploads.importers import agentdojo

from .reading import as_json, calls, check_survives, one_run, shape, told_as


def part(text):
    return [{"type": "text", "content": text}]


CALL = {"function": "send_money", "args": {"to": "X"}, "id": "c1"}
MESSAGES = [
    {"role": "system", "content": part("You help.")},
    {"role": "user", "content": part("Pay the bill.")},
    {"role": "assistant", "content": part("I pay."), "tool_calls": [CALL]},
    {"role": "tool", "content": part(""), "tool_call_id": "c1", "tool_call": CALL,
     "error": "ValueError: bad account"},
    {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "c2"}]},
    {"role": "tool", "content": "Paid.", "tool_call_id": "c2", "tool_call": CALL,
     "error": None},
    {"role": "assistant", "content": part("Paid."), "tool_calls": None},
]  # fmt: skip


def a_run(**other):
    return {
        "suite_name": "banking",
        "pipeline_name": "model-a",
        "user_task_id": "user_task_3",
        "injection_task_id": None,
        "attack_type": None,
        "messages": MESSAGES,
        "error": None,
        "utility": True,
        "security": True,
        "duration": 30.0,
        "evaluation_timestamp": "2026-06-01 12:00:30",
        **other,
    }


def test_read_takes_the_error_s_text_as_flag_and_result():
    run = one_run(agentdojo, as_json(a_run()))

    assert shape(run) == (2, 0, 1)
    first, second = calls(run)
    assert (first.tool, first.arguments) == ("send_money", '{"to":"X"}')
    assert first.result is not None
    assert (first.result.text, first.result.flag) == (
        "ValueError: bad account",
        "error",
    )
    assert first.result.error_code == "ValueError"
    assert second.result is not None
    assert (second.result.text, second.result.is_error) == ("Paid.", False)
    assert [t.text for t in run.threads[0].turns] == [
        "You help.", "Pay the bill.", "I pay.", "", "Paid.",
    ]  # fmt: skip


def test_read_takes_utility_as_the_outcome_and_keeps_security_as_a_score():
    run = one_run(agentdojo, as_json(a_run(security=False)))

    assert (run.outcome, run.outcome_by) == ("correct", "utility")
    assert [(s.name, s.value) for s in run.scores] == [
        ("utility", True),
        ("security", False),
    ]
    assert (run.run_id, run.is_global_id) == ("model-a/banking/user_task_3", False)
    assert (run.task_id, run.model, run.source) == (
        "banking/user_task_3", "model-a", "banking",
    )  # fmt: skip
    assert (run.started_at, run.ended_at) == (1780315200.0, 1780315230.0)


@pytest.mark.parametrize(
    ("other", "outcome", "by", "ending"),
    [
        ({"utility": False}, "incorrect", "utility", ""),
        ({"utility": None}, "unknown", "", ""),
        ({"utility": False, "error": "provider failed"}, "unknown", "", "crashed"),
        ({"evaluation": {"utility": False}}, "incorrect", "evaluation.utility", ""),
    ],
)
def test_read_takes_the_outcome_from_where_it_stands(other, outcome, by, ending):
    run = one_run(agentdojo, as_json(a_run(**other)))

    assert (run.outcome, run.outcome_by, run.ending) == (outcome, by, ending)


def test_read_takes_the_id_of_derived_suites():
    run = one_run(agentdojo, as_json(a_run(run_id="r-7", condition="hint", seed=3)))

    assert (run.run_id, run.is_global_id, run.tags) == ("r-7", True, ["hint"])


def test_detect_tells_it_by_suite_and_pipeline():
    assert told_as(as_json(a_run())) == "agentdojo"
    long = a_run(messages=[{"role": "user", "content": part("x" * 300_000)}])
    assert told_as(as_json(long)) == "agentdojo"
    assert agentdojo.detect(as_json({"messages": MESSAGES})) == 0


def test_read_survives_every_damage():
    check_survives(agentdojo, as_json(a_run()), seed=19)
