"""Lists of outcomes: of benchmarks, and of one's own."""

import json

import pytest

from apps.runs.transcript import OutcomeRecord, Unreadable
from apps.uploads.importers import (
    hal_results,
    harbor_result,
    outcome_list,
    swe_bench_report,
    task_run_map,
)

from .reading import as_json, as_lines, check_survives, read, told_as


def rows(reader, data, name="results.json"):
    """Give (id, outcome, ending) of each record, or what is set aside."""
    return [
        (r.run_id or r.task_id, r.outcome, r.ending)
        if isinstance(r, OutcomeRecord)
        else ("aside", r.reason)  # type: ignore[union-attr]
        for r in read(reader, data, name)
    ]


# SWE-bench

LISTS = {
    "no_generation": ["a__b-1"],
    "no_logs": ["a__b-2"],
    "resolved": ["a__b-3", "a__b-4"],
}
REPORT = {
    "total_instances": 9, "resolved_instances": 1, "schema_version": 2,
    "submitted_ids": ["a__b-1", "a__b-2", "a__b-3", "a__b-4", "a__b-5"],
    "completed_ids": ["a__b-1", "a__b-2"], "resolved_ids": ["a__b-1"],
    "unresolved_ids": ["a__b-2"], "empty_patch_ids": ["a__b-3"],
    "error_ids": ["a__b-4"], "incomplete_ids": ["a__b-5"],
}  # fmt: skip
MARKDOWN = b"""# SWE-bench Report
## Summary
- resolved instances: 1

## Resolved Instances
- [a__b-1](logs/a__b-1.log)

## Unresolved Instances
- [a__b-2](logs/a__b-2.log)
- a__b-3

## Error Instances
- [a__b-4](logs/a__b-4.log)

## Empty Patch Instances
- [a__b-3](logs/a__b-3.log)
- a__b-5
"""


def test_swe_bench_lists_without_the_others_end_with_a_row_for_them():
    assert rows(swe_bench_report, as_json(LISTS)) == [
        ("a__b-3", "correct", ""),
        ("a__b-4", "correct", ""),
        ("a__b-2", "unknown", ""),
        ("a__b-1", "incorrect", ""),
        ("*", "incorrect", ""),
    ]


def test_swe_bench_report_names_each_instance_once_by_its_strongest_list():
    assert rows(swe_bench_report, as_json(REPORT)) == [
        ("a__b-1", "correct", ""),
        ("a__b-4", "unknown", ""),
        ("a__b-5", "unknown", ""),
        ("a__b-3", "incorrect", ""),
        ("a__b-2", "incorrect", ""),
    ]
    first = read(swe_bench_report, as_json(REPORT))[0]
    assert first.by == "SWE-bench results: resolved_ids"  # type: ignore[union-attr]


def test_swe_bench_markdown_gives_each_instance_of_its_lists_once():
    assert rows(swe_bench_report, MARKDOWN, "report.md") == [
        ("a__b-1", "correct", ""),
        ("a__b-2", "incorrect", ""),
        ("a__b-3", "incorrect", ""),
        ("a__b-4", "unknown", ""),
        ("a__b-5", "incorrect", ""),
    ]
    assert [r.line for r in read(swe_bench_report, MARKDOWN)] == [6, 9, 10, 13, 17]


def test_swe_bench_report_of_one_instance():
    report = {"a__b-1": {"patch_exists": True, "resolved": True, "tests_status": {}},
              "a__b-2": {"patch_exists": True}}  # fmt: skip

    assert rows(swe_bench_report, as_json(report)) == [
        ("a__b-1", "correct", ""),
        ("aside", "“a__b-2” has no verdict `resolved`"),
    ]


def test_swe_bench_reports_are_told_by_their_lists():
    single = {"a__b-1": {"patch_is_None": False, "resolved": False}}
    for sample in (LISTS, REPORT, single):
        assert told_as(as_json(sample)) == "swe_bench_report"
    assert told_as(MARKDOWN) == "swe_bench_report"
    assert told_as(MARKDOWN.decode().encode("utf-16")) in ("swe_bench_report", "")
    assert swe_bench_report.detect(as_json({"resolved": True, "id": 1})) == 0


# Harbor and Terminal-Bench


def harbor(reward=1.0, exception=None, **other):
    verdict = {"rewards": {"reward": reward}} if reward is not None else None
    about = (
        {"exception_type": exception, "exception_message": "m"} if exception else None
    )
    return {"id": "r1", "task_name": "make-file", "trial_name": "make-file__x1",
            "verifier_result": verdict, "exception_info": about, **other}  # fmt: skip


