"""Empties a workspace: each app's own `purge`, the top one first."""

from apps.accounts.models import Workspace
from apps.catalogue.purge import purge as purge_catalogue
from apps.labels.purge import purge as purge_labels
from apps.rewrites.purge import purge as purge_rewrites
from apps.runs.purge import purge as purge_runs
from apps.triage.purge import purge as purge_triage
from apps.uploads.purge import purge as purge_uploads


def purge(workspace: Workspace) -> dict[str, int]:
    """Delete all rows and files of a workspace; give how many rows of each table went.

    The workspace and its members stay.
    """
    gone: dict[str, int] = {}
    for step in (
        purge_triage,
        purge_labels,
        purge_rewrites,
        purge_uploads,
        purge_runs,
        purge_catalogue,
    ):
        gone |= step(workspace)
    return gone
