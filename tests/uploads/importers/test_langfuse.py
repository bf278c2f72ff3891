"""Langfuse: traces, observations, hidden tools, texts encoded again and again."""

import json

import pytest

from apps.uploads.importers import langfuse as reader

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

START = 1772445600.0


def observation(number, kind, name, second, **fields):
    return {
        "id": f"o{number}",
        "traceId": "trace-1",
        "parentObservationId": "o0" if number else None,
        "type": kind,
        "name": name,
        "startTime": f"2026-03-02T10:00:{second:02}.000Z",
        "endTime": f"2026-03-02T10:00:{second + 1:02}.000Z",
        "level": "DEFAULT",
        "statusMessage": None,
        "input": None,
        "output": None,
        "metadata": {},
        **fields,
    }


def wanted_call(call_id, name, arguments):
    return {"id": call_id, "function": {"name": name, "arguments": arguments}}


ASKED = {"role": "user", "content": "Where is 4?"}
FIRST = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        wanted_call("c1", "get", '{"id": 4}'),
        wanted_call("c2", "list", "{}"),
    ],
}
TOLD = [{"role": "tool", "tool_call_id": "c1", "content": "No order 4."},
        {"role": "tool", "tool_call_id": "c2", "content": "[17]"}]  # fmt: skip
OBSERVATIONS = [
    observation(4, "GENERATION", "chat", 5, input=[ASKED, FIRST, *TOLD],
                output={"role": "assistant", "content": "None."}, model="model-a"),
    observation(1, "GENERATION", "chat", 1, input=[ASKED], output=FIRST,
                model="model-a",
                usageDetails={"input": 9, "output": 2}),
    observation(2, "TOOL", "get", 3, input={"id": 4}, level="ERROR",
                statusMessage="ValueError: No order 4"),
    observation(3, "SPAN", "tool.list", 3, input={}, output="[17]", metadata={
        "attributes": {"gen_ai.tool.name": "list", "gen_ai.tool.call.id": "c2"}}),
    observation(5, "EVENT", "note", 5),
    observation(0, "AGENT", "desk", 0),
]  # fmt: skip
ABOUT = {
    "id": "trace-1",
    "name": "order",
    "timestamp": "2026-03-02T10:00:00.000Z",
    "tags": ["dev"],
    "sessionId": "s",
    "version": "1.2",
    "projectId": "p",
    "scores": [
        {"name": "toxicity", "value": 0, "dataType": "NUMERIC"},
        {"name": "verdict", "value": None, "stringValue": "bad"},
    ],
}
TRACE = {"trace": ABOUT, "observations": OBSERVATIONS}
COUNTED = Figures(calls=2, flagged=1, turns=3)


def encoded(value, times=1):
    for _ in range(times):
        value = json.dumps(value)
    return value


TEXTS = {"trace": ABOUT, "observations": [
    {**o, "input": encoded(o["input"], 3), "output": encoded(o["output"]),
     "metadata": encoded(o["metadata"])} for o in OBSERVATIONS]}  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [TRACE, TEXTS, {**ABOUT, "observations": OBSERVATIONS}, {"data": OBSERVATIONS},
     OBSERVATIONS],
    ids=["download", "encoded", "API trace", "API observations", "observations"],
)  # fmt: skip
def test_all_forms_read_alike(value):
    raw = json.dumps(value).encode()

    run = run_of(reader, raw)

    failed, listed = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id, run.model) == ("trace-1", True, "model-a")
    assert (failed.result.text, failed.result.flag) == ("No order 4.", "level")
    assert (listed.tool, listed.result.text, listed.result.is_error) == (
        "list",
        "[17]",
        None,
    )
    assert run.threads[0].turns[1].input_tokens == 9
    assert [turn.role for turn in run.threads[0].turns] == ["user", *["assistant"] * 2]
    assert reader.detect(raw) >= 0.9


