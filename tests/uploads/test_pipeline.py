"""From bytes to rows: sums, identity, exactly once."""

import gzip
import io
import json
import os
from typing import Any

import pytest
from django.core.files import File
from django.db import connection

from apps.overview.report import report
from apps.runs.models import DayCode, DayErrors, DayRuns, Run, RunCode, ToolError
from apps.uploads import pipeline
from apps.uploads.actions import cancel, receive, retry
from apps.uploads.models import Batch, SetAside, Upload, UploadState
from apps.uploads.queries import upload_counts
from apps.uploads.tasks import ingest_part_task, requeue_forgotten_task
from tests.factories import (
    as_lines,
    failing,
    ingest,
    make_run,
    make_workspace,
    step,
    upload_bytes,
)

CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")


def counts_of(upload: Upload) -> dict[str, int]:
    return upload_counts([upload.pk])[upload.pk]


def figures(workspace) -> dict[str, Any]:
    """The report without the workspace's name."""
    return {**report(workspace), "workspace": ""}


def test_ingest_writes_runs_errors_and_counts(workspace):
    ingest(
        workspace,
        make_run("a", [CONFLICT, CONFLICT, step("update_event", {"id": 8})]),
        make_run("b", [step("get_event", {"id": 7})], success=False),
        make_run("c", [CONFLICT], success=None, final=""),
    )

    found = report(workspace)

    assert (found["runs"], found["tool_calls"], found["tool_errors"]) == (3, 5, 3)
    assert found["outcomes"] == {"correct": 1, "incorrect": 1, "unknown": 1}
    assert found["with_error"] == {"correct": 1, "incorrect": 0, "unknown": 1}
    assert found["next_moves"] == {
        "cut_off": 1,
        "retried_changed": 1,
        "retried_unchanged": 1,
    }
    assert found["recovery"]["rate"] == 1.0
    assert found["recovery"]["bounds"] == [0.5, 1.0]
    week = {"start": "2026-11-23", "runs": 3, "runs_with_error": 2}
    assert found["weeks"] == [{**week, **found["with_error"]}]
    assert [
        (code["code"], code["errors"], code["runs"]) for code in found["codes"]
    ] == [("update_event.conflict", 3, 2)]
    lengths = ToolError.objects.order_by("pk").values_list("loop_length", flat=True)
    assert list(lengths) == [1, 2, 1]


def test_an_error_keeps_its_text_as_delivered(workspace):
    text = "Error: Conflict\n  <b>with</b> event 7\t"

    ingest(workspace, make_run("a", [failing("update_event", {}, text)]))

    assert ToolError.objects.get().delivered == text


def test_the_same_file_twice_changes_nothing(workspace):
    runs = [make_run("a", [CONFLICT]), make_run("b", [step("get_event", {})])]
    ingest(workspace, *runs)
    before = figures(workspace)

    again = ingest(workspace, *runs)

    assert counts_of(again)["duplicates"] == 2
    assert counts_of(again)["runs_new"] == 0
    assert figures(workspace) == before


def test_files_in_another_order_give_the_same_figures(db):
    longer = make_run("a", [CONFLICT, step("update_event", {"id": 8})])
    files = [
        [make_run("a", [CONFLICT], success=None)],
        [make_run("b", [failing("pay", {"n": 1}, "Refund failed (code 3).")])],
        [longer],
        [make_run("c", [failing("pay", {"n": 2}, "Refund failed (code 41).")])],
    ]
    one, other = make_workspace(), make_workspace()

    for runs in files:
        ingest(one, *runs)
    for runs in reversed(files):
        ingest(other, *runs)

    assert figures(one) == figures(other)


def test_a_longer_version_of_a_run_replaces_it_and_keeps_ids(workspace):
    ingest(workspace, make_run("a", [CONFLICT], success=None, final=""))
    run_id, error_id = Run.objects.get().pk, ToolError.objects.get().pk

    upload = ingest(workspace, make_run("a", [CONFLICT, CONFLICT], final="Done."))

    assert counts_of(upload)["runs_updated"] == 1
    run = Run.objects.get()
    assert (run.pk, run.errors, run.outcome) == (run_id, 2, "correct")
    assert ToolError.objects.order_by("turn")[0].pk == error_id
    assert RunCode.objects.get().errors == 2
    assert report(workspace)["next_moves"] == {"answered": 1, "retried_unchanged": 1}


def test_a_run_without_an_id_is_replaced_by_one_of_which_it_is_a_prefix(db):
    messages = make_run("", [CONFLICT, step("get_event", {"id": 7})])["messages"]
    short, whole = ({"messages": messages[:3]}, {"messages": messages})
    one, other = make_workspace(), make_workspace()

    ingest(one, short)
    second = ingest(one, whole)
    ingest(other, whole)
    late = ingest(other, short)

    assert counts_of(second)["runs_updated"] == 1
    assert counts_of(late)["duplicates"] == 1
    assert figures(one) == figures(other)
    assert figures(one)["runs"] == 1


