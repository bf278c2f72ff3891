"""Every write of triage."""

from datetime import date

from django.utils import timezone

from apps.accounts.models import User
from apps.catalogue.models import Code
from apps.catalogue.resolve import storable

from .models import Decision


def decide(
    code: Code, *, week: date, kind: str, owner: User | None, note: str, by: User
) -> Decision:
    """Record the decision on a code in a week; a later one of that week replaces it."""
    decision, _ = Decision.objects.update_or_create(
        code=code,
        week=week,
        defaults={
            "workspace_id": code.workspace_id,
            "kind": kind,
            "owner": owner,
            "note": storable(note),
            "decided_by": by,
            "decided_at": timezone.now(),
        },
    )
    return decision


def close(decision: Decision) -> None:
    """Say that a decision has been carried out; it does not come back next week."""
    Decision.objects.filter(pk=decision.pk).update(is_closed=True)