def test_a_trace_gives_title_tags_and_scores_without_a_direction():
    run = run_of(reader, json.dumps(TRACE).encode())

    assert (run.title, run.tags, run.agent_version) == ("order", ["dev"], "1.2")
    assert [(s.name, s.value, s.higher_is_better) for s in run.scores] == [
        ("toxicity", 0.0, None),
        ("verdict", "bad", None),
    ]
    assert (run.outcome, run.ending) == ("unknown", "")
    assert (run.started_at, run.ended_at) == (START, START + 6)


def test_a_span_whose_output_is_a_tool_message_is_a_tool():
    message = {"type": "tool", "content": "rows", "name": "search", "status": "error",
               "tool_call_id": "c9"}  # fmt: skip
    about = {"inputs": {"q": "x"}}
    plain = observation(2, "SPAN", "search", 3, input="{'q': 'x'}", output=message,
                        metadata=about)  # fmt: skip
    node = observation(1, "SPAN", "tools", 2, output={"messages": [message]})
    trace = {"trace": ABOUT, "observations": [node, plain]}

    (call,) = calls_of(run_of(reader, json.dumps(trace).encode()))

    assert (call.tool, call.id, call.arguments) == ("search", "c9", '{"q":"x"}')
    assert (call.result.text, call.result.flag) == ("rows", "status")


def test_a_download_without_content_has_names_and_levels():
    bare = [{k: v for k, v in o.items() if k not in ("input", "output", "metadata")}
            for o in OBSERVATIONS]  # fmt: skip

    run = run_of(reader, json.dumps({"trace": ABOUT, "observations": bare}).encode())

    (call,) = calls_of(run)
    assert (call.tool, call.result.is_error) == ("get", True)
    assert call.result.text == "ValueError: No order 4"


def test_agents_one_after_another_are_threads():
    def ask(number, parent, second, text):
        found = observation(number, "GENERATION", "chat", second,
                            output={"role": "assistant", "content": text})  # fmt: skip
        return {**found, "parentObservationId": parent}

    agents = [
        observation(0, "SPAN", "root", 0),
        observation(1, "AGENT", "writer", 1),
        observation(2, "AGENT", "writer", 3),
        observation(3, "AGENT", "critic", 5),
        *(ask(4, "o1", 1, "A"), ask(5, "o2", 3, "B"), ask(6, "o3", 5, "C")),
    ]

    run = run_of(reader, json.dumps({"trace": ABOUT, "observations": agents}).encode())

    assert [(t.agent, [u.text for u in t.turns]) for t in run.threads] == [
        ("writer", ["A", "B"]),
        ("critic", ["C"]),
    ]


def test_traces_a_line_and_mixed_observations_are_runs():
    other = {"trace": {**ABOUT, "id": "trace-2"}, "observations": OBSERVATIONS}
    mixed = [*OBSERVATIONS, {**OBSERVATIONS[2], "traceId": "trace-2"}]

    lines = runs_of(reader, json_lines([TRACE, other]))
    listed = runs_of(reader, json.dumps(mixed).encode())

    assert [run.run_id for run in lines] == ["trace-1", "trace-2"]
    assert [(run.run_id, figures([run]).calls) for run in listed] == [
        ("trace-1", 2),
        ("trace-2", 1),
    ]


def test_a_cut_trace_keeps_the_observations_before_the_cut():
    raw = json.dumps(TRACE).encode()

    records = read_bytes(reader, raw[: raw.index(b'"id": "o3"')])

    assert figures(records) == Figures(calls=2, flagged=1, turns=3, set_aside=1)


def test_a_trace_without_an_agent_is_set_aside():
    empty = {"trace": ABOUT, "observations": [observation(5, "EVENT", "note", 5)]}

    (record,) = read_bytes(reader, json.dumps(empty).encode())

    assert record.reason == "no observation of a model, an agent or a tool"


def test_detect_leaves_other_files_alone():
    assert reader.detect(json.dumps(TRACE).encode()[:900]) == 0.9
    assert reader.detect(b'{"trace": 1}') == 0.0
    openhands: dict[str, list[str]] = {"observations": [], "history": []}
    assert reader.detect(json.dumps(openhands).encode()) == 0.0


@pytest.mark.parametrize("value", [TRACE, TEXTS], ids=["plain", "encoded"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=12, count=200)
