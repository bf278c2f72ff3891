"""What people have said of runs, by the runs' identities."""

from collections.abc import Collection
from typing import cast

from .decisions import PersonOutcome
from .outcomes import BY_PERSON, Said
from .transcript import Outcome


def person_outcomes(
    workspace_id: int, identities: Collection[Collection[bytes]]
) -> list[Said | None]:
    """Give the newest word on each of some runs, each with the identities it has had.

    None where nobody has said anything, or has taken it back.
    """
    words = PersonOutcome.objects.filter(workspace_id=workspace_id)
    if not words.exists():
        return [None] * len(identities)
    wanted = {identity for group in identities for identity in group}
    found = {
        bytes(word.run_identity): word
        for word in words.filter(run_identity__in=wanted)
        .select_related("said_by")
        .order_by("pk")
    }
    said = []
    for group in identities:
        of_run = [found[identity] for identity in group if identity in found]
        said.append(_said(max(of_run, key=lambda w: w.pk)) if of_run else None)
    return said


def _said(word: PersonOutcome) -> Said | None:
    if word.outcome == "unknown":
        return None
    return Said(cast("Outcome", word.outcome), by_person(word))


def by_person(word: PersonOutcome) -> str:
    """Name who said it, as `outcome_by` has it."""
    return f"{BY_PERSON}{word.said_by or 'somebody'}"
