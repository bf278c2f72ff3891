"""LangSmith: operations in two halves, rows, nested runs, feedback, sub-graphs."""

import json

import pytest

from apps.uploads.importers import langsmith as reader

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

TRACE = "1efb27a4-0000-4000-8000-000000000001"


def moment(second):
    return f"2026-03-02T10:00:{second:02}.000000"


def create(run_id, kind, name, second, inputs, parent=TRACE, **fields):
    return {
        "id": run_id,
        "trace_id": TRACE,
        "run_type": kind,
        "name": name,
        "dotted_order": f"2026Z{TRACE}.{run_id}",
        "parent_run_id": parent,
        "start_time": moment(second),
        "inputs": inputs,
        "extra": {},
        **fields,
    }


def update(run_id, second, outputs=None, error=None):
    return {"id": run_id, "trace_id": TRACE, "end_time": moment(second),
            "outputs": outputs, "error": error}  # fmt: skip


def dumped(name, **kwargs):
    return {"lc": 1, "type": "constructor", "id": ["langchain", name], "kwargs": kwargs}


HUMAN = dumped("HumanMessage", content="Where is 4?", type="human")
ASKS = dumped("AIMessage", content="", type="ai",
              response_metadata={"model_name": "model-a"},
              usage_metadata={"input_tokens": 9, "output_tokens": 2},
              tool_calls=[{"name": "get", "args": {"id": 4}, "id": "c1"},
                          {"name": "list", "args": {}, "id": "c2"}])  # fmt: skip
TOLD = dumped(
    "ToolMessage", content="Error: no order 4", tool_call_id="c1", type="tool"
)
SAYS = dumped("AIMessage", content="None.", type="ai")
LIST = {"content": "[17]", "type": "tool", "name": "list", "tool_call_id": "c2",
        "status": "success"}  # fmt: skip
CREATED = [
    create(TRACE, "chain", "graph", 0, {"messages": []}, parent=None),
    create("l1", "llm", "ChatModel", 1, {"messages": [[HUMAN]]}),
    create("t1", "tool", "get", 3, {"input": "{'id': 4}"}),
    create("t2", "tool", "list", 3, {}),
    create("l2", "llm", "ChatModel", 5, {"messages": [[HUMAN, ASKS, TOLD]]}),
]
UPDATED = [
    update("l1", 2, {"generations": [[{"text": "", "message": ASKS}]]}),
    update("t1", 4, error="ValueError('no order 4')Traceback (most recent call last):"),
    update("t2", 4, {"output": LIST}),
    update("l2", 6, {"generations": [[{"text": "None.", "message": SAYS}]]}),
    update(TRACE, 7, {"messages": []}),
]
OPERATIONS = [CREATED[0], CREATED[1], UPDATED[0], *CREATED[2:], *UPDATED[1:]]
COUNTED = Figures(calls=2, flagged=1, turns=3)


def merged():
    rows = {row["id"]: dict(row) for row in CREATED}
    for row in UPDATED:
        rows[row["id"]] |= row
    return list(rows.values())


def nested():
    root, *children = merged()
    inner = [{k: v for k, v in c.items() if k != "trace_id"} for c in children]
    return {**root, "child_runs": inner}


@pytest.mark.parametrize(
    "raw",
    [
        json_lines(OPERATIONS),
        json_lines([*UPDATED, *reversed(CREATED)]),
        json.dumps(merged()).encode(),
        json.dumps(nested()).encode(),
        json_lines([{"post": CREATED, "patch": []}, {"post": [], "patch": UPDATED}]),
    ],
    ids=["operations", "updates first", "rows", "nested", "batches"],
)
def test_all_forms_read_alike(raw):
    run = run_of(reader, raw)

    failed, listed = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id, run.title) == (TRACE, True, "graph")
    assert (run.model, run.started_at, run.ended_at) == (
        "model-a",
        1772445601.0,
        1772445606.0,
    )
    assert (failed.tool, failed.id, failed.arguments) == ("get", "c1", '{"id":4}')
    assert (failed.result.text, failed.result.flag) == ("Error: no order 4", "error")
    assert (listed.result.text, listed.result.is_error) == ("[17]", False)
    assert run.threads[0].turns[1].input_tokens == 9
    assert reader.detect(raw) >= 0.9 or b'"post"' in raw


def test_an_error_that_ends_the_run_never_reached_the_model():
    crashed = [*CREATED[:4], UPDATED[0], UPDATED[1], update(TRACE, 5, error="boom")]

    run = run_of(reader, json_lines(crashed))

    failed, open_call = calls_of(run)
    assert (failed.result.delivered, open_call.result) == (False, None) or (
        failed.result.delivered is False
    )
    assert failed.result.text.startswith("ValueError")
    assert run.ending == "crashed"


def test_halves_at_the_edges_are_kept():
    run = run_of(reader, json_lines([CREATED[0], CREATED[2], UPDATED[3]]))

    assert figures([run]).calls == 1
    assert run.run_id == TRACE


def test_an_answer_that_a_forced_tool_shapes_is_text():
    choice = {"type": "function", "function": {"name": "get"}}
    extra = {
        "invocation_params": {
            "tool_choice": choice,
            "tools": [
                {"type": "function", "function": {"name": "get", "parameters": {}}}
            ],
        }
    }
    rows = [{**CREATED[1], "extra": extra}, UPDATED[0]]

    run = run_of(reader, json_lines(rows))

    assert [call.tool for call in calls_of(run)] == ["list"]
    assert run.threads[0].turns[1].text == '{"id":4}'
    assert [tool.name for tool in run.tools] == ["get"]


def test_sub_graphs_are_threads():
    def placed(row, namespace):
        return {**row, "extra": {"metadata": {"langgraph_checkpoint_ns": namespace}}}

    rows = [
        placed(CREATED[1], "agent:1"),
        UPDATED[0],
        placed(CREATED[4], "research:2|agent:3"),
        UPDATED[3],
    ]

    run = run_of(reader, json_lines(rows))

    assert [(t.id, t.kind) for t in run.threads] == [
        ("", "main"),
        ("graph research:2", "sub_agent"),
    ]


def test_feedback_is_a_score_without_a_direction():
    feedback = [
        {"run_id": TRACE, "key": "toxicity", "score": 0.2},
        {"trace_id": TRACE, "run_id": "l1", "key": "style", "value": "good"},
    ]

    scores = run_of(reader, json_lines([*OPERATIONS, *feedback])).scores

    assert [(s.name, s.value, s.higher_is_better) for s in scores] == [
        ("toxicity", 0.2, None),
        ("style", "good", None),
    ]


def test_two_traces_are_two_runs_and_odd_rows_are_set_aside():
    other = [{**row, "id": f"x{row['id']}", "trace_id": "other"} for row in merged()]
    raw = json_lines([*OPERATIONS, *other, {"a": 1}])

    records = read_bytes(reader, raw)

    assert figures(records).set_aside == 1
    assert len(runs_of(reader, json_lines([*OPERATIONS, *other]))) == 2


def test_detect_leaves_other_rows_alone():
    assert reader.detect(json_lines([{"trace_id": "1", "end_time": "x"}])) == 0.0
    assert reader.detect(json_lines([{"run_type": "tool"}])) == 0.0


def test_nothing_escapes_from_spoiled_files():
    check_survives(reader, json_lines(OPERATIONS), seed=13, count=250)
    check_survives(reader, json.dumps(nested()).encode(), seed=14, count=100)
