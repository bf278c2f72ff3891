"""Every write of rewrites."""

from datetime import date

from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.catalogue.fingerprints import v1
from apps.catalogue.models import Code, Text, TextOrigin
from apps.catalogue.placing import hold_alone, live_rules
from apps.catalogue.resolve import storable
from apps.catalogue.templates import matches
from apps.runs import rollups

from .models import LIVE_STATES, Rewrite, RewriteEvent, RewriteState


class RewriteRefusedError(ValueError):
    """The step cannot be taken; the text says why and what to do."""


@transaction.atomic
def save_draft(code: Code, *, by: User | None, **values: str) -> Rewrite:
    """Write the one open draft of a code, made if there is none."""
    Code.objects.select_for_update().get(pk=code.pk)
    open_states = [RewriteState.DRAFT, RewriteState.IN_REVIEW]
    draft = Rewrite.objects.filter(code=code, state__in=open_states).first()
    clean = {name: storable(value) for name, value in values.items()}
    if draft is None:
        draft = Rewrite.objects.create(
            workspace_id=code.workspace_id, code=code, author=by, **clean
        )
        _step(draft, by, "draft opened")
    else:
        Rewrite.objects.filter(pk=draft.pk).update(**clean)
        draft.refresh_from_db()
    return draft


@transaction.atomic
def ship(rewrite: Rewrite, shipped_on: date, *, by: User | None) -> Rewrite:
    """Ship a draft: it becomes a text of its code; errors that carry it count for it.

    Texts already delivered that match it are attributed too, so it makes no difference
    whether logs with the new text were uploaded before or after. Raises
    RewriteRefusedError if it is no draft, or if another code has this very text.
    """
    hold_alone(rewrite.workspace_id)  # no upload writes errors of these texts meanwhile
    locked = (
        Rewrite.objects.select_for_update().select_related("code").get(pk=rewrite.pk)
    )
    if locked.state not in (RewriteState.DRAFT, RewriteState.IN_REVIEW):
        raise RewriteRefusedError(
            "Only a draft can be shipped; this one has been already."
        )
    code = locked.code
    home = _home(code, locked.agent_message)
    mark = v1.fingerprint(home.tool, locked.agent_message)
    known = Text.objects.filter(workspace_id=code.workspace_id, key=mark.text_key)
    text = known.first()
    if text is not None and text.code_id != code.pk and text.code.tool != code.tool:
        raise RewriteRefusedError(
            f"The code {text.code} has this very text already."
            " Write one that tells them apart."
        )
    values = {
        "code": code,
        "home": home,
        "masked": storable(mark.masked),
        "sample": locked.agent_message,
        "wrapper": mark.wrapper,
        "origin": TextOrigin.SHIPPED,
        "shipped_at": timezone.now(),
    }
    text, _ = Text.objects.update_or_create(
        workspace_id=code.workspace_id, key=mark.text_key, defaults=values
    )
    locked.text = text
    locked.state = RewriteState.SHIPPED
    locked.shipped_on = shipped_on
    locked.shipped_by = by
    locked.save(update_fields=["text", "state", "shipped_on", "shipped_by"])
    Code.objects.filter(pk=code.pk).update(
        category=locked.category,
        commit_state=locked.commit_state,
        retry_directive=locked.retry_directive,
        next_action=locked.next_action,
        alternative_tool=locked.alternative_tool,
    )
    _attribute(code, text, home)
    _step(locked, by, f"shipped on {shipped_on}")
    return locked


def _home(code: Code, message: str) -> Code:
    """Give the code whose tool the logs will name for a new text of this code.

    That is the code itself, unless its errors come under another tool and a rule moves
    them here: the new text then takes the same way.
    """
    homes = Code.objects.filter(home_texts__code=code).exclude(tool=code.tool)
    if Text.objects.filter(code=code, home__tool=code.tool).exists():
        return code
    rules = live_rules(code.workspace_id)
    for home in homes.order_by("pk").distinct():
        masked = storable(v1.fingerprint(home.tool, message).masked)
        if rules.follow(home.pk, masked).code == code.pk:
            return home
    return code


def _attribute(code: Code, text: Text, home: Code) -> None:
    """Move errors whose delivered text is this rewrite to its code and text."""
    candidates = Text.objects.filter(
        workspace_id=code.workspace_id, home__tool=home.tool, origin=TextOrigin.SEEN
    ).exclude(pk=text.pk)
    matching = [other.pk for other in candidates if matches(text.sample, other.sample)]
    moved = [*matching, text.pk]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT run_id FROM runs_toolerror"
            " WHERE text_id = ANY(%s) AND code_id <> %s",
            [moved, code.pk],
        )
        runs = [row[0] for row in cursor.fetchall()]
        rollups.remove_runs(runs)
        Text.objects.filter(pk__in=matching).update(
            code=code, home=home, version_of=text
        )
        cursor.execute(
            "UPDATE runs_toolerror SET code_id = %s"
            " WHERE text_id = ANY(%s) AND code_id <> %s",
            [code.pk, moved, code.pk],
        )
        rollups.rebuild_hits(runs)
        rollups.add_runs(runs)


@transaction.atomic
def end(rewrite: Rewrite, state: str, *, by: User | None, on: date) -> Rewrite:
    """Keep a shipped rewrite or roll it back. Raises RewriteRefusedError on others."""
    locked = Rewrite.objects.select_for_update().get(pk=rewrite.pk)
    if locked.state not in LIVE_STATES or state not in (
        RewriteState.KEPT,
        RewriteState.ROLLED_BACK,
    ):
        raise RewriteRefusedError("Only a shipped rewrite can be kept or rolled back.")
    locked.state = state
    locked.ended_on = on
    locked.save(update_fields=["state", "ended_on"])
    _step(locked, by, "")
    return locked


def _step(rewrite: Rewrite, by: User | None, note: str) -> None:
    RewriteEvent.objects.create(
        rewrite=rewrite, state=rewrite.state, person=by, note=note
    )
