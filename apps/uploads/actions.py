"""Every write of a person on uploads."""

import hashlib
import secrets
from pathlib import PurePosixPath
from typing import BinaryIO

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from apps.accounts.models import User, Workspace
from apps.catalogue.resolve import storable

from .models import Upload, UploadState
from .tasks import ingest_upload_task


def receive(
    workspace: Workspace,
    name: str,
    file: UploadedFile | File[bytes] | BinaryIO,
    *,
    by: User | None = None,
    format_name: str = "",
) -> Upload:
    """Store a file that was handed in; nothing reads it yet."""
    content = file if isinstance(file, File) else File(file)
    digest = hashlib.sha256()
    for chunk in content.chunks():
        digest.update(chunk)
    content.seek(0)
    upload = Upload(
        workspace=workspace,
        token=secrets.token_hex(16),
        name=_shown_name(name),
        size=content.size,
        sha256=digest.hexdigest(),
        format=format_name,
        created_by=by,
    )
    upload.file.save("upload", content, save=False)
    upload.save()
    return upload


def _shown_name(name: str) -> str:
    """Keep the last folders of a path: some formats have the run's id in them."""
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", ".")]
    return storable("/".join(parts[-4:])) or "upload"


@transaction.atomic
def receive_and_queue(
    workspace: Workspace,
    name: str,
    file: UploadedFile | File[bytes],
    *,
    by: User | None = None,
    format_name: str = "",
) -> Upload:
    """Store a file and let a worker read it once the row is committed."""
    upload = receive(workspace, name, file, by=by, format_name=format_name)
    ingest_upload_task.delay_on_commit(upload.pk)
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
        ingest_upload_task.delay_on_commit(upload.pk)
    return bool(again)


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
