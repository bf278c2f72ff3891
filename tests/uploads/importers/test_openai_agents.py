"""OpenAI Agents SDK traces: containers, groups, hand-offs, printed responses."""

import json

import pytest

from apps.uploads.importers import openai_agents as reader

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


def span(span_id, second, data, parent="a0", error=None, **fields):
    return {
        "object": "trace.span",
        "id": f"span_{span_id}",
        "trace_id": "trace_0123456789abcdef",
        "parent_id": f"span_{parent}" if parent else None,
        "started_at": f"2026-03-02T10:00:{second:02}+00:00",
        "ended_at": f"2026-03-02T10:00:{second + 1:02}+00:00",
        "span_data": data,
        "error": error,
        **fields,
    }


def function(name, given, output):
    return {"type": "function", "name": name, "input": given, "output": output}


FAILED = {"message": "Error running tool", "data": {"error": "no room R1"}}
CALLED = {"type": "function_call", "call_id": "c1", "name": "book", "arguments": "{}"}
SPANS = [
    span("a0", 0, {"type": "agent", "name": "Desk", "tools": ["book"]}, parent=None),
    span("r1", 1, {"type": "response", "response_id": "resp_1"}),
    span("f1", 3, function("book", '{"room": "R1"}', None), error=FAILED),
    span("f2", 4, function("find", "{}", '["R2"]')),
    span("r2", 5, {"type": "response", "response_id": "resp_2"}),
    span("h1", 7, {"type": "handoff", "from_agent": "Desk", "to_agent": "Boss"}),
    span("g1", 8, {"type": "guardrail", "name": "polite", "triggered": False}),
]
TRACE = {"object": "trace", "id": "trace_0123456789abcdef", "workflow_name": "Booking",
         "group_id": None, "metadata": None}  # fmt: skip
COUNTED = Figures(calls=3, flagged=1, turns=2)


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps({"traces": [{**TRACE, "spans": SPANS}], "count": 1}).encode(),
        json.dumps({"data": [TRACE, *SPANS]}).encode(),
        json_lines([TRACE, *SPANS]),
        json_lines([*reversed(SPANS), TRACE]),
    ],
    ids=["traces", "batch", "lines", "lines backwards"],
)
def test_all_containers_read_alike(raw):
    run = run_of(reader, raw)

    failed, found, handed = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id) == ("trace_0123456789abcdef", True)
    assert (run.title, run.agent, run.started_at) == ("Booking", "Desk", 1772445600.0)
    assert (failed.result.text, failed.result.flag) == (
        "Error running tool: no room R1",
        "error",
    )
    assert failed.result.delivered
    assert (found.arguments, found.result.text) == ("{}", '["R2"]')
    assert handed.tool == "transfer_to_Boss"
    assert reader.detect(raw) == 0.95


def test_what_a_processor_adds_of_the_responses_is_read():
    response = {"object": "response", "model": "model-a", "output": [CALLED],
                "usage": {"input_tokens": 9, "output_tokens": 2}}  # fmt: skip
    told = [
        {"role": "user", "content": "Book R1"},
        CALLED,
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": "An error occurred.",
        },
    ]
    first = {**SPANS[1], "span_data": {**SPANS[1]["span_data"], "response": response,
                                       "input": told[:1]}}  # fmt: skip
    second = {**SPANS[4], "span_data": {**SPANS[4]["span_data"], "input": told}}

    run = run_of(reader, json_lines([TRACE, SPANS[0], first, SPANS[2], second]))

    (call,) = calls_of(run)
    assert (call.id, call.result.text) == ("c1", "An error occurred.")
    assert call.result.is_error
    assert (run.model, run.threads[0].turns[0].text) == ("model-a", "Book R1")
    assert run.threads[0].turns[1].input_tokens == 9


def test_a_response_that_was_printed_is_read_as_far_as_it_goes():
    printed = (
        "Response(id='r', output=[ResponseFunctionWebSearch(id='ws_1', action="
        "ActionSearch(query='x', type='search'), status='completed'), "
        "ResponseFunctionToolCall(arguments='{\"a\": 1}', call_id='c1', name='get', "
        "type='function_call'), ResponseOutputMessage(id='m', content=["
        'ResponseOutputText(annotations=[], text="It\'s there.\\nYes", logprobs=[])])])'
    )

    run = run_of(reader, json_lines([TRACE, {**SPANS[1], "response": printed}]))

    call, search = calls_of(run)
    assert (call.tool, call.arguments, call.result) == ("get", '{"a": 1}', None)
    assert (search.tool, search.result.text) == ("web_search", "[not recorded]")
    assert run.threads[0].turns[0].text == "It's there.\nYes"


def test_traces_of_a_group_are_one_run():
    def trace(number, group):
        spans = [{**s, "trace_id": f"t{number}"} for s in SPANS]
        return {**TRACE, "id": f"t{number}", "group_id": group, "spans": spans}

    group = "conversation-0123456789"
    raw = json.dumps({"traces": [trace(1, group), trace(2, "x"), trace(3, group)]})

    runs = runs_of(reader, raw.encode())

    assert [(run.run_id, run.is_global_id) for run in runs] == [
        (group, True),
        ("x", False),
    ]
    assert [figures([run]).calls for run in runs] == [6, 3]


def test_an_error_that_ends_the_run_never_reached_the_model():
    root = {**SPANS[0], "error": {"message": "boom", "data": None}}

    run = run_of(reader, json_lines([TRACE, root, *SPANS[1:3]]))

    assert calls_of(run)[0].result.delivered is False
    assert run.ending == "crashed"


def test_odd_items_are_set_aside():
    spans = [*SPANS, 5]
    raw = json.dumps({"traces": [{**TRACE, "spans": spans}, {"object": "x"}]}).encode()

    assert figures(read_bytes(reader, raw)) == COUNTED._replace(set_aside=2)


def test_detect_leaves_other_files_alone():
    assert reader.detect(b'{"traces": [1]}') == 0.0
    assert reader.detect(b'{"data": [{"object": "list"}]}') == 0.0


@pytest.mark.parametrize(
    "raw",
    [
        json_lines([TRACE, *SPANS]),
        json.dumps({"traces": [{**TRACE, "spans": SPANS}]}).encode(),
    ],
)
def test_nothing_escapes_from_spoiled_files(raw):
    check_survives(reader, raw, seed=17, count=200)
