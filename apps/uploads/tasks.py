"""What workers do with uploads."""

import logging
from datetime import timedelta

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from apps.runs.models import Rederivation, RederivationState

from .deletion import delete_upload
from .models import Deletion, Upload, UploadState
from .pipeline import cut, ingest_next_part
from .rederive import rederive

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER_SECONDS = 120.0  # without a sign of a worker; batches take seconds


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


@shared_task(acks_late=True, autoretry_for=(OperationalError,), retry_backoff=True)
def delete_upload_task(deletion_id: int) -> None:
    """Carry out a deletion in a worker. May be delivered twice."""
    deletion = Deletion.objects.filter(pk=deletion_id).first()
    if deletion is not None:
        delete_upload(deletion)


REDERIVE_SECONDS = 20.0  # then uploads have their turn


@shared_task(acks_late=True, autoretry_for=(OperationalError,), retry_backoff=True)
def rederive_task(job_id: int) -> None:
    """Read stored runs again by new rules, some at a time. May be delivered twice."""
    jobs = Rederivation.objects.select_related("workspace")
    job = jobs.filter(pk=job_id).first()
    if job is not None and rederive(job, REDERIVE_SECONDS):
        rederive_task.delay(job_id)


def _upload(upload_id: int) -> Upload | None:
    upload = Upload.objects.select_related("workspace").filter(pk=upload_id).first()
    if upload is None:
        logger.warning("Upload %s was deleted before it was read.", upload_id)
    return upload


@shared_task
def requeue_forgotten_task(after_seconds: float = FORGOTTEN_AFTER_SECONDS) -> int:
    """Queue again what Redis forgot or a dead worker held; give how many uploads.

    A part that somebody still reads is locked, so one too many does no harm.
    """
    forgotten = Upload.objects.filter(
        state__in=[UploadState.RECEIVED, UploadState.READING],
        touched_at__lt=timezone.now() - timedelta(seconds=after_seconds),
    ).values_list("pk", flat=True)
    for upload_id in forgotten:
        ingest_upload_task.delay(upload_id)
    for deletion_id in Deletion.objects.filter(
        ended_at=None,
        requested_at__lt=timezone.now() - timedelta(seconds=after_seconds),
    ).values_list("pk", flat=True):
        delete_upload_task.delay(deletion_id)
    for job_id in Rederivation.objects.filter(
        state__in=[RederivationState.WAITING, RederivationState.RUNNING],
        touched_at__lt=timezone.now() - timedelta(seconds=after_seconds),
    ).values_list("pk", flat=True):
        rederive_task.delay(job_id)
    return len(forgotten)
