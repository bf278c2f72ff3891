"""Every write of labelling."""

import secrets
from datetime import date

from django.db import transaction

from apps.accounts.models import User, Workspace
from apps.runs.models import ToolError
from apps.runs.weeks import WEEK, this_week, week_of

from . import queries
from .models import Label, Pair, SampleBatch
from .sampling import DEFAULT_SIZE, DrawnStratum, draw_batch


class NothingToDrawError(ValueError):
    """No error to draw from; the text says what to do."""


def draw_weekly_batch(
    workspace: Workspace,
    *,
    week: date | None = None,
    by: User | None = None,
    seed: int | None = None,
    size: int = DEFAULT_SIZE,
) -> SampleBatch:
    """Draw the batch of a week, last week's by default; a drawn one stays as it is.

    Where last week has no errors, the last week before it that has some is drawn from.
    Raises NothingToDrawError where no dated error is known.
    """
    wanted = week_of(week) if week else _week_to_draw(workspace)
    existing = SampleBatch.objects.filter(workspace=workspace, week=wanted).first()
    if existing is not None:
        return existing
    frame = queries.frame_of(workspace, wanted)
    if not frame:
        raise NothingToDrawError(
            f"The week of {wanted} has no tool error."
            " Upload its sessions, then draw again."
        )
    chosen = secrets.randbits(31) if seed is None else seed
    drawn = draw_batch(frame, chosen, size=size)
    with transaction.atomic():
        batch, is_new = SampleBatch.objects.get_or_create(
            workspace=workspace,
            week=wanted,
            defaults={
                "seed": chosen,
                "frame_runs": drawn.runs,
                "frame_errors": drawn.errors,
                "drawn_by": by,
            },
        )
        if is_new:
            Pair.objects.bulk_create(
                Pair(
                    batch=batch,
                    error_id=pair.error_id,
                    position=position,
                    stratum=_stratum_name(drawn.strata[pair.stratum]),
                    stratum_number=pair.stratum,
                    stratum_size=drawn.strata[pair.stratum].size,
                    stratum_drawn=drawn.strata[pair.stratum].drawn,
                    errors_in_run=pair.errors_in_run,
                    chance=pair.chance,
                    reviews_wanted=2 if pair.is_double else 1,
                )
                for position, pair in enumerate(drawn.pairs, start=1)
            )
    return batch


def _week_to_draw(workspace: Workspace) -> date:
    last = this_week(workspace.tz) - WEEK
    errors = ToolError.objects.filter(
        workspace=workspace,
        is_counted=True,
        run__is_excluded=False,
        day__lt=last + WEEK,
    ).order_by("-day")
    day = errors.values_list("day", flat=True).first()
    if day is None:
        raise NothingToDrawError(
            "No tool error with a date before this week is known."
            " Upload sessions first."
        )
    return week_of(day)


def _stratum_name(stratum: DrawnStratum) -> str:
    first = stratum.cells[0]
    code = (
        first.code.replace("\n", " · ")
        if len(stratum.cells) == 1 and first.code
        else "several codes"
    )
    flags = [
        name
        for name, on in (
            ("loop", first.is_loop),
            ("outcome unknown", first.outcome_unknown),
        )
        if on
    ]
    return ", ".join([code, *flags])


class QuotaFilledError(ValueError):
    """Others have given all labels that were wanted for the pair."""


@transaction.atomic
def set_label(
    pair: Pair,
    *,
    reviewer: User,
    branch: str,
    move: str,
    was_right: str,
    note: str = "",
) -> Label:
    """Save what a reviewer says of a pair; an earlier word of theirs stays as history.

    The same word twice (a double click) is one label. Raises QuotaFilledError if others
    were faster and no further label is wanted.
    """
    locked = Pair.objects.select_for_update().select_related("batch").get(pk=pair.pk)
    error = ToolError.objects.get(pk=locked.error_id)
    values = {"branch": branch, "move": move, "was_right": was_right, "note": note}
    earlier = Label.objects.filter(
        pair=locked, reviewer=reviewer, is_current=True
    ).first()
    if earlier is not None:
        if all(getattr(earlier, name) == value for name, value in values.items()):
            return earlier
        Label.objects.filter(pk=earlier.pk).update(is_current=False)
    else:
        others = Label.objects.filter(pair=locked, is_current=True).count()
        if others >= locked.reviews_wanted:
            raise QuotaFilledError(
                "Others have just labelled this pair as often as wanted."
                " Take the next one."
            )
    return Label.objects.create(
        workspace_id=locked.batch.workspace_id,
        pair=locked,
        reviewer=reviewer,
        machine_move=error.next_move,
        **values,
    )
