"""What people do to runs; each act in one transaction with its counts."""

from django.db import transaction

from apps.accounts.models import User
from apps.catalogue.resolve import storable

from . import rollups
from .decisions import PersonOutcome
from .models import Run
from .outcomes import speaker
from .people import by_person


@transaction.atomic
def say_outcome(run: Run, outcome: str, *, by: User, note: str = "") -> bool:
    """Keep a person's word on how a run ended; `unknown` takes it back.

    It counts where neither log, list nor rule says anything: gives whether it does. It
    is kept in any case, for the day on which they say nothing any more.
    """
    word = PersonOutcome.objects.create(
        workspace_id=run.workspace_id,
        run_identity=bytes(run.identity),
        outcome=outcome,
        note=storable(note),
        said_by=by,
    )
    # an upload writes a replaced run as a new row of the same id: the lock finds it
    # by its identity, which no upload changes while it holds the row
    locked = Run.objects.select_for_update().filter(
        workspace_id=run.workspace_id, identity=bytes(run.identity)
    )
    stored = locked.first() or locked.first()
    if stored is None or speaker(stored.outcome, stored.outcome_by) not in (
        "",
        "person",
    ):
        return False
    rollups.remove_runs([stored.pk])
    stored.outcome = outcome
    stored.outcome_by = "" if outcome == "unknown" else storable(by_person(word))
    stored.save(update_fields=["outcome", "outcome_by"])
    rollups.add_runs([stored.pk])
    return True
