"""Reads of uploads: their counts are sums over the ledger."""

from collections.abc import Iterable

from django.db.models import Count, Q, QuerySet, Sum

from apps.accounts.models import Workspace
from apps.runs.models import RunCode
from apps.runs.rates import Rate

from .models import Batch, Upload, UploadState

COUNTS = (
    "records",
    "runs_new",
    "runs_updated",
    "duplicates",
    "outcomes",
    "set_aside",
    "tool_calls",
    "tool_errors",
)


def upload_counts(upload_ids: Iterable[int]) -> dict[int, dict[str, int]]:
    """Give the counts of each upload; zeros where nothing is written yet."""
    ids = list(upload_ids)
    found = {pk: dict.fromkeys(COUNTS, 0) for pk in ids}
    rows = Batch.objects.filter(upload_id__in=ids).values("upload_id")
    sums = rows.annotate(**{f"sum_{name}": Sum(name) for name in COUNTS})
    for upload_id, *values in sums.values_list(
        "upload_id", *(f"sum_{name}" for name in COUNTS)
    ):
        found[upload_id] = dict(zip(COUNTS, values, strict=True))
    return found


SORTS = {"newest": "-pk", "oldest": "pk", "name": "name", "largest": "-size"}


def uploads_of(
    workspace: Workspace, q: str = "", state: str = "", sort: str = ""
) -> QuerySet[Upload]:
    """Give a workspace's uploads under filters; the newest first unless told else."""
    uploads = Upload.objects.filter(workspace=workspace).select_related("created_by")
    if q:
        uploads = uploads.filter(name__icontains=q)
    if state in UploadState.values:
        uploads = uploads.filter(state=state)
    return uploads.order_by(SORTS.get(sort, "-pk"), "-pk")


def reasons_set_aside(upload: Upload) -> list[tuple[str, int]]:
    """Give why stretches were set aside, the most frequent first."""
    rows = (
        upload.left_out.values("reason")
        .annotate(n=Count("pk"))
        .order_by("-n", "reason")
    )
    return [(row["reason"], row["n"]) for row in rows[:20]]


def open_uploads(workspace: Workspace) -> int:
    """Count uploads that a worker has still to do with."""
    return Upload.objects.filter(
        workspace=workspace, state__in=["received", "reading"]
    ).count()


def top_codes(upload: Upload, most: int = 8) -> list[dict[str, object]]:
    """Give the codes that most runs of an upload hit, with their outcomes."""
    hits = (
        RunCode.objects.filter(
            run__upload_id=upload.pk,
            run__is_excluded=False,
            workspace=upload.workspace,
        )
        .values("code_id", "code__key", "code__title", "code__tool")
        .annotate(
            runs=Count("run_id"),
            errors=Sum("errors"),
            correct=Count("run_id", filter=Q(run__outcome="correct")),
            incorrect=Count("run_id", filter=Q(run__outcome="incorrect")),
            unknown=Count("run_id", filter=Q(run__outcome="unknown")),
        )
        .order_by("-runs", "code__key")
    )
    return [
        {**row, "rate": Rate.of(row["correct"], row["incorrect"], row["unknown"])}
        for row in hits[:most]
    ]
