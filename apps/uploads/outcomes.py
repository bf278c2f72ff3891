"""Outcomes from a list: kept, and joined with their runs whichever comes first."""

from collections.abc import Sequence
from typing import cast

from django.db import connection, transaction

from apps.catalogue.resolve import storable
from apps.runs import rollups
from apps.runs.outcomes import BY_LIST, BY_PERSON, BY_RULE, Said, decide, scored
from apps.runs.people import person_outcomes
from apps.runs.rules import Rules
from apps.runs.transcript import Outcome, OutcomeRecord, Transcript

from .candidates import Candidate, identities
from .importers.swe_bench_report import OTHERS
from .models import PendingOutcome, Upload


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
    by_target = {(row.log_id, row.task_id): row for row in rows}  # the last word counts
    PendingOutcome.objects.bulk_create(
        by_target.values(),
        update_conflicts=True,
        unique_fields=["upload", "log_id", "task_id"],
        update_fields=["outcome", "outcome_by", "ending", "note"],
    )
    return len(fresh), len(records) - len(fresh)


def apply_outcomes(workspace_id: int, records: Sequence[OutcomeRecord]) -> None:
    """Give runs that are here already the outcome that a list says.

    Only a run whose own log says nothing takes it; a list goes before rule and person.
    """
    for record in records:
        if record.outcome == "unknown" or record.task_id == OTHERS:
            continue
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM runs_run WHERE workspace_id = %s AND"
                " ((%s <> '' AND log_id = %s) OR (%s <> '' AND task_id = %s))"
                " AND (outcome = 'unknown' OR outcome_by LIKE ANY(%s))"
                " AND (outcome <> %s OR outcome_by NOT LIKE %s) ORDER BY id FOR UPDATE",
                [workspace_id, record.run_id, record.run_id, record.task_id,
                 record.task_id, [f"{by}%" for by in (BY_LIST, BY_RULE, BY_PERSON)],
                 record.outcome, f"{BY_LIST}%"],
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


def apply_to_others(upload: Upload) -> None:
    """Give the runs that a list of the same upload does not name what it says of them.

    Some benchmarks list only what was solved; what else they ran is in the archive.
    """
    rest = PendingOutcome.objects.filter(upload=upload, task_id=OTHERS).first()
    if rest is None:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM runs_run WHERE upload_id = %s AND task_id <> ''"
            " AND (outcome = 'unknown' OR outcome_by LIKE ANY(%s))"
            " ORDER BY id FOR UPDATE",
            [upload.pk, [f"{by}%" for by in (BY_RULE, BY_PERSON)]],
        )
        ids = [row[0] for row in cursor.fetchall()]
        rollups.remove_runs(ids)
        cursor.execute(
            "UPDATE runs_run SET outcome = %s, outcome_by = %s WHERE id = ANY(%s)",
            [rest.outcome, BY_LIST + rest.outcome_by, ids],
        )
        rollups.add_runs(ids)


def said_outcomes(
    workspace_id: int,
    runs: Sequence[Candidate],
    rules: Rules,
    upload_ids: Sequence[int] = (),
) -> list[Said]:
    """Give how each run ended, by whose word counts, as far as anybody has said it.

    Of stored runs the ids of their uploads say which were told by `apply_to_others`.
    """
    listed = _listed(workspace_id, [run.transcript for run in runs])
    people = person_outcomes(workspace_id, [identities(run) for run in runs])
    rest = _of_others(set(upload_ids))
    for run, upload_id in zip(runs, upload_ids, strict=False):
        if run.transcript.task_id and upload_id in rest:
            listed.setdefault(id(run.transcript), rest[upload_id])
    return [
        decide(
            Said(run.transcript.outcome, run.transcript.outcome_by),
            listed.get(id(run.transcript)),
            scored(run.transcript.scores, rules),
            person,
        )
        for run, person in zip(runs, people, strict=True)
    ]


def _of_others(upload_ids: set[int]) -> dict[int, Said]:
    """Give what the lists of some uploads say of runs that they do not name."""
    rows = PendingOutcome.objects.filter(upload__in=upload_ids, task_id=OTHERS)
    return {
        row.upload_id: Said(cast("Outcome", row.outcome), BY_LIST + row.outcome_by)
        for row in rows
    }


def _listed(workspace_id: int, transcripts: Sequence[Transcript]) -> dict[int, Said]:
    """Find kept outcomes of runs whose log says none; by `id()` of the transcript."""
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


def _outcomes(rows: object, column: str) -> dict[str, Said]:
    found = {}
    for name, outcome, by in rows.values_list(column, "outcome", "outcome_by"):  # type: ignore[attr-defined]
        if name and outcome != "unknown":
            found[name] = Said(outcome, BY_LIST + by)
    return found
