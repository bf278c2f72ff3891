"""OpenCode: the export and the older storage tree, each trait counted by hand."""

import json
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import opencode
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    read_bytes,
    run_of,
)
from tests.uploads.importers.reading import check_survives

MS = 1772442000000
INFO = {
    "id": "ses_1",
    "title": "Fix it",
    "directory": "/home/ann/shop",
    "version": "1.2.0",
    "time": {"created": MS, "updated": MS + 9000},
}


def message(role: str, *parts: Any, **rest: Any) -> dict[str, Any]:
    info = {
        "id": "msg_1",
        "role": role,
        "modelID": "m-x",
        "time": {"created": MS},
        **rest,
    }
    return {"info": info, "parts": list(parts)}


def text(said: str, **rest: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **rest}


def tool(call_id: str, status: str, name: str = "bash", **state: Any) -> dict[str, Any]:
    state = {
        "input": {"command": "make"},
        "time": {"start": MS, "end": MS + 5},
        **state,
    }
    state["status"] = status
    return {"type": "tool", "tool": name, "callID": call_id, "state": state}


START, END = (
    {"type": "step-start"},
    {"type": "step-finish", "tokens": {"input": 9, "output": 2}},
)
PROMPT = message("user", text("fix it"), text("file content", synthetic=True))
STEPS = message(
    "assistant",
    *(START, {"type": "reasoning", "text": "hm"}, text("I run it.")),
    tool("c1", "completed", output="boom", metadata={"exit": 2}),
    tool("c2", "error", "read", error="File not found: a"),
    *(END, START, tool("c3", "running"), END),
)
CALLS = message(
    "assistant",
    tool("c4", "completed", "invalid", input={"tool": "run_tests"}, output="invalid"),
    tool("c5", "error", error="The user rejected permission to use this tool"),
    tool("c6", "error", error="Tool execution aborted"),
    tool("c7", "error", error="The bash tool was called with invalid arguments: x"),
)
SUMMARY = message("assistant", text("So far: …"), summary=True)
ABORTED = message("assistant", error={"name": "MessageAbortedError"})


def export(*messages: Any, **info: Any) -> bytes:
    return json.dumps(
        {"info": {**INFO, **info}, "messages": messages}, indent=2
    ).encode()


WHOLE = export(PROMPT, STEPS, CALLS, SUMMARY)


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        pytest.param(WHOLE, Figures(1, 7, 1, 5, 6), id="an export"),
        pytest.param(export(PROMPT, ABORTED), Figures(1, 0, 0, 0, 3), id="aborted"),
        pytest.param(export(), Figures(0, threads=0), id="nothing said"),
        pytest.param(
            WHOLE[: WHOLE.index(b'"c6"')], Figures(1, 5, 1, 3, 5, 1, 1), id="cut"
        ),
        pytest.param(
            WHOLE.replace(b'"I run it."', b'"I run it.'),
            Figures(1, 4, 0, 4, 5, 1, 1),
            id="a flipped byte",
        ),
        pytest.param(
            b"[" + WHOLE + b"," + WHOLE + b"]", Figures(2, 14, 2, 10, 12, 2), id="two"
        ),
        pytest.param(
            b'{"a": 1}', Figures(0, threads=0, set_aside=1), id="another file"
        ),
    ],
)
def test_read_counts(raw: bytes, counted: Figures) -> None:
    assert figures(read_bytes(opencode, raw)) == counted


def test_read_tells_the_run() -> None:
    run = run_of(opencode, WHOLE)

    assert (run.run_id, run.is_global_id, run.is_part) == ("ses_1", True, False)
    assert (run.title, run.model, run.source) == ("Fix it", "m-x", "shop")
    assert (run.started_at, run.ended_at) == (MS / 1000, MS / 1000 + 9)


def test_read_makes_a_turn_of_each_step() -> None:
    prompt, added, first, second, *_ = run_of(opencode, WHOLE).threads[0].turns

    assert (prompt.text, added.kind, added.text) == ("fix it", "notice", "file content")
    assert (first.text, first.reasoning, first.input_tokens) == ("I run it.", "hm", 9)
    assert [call.id for call in second.calls] == ["c3"]


