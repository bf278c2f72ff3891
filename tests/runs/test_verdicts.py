"""Verdicts: which evidence wins, which cause a failure has, and what counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.evidence import Verdict, assess, cause_of, judge
from apps.runs.rules import Rules
from apps.runs.transcript import Call, Result
from tests.runs.transcripts import call, failed

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "a.py", line 1, in <module>\n'
    "    import b\n"
    "ModuleNotFoundError: No module named 'b'"
)

# --- the order of evidence ------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (None, ("no_result", "structured", "no result in the log", False)),
        (failed("Error: declined"), ("failed", "flagged", "is_error", True)),
        (failed(""), ("failed", "flagged", "is_error", True)),
        (failed("fine", exit_code=0), ("failed", "flagged", "is_error", True)),
        (failed("x", delivered=False), ("failed", "flagged", "is_error", False)),
        (failed("x", cause="rejected"), ("rejected", "flagged", "is_error", True)),
        (failed("The user denied"), ("denied", "flagged", "is_error", True)),
        (Result("x", is_error=True), ("failed", "flagged", "flag", True)),
        (
            Result("x", cause="denied"),
            ("denied", "structured", "the log says so", True),
        ),
        (Result("x", exit_code=2), ("failed", "structured", "exit-code", True)),
        (Result("x", exit_code=-9), ("failed", "structured", "exit-code", True)),
        (Result("x", error_code="E1"), ("failed", "structured", "error-code", True)),
        (
            Result('{"error": "declined"}', exit_code=1),
            ("failed", "structured", "exit-code", True),
        ),
        (Result("Error: declined"), ("failed", "textual", "error-prefix", True)),
        (
            Result("Error: declined", delivered=False),
            ("failed", "textual", "error-prefix", False),
        ),
        (Result("Unknown tool: x"), ("rejected", "textual", "unknown-tool", True)),
        (
            Result("Sibling tool call errored"),
            ("cancelled", "textual", "sibling", True),
        ),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_the_strongest_evidence_wins(result, expected):
    verdict = judge(call("some_tool", result=result))

    assert verdict is not None
    found = (verdict.cause, verdict.evidence, verdict.rule, verdict.is_delivered)
    assert found == expected


@pytest.mark.parametrize(
    "result",
    [
        Result(""),
        Result("fine", exit_code=0),
        Result("fine", is_error=False),
        Result("Error: still running", pending=True),
        Result("x", is_error=True, pending=True),
    ],
)
def test_neither_success_nor_what_still_runs_is_a_failure(result):
    assert judge(call("some_tool", result=result)) is None


@pytest.mark.parametrize(
    ("cause", "delivered", "evidence", "counts"),
    [
        ("failed", True, "textual", True),
        ("rejected", True, "flagged", True),
        ("failed", False, "flagged", False),
        ("rejected", False, "structured", False),
        ("denied", True, "flagged", False),
        ("cancelled", True, "flagged", False),
        ("no_result", True, "structured", False),
        ("failed", True, "masked", False),
    ],
)
def test_only_failed_and_rejected_calls_that_the_model_saw_count(
    cause, delivered, evidence, counts
):
    assert Verdict(cause, evidence, "x", delivered).is_tool_error is counts


@pytest.mark.parametrize(
    ("command", "code", "is_failure"),
    [
        ("grep x f", 1, False),
        ("grep x f", 2, True),
        ("cd /srv && diff a b", 1, False),
        ("pytest", 1, True),
        ("npm test && grep x f", 1, True),
    ],
)
def test_exit_one_of_a_command_that_asks_is_an_answer(command, code, is_failure):
    asked = Call(
        "bash", f'{{"command": "{command}"}}', result=Result("", exit_code=code)
    )

    assert (judge(asked) is not None) is is_failure


def test_a_flag_outweighs_that_a_command_only_asked():
    asked = Call("bash", '{"command": "grep x f"}', result=failed("Exit code 1"))

    verdict = judge(asked)

    assert verdict is not None
    assert verdict.evidence == "flagged"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error: declined", "failed"),
        ("", "failed"),
        ("The user doesn't want to proceed with this tool use.", "denied"),
        ("  The user rejected permission to use this tool", "denied"),
        ("Command aborted", "denied"),
        ("Command aborted the transaction", "failed"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("<tool_use_error>No such tool available: x</tool_use_error>", "rejected"),
        ("Error executing tool pay: 1 validation error for Pay", "rejected"),
        ("A text that says: The user denied", "failed"),
    ],
)
def test_cause_of_knows_the_fixed_texts_of_programs(text, cause):
    assert cause_of(text) == cause


# --- where the log says that all went well --------------------------------------------


@pytest.mark.parametrize(
    ("tool", "result", "rule"),
    [
        ("bash", Result("error: bad tree", is_error=False), "error-prefix"),
        ("bash", Result(f"x\n{TRACEBACK}\ny", is_error=False), "traceback-inside"),
        ("bash", Result(TRACEBACK, exit_code=0), "traceback"),
        (
            "bash",
            Result(f"<returncode>0</returncode>\n<output>\n{TRACEBACK}\n</output>"),
            "traceback-inside",
        ),
        ("get_news", Result("Unable to find news", is_error=False), "refusal-phrase"),
        (
            "get_news",
            Result('{"error": "", "response": "{\\"status\\": \\"401\\"}"}'),
            "inner-error",
        ),
    ],
)
def test_words_that_the_log_outweighs_are_only_suggested(tool, result, rule):
    suspected = call(tool, result=result)

    verdict = assess(suspected)

    assert verdict is not None
    assert (verdict.evidence, verdict.rule) == ("masked", rule)
    assert not verdict.is_tool_error
    assert judge(suspected) is None


@pytest.mark.parametrize(
    ("tool", "text", "rule"),
    [
        ("book_room", "Error: the room is taken", "error-prefix"),
        ("bash", "Error executing query: there was no code", "known-text"),
        ("bash", "An error occurred while running the tool.", "masked-cause"),
    ],
)
def test_an_unset_flag_does_not_outweigh_strong_words(tool, text, rule):
    # some writers never set the flag; no program's output has a framework's words
    verdict = judge(call(tool, result=Result(text, is_error=False)))

    assert verdict is not None
    assert (verdict.evidence, verdict.rule) == ("textual", rule)


# --- rules that are off ---------------------------------------------------------------


def test_a_rule_can_be_off_for_one_tool_alone():
    off = Rules(disabled_evidence=frozenset({"error-prefix@search"}))

    searched = judge(call("search", result=Result("Error: declined")), off)
    paid = judge(call("pay", result=Result("Error: declined")), off)

    assert searched is None
    assert paid is not None


def test_suggestions_can_be_off_too():
    off = Rules(disabled_evidence=frozenset({"traceback-inside", "inner-error"}))
    inner = Result('{"error": "", "response": "{\\"error\\": \\"x\\"}"}')

    assert (
        assess(call("bash", result=Result(f"x\n{TRACEBACK}\ny", exit_code=0)), off)
        is None
    )
    assert assess(call("get_news", result=inner), off) is None


@given(st.text(), st.sampled_from([None, True, False]), st.sampled_from([None, 0, 1]))
def test_no_text_is_too_odd(text, is_error, code):
    result = Result(text, is_error=is_error, exit_code=code)

    verdict = judge(Call("bash", text, result=result))

    assert verdict is None or verdict.evidence in ("flagged", "structured", "textual")
