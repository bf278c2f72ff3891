"""Deletes an upload with its runs, in bounded steps, and leaves a receipt."""

from collections import Counter

from django.db import connection, transaction
from django.utils import timezone

from apps.runs import rollups

from .models import Deletion, Upload

STEP = 500  # runs that go in one transaction
_RUN_TABLES = (
    "runs_toolerror",
    "runs_runcode",
    "runs_runprefix",
    "runs_runtranscript",
)


def delete_upload(deletion: Deletion) -> None:
    """Carry out a deletion; safe to run again after a worker died in it.

    A run belongs to the upload that wrote it last, so a run that a later upload has
    extended stays. Counts go with their rows, in the same transaction.
    """
    if deletion.ended_at is not None:
        return
    while _delete_runs(deletion):
        pass
    upload = Upload.objects.filter(pk=deletion.upload_id).first()
    if upload is not None:
        gone = Counter(deletion.gone)
        if upload.file:
            gone["raw_file_bytes"] += upload.size
            upload.file.storage.delete(str(upload.file.name))
        with transaction.atomic():
            _, rows = upload.delete()
            gone.update({_table(name): n for name, n in rows.items()})
            deletion.gone = dict(sorted(gone.items()))
            deletion.save(update_fields=["gone"])
    deletion.ended_at = timezone.now()
    deletion.save(update_fields=["ended_at"])


def _table(model: str) -> str:
    return model.lower().replace(".", "_")


@transaction.atomic
def _delete_runs(deletion: Deletion) -> bool:
    """Delete some runs; False once there are none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM runs_run WHERE workspace_id = %s AND upload_id = %s"
            " ORDER BY id LIMIT %s FOR UPDATE",
            [deletion.workspace_id, deletion.upload_id, STEP],
        )
        runs = [row[0] for row in cursor.fetchall()]
        if not runs:
            return False
        rollups.remove_runs(runs)
        gone = Counter(deletion.gone)
        for table in _RUN_TABLES:
            statement = f"DELETE FROM {table} WHERE run_id = ANY(%s)"  # noqa: S608
            cursor.execute(statement, [runs])
            gone[table] += cursor.rowcount
        cursor.execute("DELETE FROM runs_run WHERE id = ANY(%s)", [runs])
        gone["runs_run"] += cursor.rowcount
    deletion.gone = dict(gone)
    deletion.save(update_fields=["gone"])
    return True
