"""Identity: when two records are one run, and which of two versions stands."""

import msgspec
import pytest
from hypothesis import given, settings

from apps.runs.analysis import analyse
from apps.runs.transcript import Thread, Transcript
from apps.uploads.identity import merged, prefix_identity, run_identity
from tests.runs.transcripts import acts, asks, call, failed, run, says, transcripts

PAY = '{"order_id": "ORD-1"}'


def identity(transcript: Transcript) -> bytes:
    """The identity of a run, as uploads ask for it."""
    facts = analyse(transcript)
    last = facts.prefix_hashes[-1] if facts.prefix_hashes else facts.content_hash
    return run_identity(transcript, facts.content_hash, last)


# --- which run it is ------------------------------------------------------------------


def test_a_global_id_stands_alone():
    first = run(asks(), run_id="a", is_global_id=True)
    longer = run(asks(), says("Done."), run_id="a", is_global_id=True)

    assert identity(first) == identity(longer)
    assert len(identity(first)) == 16


def test_an_id_of_a_file_alone_is_joined_with_the_content():
    first = run(asks(), run_id="0")
    other = run(asks("Other."), run_id="0")

    assert identity(first) != identity(other)
    assert identity(first) == identity(run(asks(), run_id="0"))


def test_a_run_without_an_id_is_known_by_its_main_thread():
    first = run(asks(), says("Done."), run_id="")
    with_a_title = run(asks(), says("Done."), run_id="", title="Orders")
    longer = run(asks(), says("Done."), asks("And?"), run_id="")

    assert identity(first) == identity(with_a_title)
    assert identity(first) != identity(longer)


def test_formats_and_kinds_of_id_do_not_meet():
    found = {
        identity(run(asks(), run_id="a", is_global_id=True)),
        identity(run(asks(), run_id="a")),
        identity(run(asks(), run_id="")),
        identity(
            Transcript("other", [Thread([asks()])], run_id="a", is_global_id=True)
        ),
    }

    assert len(found) == 4


def test_a_run_without_an_id_is_found_by_each_of_its_beginnings():
    turns = [asks(), acts(call("pay", PAY)), says("Done.")]
    hashes = analyse(run(*turns, run_id="")).prefix_hashes
    known = {prefix_identity("made", hashed) for hashed in hashes}

    for count in range(1, len(turns) + 1):
        assert identity(run(*turns[:count], run_id="")) in known
    cut = run(asks(), acts(call("pay", PAY, None)), run_id="")
    assert identity(cut) in known


@pytest.mark.parametrize(
    "other",
    [
        run(asks("Other."), run_id=""),
        run(says("Done."), run_id=""),
        run(asks(), acts(call("pay", "{}")), run_id=""),
        run(asks(), acts(call("pay", PAY, failed())), run_id=""),
        run(asks(), acts(call("pay", PAY)), says("Done."), asks("And?"), run_id=""),
    ],
    ids=[
        "another prompt",
        "an end",
        "other arguments",
        "another result",
        "a longer one",
    ],
)
def test_what_is_no_beginning_is_another_run(other):
    turns = [asks(), acts(call("pay", PAY)), says("Done.")]
    hashes = analyse(run(*turns, run_id="")).prefix_hashes

    assert identity(other) not in {prefix_identity("made", h) for h in hashes}


# --- which version stands -------------------------------------------------------------


def test_the_longer_version_stands():
    short = run(asks(), says("Wait."), title="old", outcome="incorrect")
    long = run(asks(), says("Wait."), says("Done."), title="new", outcome="correct")

    joined = merged(short, long)

    assert joined == long
    assert merged(long, short) == long


def test_of_two_of_one_length_the_one_with_more_results_stands():
    waiting = run(asks(), acts(call("pay", PAY, None)))
    answered = run(asks(), acts(call("pay", PAY)))

    assert merged(waiting, answered) == merged(answered, waiting) == answered


@pytest.mark.parametrize(
    "values",
    [{"outcome": "correct", "outcome_by": "reward"}, {"ending": "submitted"}],
)
def test_of_two_that_say_the_same_the_one_that_knows_the_end_stands(values):
    plain = run(asks(), says("Done."), title="zzz")
    known = run(asks(), says("Done."), **values)

    assert merged(plain, known) == merged(known, plain) == known


