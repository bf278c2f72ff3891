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
    # By `run__workspace` the table would be joined to itself, which takes minutes where
    # the planner has not yet seen how many rows there are.
    runs = Run.objects.filter(workspace=workspace)
    blobs = RunTranscript.objects.filter(run_id__in=runs.values("pk"))
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
