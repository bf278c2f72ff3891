"""Inspect AI logs: `.json` and `.eval`, with either compression, and cut short."""

from typing import Any

import pytest

from apps.runs.transcript import Transcript, Unreadable
from apps.uploads.importers import inspect_ai
from tests.uploads.archives import with_zstandard, zipped

from .reading import (
    as_json,
    calls,
    check_rest_stands,
    check_survives,
    one_run,
    read,
    shape,
    told_as,
)

ABOUT: dict[str, Any] = {
    "version": 2, "status": "success",
    "eval": {"run_id": "E1", "created": "2026-04-01T08:00:00+02:00", "task": "desk",
             "model": "vendor/model-a", "dataset": {"name": "orders"}, "tags": ["t1"]},
    "plan": {"steps": []},
    "results": {"scores": [{"name": "includes", "scorer": "includes",
                            "metrics": {"accuracy": {"value": 1.0}}}]},
    "stats": {"started_at": "2026-04-01T08:00:00+02:00"},
}  # fmt: skip


def made(call_id, tool, arguments):
    return {"id": call_id, "function": tool, "arguments": arguments, "type": "function"}


MESSAGES = [
    {"id": "m1", "role": "user", "content": "Reserve one."},
    {"id": "m2", "role": "assistant", "content": "", "model": "model-a-1",
     "tool_calls": [made("c1", "find", {"sku": "Z"})]},
    {"id": "m3", "role": "tool", "tool_call_id": "c1", "function": "find",
     "content": "",
     "error": {"type": "unknown", "message": "No item Z."}},
    {"id": "m4", "role": "assistant", "tool_calls": [made("c2", "find", {"sku": "A"})],
     "content": [{"type": "reasoning", "reasoning": "Try A."},
                 {"type": "text", "text": "Now A."}]},
    {"id": "m5", "role": "tool", "tool_call_id": "c2", "function": "find",
     "content": [{"type": "text", "text": "A: 3"}]},
]  # fmt: skip
EVENTS = [
    {"event": "model", "timestamp": "2026-04-01T06:00:01Z",
     "completed": "2026-04-01T06:00:02Z",
     "tools": [{"name": "find", "description": "attachment://aa11", "parameters": {}}],
     "output": {"usage": {"input_tokens": 80, "output_tokens": 9},
                "choices": [{"message": {"id": "m2"}}]}},
    {"event": "tool", "id": "c1", "timestamp": "2026-04-01T06:00:03Z",
     "completed": "2026-04-01T06:00:04Z", "function": "find"},
    {"event": "score", "timestamp": "2026-04-01T06:00:09Z"},
]  # fmt: skip


def a_sample(sample_id="s1", epoch=1, scores=None, messages=None, **other):
    return {
        "id": sample_id, "epoch": epoch, "input": "Reserve one.",
        "messages": MESSAGES if messages is None else messages,
        "scores": {"includes": {"value": "C"}} if scores is None else scores,
        "events": EVENTS, "attachments": {"aa11": "Finds an item."},
        "output": {"model": "model-a"}, **other,
    }  # fmt: skip


def a_log(*samples, **other):
    return {**ABOUT, **other, "samples": list(samples)}


def an_archive(members):
    return zipped({name: as_json(value) for name, value in members.items()})


def zstandard_archive(members):
    return with_zstandard({name: as_json(value) for name, value in members.items()})


ARCHIVE = {
    "_journal/start.json": {"version": 2, "eval": ABOUT["eval"], "plan": {}},
    "samples/s1_epoch_1.json": a_sample(),
    "samples/s1_epoch_2.json": a_sample(epoch=2),
    "_journal/summaries/1.json": [{"id": "s1", "epoch": 1}, {"id": "s1", "epoch": 2}],
    "summaries.json": [],
    "header.json": ABOUT,
}


def test_read_gives_the_sample_with_times_tokens_and_tools_from_its_events():
    run = one_run(inspect_ai, as_json(a_log(a_sample())))

    assert shape(run) == (2, 0, 1)
    first, second = calls(run)
    assert (first.tool, first.arguments) == ("find", '{"sku":"Z"}')
    assert (first.at, first.result.at) == (1775023203.0, 1775023204.0)  # type: ignore[union-attr]
    assert second.result is not None
    assert (second.result.text, second.result.is_error) == ("A: 3", None)
    turns = run.threads[0].turns
    assert (turns[1].at, turns[1].input_tokens, turns[1].model) == (
        1775023202.0, 80, "model-a-1",
    )  # fmt: skip
    assert (turns[2].text, turns[2].reasoning) == ("Now A.", "Try A.")
    assert (run.run_id, run.is_global_id, run.task_id) == ("E1/s1/1", True, "s1")
    assert (run.model, run.source, run.title) == ("vendor/model-a", "orders", "desk")
    assert (run.started_at, run.ended_at) == (1775023201.0, 1775023209.0)
    assert [(t.name, t.description) for t in run.tools] == [("find", "Finds an item.")]
    assert (run.ending, run.tags) == ("submitted", ["t1"])


