"""What workers do with uploads."""

import logging
from datetime import timedelta

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from .models import Upload, UploadState
from .pipeline import ingest_upload

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER = timedelta(minutes=2)


@shared_task(
    acks_late=True,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
)
def ingest_upload_task(upload_id: int) -> None:
    """Run `ingest_upload` in a worker. May be delivered twice."""
    upload = Upload.objects.select_related("workspace").filter(pk=upload_id).first()
    if upload is None:
        logger.warning("Upload %s was deleted before it was read.", upload_id)
        return
    ingest_upload(upload)


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
