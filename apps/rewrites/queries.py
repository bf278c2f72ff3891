"""Reads of rewrites."""

from collections import Counter

from django.db.models import F, Q, QuerySet

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text
from apps.runs import queries

from . import exporting
from .checking import tool_hints
from .exports.catalogue import TextEntry
from .models import Rewrite, RewriteEvent, RewriteState


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


def export_of(workspace: Workspace) -> exporting.Export:
    """Build the catalogue of a workspace from its live rewrites.

    A text's version counts all that were ever shipped for its code, after text 1, the
    one first seen in logs: rolling one back renumbers none.
    """
    ever = Rewrite.objects.filter(
        workspace=workspace, shipped_on__isnull=False
    ).select_related("code", "text")
    by_code: dict[int, list[tuple[int, Rewrite]]] = {}
    versions: Counter[int] = Counter()
    for rewrite in ever.order_by("pk"):
        versions[rewrite.code_id] += 1
        if rewrite.is_live:
            version = 1 + versions[rewrite.code_id]
            by_code.setdefault(rewrite.code_id, []).append((version, rewrite))
    steps = RewriteEvent.objects.filter(
        rewrite__workspace=workspace,
        state__in=[RewriteState.SHIPPED, RewriteState.ROLLED_BACK],
    )
    tools = sorted(tool_hints(workspace.pk).items())
    return exporting.build(
        name=workspace.name,
        version=str(steps.count()),
        domain=workspace.slug,
        rows=[_code_row(live) for live in by_code.values()],
        tools=[hints for _, hints in tools],
    )


def _code_row(live: list[tuple[int, Rewrite]]) -> exporting.CodeRow:
    """Give a code with its live texts; `live` is by version."""
    latest = live[-1][1]
    code = latest.code
    shipped_at = latest.text.shipped_at if latest.text else None
    confirmed = code.contract_at
    if confirmed is not None and (shipped_at is None or confirmed > shipped_at):
        contract: Code | Rewrite = code  # a person's later word on the code
    else:
        contract = latest
    return exporting.CodeRow(
        id=code.pk,
        key=code.key,
        texts=tuple(
            TextEntry(version, rewrite.agent_message, rewrite.user_message)
            for version, rewrite in live
        ),
        title=code.title,
        tool=code.tool,
        category=contract.category,
        commit_state=contract.commit_state,
        retry_directive=contract.retry_directive,
        next_action=contract.next_action,
        alternative_tool=contract.alternative_tool,
        safe_details=tuple(code.safe_details),
    )
