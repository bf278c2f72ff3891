"""Deletes what this app keeps of a workspace."""

from apps.accounts.models import Workspace

from .models import Decision


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete this app's rows of a workspace; give how many of each table."""
    gone = {}
    for table in (Decision,):
        rows = table.objects.filter(workspace=workspace)
        gone[table._meta.db_table] = rows._raw_delete(rows.db)
    return gone
