"""Next moves: what the agent did after an error, as the machine reads it."""

import pytest
from hypothesis import given

from apps.runs.next_moves import (
    canonical,
    classify,
    next_turn,
    same_arguments,
    tool_key,
)
from apps.runs.rules import Rules
from apps.runs.transcript import Call, Turn
from tests.runs.transcripts import ARGUMENTS, acts, asks, call, says

PAY = Call("pay", '{"order_id": "ORD-1", "amount": 50}')
PAY_REORDERED = Call("pay", '{"amount":50,"order_id":"ORD-1"}')
PAY_LESS = Call("pay", '{"order_id": "ORD-1", "amount": 40}')
PAY_OTHER = Call("pay", '{"order_id": "ORD-2", "amount": 50}')
GET = Call("get_order", '{"order_id": "ORD-1"}')
GET_OTHER = Call("get_order", '{"order_id": "ORD-2"}')
MAIL = Call("send_mail", '{"order_id": "ORD-1"}')
HAND_OVER = Call("transfer_to_human", "{}")
THINK = Call("think", '{"thought": "hm"}')


def move_after(error: Call, turn: Turn | None, *, is_last: bool = False) -> str:
    (move,) = classify([error], turn, is_last)
    return move


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (None, "cut_off"),
        (acts(PAY), "retried_unchanged"),
        (acts(PAY_REORDERED), "retried_unchanged"),
        (acts(PAY_LESS), "retried_changed"),
        (acts(PAY_LESS, PAY), "retried_unchanged"),
        (acts(HAND_OVER), "escalated"),
        (acts(GET), "verified"),
        (acts(GET_OTHER), "switched_tool"),
        (acts(MAIL), "switched_tool"),
        (acts(PAY_LESS, HAND_OVER), "retried_changed"),
        (acts(HAND_OVER, GET), "escalated"),
        (acts(MAIL, GET), "verified"),
        (acts(GET, text="Which order is it?"), "verified"),
        (acts(THINK, PAY), "retried_unchanged"),
        (acts(THINK, text="I am sorry."), "answered"),
        (says("Which order is it?"), "asked_user"),
        (says("Which order is it? 🙂"), "answered"),
        (says("Which order is **it?**"), "asked_user"),
        (says("どの注文ですか？"), "asked_user"),
        (says("Your order ships tomorrow."), "answered"),
        (says("I'm transferring you to a colleague."), "escalated"),
        (says("I hand this over to a person now."), "escalated"),
        (says("Shall I transfer you to a colleague?"), "asked_user"),
        (says("This needs your approval."), "escalated"),
        (says("Do you approve the payment of 50?"), "escalated"),
        (says("Sorry, I could not pay. Shall I try another card?"), "asked_user"),
    ],
    ids=[
        "the log ends",
        "same call",
        "same call, keys in another order",
        "same tool, other arguments",
        "same call beside a changed one",
        "hand-off tool",
        "look-up of the same order",
        "look-up of another order",
        "another tool",
        "same tool before hand-off",
        "hand-off before look-up",
        "look-up before other tool",
        "calls before words",
        "thought beside a call",
        "thought beside words",
        "question",
        "question with a smile behind it",
        "question in bold",
        "question in Japanese",
        "answer",
        "hand-off in words",
        "hand-over in words",
        "offer of a hand-off",
        "approval needed",
        "approval asked for",
        "apology that asks",
    ],
)
def test_classify_takes_the_first_that_matches(turn, expected):
    assert move_after(PAY, turn) == expected


@pytest.mark.parametrize(
    ("text", "is_last", "expected"),
    [
        ("I'm sorry, I was not able to pay.", True, "apologised"),
        ("I'm sorry, I was not able to pay.", False, "answered"),
        ("Unfortunately the payment failed.", True, "apologised"),
        ("This can't be done as asked.", True, "apologised"),
        ("The payment failed.", True, "apologised"),
        ("Done. The error was transient; the order is paid.", True, "answered"),
        ("I fixed the failing test.", True, "answered"),
        ("The order is paid.", True, "answered"),
    ],
)
def test_an_apology_names_the_failure_and_ends_the_run(text, is_last, expected):
    assert move_after(PAY, says(text), is_last=is_last) == expected


