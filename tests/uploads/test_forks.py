"""A session that repeats another's history under a new id: counted once."""

import itertools

import pytest

from apps.overview.report import report
from apps.runs.models import Run, ToolError
from apps.runs.transcript import Call, Result, Thread, Transcript, Turn
from apps.uploads.forks import copied_turns
from tests.factories import make_workspace, upload_bytes

FIRST = (
    '{"errata": 1, "run_id": "a", "started_at": "2026-11-24T10:00:00Z", "turns": ['
    '{"role": "user", "text": "Go."},'
    '{"role": "assistant", "calls": [{"tool": "pay", "arguments": {"n": 1},'
    ' "result": {"text": "Error: no", "is_error": true}}]},'
    '{"role": "assistant", "text": "It did not work."}], "outcome": "incorrect"}'
)
FORK = (
    '{"errata": 1, "run_id": "b", "forked_from": "a",'
    ' "started_at": "2026-11-24T11:00:00Z", "turns": ['
    '{"role": "user", "text": "Go."},'
    '{"role": "assistant", "calls": [{"tool": "pay", "arguments": {"n": 1},'
    ' "result": {"text": "Error: no", "is_error": true}}]},'
    '{"role": "assistant", "calls": [{"tool": "pay", "arguments": {"n": 2},'
    ' "result": {"text": "Error: late", "is_error": true}}]},'
    '{"role": "assistant", "text": "Done."}], "outcome": "correct"}'
)


@pytest.mark.parametrize("order", list(itertools.permutations([FIRST, FORK, FIRST])))
def test_a_copied_history_is_counted_once_in_any_order(db, order):
    workspace = make_workspace()

    for number, line in enumerate(order):
        upload_bytes(workspace, line.encode() + b"\n", name=f"{number}.jsonl")

    found = report(workspace)
    assert found["runs"] == 2
    assert found["tool_calls"] == 2
    assert found["tool_errors"] == 2
    assert sorted(ToolError.objects.values_list("run__log_id", "delivered")) == [
        ("a", "Error: no"),
        ("b", "Error: late"),
    ]
    assert sum(code["errors"] for code in found["codes"]) == 2


def test_in_one_file_too(workspace):
    upload_bytes(workspace, f"{FORK}\n{FIRST}\n".encode())

    assert report(workspace)["tool_errors"] == 2


def test_a_fork_whose_first_run_is_unknown_counts_whole(workspace):
    upload = upload_bytes(workspace, FORK.encode() + b"\n")

    assert report(workspace)["tool_errors"] == 2
    assert Run.objects.get().upload_id == upload.pk


def test_the_first_run_does_not_take_the_fork_to_its_upload(workspace):
    fork = upload_bytes(workspace, FORK.encode() + b"\n", name="fork.jsonl")
    upload_bytes(workspace, FIRST.encode() + b"\n", name="first.jsonl")

    assert Run.objects.get(log_id="b").upload_id == fork.pk


def turn(text: str, *tools: str) -> Turn:
    calls = [Call(tool=tool, result=Result(text="x")) for tool in tools]
    return Turn(role="assistant", text=text, calls=calls)


@pytest.mark.parametrize(
    ("parent", "fork", "copied"),
    [
        ([], [turn("a")], 0),
        ([turn("a")], [turn("a"), turn("b")], 1),
        ([turn("a"), turn("c")], [turn("a"), turn("b")], 1),
        ([turn("a", "pay")], [turn("a", "get")], 0),
        ([turn("a"), turn("b")], [turn("a"), turn("b")], 2),
    ],
)
def test_copied_turns_are_the_common_beginning(parent, fork, copied):
    one, other = (Transcript("errata", [Thread(t)]) for t in (parent, fork))

    assert copied_turns(one, other) == copied
