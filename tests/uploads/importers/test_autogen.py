"""AutoGen: calls, executions, code, thoughts, endings."""

import json

import pytest

from apps.uploads.importers import autogen as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives


def message(number, kind, content, source="helper", **fields):
    return {"id": f"m{number}", "source": source, "type": kind, "content": content,
            "models_usage": {"prompt_tokens": 80, "completion_tokens": 5},
            "created_at": f"2026-03-02T10:00:{number:02}Z", **fields}  # fmt: skip


MESSAGES = [
    message(0, "TextMessage", "State of 17?", source="user"),
    message(1, "ThoughtEvent", "Look it up."),
    message(2, "ToolCallRequestEvent", [
        {"id": "k1", "name": "state", "arguments": '{"id": "17"}'},
        {"id": "k2", "name": "owner", "arguments": "{}"}]),
    message(3, "ToolCallExecutionEvent", [
        {"call_id": "k1", "name": "state", "content": "no such id", "is_error": True},
        {"call_id": "k2", "name": "owner", "content": "me", "is_error": False}]),
    message(4, "ToolCallSummaryMessage", "no such id"),
    message(5, "CodeGenerationEvent", "I run it.", source="coder",
            code_blocks=[{"code": "print(1/0)", "language": "python"}]),
    {**message(6, "CodeExecutionEvent", None, source="coder"),
     "result": {"exit_code": 1, "output": "ZeroDivisionError"}},
    message(7, "HandoffMessage", "Handed over."),
    message(8, "TextMessage", "It failed."),
]  # fmt: skip
RESULT = {"messages": MESSAGES, "stop_reason": "Maximum number of messages 9 reached"}
COUNTED = Figures(calls=3, flagged=1, turns=5)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (RESULT, COUNTED),
        (MESSAGES, COUNTED),
        ({**RESULT, "messages": MESSAGES[:3]}, Figures(calls=2, missing=2, turns=2)),
        ({**RESULT, "messages": MESSAGES[3:5]}, Figures(calls=2, flagged=1, turns=1)),
    ],
    ids=["result", "messages", "cut", "no call"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_read_keeps_flags_exit_codes_and_thoughts():
    run = run_of(reader, json.dumps(RESULT).encode())

    failed, worked, code = calls_of(run)
    turns = run.threads[0].turns
    assert (failed.result.flag, failed.result.text) == ("is_error", "no such id")
    assert (worked.result.is_error, failed.arguments) == (False, '{"id": "17"}')
    assert (code.tool, code.arguments) == ("code_executor", "print(1/0)")
    assert (code.result.exit_code, code.result.is_error) == (1, None)
    assert (turns[1].reasoning, turns[1].input_tokens) == ("Look it up.", 80)
    assert (turns[3].kind, run.agent) == ("notice", "helper")
    assert (run.started_at, run.ended_at) == (1772445600.0, 1772445608.0)


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        ("Maximum number of turns 3 reached.", "budget_spent"),
        ("Token usage limit reached", "budget_spent"),
        ("Timeout of 30 seconds reached", "timed_out"),
        ("External termination requested", "cancelled"),
        ("Text 'TERMINATE' mentioned", ""),
        (None, ""),
    ],
)
def test_the_ending_is_what_the_stop_reason_says(reason, wanted):
    run = run_of(reader, json.dumps({**RESULT, "stop_reason": reason}).encode())

    assert run.ending == wanted


def test_results_a_line_are_runs():
    lines = json_lines([RESULT, {**RESULT, "run_id": "r2", "success": True}])

    assert [(run.run_id, run.outcome) for run in read_bytes(reader, lines)] == [
        ("", "unknown"),
        ("r2", "correct"),
    ]


def test_detect_needs_a_source():
    assert reader.detect(json.dumps(RESULT).encode()) == 0.9
    assert reader.detect(json.dumps(RESULT).encode()[:300]) == 0.8
    assert reader.detect(json.dumps([{"type": "TextMessage"}]).encode()) == 0.0


@pytest.mark.parametrize("value", [RESULT, MESSAGES], ids=["result", "messages"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=7, count=250)