KNOWN_WRONG = [  # failed call, next turn, wanted, actual
    (PAY, acts(Call("AskUserQuestion", "{}")), "asked_user", "switched_tool"),
    (PAY, says("Tell me which of these: 1. A 2. B"), "asked_user", "answered"),
    (PAY, says("Which one?\n1. A\n2. B"), "asked_user", "answered"),
    (PAY, says("I cannot transfer you to a colleague."), "answered", "escalated"),
    (PAY, says("Each merge requires approval by an owner."), "answered", "escalated"),
    (PAY, says("Done: paid. Sorry for the wait."), "answered", "apologised"),
    (
        Call("bash", '{"command": "pip install x"}'),
        acts(Call("bash", '{"command": "cat log"}')),
        "switched_tool",  # unless a rule of the workspace splits `bash` by its word
        "retried_changed",
    ),
    (
        Call("pay", '{"amount": 1}'),
        acts(Call("pay", '{"amount": 1.0}')),
        "retried_unchanged",
        "retried_changed",
    ),
    (
        Call("write_file", '{"path": "/srv/a.py"}'),
        acts(Call("bash", '{"command": "cat /srv/a.py"}')),
        "verified",
        "switched_tool",
    ),
    (
        Call("set_light", '{"room": "hall"}'),
        acts(Call("search_shop_for_books", '{"query": "hall"}')),
        "switched_tool",
        "verified",
    ),
]


@pytest.mark.parametrize(("error", "turn", "wanted", "actual"), KNOWN_WRONG)
def test_classify_known_wrong(error, turn, wanted, actual):
    assert wanted != actual
    assert move_after(error, turn, is_last=True) == actual


@pytest.mark.parametrize(
    ("errors", "calls", "expected"),
    [
        ([PAY, PAY_OTHER], [PAY_OTHER, PAY], ["retried_unchanged"] * 2),
        ([PAY, PAY_OTHER], [PAY_OTHER], ["retried_changed", "retried_unchanged"]),
        ([PAY, PAY_OTHER], [PAY_LESS, MAIL], ["retried_changed", "switched_tool"]),
        ([PAY, PAY_OTHER], [PAY_LESS], ["retried_changed", "retried_changed"]),
        ([PAY, PAY], [PAY], ["retried_unchanged", "retried_unchanged"]),
        ([PAY, MAIL], [MAIL], ["switched_tool", "retried_unchanged"]),
        ([PAY, MAIL], [GET, MAIL], ["verified", "retried_unchanged"]),
        ([PAY, MAIL], [HAND_OVER], ["escalated", "escalated"]),
        ([PAY, MAIL], [THINK], ["answered", "answered"]),
    ],
    ids=[
        "equal arguments first, whatever the order",
        "one of them again; the other one's tool, too",
        "then by order; what is left is of the other",
        "one call for both, changed",
        "one call for both, unchanged",
        "only the second again",
        "a look-up for the first, the second again",
        "a hand-off for both",
        "only a thought",
    ],
)
def test_each_error_of_a_parallel_group_has_its_move(errors, calls, expected):
    assert classify(errors, acts(*calls), is_last=False) == expected


