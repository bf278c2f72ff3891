"""What beat does with labelling."""

from celery import shared_task

from apps.accounts.models import Workspace
from apps.runs.weeks import WEEK, this_week

from .actions import NothingToDrawError, draw_weekly_batch


@shared_task
def draw_weekly_batches_task() -> int:
    """Draw last week's batch of each workspace that has errors in it; give how many."""
    drawn = 0
    for workspace in Workspace.objects.all():
        try:
            draw_weekly_batch(workspace, week=this_week(workspace.tz) - WEEK)
        except NothingToDrawError:
            continue
        drawn += 1
    return drawn
