"""A hundred secrets of many kinds in a corpus: none is found anywhere afterwards."""

import gzip
import io
import logging
import zipfile
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection
from django.urls import reverse

from apps.catalogue.models import Code
from apps.runs.blob import unpack
from apps.runs.models import Run, RunTranscript
from apps.uploads.models import Upload
from tests.catalogue.secret_samples import TOKENS
from tests.factories import as_lines, failing, make_run, step, upload_bytes

PLANTED = {
    **TOKENS,
    "password": "hunter2-Vq8Zr41x",
    "email": "mara.lindqvist@kontor-nord.example",
    "card": "4539578763621486",
    "url_password": "Xk29-vQmZ7",
}


def sessions() -> bytes:
    """Each secret in a call's arguments, a result, what was said, and a broken line."""
    runs = []
    for number, (kind, secret) in enumerate(PLANTED.items()):
        said = secret
        if kind == "password":
            said = f"password={secret}"
        elif kind == "url_password":
            said = f"postgres://svc:{secret}@db.example/x"
        runs.append(
            make_run(
                f"run-{number}",
                [
                    step("login", {"text": said, "password": PLANTED["password"]}),
                    failing("pay", {"n": number}, f"Error: refused for {said} today"),
                    step("read", {}, f"line one\n{said}\nline three"),
                ],
                title=f"With {said}",
                final=f"I used {said} and it failed.",
            )
        )
    broken = (
        f'{{"half": "token {TOKENS["github_token"]}", "password": "hunter2-Vq8Zr41x"'
    )
    return as_lines(runs) + broken.encode() + b"\n"


def stored_text() -> Iterator[str]:
    """Every row of every table as text, and every transcript unpacked."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT row::text FROM "{table}" row')
            yield from (line for (line,) in cursor.fetchall())
    for data in RunTranscript.objects.values_list("data", flat=True):
        yield repr(unpack(data))


def raw_files() -> Iterator[str]:
    """Every raw file as text; of an archive, each member."""
    for upload in Upload.objects.exclude(file=""):
        data = upload.file.read()
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                yield from (archive.read(n).decode() for n in archive.namelist())
        yield data.decode("utf-8", "replace")


def pages(client) -> Iterator[str]:
    code, run, upload = (
        Code.objects.first(),
        Run.objects.first(),
        Upload.objects.first(),
    )
    assert code
    assert run
    assert upload
    for url in (
        "/",
        reverse("codes:detail", args=[code.pk]),
        reverse("runs:list"),
        reverse("runs:detail", args=[run.pk]),
        reverse("uploads:detail", args=[upload.pk]),
        reverse("uploads:set-aside", args=[upload.pk]),
        reverse("triage:week"),
    ):
        yield client.get(url).content.decode()


def packed(content: bytes, how: str) -> bytes:
    if how == "gzip":
        return gzip.compress(content)
    if how == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a/one.jsonl", content)
            archive.writestr("b/two.jsonl", as_lines([make_run("x", [])]))
        return out.getvalue()
    if how == "utf-16":
        return content.decode().encode("utf-16")
    return content


@pytest.mark.parametrize("how", ["plain", "gzip", "zip", "utf-16"])
def test_no_planted_secret_is_found(client, workspace, caplog, how):
    caplog.set_level(logging.DEBUG, logger="apps")

    upload = upload_bytes(workspace, packed(sessions(), how), name=f"sessions.{how}")

    assert upload.state == "done"
    assert len(PLANTED) >= 40
    assert sum(upload.redacted.values()) >= 100
    assert len(upload.redacted) >= 20
    everything = "\n".join([*stored_text(), *raw_files(), *pages(client), caplog.text])
    found = [kind for kind, secret in PLANTED.items() if secret in everything]
    assert found == []
    assert Run.objects.count() >= len(PLANTED)
    assert str(settings.SECRET_KEY) not in everything


def test_a_secret_across_two_blocks_is_seen(workspace, monkeypatch):
    monkeypatch.setattr("apps.uploads.raw_store.BLOCK", 1000)
    upload_bytes(workspace, sessions())

    kept = "\n".join(raw_files())

    assert [kind for kind, secret in PLANTED.items() if secret in kept] == []
