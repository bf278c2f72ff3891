"""OpenInference: Phoenix's spans, nested, flat and as columns of a data frame."""

import json

import pytest

from apps.uploads.importers import openinference as reader

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


def span(span_id, kind, second, attributes, status="OK", parent="a0", **fields):
    return {
        "name": kind.lower(),
        "context": {"trace_id": "tr-1", "span_id": span_id},
        "parent_id": parent,
        "span_kind": kind,
        "start_time": f"2026-03-02T10:00:{second:02}+00:00",
        "end_time": f"2026-03-02T10:00:{second + 1:02}+00:00",
        "status_code": status,
        "status_message": "",
        "attributes": attributes,
        "events": [],
        **fields,
    }


def tool_call(call_id, number=0):
    inner = {"id": call_id, "function": {"name": "get", "arguments": '{"id": 4}'}}
    return {"message": {"role": "assistant", "tool_calls": [{"tool_call": inner}]}}


ASKED = {"message": {"role": "user", "content": "Where is 4?"}}
TOLD = {"message": {"role": "tool", "tool_call_id": "c1", "content": "No order 4!"}}
DONE = {"message": {"role": "assistant", "contents": [
    {"message_content": {"type": "text", "text": "None."}}]}}  # fmt: skip
SPANS = [
    span("m1", "LLM", 1, {"llm": {
        "model_name": "model-a", "token_count": {"prompt": 9, "completion": 2},
        "input_messages": [ASKED], "output_messages": [tool_call("c1")]}}),
    span("t1", "TOOL", 3, {"tool": {"name": "get"}, "input": {"value": '{"id": 4}'},
                           "session": {"id": "s"}},
         status="ERROR", status_message="ValueError: No order 4"),
    span("m2", "LLM", 5, {"llm": {
        "input_messages": [ASKED, tool_call("c1"), TOLD], "output_messages": [DONE]}}),
    span("x1", "RETRIEVER", 6, {}),
    span("a0", "AGENT", 0, {}, parent=None, status="UNSET"),
]  # fmt: skip
COUNTED = Figures(calls=1, flagged=1, turns=3)


def flat(value, prefix=""):
    """Spell nested attributes with dots and numbers."""
    pairs = enumerate(value) if isinstance(value, list) else value.items()
    found: dict[str, object] = {}
    for key, inner in pairs:
        name = f"{prefix}.{key}" if prefix else str(key)
        if isinstance(inner, (dict, list)) and inner:
            found |= flat(inner, name)
        else:
            found[name] = inner
    return found


def columns(source):
    """Spell a span as a row of a data frame."""
    about = {f"context.{key}": value for key, value in source["context"].items()}
    attributes = {f"attributes.{k}": v for k, v in source["attributes"].items()}
    rest = {k: v for k, v in source.items() if k not in ("context", "attributes")}
    return {**about, **attributes, **rest}


FLAT = [{**source, "attributes": flat(source["attributes"])} for source in SPANS]


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(SPANS).encode(),
        json_lines(FLAT),
        json.dumps([columns(source) for source in FLAT]).encode(),
        json.dumps({"data": SPANS, "next_cursor": None}).encode(),
    ],
    ids=["nested", "flat lines", "data frame", "REST"],
)
def test_all_spellings_read_alike(raw):
    run = run_of(reader, raw)

    (call,) = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id, run.model) == ("tr-1", True, "model-a")
    assert (run.started_at, run.ended_at) == (START, START + 6)
    assert (call.tool, call.id, call.arguments) == ("get", "c1", '{"id": 4}')
    assert (call.result.text, call.result.flag) == ("No order 4!", "status_code")
    assert run.threads[0].turns[1].input_tokens == 9
    assert reader.detect(raw) == 0.95


def test_numbers_in_keys_are_sorted_as_numbers():
    messages = {
        f"llm.input_messages.{n}.message.{key}": value
        for n in range(12)
        for key, value in (("role", "user"), ("content", f"said {n}"))
    }

    run = run_of(reader, json.dumps([span("m1", "LLM", 1, messages)]).encode())

    assert [t.text for t in run.threads[0].turns[:12]] == [
        f"said {n}" for n in range(12)
    ]


def test_unset_is_neither_success_nor_failure_and_an_exception_is():
    event = {"name": "exception", "attributes": {"exception.message": "boom"}}
    spans = [
        span("t1", "TOOL", 1, {"tool.name": "a", "output.value": "x"}, status="UNSET"),
        span("t2", "TOOL", 3, {"tool.name": "b"}, status="UNSET", events=[event]),
    ]

    first, second = calls_of(run_of(reader, json.dumps(spans).encode()))

    assert (first.result.is_error, first.result.flag) == (None, "")
    assert (second.result.is_error, second.result.text) == (True, "boom")


def test_a_session_groups_traces_that_stay_runs():
    other = span("t9", "TOOL", 9, {"tool.name": "get", "session.id": "s"})
    other["context"] = {"trace_id": "tr-2", "span_id": "t9"}

    runs = runs_of(reader, json.dumps([*SPANS, other]).encode())

    assert [run.run_id for run in runs] == ["tr-1", "tr-2"]


def test_annotations_are_scores_without_a_direction():
    row = {"trace_id": "tr-1", "span_id": "m1", "name": "hallucination", "score": 0.9}

    (score,) = run_of(reader, json.dumps([*SPANS, row]).encode()).scores

    assert (score.name, score.value, score.higher_is_better) == (
        "hallucination",
        0.9,
        None,
    )


def test_a_failed_root_agent_is_a_crash():
    spans = [*SPANS[:2], {**SPANS[4], "status_code": "ERROR"}]

    run = run_of(reader, json.dumps(spans).encode())

    assert run.ending == "crashed"
    assert calls_of(run)[0].result.delivered is False


def test_odd_records_are_set_aside():
    assert figures(read_bytes(reader, json.dumps([*SPANS, {"a": 1}]).encode())) == (
        COUNTED._replace(set_aside=1)
    )


def test_detect_leaves_other_spans_alone():
    console = {"name": "x", "context": {"trace_id": "0x1"}, "kind": "SpanKind.CLIENT"}
    assert reader.detect(json.dumps(console).encode()) == 0.0
    row = {"trace_id": "1", "status_code": 200}
    assert reader.detect(json.dumps([row]).encode()) == 0.0


@pytest.mark.parametrize("value", [SPANS, FLAT], ids=["nested", "flat"])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json_lines(value), seed=11, count=200)
