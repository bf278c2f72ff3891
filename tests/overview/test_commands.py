"""`manage.py ingest` and `report`: their JSON is a promise."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.factories import as_lines, failing, ingest, make_run

REPORT_KEYS = [
    "workspace",
    "runs",
    "tool_calls",
    "tool_errors",
    "outcomes",
    "runs_with_error",
    "with_error",
    "without_error",
    "recovery",
    "next_moves",
    "evidence",
    "causes",
    "not_delivered",
    "weeks",
    "codes",
]
FILE_KEYS = [
    "path",
    "format",
    "records",
    "runs_new",
    "runs_updated",
    "duplicates",
    "outcomes",
    "set_aside",
    "tool_calls",
    "tool_errors",
]
MOVES = {
    "same_call": ("retried_unchanged",),
    "changed_args": ("retried_changed",),
    "other_tool": ("switched_tool", "verified"),
    "stop": ("escalated", "asked_user", "answered", "apologised"),
    "none": ("cut_off",),
}


def printed(capsys, *arguments: str) -> dict[str, Any]:
    call_command(*arguments)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_ingest_prints_each_file_and_the_totals(db, tmp_path: Path, capsys):
    for name in ("a", "b"):
        run = make_run(name, [failing("pay", {}, "Error: no")])
        (tmp_path / f"{name}.jsonl").write_bytes(as_lines([run]) + b"broken\n")

    found = printed(capsys, "ingest", str(tmp_path), "--workspace", "ci", "--json")

    assert [list(file) for file in found["files"]] == [FILE_KEYS, FILE_KEYS]
    assert found["totals"]["records"] == 4
    assert found["totals"]["set_aside"] == 2
    assert found["totals"]["tool_errors"] == 2
    assert found["bytes"] == sum(path.stat().st_size for path in tmp_path.iterdir())
    for file in found["files"]:
        parts = ("runs_new", "runs_updated", "duplicates", "outcomes", "set_aside")
        assert file["records"] == sum(file[name] for name in parts)


def test_report_prints_every_key(workspace, capsys):
    ingest(workspace, make_run("a", [failing("pay", {}, "Error: no")]))

    found = printed(capsys, "report", "--workspace", workspace.slug, "--json")

    assert list(found) == REPORT_KEYS
    assert list(found["recovery"]) == ["rate", "low", "high", "n", "bounds"]
    assert list(found["codes"][0]) == [
        "code",
        "tool",
        "errors",
        "runs",
        "correct",
        "incorrect",
        "unknown",
        "next_moves",
    ]


def test_an_empty_workspace_has_a_null_rate(workspace, capsys):
    found = printed(capsys, "report", "--workspace", workspace.slug, "--json")

    assert found["recovery"]["rate"] is None
    assert found["recovery"]["n"] == 0
    assert found["codes"] == []


def test_report_on_an_unknown_workspace_names_the_known(workspace):
    with pytest.raises(CommandError, match="team"):
        call_command("report", "--workspace", "nowhere")


def test_ingest_of_a_missing_file_says_so(db):
    with pytest.raises(CommandError, match="no file or folder"):
        call_command("ingest", "/nowhere.jsonl")


def test_a_refused_file_ends_with_code_1_and_says_why(db, tmp_path, capsys):
    (tmp_path / "x.html").write_text("<!doctype html><html></html>")

    with pytest.raises(SystemExit):
        call_command("ingest", str(tmp_path))

    assert "web page" in capsys.readouterr().err


@pytest.fixture(scope="module")
def corpora(shared: Path, tmp_path_factory) -> dict[str, Path]:
    """The generator's corpus of 2,000 runs, with flags always, mixed and never."""
    folder = tmp_path_factory.mktemp("corpus")
    made = {}
    for mode in ("always", "mixed", "never"):
        out = folder / f"{mode}.jsonl"
        command: list[str | Path] = [
            sys.executable,
            shared / "bench" / "make_corpus.py",
            "--runs",
            "2000",
        ]
        subprocess.run([*command, "--error-flag", mode, "--out", out], check=True)
        made[mode] = out
    return made


