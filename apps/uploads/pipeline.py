"""Reads an upload from its first byte to its last row, in batches, exactly once."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from django.db import IntegrityError, OperationalError, connection
from django.db.models import Sum
from django.utils import timezone

from apps.catalogue.resolve import storable
from apps.runs.rules import DEFAULT_RULES
from apps.runs.transcript import Record, Transcript

from . import batches
from .containers import RefusedError
from .importers import UnknownFormatError
from .intake import Intake
from .models import Batch, Upload, UploadState

logger = logging.getLogger(__name__)

BATCH_RECORDS = 250
BATCH_CALLS = 10_000  # long runs make a smaller batch
_LOCK_SPACE = 0x4552  # first half of the advisory lock's key: uploads
_ATTEMPTS = 5


def ingest_upload(upload: Upload) -> None:
    """Read what is not yet read of an upload. Safe to run twice, also at once."""
    with _only_here(upload.pk) as is_mine:
        if is_mine:
            _ingest(upload)


@contextmanager
def _only_here(upload_id: int) -> Iterator[bool]:
    """Hold the upload's lock; it falls with the connection if the worker dies."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [_LOCK_SPACE, upload_id])
        is_mine = bool(cursor.fetchone()[0])
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_advisory_unlock(%s, %s)", [_LOCK_SPACE, upload_id]
                )


def _ingest(upload: Upload) -> None:
    upload.refresh_from_db()
    if not upload.is_open:
        return
    began = time.monotonic() - upload.seconds
    _set(upload, state=UploadState.READING)
    try:
        with upload.file.open("rb") as stream:
            intake = Intake(upload.name, stream, upload.format)
            finished = _write_batches(upload, intake, began)
    except (RefusedError, UnknownFormatError) as exc:
        _refuse(upload, str(exc))
        return
    except FileNotFoundError:
        _refuse(upload, "The uploaded file is no longer in the store. Upload it again.")
        return
    if not finished:  # cancelled on its page
        return
    formats = ", ".join(sorted(intake.formats))
    seconds = time.monotonic() - began
    _set(
        upload,
        state=UploadState.DONE,
        format=formats[:40],
        bytes_read=upload.size,
        seconds=seconds,
    )


def _write_batches(upload: Upload, intake: Intake, began: float) -> bool:
    """Write every batch after those in the ledger; False if it was cancelled."""
    done = Batch.objects.filter(upload=upload).aggregate(n=Sum("records"))["n"] or 0
    number = Batch.objects.filter(upload=upload).count()
    rules = DEFAULT_RULES
    records = _counted(intake.records(), done)
    while batch := list(_batch(records)):
        work = batches.prepare(batch, rules)
        _write(upload, number, work)
        number += 1
        seconds = time.monotonic() - began
        still_open = Upload.objects.filter(
            pk=upload.pk, state=UploadState.READING
        ).update(
            bytes_read=intake.counter.furthest,
            seconds=seconds,
            touched_at=timezone.now(),
        )
        if not still_open:
            return False
    return True


def _counted(
    records: Iterator[tuple[str, Record]], done: int
) -> Iterator[tuple[str, Record]]:
    """Pass over the records that the ledger has, which readers give in the same order."""
    passed = 0
    while passed < done:
        item = next(records, None)
        if item is None:
            return
        passed += weight(item[1])
    yield from records


def weight(record: Record) -> int:
    """How many records of the sum check an item stands for: a run's gaps count too."""
    return 1 + len(record.unreadable) if isinstance(record, Transcript) else 1


def _batch(records: Iterator[tuple[str, Record]]) -> Iterator[tuple[str, Record]]:
    calls = 0
    for item in islice(records, BATCH_RECORDS):
        yield item
        if isinstance(item[1], Transcript):
            calls += sum(len(t.turns) for t in item[1].threads)
        if calls >= BATCH_CALLS:
            return


def _write(upload: Upload, number: int, work: batches.Work) -> None:
    """Write a batch; where another worker was at the same runs, look again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            batches.write(upload, number, work, DEFAULT_RULES)
            return
        except (IntegrityError, OperationalError) as exc:
            if attempt == _ATTEMPTS or not connection.is_usable():
                raise
            logger.info("Batch %s of upload %s again: %s", number, upload.pk, exc)
            for run in work.runs:
                run.known_id = None
            time.sleep(0.05 * attempt)


def _refuse(upload: Upload, reason: str) -> None:
    _set(upload, state=UploadState.REFUSED, reason=storable(reason))


def _set(upload: Upload, **values: object) -> None:
    Upload.objects.filter(pk=upload.pk).update(touched_at=timezone.now(), **values)
    for name, value in values.items():
        setattr(upload, name, value)
