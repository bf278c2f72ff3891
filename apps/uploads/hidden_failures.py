"""Counts a call as failed by a person's word, or takes that back."""

from django.db import transaction

from apps.accounts.models import User
from apps.catalogue.placing import hold_places
from apps.runs.analysis import Place
from apps.runs.blob import unpack
from apps.runs.evidence import assess
from apps.runs.models import CountedFailure, Run, RunTranscript
from apps.runs.rule_sets import current_rules, hold_rules
from apps.runs.rules import Rules
from apps.runs.transcript import Transcript

from .rederive import analysed_again, replace_facts


class NotACallError(Exception):
    """There is no call at this place that seems to have gone well."""


@transaction.atomic
def say_failure(run: Run, place: Place, *, is_failure: bool, by: User) -> None:
    """Keep a person's word on a call, and let every count follow at once.

    Raises NotACallError where no call is, or the log itself says how it went.
    """
    hold_rules(run.workspace_id)
    rules = current_rules(run.workspace_id)
    hold_places(run.workspace_id)
    locked = Run.objects.select_for_update().filter(
        workspace_id=run.workspace_id, identity=bytes(run.identity)
    )
    stored = locked.first() or locked.first()  # an upload may have written it anew
    kept = RunTranscript.objects.filter(run=stored).first()
    if (
        stored is None
        or kept is None
        or not _seems_well(unpack(kept.data), place, rules)
    ):
        raise NotACallError("There is no such call in this run, or the log says of it.")
    thread, turn, call = place
    CountedFailure.objects.create(
        workspace_id=run.workspace_id,
        run_identity=bytes(run.identity),
        thread=thread,
        turn=turn,
        call=call,
        is_failure=is_failure,
        said_by=by,
    )
    again = analysed_again(run.workspace_id, [stored.pk], rules)
    replace_facts(run.workspace, [stored], again, rules)


def _seems_well(transcript: Transcript, place: Place, rules: Rules) -> bool:
    """Whether a call stands at a place whose result is not known to be a failure."""
    thread, turn, position = place
    try:
        call = transcript.threads[thread].turns[turn].calls[position]
    except IndexError:
        return False
    verdict = assess(call, rules)
    return call.result is not None and (verdict is None or verdict.is_guess)
