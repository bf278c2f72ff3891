"""The demo workspace: what the issue of the product promises of it."""

from datetime import UTC, datetime, timedelta

from apps.accounts.models import Workspace
from apps.labels.queries import batch_state
from apps.overview import demo
from apps.overview.demo_logs import TOOLS, WEEKS, demo_lines
from apps.overview.purge import purge
from apps.overview.report import report
from apps.rewrites.models import Rewrite
from apps.runs.weeks import this_week
from apps.trends.rewrites import before_after
from apps.triage.queries import agenda
from tests.factories import failing, ingest, make_run, make_workspace

MONDAY = datetime(2026, 8, 31, tzinfo=UTC)


def test_the_demo_shows_what_rewrites_do(db):
    demo.ensure_demo()

    workspace = Workspace.objects.get(slug=demo.SLUG)
    found = report(workspace)
    compared = [before_after(rewrite) for rewrite in Rewrite.objects.all()]
    words = sorted(found.word if found else "not shipped" for found in compared)
    state = batch_state(workspace)
    this = this_week(workspace.tz)
    assert workspace.is_demo
    assert found["runs"] == 2000
    assert found["weeks"][-1]["start"] == this.isoformat()
    assert len(found["weeks"]) == WEEKS
    assert len({code["tool"] for code in found["codes"]}) <= len(TOOLS)
    assert words == ["better", "better", "cannot tell yet", "worse"]
    assert sorted(w.word for w in agenda(workspace, this).watched) == words
    assert [n.row.counts.tool for n in agenda(workspace, this).new] == [
        "create_invoice"
    ]
    assert state is not None
    assert state.pairs == 60


def test_the_demo_twice_is_one_demo(db):
    demo.ensure_demo()
    before = report(Workspace.objects.get(slug=demo.SLUG))

    demo.ensure_demo()

    assert report(Workspace.objects.get(slug=demo.SLUG)) == before


def test_the_logs_are_the_same_each_time():
    now = MONDAY + timedelta(weeks=13, days=2)

    assert list(demo_lines(MONDAY, now))[:20] == list(demo_lines(MONDAY, now))[:20]


def test_no_run_of_the_demo_is_in_the_future():
    import json

    now = MONDAY + timedelta(weeks=13, days=2)
    starts = [json.loads(line)["started_at"] for line in demo_lines(MONDAY, now)]

    assert max(starts) < now.isoformat()


def test_purge_takes_all_of_a_workspace_and_nothing_else(db):
    demo.ensure_demo()
    other = make_workspace("other")
    ingest(other, make_run("a", [failing("pay", {}, "Error: no")]))
    kept = report(other)
    workspace = Workspace.objects.get(slug=demo.SLUG)

    gone = purge(workspace)

    assert gone["runs_run"] == 2000
    assert report(workspace)["runs"] == 0
    assert report(workspace)["codes"] == []
    assert report(other) == kept
