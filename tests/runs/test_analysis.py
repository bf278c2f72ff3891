"""Analysis: from a transcript to its errors, next moves, loops and counts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.runs.analysis import ErrorFact, analyse
from apps.runs.rules import Rules
from apps.runs.transcript import Call, Result, Thread, ToolDefinition, Transcript, Turn
from tests.runs.transcripts import acts, asks, call, failed, run, says, transcripts

PAY = '{"order_id": "ORD-1", "amount": 50}'


def only(transcript: Transcript, rules: Rules | None = None) -> ErrorFact:
    """The one error of a run."""
    (error,) = analyse(transcript, rules or Rules()).errors
    return error


# --- one error ------------------------------------------------------------------------


def test_an_error_has_its_place_its_text_and_the_move_after_it():
    transcript = run(
        asks(),
        acts(call("get_order"), call("pay", PAY, failed("Error: declined", at=7.0))),
        acts(call("pay", '{"order_id": "ORD-1", "amount": 40}')),
        says("Done."),
    )

    error = only(transcript)

    assert (error.thread, error.turn, error.call) == (0, 1, 1)
    assert (error.tool, error.text, error.at) == ("pay", "Error: declined", 7.0)
    assert (error.cause, error.evidence, error.rule) == (
        "failed",
        "flagged",
        "is_error",
    )
    assert error.is_delivered
    assert error.is_counted
    assert (error.next_move, error.next_turn) == ("retried_changed", 2)
    assert error.loop_length == 1
    assert error.fingerprint is not None


@pytest.mark.parametrize(
    ("result_at", "call_at", "turn_at", "expected"),
    [
        (3.0, 2.0, 1.0, 3.0),
        (None, 2.0, 1.0, 2.0),
        (None, None, 1.0, 1.0),
        (0.0, 2.0, 1.0, 0.0),
    ],
)
def test_an_error_happened_when_its_result_came(result_at, call_at, turn_at, expected):
    turn = acts(Call("pay", result=failed(at=result_at), at=call_at))
    turn.at = turn_at

    assert only(run(turn)).at == expected


@pytest.mark.parametrize(
    ("result", "cause", "is_delivered"),
    [
        (failed(delivered=False), "failed", False),
        (failed(cause="rejected", delivered=False), "rejected", False),
        (failed("The user denied it."), "denied", True),
        (failed("Sibling tool call errored"), "cancelled", True),
        (None, "no_result", False),
    ],
    ids=["not delivered", "refused, not delivered", "denied", "cancelled", "no result"],
)
def test_what_is_no_tool_error_is_kept_apart(result, cause, is_delivered):
    transcript = run(acts(call("pay", PAY, result)), acts(call("pay", PAY)))

    facts = analyse(transcript)

    (error,) = facts.errors
    assert (error.cause, error.is_delivered) == (cause, is_delivered)
    assert not error.is_counted
    assert (error.next_move, error.next_turn, error.fingerprint) == (None, None, None)
    assert error.loop_length == 0
    assert facts.counted == []


def test_an_empty_result_that_is_flagged_counts():
    error = only(run(acts(call("pay", PAY, failed(""))), says("Sorry.")))

    assert (error.is_counted, error.text) == (True, "")
    assert error.fingerprint is not None
    assert error.next_move == "apologised"


def test_an_empty_result_alone_says_nothing():
    facts = analyse(run(acts(call("find_orders", PAY, Result("[]"))), says("None.")))

    assert (facts.errors, facts.masked) == ([], [])


# --- next moves -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([], ("cut_off", None)),
        ([asks()], ("cut_off", None)),
        ([asks("No, do it otherwise."), acts(call("mail"))], ("switched_tool", 2)),
        ([says("", reasoning="hm"), acts(call("pay", PAY))], ("retried_unchanged", 2)),
        ([says("Sorry.")], ("apologised", 1)),
        ([says("Sorry."), asks("Try again."), says("Done.")], ("answered", 1)),
        ([says("Sorry."), asks("Bye.")], ("apologised", 1)),
        ([says("Sorry."), says(" \n"), says("", reasoning="hm")], ("apologised", 1)),
        ([says("Sorry."), says("Stop.", kind="notice")], ("apologised", 1)),
        ([acts(call("think")), says("Sorry.")], ("apologised", 2)),
    ],
    ids=[
        "the log ends",
        "the user speaks last",
        "the user speaks before the move",
        "reasoning alone is no move",
        "gives up",
        "goes on after giving up",
        "the user says good-bye",
        "nothing said after giving up",
        "the program speaks last",
        "thinks, then gives up",
    ],
)
def test_the_next_move_is_the_next_turn_of_the_agent(after, expected):
    error = only(run(acts(call("pay", PAY, failed())), *after))

    assert (error.next_move, error.next_turn) == expected


def test_errors_of_a_parallel_group_share_the_turn_after_all_results():
    transcript = run(
        acts(
            call("pay", PAY, failed(turns_before=1)),
            call("pay", "{}", failed(turns_before=1)),
            call("mail", "{}", Result("sent", turns_before=1)),
        ),
        acts(call("pay", "{}"), call("get_order", PAY)),
    )

    facts = analyse(transcript)

    assert [error.next_move for error in facts.errors] == [
        "verified",
        "retried_unchanged",
    ]
    assert [error.next_turn for error in facts.errors] == [1, 1]


def test_a_late_result_moves_the_next_move_of_the_whole_group():
    transcript = run(
        acts(
            call("pay", PAY, failed(turns_before=1)),
            call("export", "{}", Result("ready", turns_before=3)),
        ),
        says("I wait for the export."),
        asks("And?"),
        acts(call("pay", PAY)),
    )

    error = only(transcript)

    assert (error.next_move, error.next_turn) == ("retried_unchanged", 3)


def test_a_late_error_is_answered_only_after_it_came():
    transcript = run(
        acts(call("pay", PAY, failed(turns_before=2))),
        acts(call("pay", PAY)),
        says("Sorry."),
    )

    error = only(transcript)

    assert (error.next_move, error.next_turn) == ("apologised", 2)


def test_a_result_that_never_reached_the_model_holds_nothing_up():
    transcript = run(
        acts(
            call("pay", PAY, failed(turns_before=1)),
            call("export", "{}", failed(delivered=False, turns_before=3)),
        ),
        acts(call("pay", PAY)),
        says("Done."),
        says("Bye."),
    )

    paid, exported = analyse(transcript).errors

    assert (paid.next_move, paid.next_turn) == ("retried_unchanged", 1)
    assert exported.next_move is None


def test_next_moves_and_loops_stay_inside_a_thread():
    failing = acts(call("pay", PAY, failed()))
    transcript = Transcript(
        "made",
        [
            Thread([failing, says("Done.")]),
            Thread([failing], id="agent-1", kind="sub_agent"),
            Thread([failing, failing], id="agent-2", kind="sub_agent"),
        ],
    )

    errors = analyse(transcript).errors

    assert [(e.thread, e.next_move, e.loop_length) for e in errors] == [
        (0, "answered", 1),
        (1, "cut_off", 1),
        (2, "retried_unchanged", 1),
        (2, "cut_off", 2),
    ]


def test_a_tool_that_the_log_declares_read_only_is_a_look_up():
    turns = (
        acts(call("pay", PAY, failed())),
        acts(call("ledger", '{"order": "ORD-1"}')),
    )
    declared = [ToolDefinition("ledger", read_only=True), ToolDefinition("pay")]

    assert only(run(*turns)).next_move == "switched_tool"
    assert only(run(*turns, tools=declared)).next_move == "verified"


# --- loops ----------------------------------------------------------------------------


def loop_lengths(*turns: Turn, rules: Rules | None = None) -> list[int]:
    return [
        error.loop_length for error in analyse(run(*turns), rules or Rules()).errors
    ]


FAILING = call("pay", PAY, failed("Error: declined"))
DENIED = call("pay", PAY, failed("The user denied it."))


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([acts(FAILING)] * 3, [1, 2, 3]),
        ([acts(FAILING), asks(), says("Again."), acts(FAILING)], [1, 2]),
        ([acts(FAILING), acts(call("get_order")), acts(FAILING)], [1, 1]),
        ([acts(FAILING, call("get_order")), acts(FAILING)], [1, 2]),
        ([acts(FAILING), acts(call("think")), acts(FAILING)], [1, 2]),
        ([acts(FAILING), acts(DENIED), acts(FAILING)], [1, 0, 1]),
        ([acts(FAILING), acts(call("pay", PAY, None)), acts(FAILING)], [1, 0, 1]),
        (
            [
                acts(FAILING),
                acts(call("pay", PAY, failed("Error: no card"))),
                acts(FAILING),
            ],
            [1, 1, 1],
        ),
        ([acts(call("TodoWrite", "{}", failed()))] * 2, [1, 2]),
    ],
    ids=[
        "three in a row",
        "words in between do not end it",
        "another call in between does",
        "a sibling of another tool does not",
        "a thought does not",
        "a refusal by a person does",
        "a call without a result does",
        "another code does",
        "a thinking tool in a loop of its own",
    ],
)
def test_loops_count_identical_failures_in_a_row(turns, expected):
    assert loop_lengths(*turns) == expected


def test_masked_values_do_not_hide_a_loop():
    turns = [
        acts(call("pay", PAY, failed(f"Error: busy, try in {n} s"))) for n in (9, 31)
    ]

    assert loop_lengths(*turns) == [1, 2]


def test_a_sub_tool_is_a_tool_of_its_own_in_loops():
    grep = call("bash", '{"command": "grep x"}', failed())
    ls = call("bash", '{"command": "ls"}')
    rules = Rules(sub_tool_of={"bash": "command"})

    assert loop_lengths(acts(grep, ls), acts(grep), rules=rules) == [1, 2]
    assert loop_lengths(acts(grep, ls), acts(grep)) == [1, 1]


# --- counts ---------------------------------------------------------------------------


def test_counts_are_of_all_threads():
    turn = acts(call("pay"), call("mail"))
    turn.input_tokens, turn.output_tokens = 10, 2
    transcript = Transcript(
        "made", [Thread([asks(), turn]), Thread([turn, says("Done.")], id="a")]
    )

    facts = analyse(transcript)

    assert (facts.turns, facts.calls) == (4, 4)
    assert facts.calls_by_tool == {"pay": 2, "mail": 2}
    assert (facts.input_tokens, facts.output_tokens) == (20, 4)


def test_tokens_that_the_log_does_not_give_are_unknown():
    facts = analyse(run(asks(), says("Done.")))

    assert (facts.input_tokens, facts.output_tokens) == (None, None)


@given(transcripts())
@settings(max_examples=200)
def test_counts_add_up(transcript):
    facts = analyse(transcript)
    drawn = [c for t in transcript.threads for turn in t.turns for c in turn.calls]

    assert facts.calls == len(drawn) == sum(facts.calls_by_tool.values())
    assert facts.turns == sum(len(thread.turns) for thread in transcript.threads)
    places = [(e.thread, e.turn, e.call) for e in (*facts.errors, *facts.masked)]
    assert len(places) == len(set(places))
    for error in facts.errors:
        told = error.is_counted
        assert (error.next_move is not None) is told
        assert (error.fingerprint is not None) is told
        assert (error.loop_length > 0) is told
        assert (error.next_turn is None) is (error.next_move in (None, "cut_off"))
        if error.next_turn is not None:
            assert error.next_turn > error.turn
        if told:
            assert error.is_delivered
            assert error.cause in ("failed", "rejected")
    assert not any(fact.is_counted for fact in facts.masked)


@given(transcripts(), st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_the_order_in_which_siblings_results_came_changes_nothing(transcript, chance):
    for turn in (turn for thread in transcript.threads for turn in thread.turns):
        for sibling in turn.calls:
            if sibling.result is not None:
                sibling.result.delivered = True
    before = analyse(transcript)
    for turn in (turn for thread in transcript.threads for turn in thread.turns):
        answered = [c.result for c in turn.calls if c.result is not None]
        arrivals = [result.turns_before for result in answered]
        chance.shuffle(arrivals)
        for result, arrival in zip(answered, arrivals, strict=True):
            result.turns_before = arrival

    assert analyse(transcript) == before


def test_analysis_takes_no_part_of_a_transcript_away():
    def make() -> Transcript:
        return run(asks(), acts(FAILING), acts(FAILING), run_id="")

    transcript = make()
    analyse(transcript)

    assert transcript == make()


def test_empty_transcripts_are_analysed_too():
    for threads in ([], [Thread([])], [Thread([Turn("user")])]):
        facts = analyse(Transcript("made", threads))

        assert (facts.errors, facts.calls, facts.masked) == ([], 0, [])


@pytest.mark.timeout(30)
def test_a_run_of_many_calls_takes_time_in_proportion():
    answers = itertools.cycle([Result(""), Result("[]"), failed(), Result("found")])
    turns = [acts(call("find", f'{{"n": {n}}}', next(answers))) for n in range(40_000)]

    facts = analyse(run(*turns))

    assert (facts.calls, len(facts.counted)) == (40_000, 10_000)
