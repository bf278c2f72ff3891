"""Every write of a person on uploads."""

import errno
import secrets
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User, Workspace
from apps.catalogue.resolve import storable
from apps.runs import rule_sets
from apps.runs.models import Rederivation
from apps.runs.rules import Rules

from .models import Deletion, Upload, UploadState
from .raw_store import redacted
from .tasks import delete_upload_task, ingest_upload_task, rederive_task
from .unpacking import RefusedError
from .zips import BadZipError

DISK_FULL = (
    "The server has no room left for this file; nothing of it was kept."
    " Ask whoever runs the server to make room, then upload it again."
)


def receive(
    workspace: Workspace,
    name: str,
    file: File[bytes] | BinaryIO,
    *,
    by: User | None = None,
    format_name: str = "",
) -> Upload:
    """Store a file that was handed in, secrets replaced; nothing reads it yet.

    One that cannot be unpacked is refused at once, with the reason on its row.
    """
    content = file if isinstance(file, File) else File(file)
    upload = Upload(
        workspace=workspace,
        token=secrets.token_hex(16),
        name=_shown_name(name),
        size=0,
        format=format_name,
        created_by=by,
    )
    try:
        if (content.size or 0) > settings.MAX_UPLOAD_BYTES:
            most = settings.MAX_UPLOAD_BYTES >> 20
            raise RefusedError(
                f"The file is larger than {most:,} MB. Send it in parts."
            )
        kept = redacted(cast("BinaryIO", content), upload.name)
        upload.file.save("upload", kept, save=False)
    except (RefusedError, BadZipError) as exc:
        upload.state, upload.reason = UploadState.REFUSED, storable(str(exc))
    except OSError as exc:
        if exc.errno != errno.ENOSPC:
            raise
        _forget_half_a_file(upload)
        upload.state, upload.reason = UploadState.REFUSED, DISK_FULL
    else:
        upload.size = kept.written
        upload.redacted = dict(sorted(kept.found.items()))
    upload.save()
    return upload


def _forget_half_a_file(upload: Upload) -> None:
    """Take away what was written before the disk was full."""
    field = upload.file.field
    upload.file.storage.delete(field.generate_filename(upload, "upload"))
    upload.file = ""


def _shown_name(name: str) -> str:
    """Keep the last folders of a path: some formats have the run's id in them."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", ".")]
    return storable("/".join(parts[-4:])) or "upload"


@transaction.atomic
def receive_and_queue(
    workspace: Workspace,
    name: str,
    file: File[bytes],
    *,
    by: User | None = None,
    format_name: str = "",
) -> Upload:
    """Store a file and let a worker read it once the row is committed."""
    upload = receive(workspace, name, file, by=by, format_name=format_name)
    if upload.is_open:
        transaction.on_commit(partial(ingest_upload_task.delay, upload.pk))
    return upload


def cancel(upload: Upload) -> bool:
    """Stop reading; batches already written stay. False if it had ended before."""
    return bool(
        Upload.objects.filter(
            pk=upload.pk, state__in=[UploadState.RECEIVED, UploadState.READING]
        ).update(state=UploadState.CANCELLED, touched_at=timezone.now())
    )


@transaction.atomic
def retry(upload: Upload) -> bool:
    """Go on with a cancelled or refused upload where its ledger ends."""
    again = Upload.objects.filter(
        pk=upload.pk, state__in=[UploadState.CANCELLED, UploadState.REFUSED]
    ).update(state=UploadState.RECEIVED, reason="", touched_at=timezone.now())
    if again:
        transaction.on_commit(partial(ingest_upload_task.delay, upload.pk))
    return bool(again)


@transaction.atomic
def request_deletion(upload: Upload, by: User | None = None) -> Deletion:
    """Stop an upload and let a worker delete it with its runs. Twice is once."""
    cancel(upload)
    deletion, _ = Deletion.objects.get_or_create(
        upload_id=upload.pk,
        defaults={
            "workspace_id": upload.workspace_id,
            "name": upload.name,
            "requested_by": by,
        },
    )
    transaction.on_commit(partial(delete_upload_task.delay, deletion.pk))
    return deletion


@transaction.atomic
def save_rules(
    workspace: Workspace, rules: Rules, *, by: User | None, note: str = ""
) -> Rederivation | None:
    """Save new rules and let a worker read the stored runs by them; None: no change."""
    job = rule_sets.save_rules(workspace, rules, by=by, note=storable(note))
    if job is not None:
        transaction.on_commit(partial(rederive_task.delay, job.pk))
    return job


def set_aside_file(upload: Upload) -> ContentFile[str]:
    """Give what was set aside as JSON lines."""
    import json

    lines = [
        json.dumps(row, ensure_ascii=False)
        for row in upload.left_out.order_by("pk").values(
            "member", "line", "offset", "reason", "preview"
        )
    ]
    return ContentFile("\n".join(lines) + "\n" if lines else "")
