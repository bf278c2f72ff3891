"""Reads of rewrites."""

from django.db.models import F, Q, QuerySet

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text
from apps.runs import queries

from .models import Rewrite, RewriteState


def rewrites_of(
    workspace: Workspace, q: str = "", state: str = "", sort: str = ""
) -> QuerySet[Rewrite]:
    """Give a workspace's rewrites under filters.

    Open ones come first, then the latest shipped; `sort` "code" orders by code.
    """
    rewrites = Rewrite.objects.filter(workspace=workspace).select_related(
        "code", "author", "shipped_by"
    )
    if q:
        in_code = Q(code__key__icontains=q) | Q(code__title__icontains=q)
        rewrites = rewrites.filter(in_code | Q(agent_message__icontains=q))
    if state in RewriteState.values:
        rewrites = rewrites.filter(state=state)
    if sort == "code":
        return rewrites.order_by("code__key", "-pk")
    return rewrites.order_by(F("shipped_on").desc(nulls_first=True), "-pk")


def present_text(code: Code) -> Text | None:
    """Give the text that the logs delivered last for a code."""
    counts = queries.by_text(code.workspace_id, code.pk)
    dated = [c for c in counts if c.last_day is not None] or counts
    if not dated:
        return Text.objects.filter(code=code).order_by("pk").first()
    latest = max(dated, key=lambda c: (c.last_day is not None, c.last_day, c.errors))
    return Text.objects.get(pk=latest.text_id)
