"""The runs list: filters and order as a query."""

from typing import Any

from django.db.models import F, Q, QuerySet

from .forms import SORTS
from .models import Run
from .weeks import WEEK, week_of


def listed(workspace_id: int, wanted: dict[str, Any], sort: str) -> QuerySet[Run]:
    """Give a workspace's runs under the filters of `RunFilter`, in order."""
    runs = Run.objects.filter(workspace_id=workspace_id)
    if (left_out := wanted.get("left_out")) != "both":
        runs = runs.filter(is_excluded=left_out == "only")
    if q := wanted.get("q"):
        runs = runs.filter(
            Q(log_id__icontains=q) | Q(task_id__icontains=q) | Q(title__icontains=q)
        )
    if outcome := wanted.get("outcome"):
        runs = runs.filter(outcome=outcome)
    if errors := wanted.get("with_errors"):
        runs = runs.filter(errors__gt=0) if errors == "with" else runs.filter(errors=0)
    for name in ("model", "agent"):
        if value := wanted.get(name):
            runs = runs.filter(**{name: value})
    if code := wanted.get("code"):
        runs = runs.filter(runcode__code_id=code)
    if text := wanted.get("text"):
        runs = runs.filter(runcode__text_id=text)
    if upload := wanted.get("upload"):
        runs = runs.filter(upload_id=upload)
    if week := wanted.get("week"):
        runs = runs.filter(day__gte=week_of(week), day__lt=week_of(week) + WEEK)
    return runs.order_by(*_order(sort))


def _order(sort: str) -> list[Any]:
    column = F(SORTS.get(sort.lstrip("-"), "started_at"))
    if sort in SORTS:
        return [column.asc(nulls_last=True), "pk"]
    return [column.desc(nulls_last=True), "-pk"]


def known_values(workspace_id: int, column: str) -> list[str]:
    """List the models or agents of a workspace, from the day rollups."""
    from .models import DayRuns

    rows = DayRuns.objects.filter(workspace_id=workspace_id).exclude(**{column: ""})
    return list(rows.order_by(column).values_list(column, flat=True).distinct()[:200])
