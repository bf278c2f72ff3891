"""smolagents: steps of tool-calling and code agents."""

import json

import pytest

from apps.uploads.importers import smolagents as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives

START = 1772445600.0


def tool_call(call_id, name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def step(number, calls=(), said="", error=None, **fields):
    """One action step; on a tool error its own list of calls is empty."""
    message = {"role": "assistant", "content": said, "tool_calls": list(calls) or None}
    return {
        "step_number": number,
        "timing": {"start_time": START + number, "end_time": START + number + 0.5},
        "model_input_messages": [{"role": "system", "content": "x"}] * 3,
        "tool_calls": [] if error else list(calls),
        "error": error,
        "model_output_message": message,
        "model_output": said,
        "code_action": None,
        "observations": None,
        "token_usage": {"input_tokens": 100, "output_tokens": 20},
        "is_final_answer": False,
        **fields,
    }  # fmt: skip


def failure(kind, message):
    return {"type": kind, "message": message}


TASK = {"task": "How many visitors?", "task_images": None}
TOOLS = [
    {"system_prompt": "You are an agent."},
    TASK,
    {"plan": "First look.", "timing": {}},
    step(1, [tool_call("s1", "fetch", {"url": "x"})],
         error=failure("AgentToolExecutionError",
                       "Error executing tool 'fetch': no https")),
    step(2, [tool_call("s2", "fitch", {})],
         error=failure("AgentToolCallError", "Unknown tool fitch")),
    step(3, [tool_call("s3", "fetch", {"url": "y"})], observations="42 visitors"),
    step(4, [tool_call("s4", "final_answer", {"answer": "42"})], observations="42",
         is_final_answer=True),
]  # fmt: skip
CODE = [
    TASK,
    step(1, [tool_call("call_1", "python_interpreter", "x = fetch()")], "Thought",
         code_action="x = fetch()", observations="logs"),
    step(2, said="no code here",
         error=failure("AgentParsingError", "Your code snippet is invalid")),
    step(3, error=failure("AgentGenerationError", "the provider is away")),
    step(4, error=failure("AgentMaxStepsError", "Reached max steps.")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (TOOLS, Figures(calls=4, flagged=2, turns=7)),
        ({"steps": TOOLS}, Figures(calls=4, flagged=2, turns=7)),
        (CODE, Figures(calls=2, flagged=1, turns=5)),
        ([TASK, step(1, [tool_call("s1", "f", {})])], Figures(1, 1, 1, 0, 2)),
    ],
    ids=["tools", "wrapper", "code", "no result"],
)
def test_read_counts_calls_and_errors(value, wanted):
    assert figures(read_bytes(reader, json.dumps(value).encode())) == wanted


def test_the_call_of_an_error_is_taken_from_the_model_s_message():
    run = run_of(reader, json.dumps(TOOLS).encode())

    failed, refused, worked, last = calls_of(run)
    assert (failed.tool, failed.arguments, failed.id) == ("fetch", '{"url":"x"}', "s1")
    assert (failed.result.text, failed.result.error_code, failed.result.cause) == (
        "Error executing tool 'fetch': no https",
        "AgentToolExecutionError",
        "",
    )
    assert (refused.result.cause, worked.result.text) == ("rejected", "42 visitors")
    assert (worked.result.is_error, worked.result.flag) == (False, "error")
    assert (run.ending, run.threads[0].turns[-1].text, last.tool) == (
        "submitted",
        "42",
        "final_answer",
    )


def test_a_code_agent_s_parsing_error_is_a_refused_call():
    run = run_of(reader, json.dumps(CODE).encode())

    worked, refused = calls_of(run)
    assert (worked.arguments, worked.result.text) == ("x = fetch()", "logs")
    assert (refused.tool, refused.arguments) == ("python_interpreter", "no code here")
    assert refused.result.cause == "rejected"
    assert [turn.kind for turn in run.threads[0].turns[-2:]] == ["notice", "notice"]
    assert (run.ending, run.started_at) == ("budget_spent", 1772445601.0)


def test_of_parallel_calls_the_error_names_the_one_that_failed():
    calls = [tool_call("s1", "fetch", {}), tool_call("s2", "count", {})]
    error = failure("AgentToolExecutionError", "Error executing tool 'count': no")
    both = [TASK, step(1, calls, error=error), step(2, calls, observations="a\nb")]

    found = calls_of(run_of(reader, json.dumps(both).encode()))

    results = [
        call.result and (call.result.is_error, call.result.text) for call in found
    ]
    assert results == [None, (True, error["message"]), (False, "a\nb"), (False, "a\nb")]


def test_one_list_a_line_is_one_run_a_line():
    runs = read_bytes(reader, json_lines([TOOLS, {"run_id": "r2", "steps": CODE}]))

    assert [run.run_id for run in runs] == ["", "r2"]


def test_detect_needs_steps():
    assert reader.detect(json.dumps(TOOLS).encode()) == 0.9
    assert reader.detect(json.dumps({"steps": CODE}).encode()) == 0.9
    assert reader.detect(json.dumps(TOOLS[2:4]).encode()[:400]) == 0.8
    assert reader.detect(json.dumps([TASK]).encode()) == 0.0
    assert (
        reader.detect(json.dumps([{"step_number": 1, "action": "x"}]).encode()) == 0.0
    )


@pytest.mark.parametrize("value", [TOOLS, CODE], ids=["tools", "code"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=6, count=250)
