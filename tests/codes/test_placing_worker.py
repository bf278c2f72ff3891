"""A placement job and a regrouping in a real worker."""

import time

import pytest

from apps.catalogue.models import Code, JobState, PlacementJob, PlacementRule, RuleKind
from apps.codes.placements import Plan, place
from apps.codes.tasks import carry_out_task, regroup_task
from apps.runs.models import ToolError
from tests.factories import failing, ingest, make_run

TABLES = ("orders", "customers", "invoices", "shipments", "refunds", "carts", "events")


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_worker_carries_out_a_job_and_regroups(workspace, worker):
    texts = [f"Error: relation {table} is locked" for table in TABLES]
    ingest(workspace, make_run("a", [failing("query", {}, text) for text in texts]))
    ingest(workspace, make_run("b", [failing("pay", {}, "Error: declined")]))
    pay = Code.objects.get(tool="pay")
    job = place(Plan(pay, RuleKind.MOVE, pay.key, "billing"), by=None, why="")

    carry_out_task.delay(job.pk)
    carry_out_task.delay(job.pk)
    regroup_task.delay(workspace.pk)

    wait_for(lambda: done(job.pk) and PlacementJob.objects.count() == 2 and all_done())
    job.refresh_from_db()
    assert job.errors_moved == 1
    assert PlacementRule.objects.filter(kind=RuleKind.FOLD).count() == len(TABLES) - 1
    assert ToolError.objects.values("code").distinct().count() == 2


def done(job_id: int) -> bool:
    return PlacementJob.objects.filter(pk=job_id, state=JobState.DONE).exists()


def all_done() -> bool:
    return not PlacementJob.objects.exclude(state=JobState.DONE).exists()


def wait_for(is_so, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "the worker did not finish in time"
        time.sleep(0.1)
