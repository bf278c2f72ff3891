"""Reads an upload from its first byte to its last row, in batches, exactly once.

A file whose lines are runs of their own is cut into parts of some megabytes, which
workers read at the same time; any other file is one part. A part is claimed by a lock
that falls with its worker, and goes on where the ledger ends.
"""

import gc
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import BinaryIO, cast

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from apps.catalogue.resolve import storable
from apps.runs.rule_sets import current_rules
from apps.runs.rules import Rules
from apps.runs.transcript import Record, Transcript

from . import batches
from .containers import RefusedError
from .importers import HEAD_BYTES, UnknownFormatError, reader_for
from .intake import Intake, LineRange
from .models import Batch, Part, Upload, UploadState
from .outcomes import apply_to_others
from .unpacking import kind_of

logger = logging.getLogger(__name__)

PART_BYTES = settings.UPLOAD_PART_BYTES
BATCH_RECORDS = 250
BATCH_TURNS = 10_000  # long runs make a smaller batch
_LOCK_SPACE = 0x4552  # first half of the advisory lock's key: parts of uploads
_ATTEMPTS = 5


def ingest_upload(upload: Upload) -> None:
    """Read what is not yet read of an upload. Safe to run twice, also at once."""
    while ingest_next_part(upload):
        pass


def ingest_next_part(upload: Upload) -> bool:
    """Read one part of an upload that nobody else reads; False if there is none.

    The worker that ends the last part ends the upload.
    """
    cut(upload)
    for part in Part.objects.filter(upload=upload, is_done=False).order_by("number"):
        with _only_here(part.pk) as is_mine:
            if not is_mine:
                continue
            part.refresh_from_db()
            upload.refresh_from_db()
            if part.is_done or not upload.is_open:
                continue
            return _ingest_part(upload, part)
    return False


@contextmanager
def _only_here(part_id: int) -> Iterator[bool]:
    """Hold the part's lock; it falls with the connection if the worker dies."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [_LOCK_SPACE, part_id])
        is_mine = bool(cursor.fetchone()[0])
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                values = [_LOCK_SPACE, part_id]
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", values)


def cut(upload: Upload) -> int:
    """Cut an open upload into parts, once; give how many there are."""
    known = Part.objects.filter(upload=upload).count()
    if known or not upload.is_open:
        return known
    starts = _starts(upload)
    ends = [*starts[1:], upload.size]
    with transaction.atomic():
        locked = Upload.objects.select_for_update().get(pk=upload.pk)
        known = Part.objects.filter(upload=upload).count()
        if known or not locked.is_open:
            return known
        Part.objects.bulk_create(
            Part(upload=upload, number=number, start=start, end=end)
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        )
        _set(upload, state=UploadState.READING, started_at=timezone.now())
    return len(starts)


def _starts(upload: Upload) -> list[int]:
    """Where parts begin: every few megabytes if lines stand alone, else at 0 only."""
    if upload.size < 2 * PART_BYTES:
        return [0]
    with upload.file.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    if kind_of(head):
        return [0]
    try:
        _, reader = reader_for(head, upload.format)
    except UnknownFormatError:
        return [0]
    stand_alone = getattr(reader, "lines_stand_alone", None)
    if stand_alone is None or not stand_alone(head):
        return [0]
    return list(range(0, upload.size, PART_BYTES))


def _ingest_part(upload: Upload, part: Part) -> bool:
    """Read a part to its end; False if the upload ended before (refused, cancelled)."""
    try:
        with upload.file.open("rb") as stream:
            finished = _write_batches(upload, part, cast("BinaryIO", stream))
    except (RefusedError, UnknownFormatError) as exc:
        _end(upload, UploadState.REFUSED, str(exc))
        return False
    except FileNotFoundError:
        sentence = "The uploaded file is no longer in the store. Upload it again."
        _end(upload, UploadState.REFUSED, sentence)
        return False
    if finished:
        _finish(upload, part)
    return finished


def _write_batches(upload: Upload, part: Part, stream: BinaryIO) -> bool:
    """Write every batch after those in the ledger; False if it was cancelled."""
    ledger = Batch.objects.filter(upload=upload, part=part.number)
    done = ledger.aggregate(n=Sum("records"))["n"] or 0
    number = ledger.count()
    source = _source(upload, part, stream)
    read_before = 0
    records = _counted(source.records(), done)
    with _collector_at_rest():
        while batch := list(_batch(records)):
            rules = current_rules(upload.workspace_id)
            work = batches.prepare(batch, rules)
            _write(upload, part, number, work, rules)
            number += 1
            newly = source.counter.furthest - read_before
            read_before = source.counter.furthest
            still_open = Upload.objects.filter(
                pk=upload.pk, state=UploadState.READING
            ).update(bytes_read=F("bytes_read") + newly, touched_at=timezone.now())
            if not still_open:
                return False
    part.formats = ", ".join(sorted(source.formats))
    return True


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Keep Python's cycle collector from looking at each batch again and again.

    A batch is a tree of some hundred thousand objects without a cycle, which go by
    their reference counts. Reading is a third faster so; memory stays as it is.
    """
    if not gc.get_freeze_count():
        gc.freeze()  # the program itself need not be looked at after each part
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def _source(upload: Upload, part: Part, stream: BinaryIO) -> Intake | LineRange:
    if part.start == 0 and part.end >= upload.size:
        return Intake(upload.name, stream, upload.format)
    return LineRange(upload.name, stream, upload.format, part.start, part.end)


def _counted(
    records: Iterator[tuple[str, Record]], done: int
) -> Iterator[tuple[str, Record]]:
    """Pass over records that the ledger has; readers give them in the same order."""
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
    turns = 0
    for item in islice(records, BATCH_RECORDS):
        yield item
        if isinstance(item[1], Transcript):
            turns += sum(len(t.turns) for t in item[1].threads)
        if turns >= BATCH_TURNS:
            return


def _write(
    upload: Upload, part: Part, number: int, work: batches.Work, rules: Rules
) -> None:
    """Write a batch; where another worker was at the same runs, look again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            batches.write(upload, part.number, number, work, rules)
            return
        except batches.RulesChangedError:
            rules = current_rules(upload.workspace_id)
            batches.prepare_again(work, rules)
        except (IntegrityError, OperationalError) as exc:
            if attempt == _ATTEMPTS or not connection.is_usable():
                raise
            logger.info("Batch %s of upload %s again: %s", number, upload.pk, exc)
            for run in work.runs:
                run.known_id = None
            time.sleep(0.05 * attempt)


def _finish(upload: Upload, part: Part) -> None:
    """Mark a part as read; after the last, the upload is done."""
    with transaction.atomic():
        Upload.objects.select_for_update().get(pk=upload.pk)
        part.is_done = True
        part.save(update_fields=["is_done", "formats"])
        parts = Part.objects.filter(upload=upload)
        if parts.filter(is_done=False).exists():
            return
        apply_to_others(upload)
        names = {name for p in parts for name in p.formats.split(", ") if name}
        _set(upload, format=", ".join(sorted(names))[:40], bytes_read=upload.size)
        _end(upload, UploadState.DONE)


def _end(upload: Upload, state: str, reason: str = "") -> None:
    _set(upload, state=state, reason=storable(reason), ended_at=timezone.now())


def _set(upload: Upload, **values: object) -> None:
    Upload.objects.filter(pk=upload.pk).update(touched_at=timezone.now(), **values)
    for name, value in values.items():
        setattr(upload, name, value)
