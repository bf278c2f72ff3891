"""Claude Code: each trait of its session files, counted by hand."""

import json
from typing import Any

import pytest

from apps.uploads.importers import claude_code
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
    runs_of,
)
from tests.uploads.importers.reading import check_survives

T0 = "2026-03-02T09:00:00.000Z"
T9 = "2026-03-02T09:00:09.000Z"


def line(kind: str, number: int, **rest: Any) -> dict[str, Any]:
    """One line of session s1; each follows the one before."""
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s1",
        "timestamp": f"2026-03-02T09:00:{number % 60:02}.000Z",
        "cwd": "/home/ann/shop",
        "version": "2.1.0",
        "isSidechain": False,
        **rest,
    }


def said(number: int, text: str, **rest: Any) -> dict[str, Any]:
    return line("user", number, message={"role": "user", "content": text}, **rest)


def answer(number: int, message: str, *blocks: Any, **rest: Any) -> dict[str, Any]:
    content = {
        "id": message,
        "model": "claude-x",
        "role": "assistant",
        "content": list(blocks),
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 3},
    }
    return line("assistant", number, message=content, **rest)


def use(call_id: str, tool: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": given}


def result(number: int, call_id: str, text: Any, **rest: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": text, **rest}
    return line("user", number, message={"role": "user", "content": [block]})


FAILING = [
    said(0, "run the tests"),
    answer(1, "m1", {"type": "thinking", "thinking": "first the tests"}),
    answer(2, "m1", {"type": "text", "text": "I run them."}),
    answer(3, "m1", use("c1", command="pytest")),
    result(4, "c1", "Exit code 1\n1 failed", is_error=True),
    answer(5, "m2", {"type": "text", "text": "One test fails."}),
]
PARALLEL = [
    said(0, "look"),
    answer(1, "m1", use("c1", "Read", file="a")),
    answer(2, "m1", use("c2", "Read", file="b")),
    result(3, "c2", "second", is_error=False),
    result(
        4, "c1", "<tool_use_error>File does not exist.</tool_use_error>", is_error=1
    ),
]
SIDE_CHAINS = [
    said(0, "delegate twice"),
    answer(1, "m1", use("t1", "Task", subagent_type="scout"), use("t2", "Task")),
    said(2, "look for a", isSidechain=True, parentUuid=None),
    answer(3, "m2", use("c1", "Grep", q="a"), isSidechain=True),
    said(12, "look for b", isSidechain=True, parentUuid=None),
    answer(13, "m3", use("c2", "Grep", q="b"), isSidechain=True),
    {**result(4, "c1", "a.py"), "isSidechain": True, "parentUuid": "u3"},
    {**result(14, "c2", "", is_error=True), "isSidechain": True, "parentUuid": "u13"},
    result(5, "t1", "found a"),
    result(6, "t2", "found none"),
]
NESTED = [
    said(0, "delegate"),
    answer(1, "m1", use("t1", "Task", subagent_type="scout")),
    *(
        line(
            "progress",
            2 + place,
            parentToolUseID="t1",
            data={"type": "agent_progress", "agentId": "a1", "message": inner},
        )
        for place, inner in enumerate(
            [
                {"type": "user", "uuid": "n1", "message": {"content": "look"}},
                {
                    "type": "assistant",
                    "uuid": "n2",
                    "message": {"id": "n", "content": [use("c1", "Grep")]},
                },
                {
                    "type": "user",
                    "uuid": "n3",
                    "message": {
                        "content": [{"type": "tool_result", "tool_use_id": "c1"}]
                    },
                },
            ]
        )
    ),
    line("progress", 6, data={"type": "bash_progress", "output": "…"}),
    result(7, "t1", "nothing found"),
]
COMPACTED = [
    said(0, "go on"),
    answer(1, "m1", use("c1", command="ls")),
    result(2, "c1", "a.py"),
    line("system", 3, subtype="compact_boundary", parentUuid=None, content="Compacted"),
    said(4, "The story so far: …", isCompactSummary=True),
    answer(5, "m2", {"type": "text", "text": "Done."}),
]
RESUMED = [
    said(0, "begin"),
    answer(1, "m1", use("c1", command="make")),
    result(2, "c1", "Exit code 2", is_error=True),
    {**said(3, "go on"), "sessionId": "s2"},
    {**answer(4, "m2", use("c2", command="make")), "sessionId": "s2"},
    {**result(5, "c2", "ok"), "sessionId": "s2"},
]
RETRIED = [
    said(0, "begin"),
    answer(1, "m1", {"type": "text", "text": "ready"}),
    said(2, "try this"),
    answer(3, "m2", use("c1", command="false")),
    result(4, "c1", "Exit code 1", is_error=True),
    said(5, "rather try that", parentUuid="u1"),
    answer(6, "m3", {"type": "text", "text": "that"}),
]
OTHER = {**said(0, "second session"), "sessionId": "s9", "uuid": "x0"}
NO_IDS = [
    said(0, "look"),
    answer(1, "m1", {"type": "tool_use", "name": "Read", "input": {}}),
    line("user", 2, message={"content": [{"type": "tool_result", "content": "x"}]}),
]
PROVIDER = [
    said(0, "hello"),
    answer(1, "e1", {"type": "text", "text": "API Error: 529"}, isApiErrorMessage=True),
    line("system", 2, subtype="api_error", error={"message": "Overloaded"}),
    line("attachment", 3, attachment={"type": "date_change"}),
    said(4, "<command-name>/exit</command-name>"),
]
BROKEN = [
    said(0, "hello"),
    line("user", 1, message="error"),
    {**line("user", 2), "message": {"role": "user", "contents": []}},
    {"silly": "this"},
    "a string",
    answer(3, "m1", {"type": "text", "text": "hello"}),
]


@pytest.mark.parametrize(
    ("records", "counted"),
    [
        pytest.param(FAILING, Figures(1, 1, 0, 1, 3), id="one response on three lines"),
        pytest.param(PARALLEL, Figures(1, 2, 0, 1, 2), id="parallel, other order"),
        pytest.param(FAILING[:4], Figures(1, 1, 1, 0, 2), id="no result"),
        pytest.param(FAILING[4:], Figures(1, 1, 0, 1, 2), id="result without call"),
        pytest.param(SIDE_CHAINS, Figures(1, 4, 0, 1, 6, 3), id="side chains"),
        pytest.param(NESTED, Figures(1, 2, 0, 0, 4, 2), id="nested in progress"),
        pytest.param(COMPACTED, Figures(1, 1, 0, 0, 5), id="compaction"),
        pytest.param(RESUMED, Figures(1, 2, 0, 1, 4), id="resumed: one run"),
        pytest.param(RETRIED, Figures(1, 1, 0, 1, 6, 2), id="retried prompt: a branch"),
        pytest.param(FAILING + FAILING, Figures(1, 1, 0, 1, 3), id="lines twice"),
        pytest.param([*FAILING, OTHER], Figures(2, 1, 0, 1, 4, 2), id="two sessions"),
        pytest.param(NO_IDS, Figures(1, 1, 0, 0, 2), id="no ids"),
        pytest.param(PROVIDER, Figures(1, 0, 0, 0, 4), id="failures of the provider"),
        pytest.param(BROKEN, Figures(1, 0, 0, 0, 2, 1, 4), id="broken lines"),
    ],
)
def test_read_counts(records: list[Any], counted: Figures) -> None:
    assert figures(read_bytes(claude_code, json_lines(records))) == counted


def test_read_tells_the_run() -> None:
    run = run_of(claude_code, json_lines(FAILING))

    assert (run.run_id, run.is_global_id, run.is_part) == ("s1", True, False)
    assert (run.agent, run.agent_version, run.model) == (
        "Claude Code",
        "2.1.0",
        "claude-x",
    )
    assert (run.source, run.outcome, run.ending) == ("shop", "unknown", "")
    assert (run.started_at, run.ended_at) == (1772442000.0, 1772442005.0)


def test_read_joins_the_lines_of_one_response() -> None:
    turn = run_of(claude_code, json_lines(FAILING)).threads[0].turns[1]

    assert (turn.reasoning, turn.text) == ("first the tests", "I run them.")
    assert (turn.input_tokens, turn.output_tokens) == (12, 3)
    assert turn.calls[0].arguments == '{"command":"pytest"}'
    assert turn.calls[0].result is not None
    assert turn.calls[0].result.flag == "is_error"
    assert turn.calls[0].result.at == 1772442004.0


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Exit code 1\nboom", ""),
        ("The user doesn't want to proceed with this tool use. …", "denied"),
        ("[Request interrupted by user for tool use]", "denied"),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "cancelled"),
        ("<tool_use_error>Cancelled: parallel tool call</tool_use_error>", "cancelled"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "rejected"),
    ],
)
def test_read_tells_why_a_call_was_flagged(text: str, cause: str) -> None:
    records = [answer(0, "m", use("c")), result(1, "c", text, is_error=True)]

    (call,) = calls_of(run_of(claude_code, json_lines(records)))

    assert call.result is not None
    assert call.result.cause == cause


