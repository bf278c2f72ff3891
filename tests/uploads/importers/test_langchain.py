"""LangChain: three dumps of one run, LangGraph states, checkpoints and updates."""

import json
from typing import Any

import pytest

from apps.uploads.importers import langchain as reader

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

ABOUT: dict[str, Any] = {"additional_kwargs": {}, "response_metadata": {}}
PLAIN: list[Any] = [
    {"type": "human", "content": "Row 1?", **ABOUT, "id": None},
    {"type": "ai", "content": "Reading.", **ABOUT, "id": "m1",
     "response_metadata": {"model_name": "model-a"},
     "usage_metadata": {"input_tokens": 9, "output_tokens": 3},
     "tool_calls": [{"name": "read_row", "args": {"id": 1}, "id": "c1"}],
     "invalid_tool_calls": [
         {"name": "list", "args": "{", "id": "c2", "error": "no JSON"}]},
    {"type": "tool", "content": "Error: no table", "name": "read_row", **ABOUT,
     "tool_call_id": "c1", "status": "error"},
    {"type": "ai", "content": "None.", **ABOUT, "tool_calls": []},
]  # fmt: skip
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
DUMPED = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", CLASSES[m["type"]]],
        "kwargs": m,
    }
    for m in PLAIN
]
AS_DICTS = [{"type": m["type"], "data": m} for m in PLAIN]
COUNTED = Figures(calls=2, flagged=2, turns=3)


@pytest.mark.parametrize(
    "value",
    [PLAIN, DUMPED, AS_DICTS, {"messages": PLAIN}, {"values": {"messages": DUMPED}}],
    ids=["model_dump", "dumpd", "messages_to_dict", "wrapper", "state"],
)
def test_all_spellings_read_alike(value):
    raw = json.dumps(value).encode()

    run = run_of(reader, raw)

    failed, invalid = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.model, run.threads[0].turns[1].input_tokens) == ("model-a", 9)
    assert (failed.result.text, failed.result.flag) == ("Error: no table", "status")
    assert (invalid.arguments, invalid.result.text) == ("{", "no JSON")
    assert (invalid.result.cause, invalid.result.delivered) == ("rejected", False)
    assert reader.detect(raw) == 0.9


def test_success_is_a_flag_and_its_absence_is_none():
    worked = {**PLAIN[2], "status": "success", "content": "lamp"}
    unsaid = {key: PLAIN[2][key] for key in PLAIN[2] if key != "status"}

    for message, wanted in ((worked, (False, "status")), (unsaid, (None, ""))):
        run = run_of(reader, json.dumps([*PLAIN[:2], message]).encode())
        result = calls_of(run)[0].result
        assert (result.is_error, result.flag) == wanted


def test_calls_that_the_content_repeats_count_once():
    used = {"type": "tool_use", "id": "c1", "name": "read_row", "input": {"id": 1}}
    content = [{"type": "text", "text": "Now."}, used]
    messages = [PLAIN[0], {**PLAIN[1], "content": content}, *PLAIN[2:]]

    run = run_of(reader, json.dumps(messages).encode())

    assert figures([run]) == COUNTED
    assert run.threads[0].turns[1].text == "Now."


def test_checkpoints_of_a_thread_are_one_run():
    def state(count, thread):
        config = {"configurable": {"thread_id": thread, "checkpoint_id": str(count)}}
        return {"values": {"messages": PLAIN[:count]}, "config": config,
                "created_at": "2026-03-02T10:00:00+00:00"}  # fmt: skip

    newest_first = [state(n, "thread-0123456789ab") for n in (4, 3, 2, 1)]
    other = [state(n, "1") for n in (1, 2)]

    runs = runs_of(reader, json.dumps([*newest_first, *other]).encode())

    assert [(run.run_id, run.is_global_id) for run in runs] == [
        ("thread-0123456789ab", True),
        ("1", False),
    ]
    assert [figures([run]).calls for run in runs] == [2, 2]


def test_updates_of_nodes_are_put_together():
    updates = [
        {"agent": {"messages": PLAIN[:2]}},
        {"tools": {"messages": PLAIN[2:3]}},
        {"agent": {"messages": PLAIN[3:]}},
    ]

    assert figures(read_bytes(reader, json_lines(updates))) == COUNTED


def test_messages_of_no_known_type_are_set_aside_and_removed_ones_left_out():
    odd = [*PLAIN[:2], 4, {"type": "remove", "content": "", "id": "m1"}, *PLAIN[2:]]
    raw = json.dumps({"messages": odd}).encode()

    assert figures(read_bytes(reader, raw)) == COUNTED._replace(set_aside=1)


def test_detect_is_less_sure_without_langchain_s_own_keys():
    bare = [{"type": "human", "content": "hi"}, {"type": "ai", "content": "ho"}]
    assert reader.detect(json.dumps(bare).encode()) == 0.55
    assert reader.detect(json.dumps([{"type": "user", "content": 1}]).encode()) == 0.0
    assert reader.detect(json.dumps({"messages": PLAIN}).encode()[:300]) == 0.7


@pytest.mark.parametrize("value", [PLAIN, DUMPED, {"messages": AS_DICTS}])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=3, count=200)
