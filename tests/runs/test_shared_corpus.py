"""The generated corpus and the real logs beside the checkout, at the pure level."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from apps.runs.analysis import ErrorFact, analyse
from apps.runs.transcript import Transcript
from apps.uploads.importers import openai_chat
from apps.uploads.importers.tau_bench import read as read_tau_bench

pytestmark = pytest.mark.shared

RUNS = 300
MOVES = {  # the generator's words for ours
    "retried_unchanged": "same_call",
    "retried_changed": "changed_args",
    "switched_tool": "other_tool",
    "verified": "other_tool",
    "escalated": "stop",
    "asked_user": "stop",
    "apologised": "stop",
    "answered": "stop",
    "cut_off": "none",
}


class Place(NamedTuple):
    """Where an error is."""

    run: str
    call: str


class Corpus(NamedTuple):
    """Runs, and what the generator says of them."""

    runs: list[Transcript]
    summary: dict[str, Any]
    truth: dict[Place, str]  # the move after each error


@pytest.fixture(scope="module")
def make_corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory):
    """Generate a corpus that flags all errors, none, or those of every second run."""

    def make(flag: str) -> Corpus:
        path = tmp_path_factory.mktemp(flag) / "corpus.jsonl"
        command = [sys.executable, str(shared / "bench/make_corpus.py")]
        command += [
            "--runs",
            str(RUNS),
            "--seed",
            "11",
            "--error-flag",
            flag,
            "--truth",
        ]
        subprocess.run([*command, "--out", str(path)], check=True, capture_output=True)
        with path.open("rb") as stream:
            runs = [
                r for r in openai_chat.read(stream, "") if isinstance(r, Transcript)
            ]
        lines = path.with_suffix(".truth.jsonl").read_text().splitlines()
        told = [json.loads(line) for line in lines]
        return Corpus(
            runs,
            json.loads(path.with_suffix(".summary.json").read_text()),
            {Place(row["run_id"], row["call_id"]): row["move"] for row in told},
        )

    return make


def errors_of(corpus: Corpus) -> Iterator[tuple[Place, ErrorFact]]:
    for run in corpus.runs:
        for error in analyse(run).counted:
            call = run.threads[error.thread].turns[error.turn].calls[error.call]
            yield Place(run.run_id, call.id), error


def test_with_flags_every_figure_equals_the_corpuss_truth(make_corpus):
    corpus = make_corpus("always")

    moves = {place: MOVES[e.next_move or ""] for place, e in errors_of(corpus)}
    facts = [analyse(run) for run in corpus.runs]

    assert moves == corpus.truth
    assert dict(Counter(moves.values())) == corpus.summary["moves"]
    assert len(corpus.runs) == corpus.summary["runs"]
    assert sum(f.calls for f in facts) == corpus.summary["tool_calls"]
    assert sum(len(f.counted) for f in facts) == corpus.summary["tool_errors"]
    assert sum(len(f.errors) - len(f.counted) for f in facts) == 0
    with_error = corpus.summary["runs_with_error"]
    hit = [run for run, f in zip(corpus.runs, facts, strict=True) if f.counted]
    outcomes = Counter(run.outcome for run in hit)
    assert len(hit) == with_error["runs"]
    assert outcomes["correct"] == with_error["recovered_runs"]
    assert outcomes["incorrect"] == with_error["failed_runs"]
    assert outcomes["unknown"] == with_error["unknown_runs"]


@pytest.mark.parametrize(("flag", "least"), [("never", 0.7), ("mixed", 0.85)])
def test_without_flags_no_error_is_false_and_most_are_found(
    make_corpus, capsys, flag, least
):
    corpus = make_corpus(flag)

    found = {place: MOVES[e.next_move or ""] for place, e in errors_of(corpus)}

    with capsys.disabled():
        print(f"\n{flag}: {len(found)} of {len(corpus.truth)} errors found")
    assert {place: corpus.truth.get(place) for place in found} == found
    assert len(found) >= least * len(corpus.truth)


def test_real_runs_of_tau_bench_have_the_errors_that_their_texts_say(shared):
    path = shared / "sessions/tau-bench/gpt-4o-airline.part-a.json"
    with path.open("rb") as stream:
        runs = [
            r for r in read_tau_bench(stream, path.name) if isinstance(r, Transcript)
        ]

    found: Counter[str] = Counter()
    for run in runs:
        for error in analyse(run).counted:
            assert error.text.startswith("Error: ")
            found[error.rule] += 1
    results = [
        call.result.text
        for run in runs
        for thread in run.threads
        for turn in thread.turns
        for call in turn.calls
        if call.result
    ]

    assert (
        found
        == {"error-prefix": sum(t.startswith("Error") for t in results)}
        == {"error-prefix": 44}
    )
