"""Anthropic Messages: request bodies, request logs, bare lists."""

import json

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import anthropic_messages

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

READ = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {"path": "a.txt"}}
LIST = {"type": "tool_use", "id": "t2", "name": "list_files", "input": {}}
GONE = {
    "type": "tool_result",
    "tool_use_id": "t1",
    "is_error": True,
    "content": [{"type": "text", "text": "a.txt does not exist; call list_files"}],
}
FOUND = {"type": "tool_result", "tool_use_id": "t2", "content": "b.txt"}
MESSAGES = [
    {"role": "user", "content": "What is in a.txt?"},
    {"role": "assistant", "content": [{"type": "text", "text": "Reading."}, READ]},
    {"role": "user", "content": [GONE]},
    {"role": "assistant", "content": [LIST]},
    {"role": "user", "content": [FOUND]},
    {"role": "assistant", "content": "There is only b.txt."},
]
BODY = {
    "model": "claude-test-1",
    "max_tokens": 100,
    "system": [{"type": "text", "text": "You help with files."}],
    "tools": [
        {"name": "read_file", "description": "Read", "input_schema": {"type": "object"}}
    ],
    "messages": MESSAGES,
}


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (json.dumps(BODY), Figures(calls=2, flagged=1, turns=5)),
        (json.dumps(BODY, indent=1), Figures(calls=2, flagged=1, turns=5)),
        (json.dumps(MESSAGES), Figures(calls=2, flagged=1, turns=4)),
        (json.dumps(MESSAGES[:2]), Figures(calls=1, missing=1, turns=2)),
        (json.dumps(MESSAGES[2:]), Figures(calls=2, flagged=1, turns=3)),
    ],
    ids=["body", "indented", "list", "no result", "no call"],
)
def test_read_counts_calls_and_errors(raw, wanted):
    assert figures(read_bytes(anthropic_messages, raw.encode())) == wanted


def test_read_keeps_what_the_body_says():
    run = run_of(anthropic_messages, json.dumps(BODY).encode())

    first, second = calls_of(run)
    assert (run.model, run.run_id, run.started_at) == ("claude-test-1", "", None)
    assert run.tools[0].input_schema == '{"type":"object"}'
    assert run.threads[0].turns[0].role == "system"
    assert (first.tool, first.arguments, first.id) == (
        "read_file",
        '{"path":"a.txt"}',
        "t1",
    )
    assert first.result.text == "a.txt does not exist; call list_files"
    assert (first.result.flag, first.result.turns_before) == ("is_error", 3)
    assert (second.result.is_error, second.result.flag) == (None, "")


def test_parallel_calls_are_one_turn_and_find_their_results_in_any_order():
    messages = [
        MESSAGES[0],
        {"role": "assistant", "content": [READ, LIST]},
        {"role": "user", "content": [FOUND, GONE]},
    ]

    run = run_of(anthropic_messages, json.dumps(messages).encode())

    assert len(run.threads[0].turns[1].calls) == 2
    assert [call.result.text for call in calls_of(run)] == [
        "a.txt does not exist; call list_files",
        "b.txt",
    ]


def test_a_request_log_that_repeats_the_history_is_one_run():
    cached = json.loads(json.dumps(MESSAGES[:3]))
    cached[2]["content"][0]["cache_control"] = {"type": "ephemeral"}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    log = [
        {**BODY, "messages": MESSAGES[:1]},
        {"request": {**BODY, "messages": cached}},
        {"request": BODY, "response": {**answer, "usage": {"output_tokens": 7}}},
    ]

    run = run_of(anthropic_messages, json_lines(log))

    assert figures([run]) == Figures(calls=2, flagged=1, turns=6)
    assert run.threads[0].turns[-1].text == "Done."
    assert run.threads[0].turns[-1].output_tokens == 7


