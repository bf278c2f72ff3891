"""Workers die, the queue loses its memory; the figures are right all the same."""

import random
import signal
import time

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from redis import Redis

from apps.overview.report import report
from apps.uploads.actions import receive
from apps.uploads.models import Batch, Part, Upload
from apps.uploads.tasks import ingest_upload_task, requeue_forgotten_task
from tests.conftest import QUEUE_PREFIX, start_worker
from tests.factories import (
    as_lines,
    failing,
    make_run,
    make_workspace,
    step,
    upload_bytes,
)

RUNS = 1200
KILLS = 6


def sessions() -> bytes:
    """Runs with up to three errors of three codes, padded so that reading lasts."""
    texts = (
        "Error: Conflict",
        "Error: order ORD-17 not found",
        '{"error": "Too many"}',
    )
    runs = []
    for n in range(RUNS):
        bad = [failing(f"tool_{n % 3}", {"n": n}, texts[n % 3])] * (n % 4)
        padding = step("read", {"path": f"/srv/{n}"}, "row 1\n" * 300)
        run = make_run(f"run-{n}", [*bad, padding], success=n % 5 > 1)
        runs.append(run)
    return as_lines(runs)


def forget_queue() -> None:
    """Take every key of the tests' queue, as a Redis does that lost its data."""
    redis = Redis.from_url(settings.REDIS_URL)
    for key in redis.scan_iter(f"{QUEUE_PREFIX}*"):
        redis.delete(key)


def is_open(upload: Upload) -> bool:
    """Look at the row, which workers change."""
    upload.refresh_from_db()
    return upload.is_open


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_killed_workers_and_a_lost_queue_change_no_figure(
    transactional_db, uploads_folder, monkeypatch
):
    monkeypatch.setenv("UPLOAD_PART_KB", "200")
    monkeypatch.setattr("apps.uploads.pipeline.PART_BYTES", 200 << 10)
    content = sessions()
    calm, stormy = make_workspace("calm"), make_workspace("stormy")
    upload_bytes(calm, content)
    draw = random.Random(20)

    upload = receive(stormy, "sessions.jsonl", SimpleUploadedFile("x", content))
    ingest_upload_task.delay(upload.pk)
    kills = 0
    deadline = time.monotonic() + 240
    while is_open(upload) and time.monotonic() < deadline:
        worker = start_worker(uploads_folder)
        lives_until = time.monotonic() + (
            draw.uniform(0.05, 0.6) if kills < KILLS else 60
        )
        while is_open(upload) and time.monotonic() < lives_until:
            time.sleep(0.05)
        for child in [*_children(worker.pid), worker.pid]:
            _kill(child)
        worker.wait(10)
        kills += 1
        if kills in (2, 4):
            forget_queue()
        upload.refresh_from_db()
        requeue_forgotten_task(after_seconds=0)

    assert kills > 1, "the upload ended before a worker was killed: make it longer"
    assert upload.state == "done"
    assert {**report(stormy), "workspace": ""} == {**report(calm), "workspace": ""}
    assert not Part.objects.filter(upload=upload, is_done=False).exists()
    assert (
        sum(Batch.objects.filter(upload=upload).values_list("runs_new", flat=True))
        == RUNS
    )


def _children(pid: int) -> list[int]:
    import psutil

    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _kill(pid: int) -> None:
    import os

    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
