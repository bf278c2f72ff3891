"""The workspace marked “Demo”: invented logs sent through the real pipeline."""

import io
from datetime import UTC, datetime, time, timedelta

from django.core.files import File
from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.actions import ensure_workspace, join
from apps.accounts.models import User, Workspace
from apps.catalogue.fingerprints import v1
from apps.catalogue.models import Code, Text
from apps.labels.actions import draw_weekly_batch
from apps.rewrites.actions import save_draft, ship
from apps.runs.models import Run
from apps.runs.weeks import this_week
from apps.uploads.actions import receive
from apps.uploads.models import Upload
from apps.uploads.pipeline import ingest_upload

from .demo_logs import FAILURES, SEED, WEEKS, Draw, demo_lines, filled
from .purge import purge

SLUG = "demo"
_LOCK = 0x44454D4F


def ensure_demo() -> None:
    """Fill the demo workspace so that its last week is this week. Safe to repeat."""
    with connection.cursor() as cursor:  # two starts at once fill it once
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            _ensure()
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _ensure() -> None:
    workspace = ensure_workspace(SLUG, "Support desk")
    Workspace.objects.filter(pk=workspace.pk).update(is_demo=True, target_rate=0.7)
    for user in User.objects.all():
        join(user, workspace)
    current = this_week(workspace.tz)
    open_or_done = Upload.objects.filter(workspace=workspace, state="done").exists()
    days = Run.objects.filter(workspace=workspace).order_by("-day").values_list("day")
    last = days.first()
    if open_or_done and last and last[0] is not None and last[0] >= current:
        return
    purge(workspace)
    monday = datetime.combine(current, time(), workspace.tz)
    first = monday - timedelta(weeks=WEEKS - 1)
    text = "\n".join(demo_lines(first.astimezone(UTC), timezone.now())) + "\n"
    upload = receive(workspace, "demo-sessions.jsonl", File(io.BytesIO(text.encode())))
    ingest_upload(upload)
    _ship_rewrites(workspace, first)
    draw_weekly_batch(workspace, seed=SEED)


def _ship_rewrites(workspace: Workspace, first: datetime) -> None:
    """Ship each rewrite on the Monday from which the logs carry its text."""
    for failure in FAILURES:
        if not failure.rewrite:
            continue
        sample = filled(failure.text, Draw("sample"))
        key = v1.fingerprint(failure.tool, sample).text_key
        text = Text.objects.filter(workspace=workspace, key=key).first()
        if text is None:
            continue
        draft = save_draft(
            Code.objects.get(pk=text.code_id), by=None, agent_message=failure.rewrite
        )
        day = (first + timedelta(weeks=failure.rewritten_in)).date()
        with transaction.atomic():
            ship(draft, day, by=None)
