"""Cursor agent transcripts: each trait counted by hand."""

from functools import partial
from io import BytesIO
from typing import Any

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import cursor
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
)
from tests.uploads.importers.reading import check_survives

ID = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"


def line(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": tool, "input": given}


def result(said: str, **rest: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t", "content": [text(said)], **rest}


ANSWERED = [
    line("user", text("look")),
    line("assistant", {"type": "thinking", "thinking": "hm"}, use("Read"), use("Bash")),
    line("user", result("first"), result("second", is_error=True)),
    line("assistant", text("done")),
]
UNANSWERED = [*ANSWERED[:2], line("assistant", text("done"))]
CHILD = [line("user", text("list")), line("assistant", text("a"), use("Glob"))]


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        pytest.param(ANSWERED, Figures(1, 2, 0, 1, 3), id="results by order"),
        pytest.param(UNANSWERED, Figures(1, 2, 2, 0, 3), id="results not stored"),
        pytest.param(
            [*ANSWERED, {"role": "user"}, 3], Figures(1, 2, 0, 1, 3, 1, 2), id="broken"
        ),
        pytest.param([], Figures(0, threads=0), id="empty"),
    ],
)
def test_read_counts(records: list[Any], counted: Figures) -> None:
    assert figures(read_bytes(cursor, json_lines(records))) == counted


def test_read_matches_results_by_order() -> None:
    read, bash = calls_of(run_of(cursor, json_lines(ANSWERED)))

    assert (read.result and read.result.text, bash.result and bash.result.text) == (
        *("first",),
        "second",
    )


@pytest.mark.parametrize(
    ("name", "run_id", "is_part"),
    [
        ("session.jsonl", "", False),
        (f"agent-transcripts/{ID}.jsonl", ID, False),
        (f"agent-transcripts/{ID}/{ID}.jsonl", ID, False),
        (f"agent-transcripts/{ID}/subagents/c.jsonl", ID, True),
        ("folder/subagents/c.jsonl", "", False),
    ],
)
def test_read_takes_the_id_from_the_name(name: str, run_id: str, is_part: bool) -> None:
    run = run_of(cursor, json_lines(CHILD), name)

    assert (run.run_id, run.is_global_id, run.is_part) == (
        run_id,
        bool(run_id),
        is_part,
    )
    assert run.threads[0].kind == ("sub_agent" if is_part else "main")


def test_read_folder_joins_a_session_and_its_sub_agents() -> None:
    names = {
        f"t/{ID}/{ID}.jsonl": ANSWERED,
        f"t/{ID}/subagents/a.jsonl": CHILD,
        f"t/{ID}/subagents/b.jsonl": CHILD,
    }
    others = ["t/one.jsonl", "t/two.jsonl", "p/x.jsonl", "p/x/subagents/agent-1.jsonl"]
    files = {name: partial(BytesIO, json_lines(of)) for name, of in names.items()}

    assert cursor.claims([*others, *names]) == [list(names)]
    (run,) = cursor.read_folder(files)
    assert isinstance(run, Transcript)
    assert (run.run_id, run.is_part) == (ID, False)
    assert [(t.kind, t.id) for t in run.threads] == [
        *[("main", ""), ("sub_agent", "a")],
        ("sub_agent", "b"),
    ]


def test_detect_wants_lines_with_nothing_else_in_them() -> None:
    assert cursor.detect(json_lines(ANSWERED)) == 0.85
    dated = [{**record, "timestamp": 1} for record in ANSWERED]
    assert cursor.detect(json_lines(dated)) == 0
    assert cursor.detect(json_lines([{"role": "user", "content": "x"}])) == 0


@pytest.mark.parametrize("records", [ANSWERED, UNANSWERED])
def test_read_survives_spoiled_files(records: list[Any]) -> None:
    check_survives(cursor, json_lines(records), seed=1, count=150)
