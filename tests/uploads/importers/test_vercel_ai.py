"""Vercel AI SDK: UI messages (versions 4 and 5), model messages, steps."""

import json

import pytest

from apps.uploads.importers import vercel_ai as reader

from .loose import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
)
from .reading import check_survives

STEP = {"type": "step-start"}


def part(call_id, state, kind="tool-getWeather", **fields):
    return {
        "type": kind,
        "toolCallId": call_id,
        "state": state,
        "input": {"city": "X"},
        **fields,
    }


def ui(*parts, role="assistant"):
    return {"id": "", "role": role, "parts": list(parts)}


ASKED = ui({"type": "text", "text": "Weather?"}, role="user")
UI = [
    ASKED,
    ui(
        STEP,
        {"type": "reasoning", "text": "Hm."},
        part("w1", "output-error", errorText="An error occurred."),
        part("w2", "output-available", output={"temp": 18}),
        STEP,
        part("w3", "input-available", kind="dynamic-tool", toolName="findCity"),
        STEP,
        {"type": "text", "text": "18 degrees."},
    ),
]
MODEL = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": [
        {"type": "text", "text": "Looking."},
        {"type": "tool-call", "toolCallId": "w1", "toolName": "getWeather",
         "input": {"city": "X"}},
        {"type": "tool-call", "toolCallId": "w2", "toolName": "remove", "input": {}}]},
    {"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "w1", "toolName": "getWeather",
         "output": {"type": "error-text", "value": "unknown city X"}},
        {"type": "tool-result", "toolCallId": "w2", "toolName": "remove",
         "output": {"type": "execution-denied", "reason": "not today"}}]},
    {"role": "assistant", "content": [{"type": "text", "text": "No."}]},
]  # fmt: skip
STEPS = [
    {"content": [
        {"type": "tool-call", "toolCallId": "w1", "toolName": "getWeather"},
        {"type": "tool-error", "toolCallId": "w1", "toolName": "getWeather",
         "input": {}, "error": {}}],
     "finishReason": "tool-calls", "usage": {"inputTokens": 50, "outputTokens": 10}},
    {"content": [
        {"type": "tool-call", "toolCallId": "w2", "toolName": "findCity", "input": {}},
        {"type": "tool-result", "toolCallId": "w2", "toolName": "findCity",
         "input": {}, "output": {"matches": []}}], "finishReason": "tool-calls"},
    {"content": [{"type": "text", "text": "None."}], "finishReason": "stop"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (UI, Figures(calls=3, missing=1, flagged=1, turns=4)),
        (MODEL, Figures(calls=2, flagged=2, turns=3)),
        (STEPS, Figures(calls=2, flagged=1, turns=3)),
        (
            {"id": "chat", "messages": UI},
            Figures(calls=3, missing=1, flagged=1, turns=4),
        ),
        ({"steps": STEPS}, Figures(calls=2, flagged=1, turns=3)),
        (UI[:1], Figures(turns=1)),
    ],
    ids=["ui", "model", "steps", "chat", "result", "no tool"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_a_step_start_begins_a_turn_inside_one_message():
    run = run_of(reader, json.dumps(UI).encode())

    turns = run.threads[0].turns
    assert [(turn.role, len(turn.calls)) for turn in turns] == [
        ("user", 0),
        ("assistant", 2),
        ("assistant", 1),
        ("assistant", 0),
    ]
    assert turns[1].reasoning == "Hm."
    failed, worked, _ = calls_of(run)
    assert (failed.tool, failed.result.text, failed.result.flag) == (
        "getWeather",
        "An error occurred.",
        "state",
    )
    assert (worked.result.text, worked.result.is_error) == ('{"temp":18}', False)
    assert turns[2].calls[0].tool == "findCity"


@pytest.mark.parametrize(
    ("state", "fields", "wanted"),
    [
        ("input-streaming", {}, None),
        ("approval-requested", {}, None),
        ("output-error", {"errorText": "E", "rawInput": "{"},
         (True, "rejected", False)),
        ("output-denied", {"approval": {"approved": False, "reason": "no"}},
         (True, "denied", False)),
        ("output-available", {"output": "a", "preliminary": True}, (False, "", True)),
        ("output-available", {"output": {"content": [{"type": "text", "text": "x"}],
                                         "isError": True}}, (True, "", False)),
    ],
)  # fmt: skip
def test_each_state_of_a_ui_part(state, fields, wanted):
    raw = json.dumps([ASKED, ui(part("w1", state, **fields))]).encode()

    (call,) = calls_of(run_of(reader, raw))

    result = call.result
    found = (result.is_error, result.cause, result.pending) if result else None
    assert found == wanted


def test_model_messages_have_what_the_model_read():
    failed, denied = calls_of(run_of(reader, json.dumps(MODEL).encode()))

    assert (failed.result.text, failed.result.flag) == ("unknown city X", "output.type")
    assert (denied.result.text, denied.result.cause) == ("not today", "denied")


def test_an_error_object_of_a_step_is_empty_unless_the_messages_tell_it():
    told = json.loads(json.dumps(STEPS))
    told[0]["response"] = {"modelId": "m-1", "messages": MODEL[2:3]}

    bare = calls_of(run_of(reader, json.dumps(STEPS).encode()))[0]
    full = calls_of(run_of(reader, json.dumps(told).encode()))[0]

    assert (bare.result.text, bare.result.is_error) == ("{}", True)
    assert (full.result.text, full.result.is_error) == ("unknown city X", True)


def test_version_4_tells_steps_by_their_number():
    def invocation(call_id, step, **fields):
        inner = {"state": "result", "toolCallId": call_id, "toolName": "t", "args": {}}
        return {**inner, "step": step, "result": "r", **fields}

    parts = [
        {"type": "tool-invocation", "toolInvocation": invocation(f"c{n}", n // 2)}
        for n in range(3)
    ]
    as_parts = [ASKED, ui(*parts)]
    answer = {"role": "assistant", "content": "Bye.", "createdAt": 1772445600}
    invoked = [invocation("c1", 0, state="call")]
    as_list = [ASKED, {**answer, "toolInvocations": invoked}]

    run = run_of(reader, json.dumps(as_parts).encode())
    old = run_of(reader, json.dumps(as_list).encode())

    assert [len(turn.calls) for turn in run.threads[0].turns] == [0, 2, 1]
    assert figures([old]) == Figures(calls=1, missing=1, turns=2)
    assert (old.threads[0].turns[1].text, old.started_at) == ("Bye.", 1772445600.0)


def test_a_chat_keeps_its_id_and_one_run_a_line():
    chats = [
        {"id": "chat-0123456789ab", "messages": UI},
        {"id": "2", "messages": MODEL},
    ]

    runs = read_bytes(reader, json_lines(chats))

    assert [(run.run_id, run.is_global_id) for run in runs] == [
        ("chat-0123456789ab", True),
        ("2", False),
    ]


def test_detect_leaves_other_parts_alone():
    for value in (UI, MODEL, STEPS):
        assert reader.detect(json.dumps(value).encode()) == 0.85
    opencode = {"messages": [{"info": {}, "parts": [{"type": "step-start"}]}]}
    assert reader.detect(json.dumps(opencode).encode()) == 0.0
    gemini = [{"role": "user", "parts": [{"text": "hi"}]}]
    assert reader.detect(json.dumps(gemini).encode()) == 0.0


@pytest.mark.parametrize("value", [UI, MODEL, STEPS], ids=["ui", "model", "steps"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=2, count=200)
