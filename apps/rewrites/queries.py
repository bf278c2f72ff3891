"""Reads of rewrites."""

from django.db.models import QuerySet

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text
from apps.runs import queries

from .models import Rewrite


def rewrites_of(workspace: Workspace) -> QuerySet[Rewrite]:
    """Give a workspace's rewrites: open ones first, then the latest shipped."""
    return (
        Rewrite.objects.filter(workspace=workspace)
        .select_related("code", "author", "shipped_by")
        .order_by("shipped_on", "-pk")
        .reverse()
    )


def present_text(code: Code) -> Text | None:
    """Give the text that the logs delivered last for a code."""
    counts = queries.by_text(code.workspace_id, code.pk)
    dated = [c for c in counts if c.last_day is not None] or counts
    if not dated:
        return Text.objects.filter(code=code).order_by("pk").first()
    latest = max(dated, key=lambda c: (c.last_day is not None, c.last_day, c.errors))
    return Text.objects.get(pk=latest.text_id)
