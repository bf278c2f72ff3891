"""Deletes what this app keeps of a workspace."""

from apps.accounts.models import Workspace

from .models import Rewrite


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete this app's rows of a workspace; give how many of each table."""
    _, gone = Rewrite.objects.filter(workspace=workspace).delete()
    return {
        f"rewrites_{name.rpartition('.')[2].lower()}": n for name, n in gone.items()
    }