def test_read_takes_the_error_s_message_where_the_content_is_empty():
    result = calls(one_run(inspect_ai, as_json(a_log(a_sample()))))[0].result

    assert result is not None
    assert (result.text, result.flag) == ("No item Z.", "error")
    assert (result.error_code, result.cause) == ("unknown", "")


@pytest.mark.parametrize(
    ("kind", "cause"),
    [("parsing", "rejected"), ("approval", "denied"), ("timeout", "failed"),
     ("permission", "failed"), ("unknown", "")],
)  # fmt: skip
@pytest.mark.parametrize("key", ["error", "tool_error"])
def test_read_takes_the_cause_from_the_error_s_type(kind, cause, key):
    answer = {"role": "tool", "tool_call_id": "c1", "function": "bash",
    "content": "cut…",
              key: {"type": kind, "message": "no"}}  # fmt: skip

    run = one_run(inspect_ai, as_json(a_log(a_sample(messages=[answer]))))

    (call,) = calls(run)
    assert call.tool == "bash"
    assert call.result is not None
    assert (call.result.cause, call.result.error_code) == (cause, kind)
    assert (call.result.text, call.result.flag) == ("cut…", key)


SCORES = [
    ({"includes": {"value": "C"}}, "correct", "scores.includes"),
    ({"includes": {"value": "I"}}, "incorrect", "scores.includes"),
    ({"includes": {"value": "N"}}, "incorrect", "scores.includes"),
    ({"includes": {"value": "P"}}, "unknown", ""),
    ({"judge": {"value": True}}, "correct", "scores.judge"),
    ({"includes": {"value": 0.0}}, "incorrect", "scores.includes"),
    ({"includes": {"value": 0.4}}, "unknown", ""),
    ({"distance": {"value": 1.0}}, "unknown", ""),
    ({"map": {"value": {"a": 1, "b": 0}}}, "unknown", ""),
    ({"includes": {"value": "C"}, "judge": {"value": "C"}}, "unknown", ""),
    ({}, "unknown", ""),
]


@pytest.mark.parametrize(("scores", "outcome", "by"), SCORES)
def test_read_takes_the_outcome_of_the_only_score_that_says_it(scores, outcome, by):
    run = one_run(inspect_ai, as_json(a_log(a_sample(scores=scores))))

    assert (run.outcome, run.outcome_by) == (outcome, by)


def test_read_keeps_every_score_with_its_value():
    scores = {"map": {"value": {"a": 1, "b": 0}}, "judge": {"value": "C"}}

    run = one_run(inspect_ai, as_json(a_log(a_sample(scores=scores))))

    assert [(s.name, s.value, s.higher_is_better) for s in run.scores] == [
        ("map.a", 1.0, None),
        ("map.b", 0.0, None),
        ("judge", "C", True),
    ]


def test_read_takes_the_single_score_of_old_logs():
    old = a_sample(scores={}, score={"value": "I"})

    assert one_run(inspect_ai, as_json(a_log(old))).outcome == "incorrect"


@pytest.mark.parametrize(
    ("other", "ending", "outcome"),
    [
        ({"error": {"message": "boom"}}, "crashed", "unknown"),
        ({"limit": {"type": "message", "limit": 9}}, "budget_spent", "correct"),
        ({"limit": {"type": "time"}}, "timed_out", "correct"),
        ({"limit": {"type": "operator"}, "scores": {}}, "cancelled", "unknown"),
    ],
)
def test_read_keeps_the_ending_apart_from_the_outcome(other, ending, outcome):
    run = one_run(inspect_ai, as_json(a_log({**a_sample(), **other})))

    assert (run.ending, run.outcome) == (ending, outcome)


def test_read_takes_a_cancelled_evaluation_s_unscored_samples_as_cancelled():
    log = a_log(a_sample(), a_sample("s2", scores={}), status="cancelled")

    assert [run.ending for run in read(inspect_ai, as_json(log))] == [  # type: ignore[union-attr]
        "submitted",
        "cancelled",
    ]


def test_read_prefers_the_sample_s_own_id():
    run = one_run(inspect_ai, as_json(a_log(a_sample(uuid="u-1", id=7))))

    assert (run.run_id, run.is_global_id, run.task_id) == ("u-1", True, "7")


def test_read_puts_attached_texts_back_in_place():
    messages = [{"role": "user", "content": "attachment://aa11"},
                {"role": "user", "content": "tc://bb22"}]  # fmt: skip

    run = one_run(inspect_ai, as_json(a_log(a_sample(messages=messages))))

    assert [turn.text for turn in run.threads[0].turns] == [
        "Finds an item.",
        "tc://bb22",
    ]