def test_histories_that_are_told_side_by_side_stay_apart():
    other = [{"role": "user", "content": "Another task"}, MESSAGES[1]]
    log = [
        {**BODY, "messages": MESSAGES[:1]},
        {**BODY, "messages": other},
        BODY,
        {**BODY, "messages": [*other, {"role": "user", "content": [GONE]}]},
    ]

    runs = runs_of(anthropic_messages, json_lines(log))

    assert [figures([run]).calls for run in runs] == [2, 1]
    assert [figures([run]).flagged for run in runs] == [1, 1]


def test_server_tools_hold_their_result_in_the_same_message():
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    failed = {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": {
            "type": "web_search_tool_result_error",
            "error_code": "max_uses_exceeded",
        },
    }
    messages = [MESSAGES[0], {"role": "assistant", "content": [search, failed]}]

    (call,) = calls_of(
        run_of(anthropic_messages, json.dumps({**BODY, "messages": messages}).encode())
    )

    assert (call.tool, call.result.is_error) == ("web_search", True)
    assert call.result.error_code == "max_uses_exceeded"


def test_pictures_and_data_addresses_become_notes():
    picture = {"type": "image", "source": {"type": "base64", "data": "A" * 9000}}
    address = "see data:image/png;base64," + "B" * 9000
    result = {**GONE, "content": [picture, {"type": "text", "text": address}]}
    messages = [*MESSAGES[:2], {"role": "user", "content": [result]}]

    (call,) = calls_of(run_of(anthropic_messages, json.dumps(messages).encode()))

    assert call.result.text == "[image]\nsee [data: image/png, 9000 characters]"


def test_a_wrapper_gives_id_times_and_outcome():
    wrapper = {
        "run_id": "r1",
        "started_at": "2026-03-02T10:00:00Z",
        "agent": {"name": "desk", "version": "2"},
        "outcome": "incorrect",
        **BODY,
    }

    run = run_of(anthropic_messages, json.dumps(wrapper).encode())

    assert (run.run_id, run.is_global_id, run.agent, run.agent_version) == (
        "r1",
        True,
        "desk",
        "2",
    )
    assert (run.outcome, run.outcome_by) == ("incorrect", "outcome")
    assert run.started_at == 1772445600.0


def test_a_cut_body_keeps_the_messages_before_the_cut():
    raw = json.dumps(BODY).encode()
    cut = raw[: raw.index(b"There is only")]

    run = run_of(anthropic_messages, cut)

    assert figures([run]) == Figures(calls=2, flagged=1, turns=4, set_aside=1)


def test_odd_messages_are_set_aside_and_the_rest_stands():
    messages = [*MESSAGES[:3], 7, {"no": "role"}, *MESSAGES[3:]]
    raw = json.dumps({**BODY, "messages": messages}).encode()

    wanted = Figures(calls=2, flagged=1, turns=5, set_aside=2)
    assert figures(read_bytes(anthropic_messages, raw)) == wanted


def test_detect_is_sure_of_tool_blocks_alone():
    plain = {"messages": [{"role": "user", "content": "hi"}]}

    assert anthropic_messages.detect(json.dumps(BODY).encode()) == 0.7
    assert anthropic_messages.detect(json.dumps(BODY).encode()[:500]) == 0.65
    assert anthropic_messages.detect(json.dumps(plain).encode()) == 0.0
    chat = [{"role": "assistant", "content": "", "tool_calls": []}]
    assert anthropic_messages.detect(json.dumps(chat).encode()) == 0.0


@pytest.mark.parametrize("value", [BODY, MESSAGES], ids=["body", "list"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(anthropic_messages, json.dumps(value).encode(), seed=1, count=300)


def test_a_log_that_is_spoiled_in_one_line_loses_that_line_alone():
    lines = json_lines([{**BODY, "run_id": "a"}, {**BODY, "run_id": "b"}])
    records = read_bytes(anthropic_messages, lines.replace(b'"messages"', b'"mess', 1))

    assert [type(r) for r in records].count(Transcript) == 1
    assert figures(records).set_aside == 1
