"""Deleting an upload takes its runs, counts and raw file, and nothing else."""

from django.urls import reverse

from apps.overview.report import report
from apps.runs.models import DayRuns, Run, RunTranscript, ToolError
from apps.uploads import deletion
from apps.uploads.actions import request_deletion
from apps.uploads.models import Deletion, Upload
from apps.uploads.tasks import delete_upload_task
from tests.factories import failing, ingest, make_run

NO = failing("pay", {}, "Error: no")


def test_an_upload_goes_with_all_that_it_brought(workspace, monkeypatch):
    monkeypatch.setattr(deletion, "STEP", 2)
    kept = ingest(workspace, make_run("kept", [NO]))
    before = report(workspace)
    upload = ingest(workspace, *(make_run(f"r{n}", [NO, NO]) for n in range(5)))
    path = upload.file.path

    asked = request_deletion(upload)
    delete_upload_task(asked.pk)
    delete_upload_task(asked.pk)
    delete_upload_task(0)

    receipt = Deletion.objects.get()
    assert receipt.ended_at is not None
    assert receipt.gone["runs_run"] == 5
    assert receipt.gone["runs_toolerror"] == 10
    assert receipt.gone["raw_file_bytes"] == upload.size
    assert report(workspace) == before
    assert list(Upload.objects.all()) == [kept]
    assert not upload.file.storage.exists(path)
    assert Run.objects.count() == RunTranscript.objects.count() == 1
    assert ToolError.objects.count() == 1
    assert sum(DayRuns.objects.values_list("runs", flat=True)) == 1


def test_a_run_that_a_later_upload_extended_stays(workspace):
    first = ingest(workspace, make_run("a", [NO]))
    ingest(workspace, make_run("a", [NO, NO]))

    delete_upload_task(request_deletion(first).pk)

    assert report(workspace)["tool_errors"] == 2


def test_the_page_wants_the_name(client, workspace):
    upload = ingest(workspace, make_run("a", [NO]))
    url = reverse("uploads:delete", args=[upload.pk])

    client.post(url, {"name": "something else"})
    assert Deletion.objects.count() == 0
    response = client.post(url, {"name": upload.name})

    asked = Deletion.objects.get()
    assert response["Location"] == reverse("uploads:receipt", args=[asked.pk])
    delete_upload_task(asked.pk)
    assert "runs_run" in client.get(response["Location"]).content.decode()
