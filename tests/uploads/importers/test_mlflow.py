"""MLflow traces: versions 2 and 3, crashes, assessments."""

import json

import pytest

from apps.uploads.importers import mlflow as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives

START = 1772445600


def span(
    span_id, kind, name, second, inputs=None, outputs=None, failed=False, **fields
):
    """A span of version 3; every attribute is JSON text."""
    attributes = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs}
    attributes |= {"mlflow.spanOutputs": outputs} if outputs is not None else {}
    event = {"name": "exception", "attributes": {"exception.type": "LookupError",
             "exception.message": "no invoice 0"}}  # fmt: skip
    return {"span_id": span_id, "parent_span_id": None if span_id == "a0" else "a0",
            "name": name, "start_time_unix_nano": (START + second) * 10**9,
            "end_time_unix_nano": (START + second + 1) * 10**9,
            "status": {"code": f"STATUS_CODE_{'ERROR' if failed else 'OK'}",
                       "message": "LookupError: no invoice 0" if failed else ""},
            "events": [event] if failed else [],
            "attributes": {k: json.dumps(v) for k, v in attributes.items()},
            **fields}  # fmt: skip


def asks(call_id):
    function = {"name": "get", "arguments": '{"id": 0}'}
    message = {
        "role": "assistant",
        "tool_calls": [{"id": call_id, "function": function}],
    }
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 50}}


ASKED = {"model": "model-a", "messages": [{"role": "user", "content": "Total?"}]}
SPANS = [
    span("a0", "AGENT", "desk", 0, {"q": "Total?"}),
    span("m1", "CHAT_MODEL", "llm", 1, ASKED, asks("c1")),
    span("t1", "TOOL", "get", 3, {"id": 0}, failed=True),
    span("m2", "CHAT_MODEL", "llm", 5, ASKED, asks("c1")),
    span("t2", "TOOL", "get", 7, {"id": 0}, {"total": 120}),
    span("r1", "RETRIEVER", "find", 8),
]
INFO = {"trace_id": "tr-0123", "state": "OK", "request_time": "2026-03-02T10:00:00Z",
        "tags": {"mlflow.traceName": "invoices"}, "assessments": [
            {"assessment_name": "relevance", "feedback": {"value": "yes"}},
            {"assessment_name": "expected", "expectation": {"value": 1}}]}  # fmt: skip
TRACE = {"info": INFO, "data": {"spans": SPANS}}
COUNTED = Figures(calls=2, flagged=1, turns=3)


def version_2():
    spans = [
        {"name": s["name"], "parent_id": s["parent_span_id"],
         "context": {"span_id": s["span_id"], "trace_id": "x"},
         "start_time": s["start_time_unix_nano"], "end_time": s["end_time_unix_nano"],
         "status_code": s["status"]["code"].removeprefix("STATUS_CODE_"),
         "status_message": s["status"]["message"], "events": s["events"],
         "attributes": s["attributes"]}
        for s in SPANS
    ]  # fmt: skip
    info = {"request_id": "tr-0123", "status": "OK", "timestamp_ms": START * 1000,
            "tags": INFO["tags"]}  # fmt: skip
    return {"info": info, "data": {"request": "{}", "spans": spans}}


@pytest.mark.parametrize("value", [TRACE, version_2()], ids=["3", "2"])
def test_both_versions_read_alike(value):
    raw = json.dumps(value).encode()

    run = run_of(reader, raw)

    failed, worked = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id, run.title) == ("tr-0123", True, "invoices")
    assert (run.agent, run.model, run.ending) == ("desk", "model-a", "")
    assert (run.started_at, run.ended_at) == (START, START + 8)
    assert (failed.result.text, failed.result.error_code) == (
        "no invoice 0",
        "LookupError",
    )
    assert (failed.result.flag, failed.result.delivered) == ("status.code", True)
    assert (worked.result.text, worked.result.is_error) == ('{"total":120}', False)
    assert (failed.id, worked.id) == ("c1", "c1")  # ids repeat; both are answered
    assert run.threads[0].turns[1].input_tokens == 50
    assert reader.detect(raw) == 0.95


def test_an_error_that_ends_the_run_never_reached_the_model():
    failed = {**SPANS[0], "status": {"code": "STATUS_CODE_ERROR", "message": "x"}}
    crashed = {"info": {**INFO, "state": "ERROR"},
               "data": {"spans": [failed, *SPANS[1:3]]}}  # fmt: skip

    run = run_of(reader, json.dumps(crashed).encode())

    (call,) = calls_of(run)
    assert (call.result.is_error, call.result.delivered) == (True, False)
    assert run.ending == "crashed"


def test_feedback_is_a_score_and_an_expectation_is_none():
    (score,) = run_of(reader, json.dumps(TRACE).encode()).scores

    assert (score.name, score.value, score.higher_is_better) == (
        "relevance",
        "yes",
        None,
    )


def test_data_that_stands_as_text_and_many_traces():
    text = {"info": {**INFO, "trace_id": "tr-2"}, "data": json.dumps(TRACE["data"])}

    runs = read_bytes(reader, json_lines([TRACE, text]))

    assert [(r.run_id, figures([r]).calls) for r in runs] == [
        ("tr-0123", 2),
        ("tr-2", 2),
    ]
    listed = read_bytes(reader, json.dumps([TRACE, text]).encode())
    assert [run.run_id for run in listed] == ["tr-0123", "tr-2"]


def test_odd_spans_and_traces_are_set_aside():
    odd = {"info": INFO, "data": {"spans": [*SPANS, 5]}}
    empty = {"info": INFO, "data": {"spans": SPANS[5:]}}

    assert figures(read_bytes(reader, json.dumps(odd).encode())) == COUNTED._replace(
        set_aside=1
    )
    (record,) = read_bytes(reader, json.dumps(empty).encode())
    assert record.reason == "no span of a model, an agent or a tool"


def test_a_cut_trace_keeps_the_spans_before_the_cut():
    raw = json.dumps(TRACE).encode()

    records = read_bytes(reader, raw[: raw.index(b'"span_id": "t2"')])

    assert figures(records) == Figures(
        calls=2, missing=1, flagged=1, turns=3, set_aside=1
    )


def test_detect_leaves_other_files_alone():
    assert reader.detect(json.dumps(TRACE).encode()[:900]) in (0.0, 0.9)
    assert reader.detect(b'{"info": {"a": 1}, "data": {"spans": []}}') == 0.0


def test_nothing_escapes_from_spoiled_files():
    check_survives(reader, json.dumps(TRACE).encode(), seed=15, count=200)
    check_survives(reader, json_lines([version_2(), TRACE]), seed=16, count=100)