def test_read_keeps_three_states_of_the_flag_and_a_job_that_runs_on() -> None:
    records = [answer(0, "m", use("a"), use("b"), use("c"), use("d"))]
    records += [result(1, "a", "x"), result(2, "b", "x", is_error=False)]
    records.append({**result(3, "c", "runs"), "toolUseResult": {"backgroundTaskId": 7}})
    records.append({**result(4, "d", "no"), "toolDenialKind": "user-rejected"})

    results = [c.result for c in calls_of(run_of(claude_code, json_lines(records)))]

    assert [r and r.is_error for r in results] == [None, False, None, None]
    assert [r and r.pending for r in results] == [False, False, True, False]
    assert [r and r.cause for r in results] == ["", "", "", "denied"]


def test_read_tells_threads_apart() -> None:
    run = run_of(claude_code, json_lines(SIDE_CHAINS))

    kinds = [thread.kind for thread in run.threads]
    assert kinds == ["main", "sub_agent", "sub_agent"]
    assert [len(thread.turns) for thread in run.threads] == [2, 2, 2]


def test_read_takes_a_nested_agent_for_a_thread_and_names_it() -> None:
    main, side = run_of(claude_code, json_lines(NESTED)).threads

    assert (main.kind, side.kind, side.id, side.agent) == (
        *("main", "sub_agent", "a1"),
        "scout",
    )


