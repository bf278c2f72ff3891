"""What people have said of runs, by the runs' identities."""

from collections.abc import Collection
from typing import cast

from .analysis import Place
from .decisions import CountedFailure, PersonOutcome
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


def counted_failures(
    workspace_id: int, identities: Collection[Collection[bytes]]
) -> list[frozenset[Place]]:
    """Give the calls of each run that a person counts as failed; the newest word holds.

    Runs come as in `person_outcomes`.
    """
    words = CountedFailure.objects.filter(workspace_id=workspace_id)
    if not words.exists():
        return [frozenset()] * len(identities)
    wanted = {identity for group in identities for identity in group}
    by_run: dict[bytes, list[CountedFailure]] = {}
    for word in words.filter(run_identity__in=wanted):
        by_run.setdefault(bytes(word.run_identity), []).append(word)
    found = []
    for group in identities:
        of_run = [word for identity in group for word in by_run.get(identity, ())]
        said = {
            (word.thread, word.turn, word.call): word.is_failure
            for word in sorted(of_run, key=lambda w: w.pk)
        }
        found.append(frozenset(place for place, failed in said.items() if failed))
    return found