def terminal_bench(resolved, failure="unset"):
    return {"id": "r1", "task_id": "make-file", "trial_name": "make-file.1-of-1",
            "is_resolved": resolved, "failure_mode": failure,
            "parser_results": None, "instruction": "Make a file."}  # fmt: skip


@pytest.mark.parametrize(
    ("record", "outcome", "ending"),
    [
        (harbor(1.0), "correct", "submitted"),
        (harbor(0.0), "incorrect", "submitted"),
        (harbor(0.5), "incorrect", "submitted"),
        (harbor(None), "unknown", ""),
        (harbor(1.0, "AgentTimeoutError"), "correct", "timed_out"),
        (harbor(0.0, "AgentTimeoutError"), "incorrect", "timed_out"),
        (harbor(None, "AgentSetupTimeoutError"), "unknown", "crashed"),
        (harbor(0.0, "RuntimeError"), "unknown", "crashed"),
        (harbor(None, "CancelledError"), "unknown", "cancelled"),
        (terminal_bench(True), "correct", "submitted"),
        (terminal_bench(False), "incorrect", "submitted"),
        (terminal_bench(True, "agent_timeout"), "correct", "timed_out"),
        (terminal_bench(False, "agent_timeout"), "incorrect", "timed_out"),
        (terminal_bench(None, "parse_error"), "unknown", ""),
        (terminal_bench(None, "test_timeout"), "unknown", ""),
        (terminal_bench(False, "unknown_agent_error"), "unknown", "crashed"),
        (terminal_bench(False, "agent_installation_failed"), "unknown", "crashed"),
    ],
)
def test_harbor_result_keeps_the_ending_apart_from_the_outcome(record, outcome, ending):
    (row,) = rows(harbor_result, as_json(record))

    assert row == (record["trial_name"], outcome, ending)


def test_harbor_result_reads_a_run_s_own_list_of_trials():
    whole = {
        "results": [terminal_bench(True), {"x": 1}],
        "n_resolved": 1,
        "accuracy": 1.0,
    }

    assert rows(harbor_result, as_json(whole)) == [
        ("make-file.1-of-1", "correct", "submitted"),
        ("aside", "a result that names no trial"),
    ]


def test_harbor_results_are_told_by_their_trial():
    job = {"id": "j1", "n_total_trials": 3, "stats": {"n_trials": 3}}
    assert told_as(as_json(harbor())) == "harbor_result"
    assert told_as(as_json(terminal_bench(True))) == "harbor_result"
    assert harbor_result.detect(as_json(job)) == 0


# task run maps


def test_task_run_map_names_each_attempt():
    sample = {"model": "m", "service": "s", "task": "sort", "runs": {
        "run-1": {"success": True, "error_message": None, "turn_count": 4},
        "run-2": {"success": False, "error_message": "Network error"},
        "run-3": {"success": False, "error_message": "Execution timed out"},
        "run-4": {"success": False, "error_message": None},
        "run-5": None}}  # fmt: skip

    assert told_as(as_json(sample)) == "task_run_map"
    assert rows(task_run_map, as_json(sample)) == [
        ("sort/run-1", "correct", "submitted"),
        ("sort/run-2", "unknown", "crashed"),
        ("sort/run-3", "incorrect", "timed_out"),
        ("sort/run-4", "incorrect", ""),
        ("aside", "“run-5” is no result of a run"),
    ]


# HAL


def test_hal_results_prefers_the_lists_of_tasks():
    sample = {
        "config": {},
        "raw_eval_results": {"1": {"reward": 0}},
        "results": {"successful_tasks": ["1"], "failed_tasks": ["2", "1"]},
    }

    assert told_as(as_json(sample)) == "hal_results"
    assert rows(hal_results, as_json(sample)) == [
        ("1", "correct", ""),
        ("2", "incorrect", ""),
    ]


def test_hal_results_reads_rewards_where_there_are_no_lists():
    sample = {"metadata": {"run_id": "r"}, "results": {"latencies": {}},
              "raw_eval_results": {"7": {"reward": 1.0, "taken_actions": []},
                                   "8": {"reward": 0.0}, "9": "ERROR: no answer"},
              "raw_logging_results": [{"x": 1}]}  # fmt: skip

    assert told_as(as_json(sample)) == "hal_results"
    assert rows(hal_results, as_json(sample)) == [
        ("7", "correct", ""),
        ("8", "incorrect", ""),
        ("9", "unknown", ""),
    ]


