"""Errata's own format: schema, samples, and the place of every mistake."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from apps.runs.transcript import OutcomeRecord, Transcript
from apps.uploads.importers import errata as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of
from .reading import check_survives

DOCS = Path(__file__).resolve().parents[3] / "docs"
SCHEMA = json.loads((DOCS / "errata.schema.json").read_text())
SMALL = {"errata": 1, "turns": [{"role": "user", "text": "hi"}]}
RUN = {
    "errata": 1,
    "run_id": "r-17",
    "started_at": "2026-03-02T10:00:00Z",
    "ended_at": 1772445660.5,
    "agent": "desk",
    "agent_version": "2",
    "model": "model-a",
    "task_id": "t-1",
    "title": "Order",
    "source": "lab",
    "tags": ["night"],
    "ending": "timed_out",
    "outcome": "correct",
    "outcome_by": "test suite",
    "scores": [{"name": "toxicity", "value": 0.1, "higher_is_better": False}],
    "tools": [{"name": "get", "input_schema": {"type": "object"}, "read_only": True}],
    "meta": {"anything": [1]},
    "turns": [
        {"role": "system", "text": "Be kind."},
        {"role": "assistant", "reasoning": "Hm.", "at": 1772445601, "input_tokens": 9,
         "calls": [
            {"tool": "get", "arguments": {"id": 4}, "id": "c1", "at": 1772445601.5,
             "result": {"text": "No order 4.", "is_error": True, "error_code": "E4",
                        "cause": "failed", "exit_code": 1, "at": 1772445602}},
            {"tool": "get", "arguments": "not JSON", "result": "[17]"},
            {"tool": "wait", "result": {"pending": True, "delivered": False}},
            {"tool": "set"}]},
        {"role": "user", "text": "The provider is away.", "kind": "notice"},
    ],
    "threads": [{"id": "s1", "agent": "scout", "turns": [{"role": "assistant"}]}],
}  # fmt: skip
OUTCOME = {
    "errata": 1,
    "run_id": "r-18",
    "outcome": "incorrect",
    "by": "tests",
    "note": "2/3",
}


def test_read_takes_every_field():
    run = run_of(reader, json_lines([RUN]))

    first, second, third, last = calls_of(run)
    assert figures([run]) == Figures(calls=4, missing=1, flagged=1, turns=4, threads=2)
    assert (run.run_id, run.is_global_id, run.task_id) == ("r-17", True, "t-1")
    assert (run.started_at, run.ended_at) == (1772445600.0, 1772445660.5)
    assert (run.outcome, run.outcome_by, run.ending) == (
        "correct",
        "test suite",
        "timed_out",
    )
    assert (run.scores[0].higher_is_better, run.tools[0].read_only) == (False, True)
    assert run.tools[0].input_schema == '{"type":"object"}'
    assert (first.arguments, first.id, first.at) == ('{"id":4}', "c1", 1772445601.5)
    result = first.result
    assert (result.flag, result.error_code, result.cause, result.exit_code) == (
        "is_error",
        "E4",
        "failed",
        1,
    )
    assert (second.arguments, second.result.text, second.result.is_error) == (
        "not JSON",
        "[17]",
        None,
    )
    assert (third.result.pending, third.result.delivered) == (True, False)
    assert last.result is None
    assert [(t.id, t.kind, t.agent) for t in run.threads] == [
        ("", "main", ""),
        ("s1", "sub_agent", "scout"),
    ]
    assert run.threads[0].turns[2].kind == "notice"


def test_threads_alone_begin_with_the_main_one():
    line = {"errata": 1, "threads": [{"turns": []}, {"turns": [], "kind": "branch"}]}

    run = run_of(reader, json_lines([line]))

    assert [thread.kind for thread in run.threads] == ["main", "branch"]
    assert (run.run_id, run.is_global_id, run.outcome_by) == ("", False, "")


def test_an_outcome_line_joins_a_run_or_a_task():
    by_task = {"errata": 1, "task_id": "t-1", "outcome": "unknown", "by": "x",
               "ending": "crashed"}  # fmt: skip

    first, second = read_bytes(reader, json_lines([OUTCOME, by_task]))

    assert first == OutcomeRecord(
        "incorrect", "tests", run_id="r-18", note="2/3", line=1, offset=0
    )
    assert isinstance(second, OutcomeRecord)
    assert (second.task_id, second.ending, second.line) == ("t-1", "crashed", 2)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"turns": [{"role": 5}]}, "Expected `str`, got `int` - at `$.turns[0].role`"),
    ({"turns": [{"role": "tool"}]}, "Invalid enum value 'tool'"),
    ({"turns": [{"role": "user", "txt": "x"}]}, "unknown field `txt`"),
    ({"turns": [], "outcome": True}, "got `bool` - at `$.outcome`"),
    ({"turns": [], "started_at": "Monday"}, "“Monday” is no time"),
    (
        {"turns": [{"role": "assistant", "calls": [{}]}]},
        "missing required field `tool`",
    ),
    ({"outcome": "correct", "by": "x"}, "needs the `run_id` or the `task_id`"),
    ({"outcome": "correct", "run_id": "r"}, "missing required field `by`"),
    ({"errata": 2, "turns": []}, "with the version 1"),
    ({"errata": True, "turns": []}, "with the version 1"),
]


@pytest.mark.parametrize(("fields", "reason"), WRONG)
def test_a_line_that_is_wrong_is_set_aside_with_its_place(fields, reason):
    before, wrong, after = read_bytes(
        reader, json_lines([SMALL, {"errata": 1, **fields}, SMALL])
    )

    assert isinstance(before, Transcript)
    assert isinstance(after, Transcript)
    assert reason in wrong.reason
    assert wrong.line == 2


def test_a_cut_line_keeps_its_turns():
    raw = json_lines([SMALL, RUN])

    first, second = read_bytes(reader, raw[: raw.index(b"The provider")])

    assert figures([first]) == Figures(turns=1)
    assert figures([second]) == Figures(
        calls=4, missing=1, flagged=1, turns=2, set_aside=1
    )


def test_detect_needs_the_version():
    assert reader.detect(json_lines([SMALL])) == 0.99
    assert reader.detect(json_lines([OUTCOME])) == 0.99
    assert reader.detect(json_lines([RUN])[:1000]) == 0.95
    assert reader.detect(b'{"errata": "list", "turns": 1}') == 0.0


def test_lines_with_ids_stand_alone():
    assert reader.lines_stand_alone(json_lines([RUN, OUTCOME]))
    assert not reader.lines_stand_alone(json_lines([RUN, SMALL]))
    assert not reader.lines_stand_alone(json.dumps([RUN, OUTCOME]).encode())


def test_the_schema_in_the_docs_is_the_reader_s():
    assert reader.schema() == SCHEMA


def valid(value, schema):
    """Validate by the keywords that the schema uses; refuse those it does not."""
    known = {"$ref", "type", "enum", "anyOf", "properties", "required", "items",
             "additionalProperties", "minimum", "minLength", "$schema", "$defs",
             "title", "description", "default"}  # fmt: skip
    assert schema.keys() <= known
    if "$ref" in schema:
        return valid(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    kinds: dict[str, Any] = {
        "string": str,
        "array": list,
        "object": dict,
        "boolean": bool,
        "null": type(None),
        "integer": int,
        "number": (int, float),
    }
    kind = schema.get("type")
    is_flag = isinstance(value, bool) and kind in ("integer", "number")
    checks = [
        kind is None or (isinstance(value, kinds[kind]) and not is_flag),
        "enum" not in schema
        or any(value == e and type(value) is type(e) for e in schema["enum"]),
        "anyOf" not in schema or any(valid(value, s) for s in schema["anyOf"]),
        not isinstance(value, int) or value >= schema.get("minimum", value),
        not isinstance(value, str) or len(value) >= schema.get("minLength", 0),
    ]
    if isinstance(value, list):
        checks += [valid(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict):
        parts = schema.get("properties", {})
        checks += [key in value for key in schema.get("required", [])]
        checks += [valid(value[key], parts[key]) for key in value if key in parts]
        if schema.get("additionalProperties") is False:
            checks.append(value.keys() <= parts.keys())
    return all(checks)


def documented():
    """The examples of the documentation."""
    blocks = re.findall(
        r"```json\n(.*?)```", (DOCS / "errata-format.md").read_text(), re.DOTALL
    )
    return [json.loads(block) for block in blocks]


@pytest.mark.parametrize("line", [SMALL, RUN, OUTCOME, *documented()])
def test_samples_and_documented_examples_follow_the_schema(line):
    assert valid(line, SCHEMA)
    (record,) = read_bytes(reader, json_lines([line]))
    assert isinstance(record, (Transcript, OutcomeRecord))


@pytest.mark.parametrize("fields", [f for f, _ in WRONG if f.get("started_at") is None])
def test_what_the_reader_refuses_the_schema_refuses(fields):
    assert not valid({"errata": 1, **fields}, SCHEMA)


def test_the_documentation_names_every_field():
    text = (DOCS / "errata-format.md").read_text()

    fields = {name for part in SCHEMA["$defs"].values() for name in part["properties"]}
    assert (
        sorted(
            name
            for name in fields
            if f"`{name}`" not in text and f'"{name}"' not in text
        )
        == []
    )


def test_nothing_escapes_from_spoiled_files():
    check_survives(reader, json_lines([RUN, OUTCOME, SMALL]), seed=18, count=400)