def test_versions_of_a_run_in_one_batch_are_one_run(workspace):
    short = make_run("a", [CONFLICT], success=None, final="")
    longer = make_run("a", [CONFLICT, step("get_event", {})])

    upload = ingest(workspace, short, longer, short)

    assert counts_of(upload)["records"] == 3
    assert counts_of(upload)["runs_new"] == 1
    assert counts_of(upload)["runs_updated"] == 1
    assert counts_of(upload)["duplicates"] == 1
    assert report(workspace)["runs"] == 1


def test_a_broken_line_is_set_aside_with_its_place(workspace):
    content = as_lines([make_run("a", [CONFLICT])]) + b'{"half": \n' + b"5\n"

    upload = upload_bytes(workspace, content)

    assert upload.state == UploadState.DONE
    assert counts_of(upload)["records"] == 3
    assert counts_of(upload)["set_aside"] == 2
    assert list(SetAside.objects.order_by("line").values_list("line", flat=True)) == [
        2,
        3,
    ]


def test_nul_and_lone_surrogates_in_a_text_are_stored(workspace):
    text = "Error: \x00 \ud800 boom"

    ingest(workspace, make_run("a", [failing("pay", {"x": "\x00"}, text)]))

    assert ToolError.objects.get().delivered.startswith("Error: \ufffd")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\x89PNG\r\n\x1a\n" + bytes(200), "picture", id="picture"),
        pytest.param(b"<!doctype html><html></html>", "web page", id="html"),
        pytest.param(
            gzip.compress(os.urandom(900))[:300], "ends too early", id="cut gzip"
        ),
        pytest.param(b'{"colour": "red"}\n', "colour", id="unknown keys"),
    ],
)
def test_a_wrong_file_gets_one_sentence_and_changes_nothing(
    workspace, content, sentence
):
    before = figures(workspace)

    upload = upload_bytes(workspace, content)

    assert upload.state == UploadState.REFUSED
    assert sentence in upload.reason
    assert "Traceback" not in upload.reason
    assert figures(workspace) == before
    assert Run.objects.count() == 0


def test_a_gzip_reads_like_the_file_in_it(db):
    content = as_lines([make_run("a", [CONFLICT])])
    one, other = make_workspace(), make_workspace()

    upload_bytes(one, content)
    upload_bytes(other, gzip.compress(content), name="sessions.jsonl.gz")

    assert figures(one) == figures(other)


def test_a_worker_that_dies_goes_on_where_the_ledger_ends(workspace, monkeypatch):
    monkeypatch.setattr(pipeline, "BATCH_RECORDS", 2)
    runs = [make_run(f"run-{n}", [CONFLICT]) for n in range(7)]
    upload = receive(workspace, "x.jsonl", File(io.BytesIO(as_lines(runs))))
    written = pipeline._write

    def dies_in_third_batch(upload, part, number, work, rules):
        if number == 2:
            raise SystemExit("killed")
        written(upload, part, number, work, rules)

    monkeypatch.setattr(pipeline, "_write", dies_in_third_batch)
    with pytest.raises(SystemExit):
        pipeline.ingest_upload(upload)
    assert Run.objects.count() == 4
    monkeypatch.setattr(pipeline, "_write", written)

    pipeline.ingest_upload(upload)
    pipeline.ingest_upload(upload)

    assert report(workspace)["runs"] == 7
    assert [b.records for b in Batch.objects.order_by("number")] == [2, 2, 2, 1]
    assert counts_of(upload)["runs_new"] == 7


def test_the_task_may_be_delivered_twice(workspace):
    content = as_lines([make_run("a", [CONFLICT])])
    upload = receive(workspace, "x.jsonl", File(io.BytesIO(content)))

    for _ in range(2):
        ingest_part_task(upload.pk)
    ingest_part_task(0)

    assert report(workspace)["runs"] == 1
    assert counts_of(upload)["records"] == 1


def test_a_cancelled_upload_is_not_read_until_it_is_tried_again(workspace):
    content = as_lines([make_run("a", [CONFLICT])])
    upload = receive(workspace, "x.jsonl", File(io.BytesIO(content)))

    cancel(upload)
    pipeline.ingest_upload(upload)
    assert Run.objects.count() == 0
    retry(upload)
    pipeline.ingest_upload(upload)

    assert Run.objects.count() == 1
    assert not cancel(upload)


def test_requeue_takes_open_uploads_that_nobody_touches(workspace):
    upload = receive(workspace, "x.jsonl", File(io.BytesIO(b"x")))
    assert requeue_forgotten_task() == 0

    Upload.objects.filter(pk=upload.pk).update(touched_at="2026-01-01T00:00:00Z")

    assert requeue_forgotten_task() == 1


