"""Deletes what this app keeps of a workspace."""

from apps.accounts.models import Workspace

from .models import (
    CountedFailure,
    DayCode,
    DayErrors,
    DayLeftOut,
    DayRuns,
    PersonOutcome,
    Rederivation,
    RuleSet,
    Run,
    RunCode,
    RunPrefix,
    RunTranscript,
    ToolError,
)


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete this app's rows of a workspace; give how many of each table."""
    blobs = RunTranscript.objects.filter(run__workspace=workspace)
    gone = {RunTranscript._meta.db_table: blobs._raw_delete(blobs.db)}
    for table in (
        DayCode,
        DayErrors,
        DayLeftOut,
        DayRuns,
        RunCode,
        RunPrefix,
        ToolError,
        Run,
        PersonOutcome,
        CountedFailure,
        Rederivation,
        RuleSet,
    ):
        rows = table.objects.filter(workspace=workspace)
        gone[table._meta.db_table] = rows._raw_delete(rows.db)
    return gone
