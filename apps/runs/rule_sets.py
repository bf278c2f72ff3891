"""The versions of a workspace's rules: reading them, and writing a new one.

Who writes rows by rules holds them while it does (`hold_rules`), and a new version
waits until nobody does. So once a version is saved, no row can still come in by an
older one, and a pass over the stored runs finds them all.
"""

import msgspec
from django.db import connection, transaction

from apps.accounts.models import User, Workspace

from .decisions import Rederivation, RederivationState, RuleSet
from .models import Run
from .rules import DEFAULT_RULES, Rules

_LOCK_SPACE = 0x4553  # first half of the advisory lock's key: rules


def current_rules(workspace_id: int) -> Rules:
    """Give the rules that hold: the newest version, or what Errata starts with."""
    newest = (
        RuleSet.objects.filter(workspace_id=workspace_id)
        .order_by("-version")
        .values_list("version", "rules")
        .first()
    )
    return rules_of(*newest) if newest else DEFAULT_RULES


def rules_of(version: int, stored: object) -> Rules:
    """Read rules as they are stored; fields of other releases are passed over."""
    rules = msgspec.convert(stored, Rules)
    return msgspec.structs.replace(rules, version=version)


def hold_rules(workspace_id: int) -> int:
    """Keep the rules as they are until the transaction ends; give their version."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock_shared(%s, %s)", [_LOCK_SPACE, workspace_id]
        )
    newest = RuleSet.objects.filter(workspace_id=workspace_id).order_by("-version")
    version = newest.values_list("version", flat=True).first()
    return DEFAULT_RULES.version if version is None else version


@transaction.atomic
def save_rules(
    workspace: Workspace, rules: Rules, *, by: User | None, note: str = ""
) -> Rederivation | None:
    """Save a new version and ask for a pass over the stored runs.

    None if nothing is changed. Waits until no batch is being written by the old rules;
    the caller queues the pass.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK_SPACE, workspace.pk]
        )
    before = current_rules(workspace.pk)
    after = msgspec.structs.replace(rules, version=before.version)
    if after == before:
        return None
    version = before.version + 1
    stored = msgspec.to_builtins(after, order="sorted")
    del stored["version"]
    RuleSet.objects.create(
        workspace=workspace, version=version, rules=stored, note=note, made_by=by
    )
    runs = Run.objects.filter(workspace=workspace, runtranscript__isnull=False)
    Rederivation.objects.filter(
        workspace=workspace,
        state__in=[RederivationState.WAITING, RederivationState.RUNNING],
    ).update(state=RederivationState.SUPERSEDED)
    return Rederivation.objects.create(
        workspace=workspace, rules_version=version, total=runs.count()
    )
