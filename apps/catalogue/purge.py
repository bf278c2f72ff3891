"""Deletes what this app keeps of a workspace."""

from apps.accounts.models import Workspace

from .models import (
    Code,
    CodeChange,
    FoldSuggestion,
    PlacementJob,
    PlacementRule,
    Text,
    Tool,
)


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete this app's rows of a workspace; give how many of each table."""
    gone = {}
    for table in (
        PlacementJob,
        PlacementRule,
        FoldSuggestion,
        CodeChange,
        Text,
        Code,
        Tool,
    ):
        rows = table.objects.filter(workspace=workspace)
        gone[table._meta.db_table] = rows._raw_delete(rows.db)
    return gone
