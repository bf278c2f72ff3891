"""Hostile and messy input through the real pipeline: each has a stated outcome."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.urls import reverse

from apps.runs.models import Run, ToolError
from apps.uploads.importers import records
from apps.uploads.models import SetAside, UploadState
from apps.uploads.queries import upload_counts
from tests.factories import as_lines, failing, make_run, step, upload_bytes
from tests.uploads.hostile_inputs import INPUTS, LINE, SESSION, Outcome, claude, uses


def found_in(workspace) -> Outcome:
    runs = Run.objects.filter(workspace=workspace).order_by("log_id")
    errors = ToolError.objects.filter(workspace=workspace, is_counted=True)
    first = runs.first()
    start = first.started_at if first else None
    return Outcome(
        runs=len(runs),
        calls=sum(run.calls for run in runs),
        errors=errors.count(),
        set_aside=0,
        moves=tuple(sorted(errors.values_list("next_move", flat=True))),
        start=f"{start:%Y-%m-%dT%H:%M:%SZ}" if start else None,
    )


@pytest.mark.parametrize("name", INPUTS)
def test_messy_input_has_its_stated_outcome(workspace, name):
    content, wanted = INPUTS[name]

    upload = upload_bytes(workspace, content)

    assert (upload.state, upload.reason) == (UploadState.DONE, "")
    counts = upload_counts([upload.pk])[upload.pk]
    found = found_in(workspace)._replace(set_aside=counts["set_aside"])
    assert found._asdict() == wanted._asdict()


PEAK = """
import resource, sys
from apps.uploads.intake import Intake
sizes = []
with open(sys.argv[1], "rb") as stream:
    for _, record in Intake("long.jsonl", stream).records():
        sizes.append(len(record.threads[0].turns))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10, *sizes)
"""


def peak_and_turns(path: Path) -> list[int]:
    """Read a file in a process of its own; its peak in MB, and turns of each run."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "apps.config.settings"}
    code = f"import django; django.setup(){PEAK}"
    command = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=True
    )
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [30, 100])
def test_a_line_of_many_megabytes_is_read_in_bounded_memory(tmp_path, megabytes):
    path, small = tmp_path / "long.jsonl", tmp_path / "small.jsonl"
    text = "x" * 1_000_000
    steps = [failing("pay", {"n": n}, f"Error {n}: {text}") for n in range(megabytes)]
    path.write_bytes(
        as_lines([make_run("long", steps)]) + as_lines([make_run("b", [])])
    )
    small.write_bytes(as_lines([make_run("b", [])]))

    peak, *turns = peak_and_turns(path)
    idle, *_ = peak_and_turns(small)

    assert turns == [megabytes + 2, 2]
    assert peak - idle < 6 * megabytes + 50


def test_a_line_beyond_what_a_worker_may_hold_is_set_aside(workspace, monkeypatch):
    monkeypatch.setattr(records, "MAX_DOCUMENT_BYTES", 1 << 20)
    long = as_lines([make_run("long", [step("pay", {}, "x" * (4 << 20))])])

    upload = upload_bytes(workspace, LINE + long)

    counts = upload_counts([upload.pk])[upload.pk]
    assert (counts["runs_new"], counts["set_aside"]) == (1, 1)
    assert "MB" in SetAside.objects.get().reason


def test_a_resumed_session_is_a_run_of_its_own_that_names_the_first(workspace, client):
    upload_bytes(workspace, SESSION, name="s1.jsonl")
    tail = ("user", "m9", "And now?"), ("assistant", "m10", [uses("c2")])
    resumed = claude(*tail, session="s2", parentUuid="s1-3")
    upload_bytes(workspace, SESSION + resumed, name="s2.jsonl")

    runs = {run.log_id: run for run in Run.objects.all()}

    assert {name: run.forked_from for name, run in runs.items()} == {
        "s1": "",
        "s2": "s1",
    }
    page = client.get(reverse("runs:detail", args=[runs["s2"].pk])).content.decode()
    assert "Fork of" in page
