"""Analysis: from a transcript to its errors, next moves, loops and counts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.runs.analysis import ErrorFact, analyse
from apps.runs.rules import Rules
from apps.runs.transcript import Call, Result, Thread, ToolDefinition, Transcript, Turn
from tests.runs.transcripts import OK, acts, asks, call, failed, run, says, transcripts

PAY = '{"order_id": "ORD-1", "amount": 50}'


def only(transcript: Transcript, rules: Rules | None = None) -> ErrorFact:
    """The one error of a run."""
    (error,) = analyse(transcript, rules or Rules()).errors
    return error


# --- one error --------------------------------------------------------------------------


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
    assert (error.cause, error.evidence, error.rule) == ("failed", "flagged", "is_error")
    assert error.is_delivered
    assert error.is_counted
    assert (error.next_move, error.next_turn) == ("retried_changed", 2)
    assert error.loop_length == 1
    assert error.fingerprint is not None


@pytest.mark.parametrize(
    ("result_at", "call_at", "turn_at", "expected"),
    [(3.0, 2.0, 1.0, 3.0), (None, 2.0, 1.0, 2.0), (None, None, 1.0, 1.0), (0.0, 2.0, 1.0, 0.0)],
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


# --- next moves -------------------------------------------------------------------------


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

    assert [error.next_move for error in facts.errors] == ["verified", "retried_unchanged"]
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
    turns = (acts(call("pay", PAY, failed())), acts(call("ledger", '{"order": "ORD-1"}')))
    declared = [ToolDefinition("ledger", read_only=True), ToolDefinition("pay")]

    assert only(run(*turns)).next_move == "switched_tool"
    assert only(run(*turns, tools=declared)).next_move == "verified"


# --- loops ------------------------------------------------------------------------------


def loop_lengths(*turns: Turn, rules: Rules | None = None) -> list[int]:
    return [error.loop_length for error in analyse(run(*turns), rules or Rules()).errors]


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
            [acts(FAILING), acts(call("pay", PAY, failed("Error: no card"))), acts(FAILING)],
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
    turns = [acts(call("pay", PAY, failed(f"Error: busy, try in {n} s"))) for n in (9, 31)]

    assert loop_lengths(*turns) == [1, 2]


def test_a_sub_tool_is_a_tool_of_its_own_in_loops():
    grep = call("bash", '{"command": "grep x"}', failed())
    ls = call("bash", '{"command": "ls"}')
    rules = Rules(sub_tool_of={"bash": "command"})

    assert loop_lengths(acts(grep, ls), acts(grep), rules=rules) == [1, 2]
    assert loop_lengths(acts(grep, ls), acts(grep)) == [1, 1]


# --- suggestions ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "others", "is_suggested"),
    [
        ("find_orders", [Result("[3 orders]")], True),
        ("find_orders", [failed("Error: timeout")], True),
        ("find_orders", [Result("Error: timeout")], True),
        ("find_orders", [Result("[]")], False),
        ("find_orders", [failed("The user denied it.")], False),
        ("find_orders", [None], False),
        ("bash", [Result("a.py")], False),
        ("think", [Result("hm")], False),
    ],
    ids=[
        "elsewhere it finds",
        "elsewhere it fails",
        "elsewhere it fails, by its text",
        "it never finds anything",
        "elsewhere a person refused it",
        "elsewhere there is no result",
        "a command may print nothing",
        "a thought gives nothing",
    ],
)
def test_nothing_from_a_call_that_elsewhere_tells_is_suggested(
    tool, others, is_suggested
):
    turns = [acts(call(tool, PAY, result)) for result in (Result("[]"), *others)]

    facts = analyse(run(*turns))

    assert [(f.rule, f.turn) for f in facts.masked] == [("empty-result", 0)] * is_suggested


def test_nothing_from_other_arguments_is_an_answer():
    found = acts(call("find_orders", '{"q": "a"}', Result("[3 orders]")))
    nothing = acts(call("find_orders", '{"q": "b"}', Result("[]")))

    assert analyse(run(found, nothing)).masked == []


def test_suggestions_are_in_no_count():
    hidden = acts(call("bash", "{}", Result("error: bad tree", is_error=False)))

    facts = analyse(run(hidden, acts(call("pay"))))

    (fact,) = facts.masked
    assert (fact.evidence, fact.rule, fact.is_counted) == ("masked", "error-prefix", False)
    assert (fact.next_move, fact.fingerprint) == (None, None)
    assert facts.errors == []


def test_a_suggestion_can_be_switched_off():
    turns = [acts(call("find", PAY, Result(text))) for text in ("", "3 orders")]
    off = Rules(disabled_evidence=frozenset({"empty-result@find"}))

    assert analyse(run(*turns), off).masked == []


# --- counts and hashes ------------------------------------------------------------------


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


def test_the_content_hash_is_of_what_was_said_and_done():
    def hashed(*turns, **values):
        return analyse(run(*turns, **values)).content_hash

    same = hashed(asks(), acts(call("pay", PAY)))

    assert hashed(asks(), acts(Call("pay", PAY, "call-9", Result("fine", at=5.0)))) == same
    assert len(same) == 16
    others = [
        hashed(asks("Other."), acts(call("pay", PAY))),
        hashed(asks(), acts(call("pay", "{}"))),
        hashed(asks(), acts(call("pay", PAY, None))),
        hashed(asks(), acts(call("pay", PAY, Result("")))),
        hashed(asks(), acts(), acts(call("pay", PAY))),
        hashed(asks()),
    ]
    assert len({same, *others}) == 1 + len(others)


def test_the_content_hash_keeps_threads_and_parts_apart():
    one = Transcript("made", [Thread([says("a"), says("b")])])
    two = Transcript("made", [Thread([says("a")]), Thread([says("b")])])
    joined = Transcript("made", [Thread([says("ab")])])

    hashes = {analyse(t).content_hash for t in (one, two, joined)}

    assert len(hashes) == 3


def test_every_beginning_of_a_run_without_an_id_is_hashed():
    turns = [asks(), acts(call("pay", PAY)), asks("And?"), acts(call("mail")), says("Ok.")]

    whole = analyse(run(*turns, run_id="")).prefix_hashes

    for count in range(1, len(turns) + 1):
        beginning = analyse(run(*turns[:count], run_id="")).prefix_hashes
        assert whole[: len(beginning)] == beginning
    assert len(set(whole)) == len(whole)


def test_a_log_that_was_cut_while_calls_were_open_is_a_beginning():
    open_calls = acts(call("pay", PAY, None), call("mail", "{}", None))
    answered = acts(call("pay", PAY), call("mail"))

    cut = analyse(run(asks(), open_calls, run_id="")).prefix_hashes
    whole = analyse(run(asks(), answered, says("Done."), run_id="")).prefix_hashes

    assert cut[-1] in whole[:-1]


def test_known_wrong_a_log_that_was_cut_between_two_results_is_no_beginning():
    half = acts(call("pay", PAY, OK), call("mail", "{}", None))
    answered = acts(call("pay", PAY), call("mail"))

    cut = analyse(run(asks(), half, run_id="")).prefix_hashes
    whole = analyse(run(asks(), answered, run_id="")).prefix_hashes

    assert cut[-1] not in whole  # wanted: in


def test_a_run_with_an_id_needs_no_beginnings():
    assert analyse(run(asks(), says("Done."))).prefix_hashes == []


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
