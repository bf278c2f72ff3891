"""Loops: how often in a row the identical call has failed alike."""

import pytest

from apps.runs.loops import Loops, Step, follow

A = Step("pay", '{"id": 1}', "timeout")
A_REORDERED = Step("pay", '{ "id" : 1 }', "timeout")
A_OTHER_CODE = Step("pay", '{"id": 1}', "denied")
A_OTHER_ARGUMENTS = Step("pay", '{"id": 2}', "timeout")
A_FINE = Step("pay", '{"id": 1}', None)
B = Step("mail", "{}", "timeout")
B_FINE = Step("mail", "{}", None)


def lengths(*turns: list[Step]) -> list[list[int]]:
    loops: Loops = {}
    found = []
    for turn in turns:
        loops, counted = follow(turn, loops)
        found.append(counted)
    return found


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([[A]], [[1]]),
        ([[A], [A], [A]], [[1], [2], [3]]),
        ([[A], [A_REORDERED]], [[1], [2]]),
        ([[A], [A_OTHER_CODE]], [[1], [1]]),
        ([[A], [A_OTHER_ARGUMENTS], [A]], [[1], [1], [1]]),
        ([[A], [A_FINE], [A]], [[1], [0], [1]]),
        ([[A], [B_FINE], [A]], [[1], [0], [1]]),
        ([[A, B_FINE], [A]], [[1, 0], [2]]),
        ([[A, B], [A, B]], [[1, 1], [2, 2]]),
        ([[B_FINE, A], [A, B_FINE], [A]], [[0, 1], [2, 0], [3]]),
        ([[A, A]], [[1, 2]]),
        ([[A, A_OTHER_ARGUMENTS], [A]], [[1, 1], [1]]),
        ([[A_OTHER_ARGUMENTS, A], [A]], [[1, 1], [2]]),
        ([[A, A_FINE], [A]], [[1, 0], [1]]),
    ],
    ids=[
        "one",
        "three in a row",
        "the order of keys does not matter",
        "another code ends it",
        "other arguments end it",
        "a success ends it",
        "a call of another tool in between ends it",
        "a parallel sibling of another tool does not",
        "two loops side by side",
        "siblings stand before or behind",
        "twice in one turn",
        "a sibling of the same tool behind it ends it",
        "a sibling of the same tool before it does not",
        "a sibling of the same tool that went well ends it",
    ],
)
def test_follow_counts_identical_failures_in_a_row(turns, expected):
    assert lengths(*turns) == expected


def test_a_turn_that_only_thinks_lets_loops_go_on():
    loops, _ = follow([A], {})

    loops, thought = follow([Step("think", "{}", None)], loops, goes_on=True)
    _, again = follow([A], loops)

    assert (thought, again) == ([0], [2])


def test_a_thinking_tool_that_fails_again_and_again_is_a_loop_too():
    todo = Step("TodoWrite", "{}", "bad_arguments")

    loops, first = follow([todo], {}, goes_on=True)
    _, second = follow([todo], loops, goes_on=True)

    assert (first, second) == ([1], [2])
