"""What workers do with uploads."""

import logging
from datetime import timedelta

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from .models import Upload, UploadState
from .pipeline import cut, ingest_next_part

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER = timedelta(minutes=2)


LANES = 4  # parts of one upload that wait in the queue at once
# More would let a large upload fill the queue, and a small one wait behind it.


@shared_task(
    acks_late=True,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
)
def ingest_upload_task(upload_id: int) -> None:
    """Cut an upload and queue its first parts. May be delivered twice."""
    upload = _upload(upload_id)
    if upload is None:
        return
    for _ in range(min(LANES, cut(upload))):
        ingest_part_task.delay(upload_id)


@shared_task(
    acks_late=True,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
)
def ingest_part_task(upload_id: int) -> None:
    """Read the next part of an upload, and queue the one after it. May run twice."""
    upload = _upload(upload_id)
    if upload is not None and ingest_next_part(upload) and upload.is_open:
        ingest_part_task.delay(upload_id)


def _upload(upload_id: int) -> Upload | None:
    upload = Upload.objects.select_related("workspace").filter(pk=upload_id).first()
    if upload is None:
        logger.warning("Upload %s was deleted before it was read.", upload_id)
    return upload


@shared_task
def requeue_forgotten_task() -> int:
    """Queue again what Redis forgot or a dead worker held; give how many."""
    forgotten = Upload.objects.filter(
        state__in=[UploadState.RECEIVED, UploadState.READING],
        touched_at__lt=timezone.now() - FORGOTTEN_AFTER,
    ).values_list("pk", flat=True)
    count = 0
    for upload_id in forgotten:
        ingest_upload_task.delay(upload_id)
        count += 1
    return count
