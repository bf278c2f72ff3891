"""What a batch's labels say, and the labels as files."""

from typing import Final

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required

from . import result_queries
from .label_files import to_csv, to_jsonl
from .results import MIN_FOR_CODE

COLUMNS: Final = (
    "week",
    "seed",
    "pair",
    "position",
    "stratum_number",
    "stratum",
    "stratum_size",
    "stratum_drawn",
    "errors_in_run",
    "chance",
    "reviews_wanted",
    "run",
    "thread",
    "turn",
    "call",
    "tool",
    "code",
    "delivered",
    "machine_move",
    "reviewer",
    "branch",
    "move",
    "was_right",
    "note",
    "is_current",
    "labelled_at",
)


@member_required()
@require_GET
def results(request: MemberRequest) -> HttpResponse:
    """Agreement and estimates of a week's batch, the newest by default."""
    week = request.GET.get("week", "")
    batch = result_queries.batch_of(request.workspace, week)
    context = {
        "section": "labels",
        "r": result_queries.results_of(batch) if batch else None,
        "weeks": result_queries.weeks_drawn(request.workspace),
        "wanted": week,
        "floor": MIN_FOR_CODE,
    }
    return render(request, "labels/results.html", context)


@member_required()
@require_GET
def export_csv(request: MemberRequest) -> HttpResponse:
    """Every label of a batch as CSV."""
    week, rows = _rows(request)
    return _file(to_csv(rows, COLUMNS), "text/csv; charset=utf-8", f"{week}.csv")


@member_required()
@require_GET
def export_jsonl(request: MemberRequest) -> HttpResponse:
    """Every label of a batch as JSONL."""
    week, rows = _rows(request)
    return _file(to_jsonl(rows), "application/x-ndjson", f"{week}.jsonl")


def _rows(request: MemberRequest) -> tuple[str, list[dict[str, object]]]:
    week = request.GET.get("week", "")
    batch = result_queries.batch_of(request.workspace, week)
    if batch is None:
        raise Http404("No batch was drawn for this week.")
    return batch.week.isoformat(), result_queries.labels_to_export(batch)


def _file(text: str, content_type: str, name: str) -> HttpResponse:
    response = HttpResponse(text.encode(), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="labels-{name}"'
    return response
