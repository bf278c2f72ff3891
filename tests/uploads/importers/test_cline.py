"""Cline and Roo tasks: each trait of both files, counted by hand."""

import json
from functools import partial
from io import BytesIO
from typing import Any

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import cline
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    read_bytes,
    run_of,
)
from tests.uploads.importers.reading import check_survives

MS = 1772442000000
TASK = "tasks/1772442000000"
HISTORY, UI = f"{TASK}/api_conversation_history.json", f"{TASK}/ui_messages.json"
DETAILS = "<environment_details>\n# Open tabs\n</environment_details>"


def message(role: str, *blocks: Any, **rest: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": role, "content": content, **rest}


def use(call_id: str, tool: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": given}


TASK_SAID = message("user", "<task>\nfix it\n</task>", "# task_progress …", DETAILS)
XML = [
    TASK_SAID,
    message(
        "assistant",
        "I run it.\n<execute_command>\n<command>make a[0]</command>\n"
        "</execute_command>",
        ts=MS,
        modelInfo={"modelId": "m-x"},
        metrics={"tokens": {"prompt": 9, "completion": 2}},
    ),
    message(
        "user",
        "[execute_command for 'make a[0]'] Result:",
        "Command failed with exit code 2.\nboom",
        DETAILS,
    ),
    message(
        "assistant",
        "<write_to_file>\n<path>a.html</path>\n<content>\n<path>x</path>\n</content>\n"
        "</write_to_file>",
    ),
    message(
        "user",
        "[write_to_file for 'a.html'] Result:\n"
        f"The user denied this operation.{DETAILS}",
    ),
    message("assistant", "What now?"),
    message("user", "[ERROR] You did not use a tool in your previous response!"),
    message(
        "assistant", "<attempt_completion><result>done</result></attempt_completion>"
    ),
]
NATIVE = [
    TASK_SAID,
    message(
        "assistant",
        {"type": "thinking", "thinking": "hm"},
        "I read two.",
        use("c1", "read_file", path="a"),
        use("c2", "read_file", path="b"),
    ),
    message(
        "user",
        {
            "type": "tool_result",
            "tool_use_id": "c2",
            "content": "[read_file for 'b'] Result:\nbb",
        },
        {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True},
    ),
    message("assistant", use("c3", "read_file", path="c")),
    message("user", "[read_file for 'c'] Result:\ncc", "and be quick"),
    message("user", "[TASK RESUMPTION] This task was interrupted …"),
]
MISSING = [TASK_SAID, message("assistant", use("c1", "read_file"))]


def shown(
    number: int, kind: str, text: Any = "", asks: bool = False, **rest: Any
) -> Any:
    way = "ask" if asks else "say"
    said = text if isinstance(text, str) else json.dumps(text)
    return {"ts": MS + number, "type": way, way: kind, "text": said, **rest}


SCREEN = [
    shown(0, "text", "fix it", conversationHistoryIndex=-1),
    shown(
        *(1, "api_req_started", {"tokensIn": 5, "cacheReads": 4, "tokensOut": 2}),
        conversationHistoryIndex=-1,
    ),
    shown(2, "text", "I run", partial=True),
    shown(3, "text", "I run it."),
    shown(4, "command", "make", asks=True),
    shown(5, "command", "make"),
    shown(6, "command_output", "boom"),
    shown(7, "command_output", "more"),
    shown(8, "api_req_started", {"tokensOut": 3}),
    shown(9, "tool", {"tool": "readFile", "path": "a", "content": "…"}),
    shown(10, "error", "no such file"),
    shown(11, "error_retry", "529"),
    shown(12, "user_feedback", "go on"),
    shown(13, "api_req_started", {"tokensOut": 3}),
    shown(14, "completion_result", "done"),
    shown(15, "completion_result", "", asks=True),
]


def raw(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


@pytest.mark.parametrize(
    ("value", "counted"),
    [
        pytest.param(XML, Figures(1, 3, 1, 0, 7), id="calls as XML"),
        pytest.param(NATIVE, Figures(1, 3, 0, 1, 6), id="calls as blocks"),
        pytest.param(MISSING, Figures(1, 1, 1, 0, 3), id="no result"),
        pytest.param(SCREEN, Figures(1, 3, 1, 1, 6), id="the screen alone"),
        pytest.param(
            [*XML[:3], 7, {"a": 1}], Figures(1, 1, 0, 0, 3, 1, 1), id="broken"
        ),
        pytest.param([{"files_in_context": []}], Figures(0, threads=0), id="metadata"),
    ],
)
def test_read_counts(value: Any, counted: Figures) -> None:
    assert figures(read_bytes(cline, raw(value))) == counted


def test_read_tells_the_run() -> None:
    run = run_of(cline, raw(XML), HISTORY)

    assert (run.run_id, run.is_global_id) == ("1772442000000", True)
    assert (run.model, run.started_at, run.ending) == ("m-x", MS / 1000, "submitted")
    assert run_of(cline, raw(XML), "history.json").run_id == ""


def test_read_takes_calls_and_results_out_of_the_text() -> None:
    run, write, done = calls_of(run_of(cline, raw(XML)))

    assert (run.tool, run.arguments) == ("execute_command", '{"command":"make a[0]"}')
    assert run.result is not None
    assert run.result.text == "Command failed with exit code 2.\nboom"
    assert json.loads(write.arguments) == {
        "path": "a.html",
        "content": "<path>x</path>",
    }
    assert write.result is not None
    assert (write.result.text, write.result.cause) == (
        *("The user denied this operation.",),
        "denied",
    )
    assert (done.tool, done.result) == ("attempt_completion", None)


def test_read_drops_details_and_marks_the_programs_words() -> None:
    turns = run_of(cline, raw(XML)).threads[0].turns

    said = [(turn.kind, turn.text) for turn in turns if turn.role == "user"]
    assert said == [
        *[("", "<task>\nfix it\n</task>"), ("notice", "# task_progress …")],
        ("notice", "[ERROR] You did not use a tool in your previous response!"),
    ]


def test_read_matches_native_results_by_id_and_takes_their_header_off() -> None:
    first, second, third = calls_of(run_of(cline, raw(NATIVE)))

    assert first.result is not None
    assert (first.result.text, first.result.is_error) == ("no", True)
    assert second.result is not None
    assert (second.result.text, second.result.is_error) == ("bb", None)
    assert third.result is not None
    assert third.result.text == "cc"


def test_read_takes_the_screen_where_there_is_nothing_else() -> None:
    run = run_of(cline, raw(SCREEN), UI)
    command, read, done = calls_of(run)

    assert (run.run_id, run.ending) == ("1772442000000", "submitted")
    assert (command.tool, command.arguments) == (
        "execute_command",
        '{"command":"make"}',
    )
    assert command.result is not None
    assert command.result.text == "boom\nmore"
    assert (read.tool, read.arguments) == ("readFile", '{"path":"a"}')
    assert read.result is not None
    assert (read.result.is_error, read.result.flag) == (True, "error")
    assert done.result is None
    assert [turn.kind for turn in run.threads[0].turns] == [
        "",
        "",
        "",
        "notice",
        "",
        "",
    ]
    response = run.threads[0].turns[1]
    assert (response.input_tokens, response.output_tokens) == (9, 2)


def test_read_folder_takes_calls_from_one_file_and_times_from_the_other() -> None:
    files = {
        HISTORY: partial(BytesIO, raw(NATIVE)),
        UI: partial(BytesIO, raw(SCREEN)),
        f"{TASK}/task_metadata.json": partial(BytesIO, b'{"files_in_context": []}'),
    }

    assert cline.claims([*files, "tasks/7/ui_messages.json", "a.json"]) == [list(files)]
    (run,) = cline.read_folder(files)
    assert isinstance(run, Transcript)
    assert figures([run]) == Figures(1, 3, 0, 1, 6)
    response = run.threads[0].turns[2]
    assert (response.at, response.output_tokens) == (MS / 1000 + 0.001, 2)


def test_detect_knows_both_files_and_the_companion() -> None:
    assert cline.detect(raw(XML)) == cline.detect(raw(NATIVE)) == 0.9
    assert cline.detect(raw(SCREEN)) == 0.95
    assert cline.detect(b'{"files_in_context": []}') == 0.8
    assert cline.detect(raw([{"role": "user", "content": "hello"}])) == 0


@pytest.mark.parametrize("value", [XML, NATIVE, SCREEN])
def test_read_survives_spoiled_files(value: Any) -> None:
    check_survives(cline, raw(value), seed=1, count=120)


def test_read_folder_survives_spoiled_files() -> None:
    for odd in (
        b"",
        b"{",
        b"[5]",
        b'[{"ts": [], "type": "say", "say": {}, "text": 4}]',
    ):
        for name in (HISTORY, UI):
            files = {HISTORY: partial(BytesIO, raw(XML)), UI: partial(BytesIO, odd)}
            list(cline.read_folder({**files, name: partial(BytesIO, odd)}))
