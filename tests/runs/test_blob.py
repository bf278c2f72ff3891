"""A transcript as one compressed value, and back."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.blob import pack, unpack
from apps.runs.transcript import (
    Score,
    Thread,
    ToolDefinition,
    Transcript,
    Turn,
    Unreadable,
)
from tests.runs.transcripts import transcripts

WORDS = st.text(st.characters(exclude_categories=["Cs"]))  # readers leave no surrogates


@given(transcripts())
def test_unpack_gives_back_what_was_packed(transcript):
    assert unpack(pack(transcript)) == transcript


@given(WORDS)
def test_every_text_survives(text):
    turn = Turn("assistant", text, reasoning=text)
    transcript = Transcript("made", [Thread([turn], id=text)], title=text)

    assert unpack(pack(transcript)) == transcript


@pytest.mark.parametrize(
    "text", ["\x00", "🦊👩‍👩‍👧", "a\x00\x00b", "\ufffd\ufeff", "\r\n\t"]
)
def test_nul_and_emoji_survive(text):
    transcript = Transcript("made", [Thread([Turn("user", text)])])

    assert unpack(pack(transcript)).threads[0].turns[0].text == text


@given(st.none() | st.booleans() | st.text(max_size=3) | st.floats(allow_nan=False))
def test_a_scores_value_keeps_its_type(value):
    transcript = Transcript(
        "made", [], scores=[Score("s", value, higher_is_better=False)]
    )

    (score,) = unpack(pack(transcript)).scores

    assert (type(score.value), score.value) == (type(value), value)


def test_all_that_stands_beside_the_threads_survives():
    transcript = Transcript(
        "made",
        [],
        tools=[ToolDefinition("pay", "Pays.", '{"type": "object"}', read_only=False)],
        unreadable=[Unreadable("cut", line=3, offset=99, preview="{")],
        tags=["nightly"],
        started_at=1.25,
        line=7,
    )

    assert unpack(memoryview(pack(transcript))) == transcript  # as a driver may give it


def test_a_long_transcript_becomes_small():
    turns = [Turn("assistant", f"step {n}: all is well so far") for n in range(5_000)]

    assert len(pack(Transcript("made", [Thread(turns)]))) < 40_000


def test_what_is_no_blob_is_refused():
    with pytest.raises(zstandard.ZstdError):
        unpack(b"no blob")
