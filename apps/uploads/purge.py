"""Deletes what this app keeps of a workspace: rows and raw files."""

from apps.accounts.models import Workspace

from .models import Upload


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete uploads with their ledger, what was set aside, outcomes and raw files."""
    uploads = Upload.objects.filter(workspace=workspace)
    files = [upload.file for upload in uploads]
    _, gone = uploads.delete()
    for file in files:
        if file.name:
            file.storage.delete(file.name)
    return {f"uploads_{name.rpartition('.')[2].lower()}": n for name, n in gone.items()}
