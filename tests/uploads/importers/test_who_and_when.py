"""Who&When: text alone, code runs of the terminal, outcomes."""

import json
from typing import Any

import pytest

from apps.uploads.importers import who_and_when as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives

CODE = "Run this:\n```python\nprint(1/0)\n```"
CAPTAIN: dict[str, Any] = {
    "is_correct": False,
    "question": "How many?",
    "question_ID": "q-1",
    "mistake_agent": "Expert",
    "mistake_step": "1",
    "mistake_reason": "It divides by zero.",
    "history": [
        {"name": "Expert", "role": "assistant", "content": "Solve this task."},
        {"name": "Expert", "role": "assistant", "content": CODE},
        {"name": "Computer_terminal", "role": "user",
         "content": "exitcode: 1 (execution failed)\nCode output: ZeroDivisionError"},
        {"name": "Expert", "role": "assistant", "content": "It failed."},
        {"name": "Computer_terminal", "role": "user",
         "content": "There is no code from the last 1 message for me to execute."},
    ],
}  # fmt: skip
CRAFTED = {
    "is_corrected": False,
    "question_ID": "q-2",
    "mistake_agent": "WebSurfer",
    "history": [
        {"role": "human", "content": "How many?"},
        {"role": "Orchestrator (thought)", "content": "Plan."},
        {"role": "WebSurfer", "content": "I clicked."},
        {"role": "Orchestrator (termination condition)", "content": "No agent."},
    ],
}


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (CAPTAIN, Figures(calls=1, turns=4)),
        (CRAFTED, Figures(turns=4)),
        ([CAPTAIN, CRAFTED], Figures(2, 1, 0, 0, 8, 2)),
        (
            {**CAPTAIN, "history": [5, *CAPTAIN["history"]]},
            Figures(1, 1, 0, 0, 4, 1, 1),
        ),
    ],
    ids=["generated", "crafted", "both", "odd item"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_code_that_the_terminal_ran_is_a_call():
    run = run_of(reader, json.dumps(CAPTAIN).encode())

    (made,) = calls_of(run)
    turns = run.threads[0].turns
    assert (made.tool, made.arguments) == ("Computer_terminal", "print(1/0)\n")
    assert made.result.text.startswith("exitcode: 1 (execution failed)")
    assert (made.result.is_error, made.result.turns_before) == (None, 2)
    assert [(turn.role, turn.kind) for turn in turns] == [
        ("user", ""),
        ("assistant", ""),
        ("assistant", ""),
        ("user", "notice"),
    ]


def test_outcome_and_ids():
    first = run_of(reader, json.dumps(CAPTAIN).encode())
    second = run_of(reader, json.dumps({**CRAFTED, "is_corrected": True}).encode())

    assert (first.outcome, first.outcome_by) == ("incorrect", "is_correct")
    assert (second.outcome, second.outcome_by) == ("correct", "is_corrected")
    assert (first.run_id, first.task_id, first.is_global_id) == ("q-1", "q-1", False)


def test_detect_needs_the_mistake():
    assert reader.detect(json.dumps(CAPTAIN).encode()) == 0.95
    cut = json.dumps({"mistake_agent": "x", "history": CAPTAIN["history"]}).encode()
    assert reader.detect(cut[:200]) == 0.9
    assert reader.detect(json.dumps({"history": [], "task": 1}).encode()) == 0.0


def test_nothing_escapes_from_spoiled_files():
    check_survives(reader, json_lines([CAPTAIN, CRAFTED]), seed=8, count=300)
