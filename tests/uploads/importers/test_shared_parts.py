"""What readers share: objects out of a stream, taken-back turns, lines, folders."""

from io import BytesIO

import pytest

from apps.runs.transcript import Call, Result, Unreadable
from apps.uploads.importers import folder_readers
from apps.uploads.importers._objects import objects, parts, project
from apps.uploads.importers._text_lines import text_lines, text_of
from apps.uploads.importers.thread import ThreadBuilder


def read_parts(raw: bytes) -> list[object]:
    found = parts(BytesIO(raw), "messages", has=("role",))
    return [r.reason if isinstance(r, Unreadable) else r for _, r in found]


def test_objects_takes_several_on_a_line_and_sets_the_rest_aside() -> None:
    raw = b'{"a": 1} {"a": 2}\n[3]\n"x"\n{"a": \n\n{"a": 4}'

    found = [record for _, record in objects(BytesIO(raw))]

    kinds = [type(record) is dict for record in found]
    assert kinds == [True, True, False, False, False, True]


@pytest.mark.parametrize(
    ("raw", "kept", "faults"),
    [
        (b'{"id": 1, "messages": [{"role": "a"}, {"role": "b"}]}', ["a", "b"], 0),
        (b'{"id": 1, "messages": [{"role": "a"}, {"role": "b', ["a"], 1),
        (b'{"id": 1, "messages": [{"role": "a}, {"role": "b"}]}', ["b"], 1),
        (
            b'{"id": 1, "messages": [{"role": "a"}, {"role": x}, {"role": "c"}]}',
            "ac",
            1,
        ),
        (b'{"id": 1, "messages": [{"role": "a", "of": [1, 2, "x', ["a"], 1),
        (b'{"id": 1, "messages": [], "then": {"x": }}', [], 1),
    ],
)
def test_parts_keeps_what_is_sound_of_a_damaged_object(
    raw: bytes, kept: list[str], faults: int
) -> None:
    *told, whole = read_parts(raw)

    assert isinstance(whole, dict)
    assert whole["id"] == 1
    assert [message["role"] for message in whole["messages"]] == list(kept)
    assert len(told) == faults


def test_parts_sets_aside_what_has_no_messages() -> None:
    assert len(read_parts(b'{"id": 1, "mess')) == 1


def test_branch_off_moves_turns_and_their_results() -> None:
    builder = ThreadBuilder(agent="scout")
    builder.add("user", "first")
    builder.add("user", "second")
    turn = builder.add("assistant")
    done = builder.call(turn, Call(tool="a"))
    still_open = builder.call(turn, Call(tool="b"))
    builder.answer(done, Result("x"))

    branch = builder.branch_off(1, "b1")
    builder.result(Result("late"))

    assert [t.text for t in builder.turns][:1] == ["first"]
    assert (branch.kind, branch.id, branch.agent, len(branch.turns)) == (
        *("branch", "b1"),
        *("scout", 2),
    )
    assert done.result is not None
    assert done.result.turns_before == 2
    assert still_open.result is None


def test_answer_gives_a_result_to_this_call_though_an_earlier_one_is_open() -> None:
    builder = ThreadBuilder()
    turn = builder.add("assistant")
    first = builder.call(turn, Call(tool="a"))
    second = builder.call(turn, Call(tool="a"))

    builder.answer(second, Result("of the second"))

    assert (first.result, second.result and second.result.turns_before) == (None, 1)
    assert builder.find("") is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_lines_keeps_blank_lines_and_takes_either_end(encoding: str) -> None:
    raw = "ä\r\n\nb".encode(encoding)

    lines = list(text_lines(BytesIO(raw)))

    assert [line.text for line in lines] == ["ä", "", "b"]
    assert [(line.number, line.offset) for line in lines] == [(1, 0), (2, 4), (3, 5)]
    assert text_of(raw) == "ä\r\n\nb"


def test_project_shows_no_more_of_a_path_than_its_last_part() -> None:
    assert project("/home/ann/shop/") == "shop"
    assert project("C:\\Users\\ann\\shop") == "shop"
    assert project(None) == ""


def test_folder_readers_are_those_that_read_several_files_at_once() -> None:
    found = folder_readers()

    assert {"claude_code", "cline", "cursor", "opencode"} <= found.keys()
    for reader in found.values():
        assert reader.claims([]) == reader.claims(["a.txt", "b/c.json"]) == []
