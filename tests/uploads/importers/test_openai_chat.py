"""OpenAI chat: wrappers, bare messages, old function calls, parts, request logs."""

import json

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import openai_chat

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


def asked(call_id, name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


MESSAGES = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Where is order 4?"},
    {"role": "assistant", "content": None, "tool_calls": [
        asked("c1", "get_order", '{"id": 4}'), asked("c2", "get_user", '{"id": ')]},
    {"role": "tool", "tool_call_id": "c2", "content": "{}"},
    {"role": "tool", "tool_call_id": "c1", "name": "get_order", "is_error": True,
     "content": "Error: no order 4"},
    {"role": "assistant", "content": "There is none."},
]  # fmt: skip
WRAPPER = {
    "run_id": "run_1",
    "started_at": "2026-03-02T10:00:00Z",
    "ended_at": 1772445660,
    "model": "model-a",
    "agent": {"name": "order-desk", "version": "1.2"},
    "outcome": {"success": False},
    "ending": "timed_out",
    "messages": MESSAGES,
}
OLD = [
    {"role": "user", "content": "Where is order 4?"},
    {"role": "assistant", "content": None,
     "function_call": {"name": "get_order", "arguments": "{}"}},
    {"role": "function", "name": "get_order", "content": "none"},
    {"role": "assistant", "content": "There is none."},
]  # fmt: skip
PARTS = {
    "meta": {"from": "a converter"},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "List files"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "I will."},
            {"type": "tool_call", "tool_call_id": "p1", "name": "shell",
             "arguments": {"command": "ls"}}]},
        {"role": "tool", "content": [
            {"type": "tool_output", "tool_call_id": "p1", "output": "a.txt"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "One."}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (json.dumps(WRAPPER), Figures(calls=2, flagged=1, turns=4)),
        (json.dumps([WRAPPER, WRAPPER]), Figures(2, 4, flagged=2, turns=8, threads=2)),
        (json.dumps(MESSAGES), Figures(calls=2, flagged=1, turns=4)),
        (json.dumps(MESSAGES, indent=2), Figures(calls=2, flagged=1, turns=4)),
        (json_lines(MESSAGES).decode(), Figures(calls=2, flagged=1, turns=4)),
        (json_lines([MESSAGES, OLD]).decode(), Figures(2, 3, 0, 1, 7, 2)),
        (json.dumps([MESSAGES, OLD]), Figures(2, 3, 0, 1, 7, 2)),
        (json.dumps(OLD), Figures(calls=1, turns=3)),
        (json.dumps(PARTS), Figures(calls=1, turns=3)),
        (json.dumps(MESSAGES[:4]), Figures(calls=2, missing=1, turns=3)),
        (json.dumps(MESSAGES[3:]), Figures(calls=2, flagged=1, turns=2)),
    ],
    ids=[
        *("wrapper", "array of wrappers", "list", "indented", "lines", "lists"),
        *("array of lists", "function_call", "parts", "no result", "no call"),
    ],
)
def test_read_counts_calls_and_errors(raw, wanted):
    assert figures(read_bytes(openai_chat, raw.encode())) == wanted


def test_read_takes_the_wrapper_s_fields():
    run = run_of(openai_chat, json.dumps(WRAPPER).encode())

    assert (run.run_id, run.is_global_id, run.model) == ("run_1", True, "model-a")
    assert (run.agent, run.agent_version) == ("order-desk", "1.2")
    assert (run.started_at, run.ended_at) == (1772445600.0, 1772445660.0)
    assert (run.outcome, run.outcome_by) == ("incorrect", "outcome.success")
    assert run.ending == "timed_out"


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ({"outcome": {"success": True}}, ("correct", "outcome.success")),
        ({"outcome": "Failed"}, ("incorrect", "outcome")),
        ({"outcome": None}, ("unknown", "")),
        ({"success": True}, ("correct", "success")),
        ({"success": 0}, ("incorrect", "success")),
        ({"outcome": "maybe"}, ("unknown", "")),
        ({"outcome": 0.7}, ("unknown", "")),
        ({"scores": {"toxicity": 0.9}}, ("unknown", "")),
    ],
)
def test_an_outcome_is_only_what_a_field_says(said, wanted):
    run = run_of(openai_chat, json.dumps({"messages": MESSAGES, **said}).encode())

    assert (run.outcome, run.outcome_by) == wanted


def test_scores_have_no_direction():
    scored = {**WRAPPER, "scores": {"toxicity": 0.9, "style": "good"}}

    (first, second) = run_of(openai_chat, json.dumps(scored).encode()).scores

    assert (first.name, first.value, first.higher_is_better) == ("toxicity", 0.9, None)
    assert second.value == "good"


