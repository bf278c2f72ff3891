"""Outcomes from a list: kept, and joined with their runs whichever comes first."""

from collections.abc import Sequence

from django.db import connection

from apps.catalogue.resolve import storable
from apps.runs import rollups
from apps.runs.transcript import Outcome, OutcomeRecord, Transcript

from .models import PendingOutcome, Upload

BY_LIST = "list: "  # how `outcome_by` of such a run begins


def keep_outcomes(upload: Upload, records: Sequence[OutcomeRecord]) -> tuple[int, int]:
    """Keep rows of a list; give how many are new and how many were known already."""
    if not records:
        return 0, 0
    known = set(
        PendingOutcome.objects.filter(
            workspace_id=upload.workspace_id,
            log_id__in=[r.run_id for r in records],
            task_id__in=[r.task_id for r in records],
        ).values_list("log_id", "task_id", "outcome", "outcome_by")
    )
    fresh: dict[tuple[str, str, str, str], OutcomeRecord] = {}
    for record in records:
        key = (record.run_id, record.task_id, record.outcome, record.by)
        if key not in known:
            fresh.setdefault(key, record)
    rows = [
        PendingOutcome(
            workspace_id=upload.workspace_id,
            upload=upload,
            log_id=storable(record.run_id),
            task_id=storable(record.task_id),
            outcome=record.outcome,
            outcome_by=storable(record.by),
            ending=record.ending,
            note=storable(record.note),
        )
        for record in fresh.values()
    ]
    PendingOutcome.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["upload", "log_id", "task_id"],
        update_fields=["outcome", "outcome_by", "ending", "note"],
    )
    return len(fresh), len(records) - len(fresh)


def apply_outcomes(workspace_id: int, records: Sequence[OutcomeRecord]) -> None:
    """Give runs that are here already the outcome that a list says.

    Only a run whose own log says nothing takes it, or one that had it from a list.
    """
    for record in records:
        if record.outcome == "unknown":
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM runs_run WHERE workspace_id = %s AND"
                " ((%s <> '' AND log_id = %s) OR (%s <> '' AND task_id = %s))"
                " AND (outcome = 'unknown' OR outcome_by LIKE %s) AND outcome <> %s"
                " ORDER BY id FOR UPDATE",
                [workspace_id, record.run_id, record.run_id, record.task_id, record.task_id,
                 BY_LIST + "%", record.outcome],
            )  # fmt: skip
            ids = [row[0] for row in cursor.fetchall()]
            if not ids:
                continue
            rollups.remove_runs(ids)
            cursor.execute(
                "UPDATE runs_run SET outcome = %s, outcome_by = %s WHERE id = ANY(%s)",
                [record.outcome, BY_LIST + storable(record.by), ids],
            )
            rollups.add_runs(ids)


def wanted_outcomes(
    workspace_id: int, transcripts: Sequence[Transcript]
) -> dict[int, tuple[Outcome, str]]:
    """Find kept outcomes for new runs whose log says none; by `id()` of the transcript."""
    open_ones = [
        t for t in transcripts if t.outcome == "unknown" and (t.run_id or t.task_id)
    ]
    if not open_ones:
        return {}
    names = {
        storable(name) for t in open_ones for name in (t.run_id, t.task_id) if name
    }
    rows = PendingOutcome.objects.filter(workspace_id=workspace_id).order_by("pk")
    by_log = _outcomes(rows.filter(log_id__in=names), "log_id")
    by_task = _outcomes(rows.filter(task_id__in=names), "task_id")
    found = {}
    for transcript in open_ones:
        outcome = by_log.get(transcript.run_id) or by_task.get(transcript.task_id)
        outcome = (
            outcome or by_task.get(transcript.run_id) or by_log.get(transcript.task_id)
        )
        if outcome is not None:
            found[id(transcript)] = outcome
    return found


def _outcomes(rows: object, column: str) -> dict[str, tuple[Outcome, str]]:
    found = {}
    for name, outcome, by in rows.values_list(column, "outcome", "outcome_by"):  # type: ignore[attr-defined]
        if name and outcome != "unknown":
            found[name] = (outcome, BY_LIST + by)
    return found
