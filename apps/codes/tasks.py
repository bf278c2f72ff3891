"""What workers do with codes."""

import logging
from datetime import timedelta

from celery import shared_task
from django.db import OperationalError
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue.models import JobState, PlacementJob

from .placements import carry_out
from .regrouping import regroup_workspace

logger = logging.getLogger(__name__)

FORGOTTEN_AFTER = timedelta(minutes=2)


@shared_task(
    acks_late=True,
    autoretry_for=(OperationalError,),
    retry_backoff=True,
    max_retries=5,
)
def carry_out_task(job_id: int) -> None:
    """Run `carry_out` in a worker. May be delivered twice."""
    job = PlacementJob.objects.filter(pk=job_id).first()
    if job is None:
        logger.warning("Placement job %s was deleted before it was done.", job_id)
        return
    carry_out(job)


@shared_task
def carry_on_jobs_task() -> int:
    """Queue again what Redis forgot or a dead worker held; give how many."""
    forgotten = PlacementJob.objects.exclude(state=JobState.DONE).filter(
        touched_at__lt=timezone.now() - FORGOTTEN_AFTER
    )
    count = 0
    for job_id in forgotten.values_list("pk", flat=True):
        carry_out_task.delay(job_id)
        count += 1
    return count


@shared_task
def regroup_task(workspace_id: int | None = None) -> int:
    """Regroup one workspace, or every one; give how many folds were made."""
    workspaces = Workspace.objects.order_by("pk")
    if workspace_id is not None:
        workspaces = workspaces.filter(pk=workspace_id)
    return sum(regroup_workspace(workspace).folds for workspace in workspaces)
