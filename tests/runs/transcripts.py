"""Transcripts for the tests of reading them: by hand, and drawn by hypothesis."""

from typing import Any

from hypothesis import strategies as st

from apps.runs.transcript import Call, Result, Thread, Transcript, Turn

OK = Result("fine")


def failed(text: str = "Error: no such order", **values: Any) -> Result:
    """A result that is flagged as an error."""
    return Result(text, is_error=True, flag="is_error", **values)


def call(tool: str, arguments: str = "{}", result: Result | None = OK) -> Call:
    return Call(tool, arguments, result=result)


def acts(*calls: Call, text: str = "") -> Turn:
    """A turn in which the agent calls tools."""
    return Turn("assistant", text, calls=list(calls))


def says(text: str, **values: Any) -> Turn:
    """A turn in which the agent only speaks."""
    return Turn("assistant", text, **values)


def asks(text: str = "Please do it.") -> Turn:
    """A turn of the user."""
    return Turn("user", text)


def run(*turns: Turn, **values: Any) -> Transcript:
    """A run of one thread; with an id, unless `run_id` says otherwise."""
    return Transcript("made", [Thread(list(turns))], **{"run_id": "r1", **values})


# --- drawn ----------------------------------------------------------------------------

# Few values, so that what is drawn often meets itself again; NUL, emoji and letters
# that a database or a hash may stumble over are among them.
TEXTS = st.sampled_from(["", "yes", "a\x00b", "🦊 ünï", "Error: boom", '{"ok": false}'])
TOOLS = st.sampled_from(["pay", "get_order", "bash", "think"])
ARGUMENTS = st.sampled_from(
    ["{}", '{"a": 1, "b": 2}', '{"b":2,"a":1}', "ls -l", "[1, 2]"]
)
TIMES = st.none() | st.sampled_from([0.0, 1.5, 1_790_000_000.0])


def results() -> st.SearchStrategy[Result]:
    return st.builds(
        Result,
        text=TEXTS,
        is_error=st.sampled_from([None, True, False]),
        exit_code=st.sampled_from([None, 0, 1]),
        cause=st.sampled_from(["", "", "denied", "cancelled", "rejected"]),
        pending=st.sampled_from([False, False, False, True]),
        delivered=st.sampled_from([True, True, False]),
        at=TIMES,
        turns_before=st.none() | st.integers(0, 6),
    )


def calls() -> st.SearchStrategy[Call]:
    return st.builds(
        Call, tool=TOOLS, arguments=ARGUMENTS, result=st.none() | results(), at=TIMES
    )


def turns() -> st.SearchStrategy[Turn]:
    spoken = st.builds(Turn, role=st.sampled_from(["user", "system"]), text=TEXTS)
    agents = st.builds(
        Turn,
        role=st.just("assistant"),
        text=TEXTS,
        calls=st.lists(calls(), max_size=3),
        reasoning=TEXTS,
        kind=st.sampled_from(["", "", "", "notice"]),
        at=TIMES,
        input_tokens=st.none() | st.integers(0, 9),
    )
    return spoken | agents


def threads(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[Thread]]:
    def kind(thread: Thread) -> Thread:
        thread.kind = "sub_agent" if thread.id else "main"
        return thread

    drawn = st.builds(Thread, turns=st.lists(turns(), max_size=4), id=ids).map(kind)
    return st.lists(drawn, max_size=3, unique_by=lambda thread: thread.id)


def transcripts(run_id: str = "r1") -> st.SearchStrategy[Transcript]:
    """Versions of one run: whole ones, and parts of it."""
    return st.builds(
        Transcript,
        format=st.just("made"),
        threads=threads(st.sampled_from(["", "agent-1", "agent-2"])),
        run_id=st.just(run_id),
        is_global_id=st.just(True),
        is_part=st.booleans(),
        title=TEXTS,
        model=st.sampled_from(["", "m-1", "m-2"]),
        started_at=TIMES,
        ended_at=TIMES,
        ending=st.sampled_from(["", "submitted", "crashed"]),
        outcome=st.sampled_from(["unknown", "correct", "incorrect"]),
        tags=st.lists(st.sampled_from(["x", "y"]), max_size=2),
    )
