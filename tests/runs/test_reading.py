"""Reading: a transcript as its page shows it."""

import pytest

from apps.runs.models import ToolError
from apps.runs.reading import SHOWN_CHARS, pretty, shown_thread
from apps.runs.transcript import Result, Thread, Transcript
from tests.runs.transcripts import acts, asks, call, failed, run, says


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a":1}', '{\n  "a": 1\n}'),
        ('{"name": "é🦊"}', '{\n  "name": "é🦊"\n}'),
        ("[1]", "[\n  1\n]"),
        ("5", "5"),
        ('"text"', '"text"'),
        ("ls -l", "ls -l"),
        ('{"cut', '{"cut'),
        ("", ""),
    ],
)
def test_pretty_lays_out_json_and_nothing_else(arguments, expected):
    assert pretty(arguments) == expected


@pytest.mark.parametrize(
    "arguments", ["[" * 100_000, f'{{"a": "{"x" * SHOWN_CHARS}"}}']
)
def test_pretty_leaves_what_is_deep_or_long(arguments):
    assert pretty(arguments) == arguments


def test_a_thread_shows_its_turns_with_their_calls():
    transcript = run(
        asks("Pay it."),
        acts(
            call("pay", '{"a":1}', failed("Error: declined")), call("mail"), text="Hm."
        ),
        says("Sorry."),
    )

    shown = shown_thread(transcript, 0, [])

    assert (shown.index, shown.total) == (0, 3)
    assert [turn.anchor for turn in shown.turns] == ["t0", "t1", "t2"]
    assert [turn.text for turn in shown.turns] == ["Pay it.", "Hm.", "Sorry."]
    paid, mailed = shown.turns[1].calls
    assert (paid.anchor, mailed.anchor) == ("t1c0", "t1c1")
    assert (paid.arguments, paid.result) == ('{\n  "a": 1\n}', "Error: declined")
    assert paid.error is None


def test_an_error_stands_beside_its_call():
    transcript = Transcript(
        "made", [Thread([says("Hi.")]), Thread([acts(call("a"), call("pay"))], id="x")]
    )
    error = ToolError(thread=1, turn=0, call=1)
    elsewhere = ToolError(thread=0, turn=0, call=0)

    shown = shown_thread(transcript, 1, [error, elsewhere])

    assert [item.error for item in shown.turns[0].calls] == [None, error]


def test_a_stretch_of_a_long_thread_keeps_its_numbers():
    transcript = run(*[says(f"step {n}") for n in range(500)])

    shown = shown_thread(transcript, 0, [], first=200, most=3)

    assert [turn.number for turn in shown.turns] == [200, 201, 202]
    assert [turn.anchor for turn in shown.turns] == ["t200", "t201", "t202"]
    assert shown.total == 500


def test_a_stretch_beyond_the_end_is_empty():
    assert shown_thread(run(says("Hi.")), 0, [], first=9).turns == []


def test_long_texts_are_cut_and_say_so():
    long = "x" * (SHOWN_CHARS + 5)
    transcript = run(acts(call("read", long, Result(long)), text=long))

    turn = shown_thread(transcript, 0, []).turns[0]

    assert len(turn.text) == SHOWN_CHARS
    assert len(turn.calls[0].arguments) == SHOWN_CHARS
    assert (len(turn.calls[0].result), turn.calls[0].cut) == (SHOWN_CHARS, 5)


def test_a_call_without_a_result_shows_none():
    (shown,) = shown_thread(run(acts(call("pay", "{}", None))), 0, []).turns[0].calls

    assert (shown.result, shown.cut) == ("", 0)


def test_a_thread_that_is_not_there_is_an_error():
    with pytest.raises(IndexError):
        shown_thread(run(says("Hi.")), 1, [])