def test_rollups_equal_a_count_over_the_rows(workspace):
    ingest(
        workspace,
        make_run("a", [CONFLICT, CONFLICT]),
        make_run(
            "b", [failing("pay", {}, "Error: no")], started_at="2026-11-30T23:59:00Z"
        ),
    )
    ingest(workspace, make_run("a", [CONFLICT, CONFLICT, CONFLICT]))

    runs = sum(DayRuns.objects.values_list("runs", flat=True))
    hits = sum(DayCode.objects.values_list("runs", flat=True))
    errors = sum(DayErrors.objects.values_list("errors", flat=True))

    assert runs == Run.objects.count() == 2
    assert hits == RunCode.objects.count() == 2
    assert errors == ToolError.objects.count() == 4


def test_compact_changes_no_sum(workspace):
    from apps.runs import rollups

    for length in (1, 2, 3):
        ingest(workspace, make_run("a", [CONFLICT] * length))
    before, rows = figures(workspace), DayRuns.objects.count()

    rollups.compact(workspace.pk)

    assert figures(workspace) == before
    assert DayRuns.objects.count() < rows


def test_another_workspace_sees_nothing(workspace):
    ingest(workspace, make_run("a", [CONFLICT]))

    assert figures(make_workspace())["runs"] == 0


def test_an_outcome_list_is_joined_before_and_after_its_runs(db):
    listed = b"run_id,outcome\na,correct\nb,incorrect\n"
    runs = [make_run("a", [CONFLICT], success=None), make_run("b", [], success=None)]
    one, other = make_workspace(), make_workspace()

    ingest(one, *runs)
    after = upload_bytes(one, listed, name="outcomes.csv")
    upload_bytes(other, listed, name="outcomes.csv")
    ingest(other, *runs)

    assert counts_of(after)["outcomes"] == 2
    assert figures(one) == figures(other)
    assert figures(one)["outcomes"] == {"correct": 1, "incorrect": 1, "unknown": 0}
    assert upload_bytes(one, listed, name="again.csv").state == UploadState.DONE
    assert figures(one) == figures(other)


def test_days_are_those_of_the_workspace_zone(db):
    zoned = make_workspace("berlin", zone="Europe/Berlin")

    ingest(zoned, make_run("a", [CONFLICT], started_at="2026-11-29T23:30:00Z"))

    assert report(zoned)["weeks"][0]["start"] == "2026-11-30"


def test_a_run_without_a_date_counts_and_stands_undated(workspace):
    run = make_run("a", [CONFLICT])
    del run["started_at"]

    ingest(workspace, run)

    assert report(workspace)["weeks"][0]["start"] is None
    assert report(workspace)["runs"] == 1


def test_json_of_the_report_can_be_written(workspace):
    ingest(workspace, make_run("a", [CONFLICT]))

    assert json.loads(json.dumps(report(workspace)))["runs"] == 1


def test_no_row_is_an_orphan(workspace):
    """The hot tables' keys are not checked by the database: this is the check."""
    ingest(workspace, make_run("a", [CONFLICT]), make_run("", [CONFLICT]))
    ingest(workspace, make_run("a", [CONFLICT, CONFLICT]))
    tables = {
        "runs_toolerror": ("run", "code", "text"),
        "runs_runcode": ("run", "code", "text"),
        "runs_runtranscript": ("run",),
        "runs_daycode": ("code", "text"),
        "runs_dayerrors": ("code", "text"),
    }
    parents = {"run": "runs_run", "code": "catalogue_code", "text": "catalogue_text"}

    for table, keys in tables.items():
        for key in keys:
            with connection.cursor() as cursor:
                cursor.execute(
                    f"SELECT count(*) FROM {table} row"
                    f" WHERE row.{key}_id IS NOT NULL AND NOT EXISTS"
                    f" (SELECT FROM {parents[key]} p WHERE p.id = row.{key}_id)"
                )
                assert cursor.fetchone() == (0,), (table, key)


def test_a_large_file_of_lines_is_cut_and_nothing_is_lost(db, monkeypatch):
    monkeypatch.setattr(pipeline, "PART_BYTES", 1500)
    runs = [make_run(f"run-{n}", [CONFLICT], success=n % 3 > 0) for n in range(40)]
    content = as_lines(runs[:20]) + b"broken\n" + as_lines(runs[20:])
    one, other = make_workspace(), make_workspace()

    whole = upload_bytes(one, content)
    monkeypatch.setattr(pipeline, "PART_BYTES", 1 << 20)
    upload_bytes(other, content)

    assert whole.parts.count() > 5
    assert whole.state == UploadState.DONE
    assert counts_of(whole)["runs_new"] == 40
    assert counts_of(whole)["set_aside"] == 1
    line = SetAside.objects.get(upload=whole)
    assert line.offset == content.index(b"broken")
    assert figures(one) == figures(other)


def test_an_outcome_file_may_say_a_run_twice_and_the_last_word_counts(workspace):
    ingest(workspace, make_run("a", [CONFLICT], success=None))

    listed = b"run_id,outcome\na,incorrect\na,correct\n"
    upload = upload_bytes(workspace, listed, name="outcomes.csv")

    assert upload.state == UploadState.DONE
    assert report(workspace)["outcomes"]["correct"] == 1