def test_a_run_began_with_its_first_version_and_ended_with_its_last():
    first = run(asks(), started_at=10.0, ended_at=20.0)
    second = run(asks(), says("Done."), started_at=15.0, ended_at=30.0)
    untimed = run(asks(), says("Done."), says("Bye."))

    joined = merged(merged(first, second), untimed)

    assert (joined.started_at, joined.ended_at) == (10.0, 30.0)


def sub_agent(*turns, **values) -> Transcript:
    thread = Thread(list(turns), id="agent-1", kind="sub_agent")
    defaults = {"run_id": "r1", "is_part": True, "title": "search", "model": "small"}
    return Transcript("made", [thread], **{**defaults, **values})


def test_a_sub_agents_file_adds_to_its_run_whichever_comes_first():
    whole = run(asks(), says("Done."), title="Orders", model="large", outcome="correct")
    part = sub_agent(asks("Search."), says("Found."), started_at=5.0)

    joined = merged(whole, part)

    assert merged(part, whole) == joined
    assert [thread.id for thread in joined.threads] == ["", "agent-1"]
    assert not joined.is_part
    assert (joined.title, joined.model, joined.outcome) == (
        "Orders",
        "large",
        "correct",
    )
    assert joined.started_at == 5.0


def test_a_long_sub_agent_does_not_speak_for_its_run():
    whole = run(asks(), title="", model="")
    part = sub_agent(*[says("Searching.")] * 9, outcome="incorrect", ending="crashed")

    joined = merged(part, whole)

    assert (joined.title, joined.model, joined.outcome, joined.ending) == (
        "",
        "",
        "unknown",
        "",
    )


def test_two_parts_stay_a_part_until_the_run_comes():
    first = sub_agent(says("a"))
    second = sub_agent(says("b"))
    second.threads[0].id = "agent-2"

    joined = merged(first, second)

    assert joined.is_part
    assert [thread.id for thread in joined.threads] == ["agent-1", "agent-2"]
    assert not merged(joined, run(asks())).is_part


def test_a_newer_version_of_a_sub_agents_file_replaces_the_older():
    whole = merged(run(asks()), sub_agent(says("a")))

    joined = merged(whole, sub_agent(says("a"), says("b")))

    assert [len(thread.turns) for thread in joined.threads] == [1, 2]
    assert merged(joined, sub_agent(says("a"))) == joined


def test_threads_stand_as_they_began_and_main_first():
    def thread(name: str, at: float | None) -> Thread:
        return Thread([says("a", at=at)], name, "sub_agent" if name else "main")

    first = Transcript("made", [thread("", 5.0), thread("branch-10", None)])
    second = Transcript("made", [thread("late", 9.0), thread("branch-9", None)])

    joined = merged(first, second)

    assert [t.id for t in joined.threads] == ["", "branch-9", "branch-10", "late"]


def test_the_same_version_again_is_left_as_it_is():
    branches = [Thread([says("a")], id=name, kind="branch") for name in ("b", "a")]
    transcript = Transcript("made", [Thread([asks()]), *branches])

    assert merged(transcript, msgspec.structs.replace(transcript)) is transcript


@given(transcripts(), transcripts())
@settings(max_examples=300)
def test_merged_is_commutative(a, b):
    assert merged(a, b) == merged(b, a)


@given(transcripts(), transcripts())
@settings(max_examples=300)
def test_merged_is_idempotent(a, b):
    joined = merged(a, b)

    assert merged(a, a) == a
    assert merged(joined, joined) == joined
    assert merged(joined, a) == joined
    assert merged(b, joined) == joined


@given(transcripts(), transcripts(), transcripts())
@settings(max_examples=500)
def test_merged_is_associative(a, b, c):
    assert merged(merged(a, b), c) == merged(a, merged(b, c))


@given(transcripts(), transcripts())
def test_merged_changes_neither_version(a, b):
    before = msgspec.msgpack.encode((a, b))

    merged(a, b)

    assert msgspec.msgpack.encode((a, b)) == before