def test_read_tells_what_came_of_each_call() -> None:
    found = calls_of(run_of(opencode, WHOLE))

    results = {call.id: call.result for call in found if call.result is not None}
    assert (results["c1"].exit_code, results["c1"].is_error) == (2, False)
    assert (results["c2"].is_error, results["c2"].flag) == (True, "status")
    assert results["c2"].at == MS / 1000 + 0.005
    assert [results[f"c{n}"].cause for n in (2, 4, 5, 6, 7)] == [
        *("", "rejected", "denied", "cancelled"),
        "rejected",
    ]
    assert [call.tool for call in found if call.id == "c4"] == ["run_tests"]


def test_read_marks_a_summary() -> None:
    assert run_of(opencode, WHOLE).threads[0].turns[-1].kind == "summary"


def test_read_gives_a_child_session_to_its_parent() -> None:
    run = run_of(opencode, export(PROMPT, parentID="ses_0", agent="scout"))

    assert (run.run_id, run.is_part) == ("ses_0", True)
    assert [(t.kind, t.id, t.agent) for t in run.threads] == [
        ("sub_agent", "ses_1", "scout")
    ]


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        ({"name": "MessageAbortedError"}, "cancelled"),
        ({"name": "APIError", "data": {"message": "529"}}, "crashed"),
        (None, ""),
    ],
)
def test_read_tells_how_the_run_ended(error: Any, ending: str) -> None:
    raw = export(PROMPT, message("assistant", text("x"), error=error))

    assert run_of(opencode, raw).ending == ending


def stored(**files: Any) -> dict[str, Any]:
    return {
        f"up/storage/{name.replace('__', '/')}.json": partial(
            BytesIO,
            content if isinstance(content, bytes) else json.dumps(content).encode(),
        )
        for name, content in files.items()
    }


TREE = stored(
    session__p__ses_1={**INFO, "projectID": "p"},
    session__p__ses_2={**INFO, "id": "ses_2", "projectID": "p", "parentID": "ses_1"},
    session__p__ses_3={**INFO, "id": "ses_3", "projectID": "p", "parentID": "ses_2"},
    message__ses_1__msg_1={**PROMPT["info"], "sessionID": "ses_1", "id": "msg_1"},
    message__ses_1__msg_2={**STEPS["info"], "sessionID": "ses_1", "id": "msg_2"},
    message__ses_3__msg_3={**PROMPT["info"], "sessionID": "ses_3", "id": "msg_3"},
    part__msg_1__prt_1=text("fix it"),
    part__msg_2__prt_1=text("I run it."),
    part__msg_2__prt_2=tool("c1", "error", error="boom"),
    part__msg_2__prt_3=b'{"type": "to',
    part__msg_3__prt_4=text("look"),
)


def test_read_folder_joins_the_storage_tree() -> None:
    assert opencode.claims([*TREE, "up/other.json", "up/part/x/y.txt"]) == [list(TREE)]
    runs = list(opencode.read_folder(TREE))

    assert figures(runs) == Figures(2, 1, 0, 1, 3, 2, 1)
    main, grandchild = runs
    assert isinstance(main, Transcript)
    assert isinstance(grandchild, Transcript)
    assert (main.run_id, main.is_part) == ("ses_1", False)
    assert (grandchild.run_id, grandchild.is_part) == ("ses_1", True)
    assert main.unreadable[0].reason.startswith("up/storage/part/msg_2/prt_3.json: ")


@pytest.mark.parametrize(
    "piece",
    [
        {**INFO, "projectID": "p"},
        {**PROMPT["info"], "sessionID": "ses_1"},
        {"id": "prt", "sessionID": "ses_1", "messageID": "msg_1", **text("x")},
    ],
)
def test_read_sets_a_lone_piece_aside_and_says_what_to_do(
    piece: dict[str, Any],
) -> None:
    raw = json.dumps(piece).encode()

    assert opencode.detect(raw) == 0.85
    (record,) = read_bytes(opencode, raw)
    assert "whole folder" in str(record)


def test_detect_knows_an_export_also_cut() -> None:
    assert opencode.detect(WHOLE) == opencode.detect(WHOLE[:200]) == 0.95
    assert opencode.detect(b'{"info": {"trace_id": "t"}, "data": {"spans": []}}') == 0


@pytest.mark.parametrize("raw", [WHOLE, export(PROMPT, ABORTED)])
def test_read_survives_spoiled_files(raw: bytes) -> None:
    check_survives(opencode, raw, seed=1, count=200)


def test_read_folder_survives_spoiled_pieces() -> None:
    for name in TREE:
        for odd in (b"", b"[]", b"5", b"{", b'{"id": [], "role": {}, "parts": 7}'):
            list(opencode.read_folder({**TREE, name: partial(BytesIO, odd)}))