def summary_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.with_suffix(".summary.json").read_text())
    return found


@pytest.mark.shared
def test_the_corpus_with_flags_is_counted_exactly(db, corpora, capsys):
    truth = summary_of(corpora["always"])

    call_command("ingest", str(corpora["always"]), "--workspace", "c")
    capsys.readouterr()
    found = printed(capsys, "report", "--workspace", "c", "--json")

    names = {"correct": "success", "incorrect": "failure", "unknown": "unknown"}
    assert found["tool_calls"] == truth["tool_calls"]
    assert found["tool_errors"] == truth["tool_errors"]
    assert {names[k]: n for k, n in found["outcomes"].items()} == truth["outcomes"]
    with_error = truth["runs_with_error"]
    assert found["runs_with_error"] == with_error["runs"]
    assert found["with_error"] == {
        "correct": with_error["recovered_runs"],
        "incorrect": with_error["failed_runs"],
        "unknown": with_error["unknown_runs"],
    }
    moves = {
        move: sum(found["next_moves"].get(kind, 0) for kind in kinds)
        for move, kinds in MOVES.items()
    }
    assert moves == truth["moves"]
    assert {week["start"]: week for week in found["weeks"]} == {
        start: {
            "start": start,
            "runs": week["runs"],
            "runs_with_error": week["runs_with_error"],
            "correct": week["recovered_runs"],
            "incorrect": week["failed_runs"],
            "unknown": week["unknown_runs"],
        }
        for start, week in truth["weeks"].items()
    }
    assert sum(code["errors"] for code in found["codes"]) == truth["tool_errors"]


@pytest.mark.shared
@pytest.mark.parametrize("mode", ["mixed", "never"])
def test_the_corpus_without_flags_has_no_false_error(db, corpora, capsys, mode):
    flagged = summary_of(corpora["always"])
    truth = summary_of(corpora[mode])

    call_command("ingest", str(corpora[mode]), "--workspace", "c")
    capsys.readouterr()
    found = printed(capsys, "report", "--workspace", "c", "--json")

    # that none of these is false is shown run by run in tests/runs
    share = found["tool_errors"] / truth["tool_errors"]
    print(f"errors found with --error-flag {mode}: {share:.1%}")
    assert 0.7 <= share <= 1
    assert found["runs_with_error"] <= flagged["runs_with_error"]["runs"]
    assert found["tool_calls"] == truth["tool_calls"]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("file", "format_name", "runs", "outcomes", "calls", "errors"),
    [
        ("tau-bench/gpt-4o-airline.part-a.json", "tau_bench", 84, (23, 61, 0), 530, 44),
        ("tau-bench/crashed-before-first-turn.json", "tau_bench", 1, (0, 0, 1), 0, 0),
        ("openai-chat/tau-airline-a.json", "tau_bench", 34, (6, 28, 0), 299, 44),
        ("claude-code/cc-01.jsonl", "claude_code", 1, (0, 0, 1), 20, 2),
        ("claude-code/cc-02.jsonl", "claude_code", 1, (0, 0, 1), 66, 8),
        ("claude-code/cc-03.jsonl", "claude_code", 1, (0, 0, 1), 38, 0),
        ("claude-code/cc-04-missing-result.jsonl", "claude_code", 1, (0, 0, 1), 1, 0),
        ("claude-code/cc-05-compaction.jsonl", "claude_code", 1, (0, 0, 1), 218, 9),
    ],
)
def test_real_files_are_counted_as_by_hand(
    db, shared, capsys, file, format_name, runs, outcomes, calls, errors
):
    found = printed(
        capsys, "ingest", str(shared / "sessions" / file), "--workspace", "c", "--json"
    )
    headline = printed(capsys, "report", "--workspace", "c", "--json")

    assert found["files"][0]["format"] == format_name
    assert found["totals"]["runs_new"] == runs
    assert tuple(headline["outcomes"].values()) == outcomes
    assert headline["tool_calls"] == calls
    assert headline["tool_errors"] == errors