# outcomes files of one's own

CSV = (
    'run_id,outcome,note\nr1,correct,\nr2,Failed,"said, twice\nno"\n\nr3,maybe,x\n,1,\n'
)


def test_outcome_list_reads_csv_with_its_lines():
    records = read(outcome_list, CSV.encode(), "outcomes.csv")

    assert [type(record) for record in records] == [
        OutcomeRecord, OutcomeRecord, Unreadable, Unreadable,
    ]  # fmt: skip
    second = records[1]
    assert isinstance(second, OutcomeRecord)
    assert (second.run_id, second.outcome, second.note, second.line) == (
        "r2", "incorrect", "said, twice\nno", 3,
    )  # fmt: skip
    assert second.by == "outcomes file"
    third = records[2]
    assert third.line == 6
    assert third.reason == (  # type: ignore[union-attr]
        "“maybe” is no outcome; write correct, incorrect or unknown"
    )
    assert records[3].reason == "the row names no run: `run_id` is empty"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text",
    [
        "run_id;outcome\nr1;correct\n",
        "outcome\trun_id\ncorrect\tr1\n",
        '"run_id","outcome"\r\n"r1","correct"\r\n',
        "run_id,outcome\nr1,correct",
        "\nRun_ID , Outcome\nr1,correct\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_outcome_list_reads_every_way_to_write_csv(text, encoding):
    data = text.encode(encoding)

    assert told_as(data) == "outcome_list"
    assert rows(outcome_list, data) == [("r1", "correct", "")]


def test_outcome_list_reads_json_lines_and_a_list():
    values = [
        {"run_id": "r1", "outcome": "correct", "ending": "timed_out", "by": "a judge"},
        {"task_id": "t1", "outcome": False, "note": "no"},
        {"instance_id": "i1", "outcome": None},
    ]
    wanted = [
        ("r1", "correct", "timed_out"),
        ("t1", "incorrect", ""),
        ("i1", "unknown", ""),
    ]

    for data in (
        as_lines(*values),
        as_json(values),
        json.dumps(values, indent=1).encode(),
    ):
        assert told_as(data) == "outcome_list"
        assert rows(outcome_list, data) == wanted


@pytest.mark.parametrize(
    ("word", "outcome"),
    [("correct", "correct"), ("PASSED", "correct"), ("resolved", "correct"),
     ("true", "correct"), ("1", "correct"), ("1.0", "correct"), ("0", "incorrect"),
     ("wrong", "incorrect"), ("false", "incorrect"), ("unresolved", "incorrect"),
     ("unknown", "unknown"), ("", "unknown")],
)  # fmt: skip
def test_outcome_list_reads_the_words_that_people_write(word, outcome):
    data = f"run_id,outcome\nr1,{word}\n".encode()

    assert rows(outcome_list, data) == [("r1", outcome, "")]


def test_outcome_list_refuses_an_ending_that_there_is_not():
    data = b"run_id,outcome,ending\nr1,correct,late\n"

    assert rows(outcome_list, data) == [
        (
            "aside",
            "“late” is no ending; use submitted, budget_spent, timed_out, crashed,"
            " cancelled",
        )
    ]


def test_outcome_list_is_told_from_runs_and_other_tables():
    run = {"run_id": "r1", "outcome": "correct", "messages": []}
    assert outcome_list.detect(as_lines(run)) == 0
    assert outcome_list.detect(b"id,name\n1,outcome\n") == 0
    assert outcome_list.detect(b"The outcome of run_id\n") == 0


@pytest.mark.parametrize(
    ("reader", "sample"),
    [
        (swe_bench_report, as_json(LISTS)),
        (swe_bench_report, as_json(REPORT)),
        (swe_bench_report, MARKDOWN),
        (harbor_result, as_json(harbor())),
        (harbor_result, as_json({"results": [terminal_bench(True)], "n_resolved": 1})),
        (task_run_map, as_json({"task": "t", "model": "m",
         "runs": {"a": {"success": 1}}})),
        (hal_results, as_json({"config": {}, "results": {}, "raw_eval_results": {
            "7": {"reward": 1}}})),
        (outcome_list, CSV.encode()),
        (outcome_list, as_lines({"run_id": "r1", "outcome": True, "note": "n"})),
    ],
)  # fmt: skip
def test_read_survives_every_damage(reader, sample):
    check_survives(reader, sample, seed=15)