def test_arguments_that_are_no_json_stay_as_they_are():
    order, user = calls_of(run_of(openai_chat, json.dumps(MESSAGES).encode()))

    assert (order.arguments, user.arguments) == ('{"id": 4}', '{"id": ')
    assert (order.result.flag, order.result.turns_before) == ("is_error", 3)


def test_ids_that_repeat_are_answered_in_turn():
    again = [*MESSAGES[1:3], *MESSAGES[3:5], *MESSAGES[2:3], *MESSAGES[3:5]]

    assert figures([run_of(openai_chat, json.dumps(again).encode())]) == Figures(
        calls=4, flagged=2, turns=3
    )


def test_a_request_log_that_repeats_the_history_is_one_run():
    answer = {"choices": [{"message": MESSAGES[5]}]}
    log = [
        {"model": "m", "messages": MESSAGES[:2]},
        {"request": {"model": "m", "messages": MESSAGES[:5]}, "response": answer},
    ]

    run = run_of(openai_chat, json_lines(log))

    assert figures([run]) == Figures(calls=2, flagged=1, turns=4)
    assert run.model == "m"


def test_runs_without_an_id_that_differ_stay_apart():
    other = [*MESSAGES[:2], {"role": "assistant", "content": "No."}]

    assert len(runs_of(openai_chat, json_lines([MESSAGES, other, OLD]))) == 3


def test_a_cut_line_keeps_the_messages_before_the_cut():
    raw = json_lines([WRAPPER, {**WRAPPER, "run_id": "run_2"}])
    cut = raw[: raw.rindex(b"There is")]

    first, second = runs_of(openai_chat, cut)

    assert (first.run_id, len(first.unreadable)) == ("run_1", 0)
    assert (second.run_id, len(second.unreadable)) == (
        "",
        1,
    ) or second.run_id == "run_2"
    assert figures([second]).calls == 2
    assert second.unreadable[0].reason.startswith("not JSON")


@pytest.mark.parametrize(
    "fault", [(b'"role": "system"', b'"role" "system"'), (b'"tool_calls": [', b'"t": ')]
)
def test_runs_behind_a_fault_in_an_array_are_found(fault):
    raw = json.dumps([{**WRAPPER, "run_id": str(n)} for n in range(4)]).encode()

    records = read_bytes(openai_chat, raw.replace(fault[0], fault[1], 1))

    runs = [r.run_id for r in records if isinstance(r, Transcript) and not r.unreadable]
    assert runs == ["1", "2", "3"]


def test_messages_behind_a_fault_in_a_list_are_found():
    raw = json.dumps(MESSAGES).encode().replace(b'"role": "system"', b'"role" "system"')

    wanted = Figures(calls=2, flagged=1, turns=3, set_aside=1)
    assert figures(read_bytes(openai_chat, raw)) == wanted


def test_messages_of_the_wrong_type_are_set_aside():
    messages = [*MESSAGES[:3], None, 5, *MESSAGES[3:]]
    raw = json.dumps({"messages": messages}).encode()

    wanted = Figures(calls=2, flagged=1, turns=4, set_aside=2)
    assert figures(read_bytes(openai_chat, raw)) == wanted


def test_lines_with_ids_stand_alone():
    assert openai_chat.lines_stand_alone(json_lines([WRAPPER, WRAPPER]))
    assert not openai_chat.lines_stand_alone(json_lines([WRAPPER, {"messages": []}]))
    assert not openai_chat.lines_stand_alone(json_lines(MESSAGES))


def test_a_refusal_is_what_the_assistant_said():
    refused = {"role": "assistant", "content": None, "refusal": "I cannot."}

    run = run_of(openai_chat, json.dumps([MESSAGES[1], refused]).encode())

    assert run.threads[0].turns[1].text == "I cannot."


def test_detect_is_surer_with_calls_than_without():
    assert openai_chat.detect(json.dumps(WRAPPER).encode()) == 0.6
    assert openai_chat.detect(json.dumps(WRAPPER).encode()[:400]) == 0.6
    assert openai_chat.detect(json.dumps(OLD).encode()) == 0.6
    assert openai_chat.detect(json.dumps(PARTS).encode()) == 0.6
    assert openai_chat.detect(json.dumps(MESSAGES[:2]).encode()) == 0.3
    assert openai_chat.detect(b'{"role": ["user"], "content": 1}') == 0.0
    assert openai_chat.detect(b'{"messages": "none"}') == 0.0


@pytest.mark.parametrize(
    "value", [WRAPPER, MESSAGES, PARTS], ids=["wrapper", "list", "parts"]
)
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(openai_chat, json.dumps(value).encode(), seed=1, count=240)
