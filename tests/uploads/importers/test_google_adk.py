"""Google ADK: snake and camel case, parallel calls, running tools, branches."""

import json

import pytest

from apps.uploads.importers import google_adk as reader

from .loose import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
    runs_of,
)
from .reading import check_survives


def event(number, *parts, author="home", **fields):
    return {
        "id": f"e{number}",
        "invocation_id": "i1",
        "author": author,
        "timestamp": 1772445600.5 + number,
        "content": {
            "role": "user" if author == "user" else "model",
            "parts": list(parts),
        },
        **fields,
    }


def call(call_id, name, **args):
    return {"function_call": {"id": call_id, "name": name, "args": args}}


def answer(call_id, name, **response):
    return {"function_response": {"id": call_id, "name": name, "response": response}}


EVENTS = [
    event(0, {"text": "Hall to 500"}, author="user"),
    event(1, {"text": "par"}, partial=True),
    event(2, {"text": "Reading."}, call("a1", "read", room="hall"),
          call("a2", "set", level=500), model_version="model-a",
          usage_metadata={"prompt_token_count": 90, "candidates_token_count": 12}),
    event(3, answer("a1", "read", status="success", level=40),
          answer("a2", "set", status="error", error_message="level above 100")),
    event(4, call("a3", "mcp_set", level=100)),
    event(5, answer("a3", "mcp_set", content=[{"type": "text", "text": "no such lamp"}],
                    isError=True)),
    event(6, error_code="SAFETY", error_message="blocked"),
    event(7, {"text": "I could not."}),
]  # fmt: skip
SESSION = {"id": "5b0c7d2e-0000-4000-8000-000000000001", "app_name": "home_app",
           "user_id": "u", "state": {}, "events": EVENTS}  # fmt: skip
COUNTED = Figures(calls=3, flagged=1, turns=5)


def camel(value):
    if isinstance(value, list):
        return [camel(item) for item in value]
    if isinstance(value, dict):
        words = [(key.split("_"), inner) for key, inner in value.items()]
        return {w[0] + "".join(map(str.title, w[1:])): camel(i) for w, i in words}
    return value


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (SESSION, COUNTED),
        (camel(SESSION), COUNTED),
        ([SESSION, SESSION], Figures(2, 6, 0, 2, 10, 2)),
        (EVENTS, COUNTED),
        ({**SESSION, "events": EVENTS[:3]}, Figures(calls=2, missing=2, turns=2)),
    ],
    ids=["snake", "camel", "two", "events", "crashed"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_read_keeps_what_the_tools_and_the_session_say():
    run = run_of(reader, json.dumps(SESSION).encode())

    read, failed, flagged = calls_of(run)
    assert (run.run_id, run.is_global_id, run.agent) == (
        SESSION["id"],
        True,
        "home_app",
    )
    assert (run.model, run.started_at, run.ended_at) == (
        "model-a",
        1772445600.5,
        1772445607.5,
    )
    assert read.result.text == '{"status":"success","level":40}'
    assert (failed.result.is_error, failed.result.turns_before) == (None, 2)
    assert (flagged.result.text, flagged.result.flag) == ("no such lamp", "isError")
    turns = run.threads[0].turns
    assert (turns[1].input_tokens, turns[3].kind, turns[3].text) == (
        90,
        "notice",
        "SAFETY: blocked",
    )


def test_calls_without_an_id_are_answered_by_their_tool():
    events = [
        event(1, {"function_call": {"name": "read", "args": {}}},
              {"function_call": {"name": "set", "args": {}}}),
        event(2, {"function_response": {"name": "set", "response": {"ok": True}}}),
    ]  # fmt: skip

    read, changed = calls_of(run_of(reader, json.dumps(events).encode()))

    assert (read.result, changed.result.text) == (None, '{"ok":true}')


def test_a_running_tool_is_pending_until_its_last_answer():
    events = [
        event(1, call("a1", "approve"), long_running_tool_ids=["a1"]),
        event(2, answer("a1", "approve", status="pending")),
    ]
    done = [
        *events,
        event(3, answer("a1", "approve", status="approved"), author="user"),
    ]

    (waiting,) = calls_of(run_of(reader, json.dumps(events).encode()))
    (finished,) = calls_of(run_of(reader, json.dumps(done).encode()))

    assert waiting.result.pending
    assert not finished.result.pending
    assert finished.result.text == '{"status":"approved"}'


def test_branches_are_threads():
    events = [
        *EVENTS[:3],
        event(8, call("b1", "look"), branch="home.scout", author="scout"),
    ]

    run = run_of(reader, json.dumps({**SESSION, "events": events}).encode())

    assert [(t.id, t.kind, t.agent) for t in run.threads] == [
        ("", "main", ""),
        ("home.scout", "sub_agent", "scout"),
    ]


def test_code_that_was_run_has_the_outcome_as_its_flag():
    parts = (
        {"executable_code": {"code": "1/0", "language": "PYTHON"}},
        {
            "code_execution_result": {
                "outcome": "OUTCOME_FAILED",
                "output": "ZeroDivision",
            }
        },
    )

    (made,) = calls_of(run_of(reader, json.dumps([event(1, *parts)]).encode()))

    assert (made.tool, made.arguments) == ("code_execution", "1/0")
    assert (made.result.is_error, made.result.error_code) == (True, "OUTCOME_FAILED")


def test_names_that_users_choose_are_no_global_ids():
    (run,) = runs_of(reader, json.dumps({**SESSION, "id": "demo-session"}).encode())

    assert (run.run_id, run.is_global_id) == ("demo-session", False)


def test_detect_knows_sessions_and_events():
    assert reader.detect(json.dumps(SESSION).encode()) == 0.9
    assert reader.detect(json.dumps(SESSION).encode()[:600]) == 0.85
    assert reader.detect(json_lines(EVENTS)) == 0.9
    assert reader.detect(json.dumps({"events": [{"author": "x"}]}).encode()) == 0.0


@pytest.mark.parametrize("value", [SESSION, camel(EVENTS)], ids=["session", "events"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=4, count=250)