def test_read_takes_a_tool_that_the_provider_ran_as_a_call_with_its_result():
    block = {"type": "tool_use", "id": "p1", "name": "search", "arguments": '{"q": 1}',
             "result": "none", "error": "rate limit"}  # fmt: skip
    messages = [
        {"role": "assistant", "content": [block, {"type": "text", "text": "Hm."}]}
    ]

    run = one_run(inspect_ai, as_json(a_log(a_sample(messages=messages))))

    (call,) = calls(run)
    assert (call.tool, call.result.is_error) == ("search", True)  # type: ignore[union-attr]
    assert run.threads[0].turns[0].text == "Hm."


def test_read_finds_what_stands_after_the_samples():
    late = {"version": 2, "samples": [a_sample()], "eval": ABOUT["eval"],
            "status": "success", "results": ABOUT["results"]}  # fmt: skip

    assert one_run(inspect_ai, as_json(late)).model == "vendor/model-a"


@pytest.mark.parametrize("write", [an_archive, zstandard_archive])
def test_read_gives_the_same_runs_of_an_archive(write):
    runs = read(inspect_ai, write(ARCHIVE), "a.eval")
    alone = read(inspect_ai, as_json(a_log(a_sample(), a_sample(epoch=2))))

    assert [run.run_id for run in runs] == ["E1/s1/1", "E1/s1/2"]  # type: ignore[union-attr]
    for run, other in zip(runs, alone, strict=True):
        assert isinstance(run, Transcript)
        assert isinstance(other, Transcript)
        run.line = run.offset = other.line = other.offset = None
        assert run == other


def test_read_takes_the_journal_where_there_is_no_header():
    """The evaluation was cut short: what it had written is all there is."""
    journal = {
        k: v for k, v in ARCHIVE.items() if k not in ("header.json", "summaries.json")
    }
    journal["_journal/summaries/1.json"] = [
        {"id": "s1", "epoch": 1},
        {"id": "s9", "epoch": 1},
    ]

    *runs, lost = read(inspect_ai, an_archive(journal), "a.eval")

    assert [run.model for run in runs] == ["vendor/model-a"] * 2  # type: ignore[union-attr]
    assert isinstance(lost, Unreadable)
    assert lost.reason == "of sample s9, epoch 1, there is only a summary"


def test_read_takes_the_samples_of_an_archive_that_was_cut():
    whole = an_archive(ARCHIVE)

    records = read(
        inspect_ai, whole[: whole.index(b"_journal/summaries") - 30], "a.eval"
    )

    assert [type(record) for record in records] == [Transcript, Transcript, Unreadable]
    assert records[2].reason.startswith("the archive's directory is missing")  # type: ignore[union-attr]


def test_read_sets_a_damaged_member_aside_and_reads_the_rest():
    data = bytearray(zstandard_archive(ARCHIVE))
    at = data.index(b"samples/s1_epoch_1.json") + 60
    data[at : at + 8] = b"\xff" * 8

    records = read(inspect_ai, bytes(data), "a.eval")

    assert [type(record) for record in records] == [Unreadable, Transcript]
    assert "s1_epoch_1" in records[0].reason  # type: ignore[union-attr]


def test_read_keeps_the_samples_around_a_broken_one():
    sample = as_json(a_log(*[a_sample(f"s{n}") for n in range(4)]))
    at = sample.index(b"No item Z")

    check_rest_stands(inspect_ai, sample, lambda s: s[:at] + b'"' + s[at + 1 :], 3)


def test_read_finds_the_samples_of_a_log_that_lost_its_beginning():
    sample = as_json(a_log(*[a_sample(f"s{n}") for n in range(4)]))
    at = sample.index(b"No item Z")

    check_rest_stands(inspect_ai, sample, lambda s: s[at:], 3)


def test_detect_tells_logs_and_archives():
    assert told_as(as_json(a_log(a_sample()))) == "inspect_ai"
    assert told_as(an_archive(ARCHIVE)) == "inspect_ai"
    assert told_as(zstandard_archive(ARCHIVE)) == "inspect_ai"
    assert inspect_ai.detect(an_archive({"a.json": 1})) == 0
    long = a_log(a_sample(), eval={**ABOUT["eval"], "model_args": {"x": "y" * 300_000}})
    assert told_as(as_json(long)) in ("inspect_ai", "")


def test_read_survives_every_damage():
    check_survives(inspect_ai, as_json(a_log(a_sample(), a_sample(epoch=2))), seed=11)
    check_survives(inspect_ai, an_archive(ARCHIVE), seed=12)
    check_survives(inspect_ai, zstandard_archive(ARCHIVE), seed=13)
