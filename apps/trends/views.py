"""Panels that other pages load by their address."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required
from apps.catalogue.models import Code
from apps.rewrites.models import Rewrite
from apps.runs import queries
from apps.runs.weeks import this_week

from .charts import weekly_chart
from .figures import Mark
from .rewrites import before_after
from .series import weekly_points


@member_required()
@require_GET
def code_panel(request: MemberRequest, code_id: int) -> HttpResponse:
    """The trend of one code: weekly line, marks of its rewrites, before and after."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    shipped = (
        Rewrite.objects.filter(code=code, shipped_on__isnull=False)
        .select_related("text", "workspace")
        .order_by("shipped_on", "pk")
    )
    marks = [
        Mark(rewrite.shipped_on, f"rewrite {number}")
        for number, rewrite in enumerate(shipped, start=1)
        if rewrite.shipped_on is not None
    ]
    weeks = queries.code_weeks(request.workspace.pk, code.pk)
    points = weekly_points(weeks, this_week(request.workspace.tz))
    chart = weekly_chart(
        "code-trend", "Runs that hit this code and still ended correctly", points, marks
    )
    compared = [
        (number, rewrite, before_after(rewrite))
        for number, rewrite in enumerate(shipped, start=1)
    ]
    undated = sum((o.runs for start, o in weeks if start is None), 0)
    context = {
        "code": code,
        "chart": chart,
        "compared": compared[::-1],
        "undated": undated,
    }
    return render(request, "trends/_code_panel.html", context)
