"""The upload page through the client; a real worker reads in the browser's test."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from apps.uploads.models import Upload
from tests.factories import as_lines, failing, ingest, make_run, upload_bytes


@pytest.fixture
def queued(monkeypatch) -> list[int]:
    """Ids that were handed to the queue once their rows were committed."""
    from apps.uploads.tasks import ingest_upload_task

    ids: list[int] = []
    monkeypatch.setattr(ingest_upload_task, "delay", ids.append)
    return ids


def test_several_files_get_a_row_each(
    client, django_capture_on_commit_callbacks, queued
):
    content = as_lines([make_run("a", [])])
    files = [SimpleUploadedFile(f"{n}.jsonl", content) for n in "abc"]

    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(reverse("uploads:list"), {"files": files, "format": ""})

    assert response["Location"] == reverse("uploads:list")
    assert sorted(Upload.objects.values_list("name", flat=True)) == [
        "a.jsonl",
        "b.jsonl",
        "c.jsonl",
    ]
    assert sorted(queued) == sorted(Upload.objects.values_list("pk", flat=True))


def test_no_file_is_refused_kindly(client):
    response = client.post(reverse("uploads:list"), {"format": ""})

    assert response.status_code == 422
    assert Upload.objects.count() == 0


def test_a_row_asks_for_itself_until_it_has_ended(client, workspace):
    upload = ingest(workspace, make_run("a", []))
    url = reverse("uploads:row", args=[upload.pk])
    assert "hx-get" not in client.get(url).content.decode()

    Upload.objects.update(state="reading")

    assert "hx-get" in client.get(url).content.decode()


def test_the_page_of_an_upload_shows_codes_and_what_was_set_aside(client, workspace):
    run = make_run("a", [failing("pay", {}, "Error: no")])
    upload = upload_bytes(workspace, as_lines([run]) + b'{"cut": <b>\n')

    page = client.get(reverse("uploads:detail", args=[upload.pk])).content.decode()
    file = client.get(reverse("uploads:set-aside", args=[upload.pk])).content.decode()

    assert "pay.no" in page
    assert "&lt;b&gt;" in page
    assert '"line": 2' in file


def test_formats_are_listed_with_how_to_export_them(client):
    page = client.get(reverse("uploads:formats")).content.decode()

    assert "Claude Code" in page
    assert "tau-bench" in page


def test_filters_of_the_list_are_in_the_address(client, workspace):
    ingest(workspace, make_run("a", []))
    upload_bytes(workspace, b"", name="empty.bin")
    url = reverse("uploads:list")

    def listed(**query):
        return [upload.name for upload, _ in client.get(url, query).context["rows"]]

    assert listed() == ["empty.bin", "sessions.jsonl"]
    assert listed(sort="oldest") == ["sessions.jsonl", "empty.bin"]
    assert listed(state="refused") == ["empty.bin"]
    assert listed(q="SESS") == ["sessions.jsonl"]
    assert listed(state="nonsense", sort="?", q="") == ["empty.bin", "sessions.jsonl"]
