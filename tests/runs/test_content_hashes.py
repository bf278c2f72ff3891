"""Hashes of what a run says: of all of it, and of every beginning."""

from apps.runs.analysis import analyse
from apps.runs.transcript import Call, Result, Thread, Transcript
from tests.runs.transcripts import OK, acts, asks, call, run, says

PAY = '{"order_id": "ORD-1", "amount": 50}'


def test_the_content_hash_is_of_what_was_said_and_done():
    def hashed(*turns, **values):
        return analyse(run(*turns, **values)).content_hash

    same = hashed(asks(), acts(call("pay", PAY)))

    assert (
        hashed(asks(), acts(Call("pay", PAY, "call-9", Result("fine", at=5.0)))) == same
    )
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
    turns = [
        asks(),
        acts(call("pay", PAY)),
        asks("And?"),
        acts(call("mail")),
        says("Ok."),
    ]

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