def test_read_marks_summary_and_notices() -> None:
    run = run_of(claude_code, json_lines(COMPACTED))
    other = run_of(claude_code, json_lines(PROVIDER))

    kinds = [turn.kind for turn in run.threads[0].turns]
    assert kinds == ["", "", "notice", "summary", ""]
    assert [turn.kind for turn in other.threads[0].turns] == ["", *["notice"] * 3]


def test_read_tells_what_a_resumed_session_copies() -> None:
    run = run_of(claude_code, json_lines(RESUMED))

    assert (run.run_id, run.forked_from) == ("s2", "s1")
    assert run.started_at == 1772442003.0


def test_read_yields_both_sessions_where_the_first_lives_on() -> None:
    first = said(6, "back in the first", parentUuid="u2")

    runs = runs_of(claude_code, json_lines([*RESUMED, first]))

    assert [(run.run_id, run.forked_from) for run in runs] == [("s1", ""), ("s2", "s1")]


def test_read_sets_a_retried_prompt_apart() -> None:
    main, branch = run_of(claude_code, json_lines(RETRIED)).threads

    assert (branch.kind, [turn.text for turn in branch.turns]) == (
        *("branch",),
        ["try this", ""],
    )
    assert [turn.text for turn in main.turns][-2:] == ["rather try that", "that"]
    failed = branch.turns[1].calls[0].result
    assert failed is not None
    assert failed.turns_before == 2


def test_read_takes_titles_of_its_own_session_only() -> None:
    titles = [
        {"type": "summary", "summary": "Of another", "leafUuid": "zz"},
        {"type": "summary", "summary": "Of this one", "leafUuid": "u3"},
    ]

    assert run_of(claude_code, json_lines(titles + FAILING)).title == "Of this one"


def test_read_knows_an_interrupted_run() -> None:
    records = [*FAILING[:4], said(4, "[Request interrupted by user for tool use]")]

    assert run_of(claude_code, json_lines(records)).ending == "cancelled"


def test_read_takes_the_web_export_whole_and_spoiled() -> None:
    export = {"title": "Fix it", "session_id": "w1", "loglines": FAILING}
    for item in FAILING:
        del item["sessionId"]
    raw = json.dumps(export).encode()

    run = run_of(claude_code, raw)
    cut = read_bytes(claude_code, raw[: raw.index(b'"m2"')])

    assert claude_code.detect(raw) == 0.95
    assert (run.run_id, run.title) == ("w1", "Fix it")
    assert figures([run]) == Figures(1, 1, 0, 1, 3)
    assert figures(cut) == Figures(1, 1, 0, 1, 2, 1, 1)
    for item in FAILING:
        item["sessionId"] = "s1"


def test_read_notes_the_size_of_pictures_only() -> None:
    picture = "data:image/png;base64," + "A" * 9000
    records = [answer(0, "m", use("c")), result(1, "c", f"see {picture}")]

    (call,) = calls_of(run_of(claude_code, json_lines(records)))

    assert call.result is not None
    assert len(call.result.text) < 100


@pytest.mark.parametrize(
    "head",
    [
        json_lines(FAILING),
        json_lines([line("file-history-snapshot", 0, snapshot={}), *FAILING]),
        json_lines(FAILING).partition(b"the tests")[0],
        b'{"type": "queue-operation", "operation": "enqueue", "sessionId": "s"}\n',
    ],
)
def test_detect_is_sure_of_its_lines(head: bytes) -> None:
    assert claude_code.detect(head) >= 0.9


@pytest.mark.parametrize(
    "records", [FAILING, SIDE_CHAINS, NESTED, COMPACTED, RESUMED, RETRIED, BROKEN]
)
def test_read_survives_spoiled_files(records: list[Any]) -> None:
    check_survives(claude_code, json_lines(records), seed=1, count=60)


def test_a_flipped_byte_costs_one_line() -> None:
    raw = json_lines(FAILING).replace(b'"I run them."', b'"I run them.', 1)

    assert figures(read_bytes(claude_code, raw)) == Figures(1, 1, 0, 1, 3, 1, 1)
