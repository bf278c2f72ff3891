"""Pi and OpenClaw sessions: each trait counted by hand."""

import json
from typing import Any

import pytest

from apps.uploads.importers import pi
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
)
from tests.uploads.importers.reading import check_survives


def entry(kind: str, own: str, parent: str | None, **rest: Any) -> dict[str, Any]:
    at = f"2026-03-02T09:00:0{len(own)}.000Z"
    return {"type": kind, "id": own, "parentId": parent, "timestamp": at, **rest}


def said(own: str, parent: str | None, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return entry("message", own, parent, message={"role": "user", "content": content})


def answer(own: str, parent: str, *blocks: Any, **rest: Any) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": list(blocks),
        "model": "m-x",
        "usage": {"input": 5, "cacheRead": 2, "output": 3},
        "stopReason": "toolUse",
        **rest,
    }
    return entry("message", own, parent, message=message)


def use(call_id: str, tool: str = "bash", **given: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": tool, "arguments": given}


def result(
    own: str, parent: str, call_id: str, text: str, *, bad: bool
) -> dict[str, Any]:
    message = {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "bash",
        "content": [{"type": "text", "text": text}],
        "isError": bad,
    }
    return entry("message", own, parent, message=message)


HEADER = {
    "type": "session",
    "version": 3,
    "id": "pi1",
    "cwd": "/home/ann/shop",
    "timestamp": "2026-03-02T09:00:00.000Z",
}
TEXT = {"type": "text", "text": "done"}
LINE = [
    HEADER,
    entry("model_change", "a", None, modelId="m-x"),
    said("b", "a", "run it"),
    answer("c", "b", {"type": "thinking", "thinking": "hm"}, use("c1"), use("c2")),
    result("d", "c", "c2", "ok", bad=False),
    result("e", "d", "c1", "no output\n\nCommand exited with code 2", bad=True),
    entry("message", "f", "e", message={"role": "bashExecution", "command": "ls"}),
    answer("g", "f", TEXT, stopReason="stop"),
]
TREE = [
    *LINE,
    said("h", "g", "try this"),
    answer("i", "h", use("c3")),
    result("j", "i", "c3", "boom", bad=True),
    said("k", "g", "rather that"),
    answer("l", "k", TEXT),
]
PARENTLESS = [
    {k: v for k, v in record.items() if k not in ("id", "parentId")}
    for record in LINE[1:]
]
FAILED = [
    HEADER,
    said("b", None, "hi"),
    answer("c", "b", stopReason="error", errorMessage="400"),
]
ABORTED = [
    *LINE[:4],
    answer("d", "c", use("c3"), stopReason="aborted", errorMessage="no"),
]
COMPACTED = [
    *LINE,
    entry("compaction", "h", "g", summary="So far"),
    said("i", "h", "on"),
]
TWO_ON_A_LINE = json_lines(LINE[:3]) + b" ".join(
    json.dumps(r).encode() for r in LINE[3:]
)
GAP = [*LINE[:4], "spoiled", *LINE[5:]]


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        pytest.param(json_lines(LINE), Figures(1, 2, 0, 1, 3), id="a line"),
        pytest.param(json_lines(TREE), Figures(1, 3, 0, 2, 7, 2), id="a tree"),
        pytest.param(
            json_lines([HEADER, *PARENTLESS]), Figures(1, 2, 0, 1, 3), id="no parents"
        ),
        pytest.param(json_lines(FAILED), Figures(1, 0, 0, 0, 2), id="provider failed"),
        pytest.param(json_lines(ABORTED), Figures(1, 3, 3, 0, 4), id="aborted"),
        pytest.param(json_lines(COMPACTED), Figures(1, 2, 0, 1, 5), id="compaction"),
        pytest.param(TWO_ON_A_LINE, Figures(1, 2, 0, 1, 3), id="objects on one line"),
        pytest.param(
            json_lines(GAP), Figures(1, 2, 1, 1, 3, 1, 1), id="a spoiled line"
        ),
        pytest.param(
            json_lines([*LINE, HEADER, *LINE[1:3]]), Figures(2, 2, 0, 1, 4, 2), id="two"
        ),
        pytest.param(
            json_lines([HEADER, LINE[4]]), Figures(1, 1, 0, 0, 1), id="result, no call"
        ),
    ],
)
def test_read_counts(raw: bytes, counted: Figures) -> None:
    assert figures(read_bytes(pi, raw)) == counted


def test_read_tells_the_run() -> None:
    run = run_of(pi, json_lines(LINE))

    assert (run.run_id, run.is_global_id, run.source) == ("pi1", True, "shop")
    assert (run.model, run.started_at) == ("m-x", 1772442000.0)
    response = run.threads[0].turns[1]
    assert (response.reasoning, response.input_tokens, response.output_tokens) == (
        "hm",
        7,
        3,
    )


def test_read_matches_parallel_results_by_id() -> None:
    first, second = calls_of(run_of(pi, json_lines(LINE)))

    assert first.result is not None
    assert (first.result.is_error, first.result.flag, first.result.exit_code) == (
        *(True, "isError"),
        2,
    )
    assert second.result is not None
    assert (second.result.is_error, second.result.exit_code) == (False, None)


def test_read_follows_the_last_leaf_and_keeps_the_line_that_was_left() -> None:
    main, branch = run_of(pi, json_lines(TREE)).threads

    assert [turn.text for turn in main.turns] == [
        "run it",
        "",
        "done",
        "rather that",
        "done",
    ]
    assert (branch.kind, [turn.text for turn in branch.turns]) == (
        "branch",
        ["try this", ""],
    )


def test_read_names_the_session_that_a_fork_came_from() -> None:
    header = {**HEADER, "parentSession": "/x/sessions/2026-03-01T08-00-00_pi0.jsonl"}

    assert run_of(pi, json_lines([header, *LINE[1:]])).forked_from == "pi0"


@pytest.mark.parametrize(
    ("records", "ending"), [(LINE, ""), (FAILED, "crashed"), (ABORTED, "cancelled")]
)
def test_read_tells_how_the_run_ended(records: list[Any], ending: str) -> None:
    assert run_of(pi, json_lines(records)).ending == ending


def test_detect_knows_the_header_or_the_roles() -> None:
    assert pi.detect(json_lines(LINE)) == 0.95
    assert pi.detect(json_lines(LINE[2:])) == 0.8
    assert (
        pi.detect(json_lines([{"type": "message", "message": {"role": "user"}}])) == 0
    )


@pytest.mark.parametrize("records", [LINE, TREE, PARENTLESS, FAILED, COMPACTED])
def test_read_survives_spoiled_files(records: list[Any]) -> None:
    check_survives(pi, json_lines(records), seed=1, count=80)
