"""PydanticAI histories: versions 1 and 2, retries, refusals, the run that gives up."""

import json

import pytest

from apps.uploads.importers import pydantic_ai as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives


def at(second):
    return f"2026-03-02T10:00:{second:02}Z"


def request(second, *parts, **fields):
    return {"kind": "request", "timestamp": at(second), "parts": list(parts),
            "run_id": "r-1", **fields}  # fmt: skip


def response(second, *parts, **fields):
    return {"kind": "response", "timestamp": at(second), "parts": list(parts),
            "model_name": "model-a", "run_id": "r-1",
            "usage": {"input_tokens": 5, "output_tokens": 2}, **fields}  # fmt: skip


def call(call_id, tool, args):
    return {"part_kind": "tool-call", "tool_name": tool, "args": args,
            "tool_call_id": call_id}  # fmt: skip


def returned(call_id, tool, content, **fields):
    return {"part_kind": "tool-return", "tool_name": tool, "content": content,
            "tool_call_id": call_id, "timestamp": at(9), **fields}  # fmt: skip


def retry(call_id, tool, content):
    return {"part_kind": "retry-prompt", "tool_name": tool, "content": content,
            "tool_call_id": call_id, "timestamp": at(9)}  # fmt: skip


PROMPT = {"part_kind": "user-prompt", "content": "Refund 17"}
INVALID = [{"type": "missing", "loc": ["id"], "msg": "Field required", "input": {}}]
BATCH = response(
    1, call("c1", "get", {"id": 17}), call("c2", "get", "{}"), call("c3", "refund", {})
)
VERSION_1 = [
    request(0, {"part_kind": "system-prompt", "content": "Be kind."}, PROMPT),
    BATCH,
    request(2, returned("c1", "get", {"total": 4200}),
            retry("c2", "get", INVALID), retry("c3", "refund", "above the total")),
    response(3, {"part_kind": "thinking", "content": "Hm."},
             {"part_kind": "text", "content": "Done."}),
    request(4, retry("c9", None, "Please answer with a number.")),
    response(5, {"part_kind": "text", "content": "42"}),
]  # fmt: skip
RETRY = {"attempt": 1, "max_retries": 3}
VERSION_2 = [
    request(0, PROMPT, conversation_id="conv-1"),
    BATCH,
    request(2, returned("c1", "get", "4200", outcome="success"),
            returned("c2", "get", "1 validation error", outcome="retried",
                     retry={"cause": "validation_error", **RETRY}),
            returned("c3", "refund", "above the total", outcome="retried",
                     retry={"cause": "model_retry", **RETRY})),
    response(3, call("c4", "refund", {}), call("c5", "get", {})),
    request(4, returned("c4", "refund", "A person said no.", outcome="denied"),
            state="interrupted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (VERSION_1, Figures(calls=3, flagged=2, turns=6)),
        (VERSION_2, Figures(calls=5, missing=1, flagged=3, turns=3)),
        ({"messages": VERSION_1}, Figures(calls=3, flagged=2, turns=6)),
        (VERSION_2[:2], Figures(calls=3, missing=3, turns=2)),
    ],
    ids=["version 1", "version 2", "wrapper", "cut"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_version_1_flags_by_the_kind_of_the_part():
    run = run_of(reader, json.dumps(VERSION_1).encode())

    worked, invalid, failed = (call.result for call in calls_of(run))
    assert (worked.text, worked.is_error) == ('{"total":4200}', None)
    assert (invalid.is_error, invalid.cause, invalid.error_code) == (
        True,
        "rejected",
        "missing",
    )
    assert (failed.flag, failed.cause, failed.text) == (
        "part_kind",
        "",
        "above the total",
    )
    assert calls_of(run)[1].arguments == "{}"


def test_a_retry_prompt_without_a_tool_is_a_notice():
    turns = run_of(reader, json.dumps(VERSION_1).encode()).threads[0].turns

    assert [(turn.role, turn.kind) for turn in turns[3:]] == [
        ("assistant", ""),
        ("user", "notice"),
        ("assistant", ""),
    ]
    assert (turns[3].reasoning, turns[3].text, turns[3].input_tokens) == (
        "Hm.",
        "Done.",
        5,
    )


def test_version_2_flags_by_the_outcome():
    run = run_of(reader, json.dumps(VERSION_2).encode())

    worked, invalid, failed, denied = (call.result for call in calls_of(run)[:4])
    assert (worked.is_error, worked.flag) == (False, "outcome")
    assert (invalid.cause, invalid.error_code) == ("rejected", "validation_error")
    assert (failed.cause, failed.is_error) == ("", True)
    assert (denied.cause, denied.is_error) == ("denied", True)
    assert calls_of(run)[4].result is None


def test_the_conversation_s_id_comes_before_the_run_s():
    first = run_of(reader, json.dumps(VERSION_1).encode())
    second = run_of(reader, json.dumps(VERSION_2).encode())

    assert (first.run_id, second.run_id) == ("r-1", "conv-1")
    assert (first.started_at, first.ended_at) == (1772445600.0, 1772445605.0)
    assert (first.model, first.is_global_id) == ("model-a", True)


def test_built_in_tools_are_answered_in_the_same_response():
    message = response(
        1,
        {**call("b1", "web_search", {"q": "x"}), "part_kind": "builtin-tool-call"},
        {**returned("b1", "web_search", "found"), "part_kind": "builtin-tool-return"},
    )

    (made,) = calls_of(
        run_of(reader, json.dumps([request(0, PROMPT), message]).encode())
    )

    assert (made.tool, made.result.text) == ("web_search", "found")


def test_lists_a_line_are_runs_and_binary_prompts_become_names():
    picture = {"kind": "binary", "data": "AAAA", "media_type": "image/png"}
    prompt = {"part_kind": "user-prompt", "content": ["See:", picture]}

    first, second = read_bytes(reader, json_lines([[request(0, prompt)], VERSION_1]))

    assert first.threads[0].turns[0].text == "See:\n[binary]"
    assert figures([second]).calls == 3


def test_odd_messages_are_set_aside():
    raw = json.dumps([*VERSION_1[:3], 3, {"kind": "request"}, *VERSION_1[3:]]).encode()

    wanted = Figures(calls=3, flagged=2, turns=6, set_aside=1)
    assert figures(read_bytes(reader, raw)) == wanted


def test_detect_needs_kinds_of_parts():
    raw = json.dumps(VERSION_2).encode()
    assert reader.detect(raw) == 0.95
    assert reader.detect(raw[: len(raw) - 40]) == 0.95
    assert reader.detect(json.dumps(VERSION_2[:1]).encode()[:140]) == 0.85
    assert (
        reader.detect(json.dumps([{"kind": "request", "parts": [1]}]).encode()) == 0.0
    )


@pytest.mark.parametrize("value", [VERSION_1, {"messages": VERSION_2}])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=5, count=250)
