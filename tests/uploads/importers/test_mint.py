"""MINT results: calls inside the reply's text."""

import pytest

from apps.uploads.importers import mint

from .reading import as_json, as_lines, calls, check_survives, one_run, shape, told_as

LEFT = "\nYou have 3 steps left and 2 chances to propose solution left.\n"


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": text}


def a_line(*history, success=True, reason="task_success", **state):
    history = history or (
        user("Task: 1 + 1?"),
        said("<thought> count </thought>\n<execute>\nprint(x)\n</execute>"),
        user(f"Observation:\nNameError: name 'x' is not defined{LEFT}"),
        said("The answer is <solution> 2 </solution>."),
    )
    return {"state": {"history": list(history), "success": success,
                      "terminate_reason": reason, "error": None, **state},
            "task": {"task_name": "reasoning", "task_id": 4}}  # fmt: skip


def test_read_takes_blocks_as_calls_and_the_next_message_as_their_result():
    run = one_run(mint, as_lines(a_line()), "out/model-a/F=None/gsm8k/results.jsonl")

    assert shape(run) == (2, 1, 0)
    first, second = calls(run)
    assert (first.tool, first.arguments) == ("execute", "print(x)")
    assert (second.tool, second.arguments) == ("solution", "2")
    assert first.result is not None
    assert first.result.text == "NameError: name 'x' is not defined"
    assert (run.run_id, run.task_id, run.source) == (
        "reasoning/4", "reasoning/4", "F=None/gsm8k",
    )  # fmt: skip
    assert (run.outcome, run.outcome_by, run.ending) == (
        "correct", "state.success", "submitted",
    )  # fmt: skip


def test_read_takes_a_reply_as_the_harness_did():
    """A solution goes before code; an open block is no call; several are one."""
    run = one_run(mint, as_lines(a_line(
        user("Task"),
        said("<execute>a</execute> then <solution>b</solution>"),
            user("Observation:\nno"),
        said("<execute>never closed"), user("I don't understand your input."),
        said("<execute>a</execute>\n<execute>b</execute>"), user("Observation:\nok"),
    )))  # fmt: skip

    assert [(c.tool, c.arguments) for c in calls(run)] == [
        ("solution", "b"),
        ("execute", "a\nb"),
    ]
    assert [t.kind for t in run.threads[0].turns] == ["", "", "", "notice", ""]


@pytest.mark.parametrize(
    ("success", "reason", "error", "outcome", "ending"),
    [
        (False, "max_steps", None, "incorrect", "budget_spent"),
        (False, "max_propose_steps", None, "incorrect", "budget_spent"),
        (False, None, "server died", "unknown", "crashed"),
        (None, None, None, "unknown", ""),
    ],
)
def test_read_keeps_ending_and_outcome_apart(success, reason, error, outcome, ending):
    line = a_line(success=success, reason=reason, error=error)

    run = one_run(mint, as_lines(line))

    assert (run.outcome, run.ending) == (outcome, ending)


def test_read_cuts_the_line_that_counts_steps_and_keeps_the_rest():
    text = (
        "Observation:\nfirst\nsecond\nYou have 1 steps left and 1 chances to propose"
        " solution left.\nYou should take the last step to propose a solution.\n"
    )

    run = one_run(mint, as_lines(a_line(said("<execute>a</execute>"), user(text))))

    assert calls(run)[0].result.text == "first\nsecond"  # type: ignore[union-attr]


def test_detect_tells_it_by_state_and_task():
    assert told_as(as_lines(a_line())) == "mint"
    assert told_as(as_lines(a_line(user("x" * 300_000)))) in ("mint", "")
    assert mint.detect(as_json({"state": "done", "task": "x"})) == 0


def test_read_survives_every_damage():
    check_survives(mint, as_lines(a_line(), a_line()), seed=17)