@pytest.mark.parametrize(
    ("turns", "start", "expected"),
    [
        ([acts(PAY), says("Done.")], 1, 1),
        ([acts(PAY)], 1, None),
        ([acts(PAY), asks(), says("Done.")], 1, 2),
        ([acts(PAY), says(""), says(" \n"), says("Done.")], 1, 3),
        ([acts(PAY), says("", reasoning="hm"), says("Done.")], 1, 2),
        ([acts(PAY), says("", reasoning="hm")], 1, None),
        ([acts(PAY), says("Go on.", kind="notice"), says("Done.")], 1, 2),
        ([acts(PAY), says("So far …", kind="summary"), acts(GET)], 1, 2),
        ([acts(PAY), acts(THINK), acts(GET)], 1, 2),
        ([acts(PAY), acts(THINK, text="Hm."), acts(GET)], 1, 2),
        ([acts(PAY), acts(THINK, text="Sorry."), asks()], 1, 1),
        ([acts(PAY), acts(THINK), asks()], 1, None),
        ([acts(PAY), acts(THINK, GET)], 1, 1),
        ([acts(PAY), acts(GET), says("Done.")], 2, 2),
        ([acts(PAY), says("Done.")], 9, None),
    ],
    ids=[
        "the next one",
        "the log ends",
        "a user's turn in between",
        "empty turns",
        "reasoning alone",
        "reasoning alone at the end",
        "the program's own words",
        "a summary",
        "a thought",
        "a thought with words before an act",
        "a thought with the last words",
        "a thought at the end",
        "a thought beside an act",
        "after a late result",
        "beyond the end",
    ],
)
def test_next_turn_looks_through_what_is_no_move(turns, start, expected):
    assert next_turn(turns, start) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("{}", "{}", True),
        ('{"a": 1, "b": 2}', '{"b":2,"a":1}', True),
        ('{"a": {"b": 1, "c": 2}}', '{"a": {"c": 2, "b": 1}}', True),
        ("[1, 2]", "[1,2]", True),
        ("[1, 2]", "[2, 1]", False),
        ('{"a": 1}', '{"a": "1"}', False),
        ('{"a": true}', '{"a": 1}', False),
        ("ls -l", " ls -l\n", True),
        ("ls -l", "ls  -l", False),
        ('{"a": 1', '{"a":1', False),
        ('{"a": "é"}', '{"a": "\\u00e9"}', True),
        ("", "", True),
        ("", "{}", False),
    ],
)
def test_same_arguments_compares_what_the_json_says(first, second, expected):
    assert same_arguments(first, second) is expected
    assert same_arguments(second, first) is expected


@given(ARGUMENTS)
def test_canonical_arguments_stay_as_they_are(arguments):
    assert canonical(canonical(arguments)) == canonical(arguments)
    assert same_arguments(arguments, canonical(arguments))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"command": "cd /srv && pytest -q"}', "bash pytest"),
        ('{"command": "grep x f | head"}', "bash grep"),
        ('{"command": ""}', "bash"),
        ('{"other": "ls"}', "bash"),
        ("ls -l", "bash ls"),
    ],
)
def test_tool_key_tells_a_shells_commands_apart(arguments, expected):
    rules = Rules(sub_tool_of={"bash": "command"})

    assert tool_key(Call("bash", arguments), rules) == expected
    assert tool_key(Call("bash", arguments)) == "bash"
    assert tool_key(Call("pay", arguments), rules) == "pay"


def test_with_a_sub_tool_key_another_command_is_another_tool():
    rules = Rules(sub_tool_of={"bash": "command"})
    grep = Call("bash", '{"command": "grep x f"}')
    pytest_run = Call("bash", '{"command": "cd /srv && pytest"}')

    assert classify([grep], acts(pytest_run), False, rules) == ["switched_tool"]
    assert classify([grep], acts(pytest_run), False) == ["retried_changed"]


@pytest.mark.parametrize(
    ("tool", "reads"),
    [
        ("get_order", True),
        ("getOrder", True),
        ("Read", True),
        ("mcp__tracker__list_issues", True),
        ("order_status", True),
        ("get_or_create_order", False),
        ("search_replace", False),
        ("search_and_replace", False),
        ("check_out", False),
        ("update_status", False),
        ("mcp__search-server__delete_page", False),
        ("ship", False),
        ("thread_reader", False),
    ],
)
def test_a_tools_name_says_whether_it_only_reads(tool, reads):
    looked_up = Call(tool, '{"order_id": "ORD-1"}')

    expected = "verified" if reads else "switched_tool"
    assert move_after(PAY, acts(looked_up)) == expected


def test_a_workspace_names_further_tools():
    rules = Rules(
        thinking_tools=frozenset({"ponder"}),
        handoff_tools=frozenset({"page_oncall"}),
        lookup_tools=frozenset({"ledger"}),
    )
    turns = [acts(PAY), acts(Call("ponder")), acts(Call("page_oncall"))]
    ledger = acts(Call("ledger", '{"order": "ORD-1"}'))

    assert next_turn(turns, 1, rules) == 2
    assert classify([PAY], turns[2], False, rules) == ["escalated"]
    assert classify([PAY], ledger, False, rules) == ["verified"]
    assert classify([call("get_order")], ledger, False, rules) == ["switched_tool"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["a ", "? ", "transfer you to ", "need your ", "\n"])
def test_long_answers_take_no_time(part):
    assert move_after(PAY, says(part * 200_000 + "end"), is_last=True) != "cut_off"
