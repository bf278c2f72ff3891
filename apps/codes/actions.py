"""What people change on a code itself; where texts belong is in `placements`."""

from django.db import transaction

from apps.accounts.models import User
from apps.catalogue.models import Code, CodeChange
from apps.catalogue.resolve import storable


@transaction.atomic
def rename(code: Code, title: str, *, by: User | None) -> None:
    """Call a code something else; its key, texts and figures stay. "" takes it back."""
    locked = Code.objects.select_for_update().get(pk=code.pk)
    title = storable(title.strip())[:200]
    if title == locked.title:
        return
    _log(locked, "name", locked.title, title, by)
    Code.objects.filter(pk=code.pk).update(title=title)


@transaction.atomic
def set_muted(code: Code, is_muted: bool, *, by: User | None) -> None:
    """Leave a code out of the list, or show it again; no sum changes."""
    locked = Code.objects.select_for_update().get(pk=code.pk)
    if locked.is_muted == is_muted:
        return
    _log(locked, "mute", _muted(locked.is_muted), _muted(is_muted), by)
    Code.objects.filter(pk=code.pk).update(is_muted=is_muted)


def _muted(is_muted: bool) -> str:
    return "muted" if is_muted else "shown"


def _log(code: Code, what: str, before: str, after: str, by: User | None) -> None:
    CodeChange.objects.create(
        workspace_id=code.workspace_id,
        code=code,
        what=what,
        before=before,
        after=after,
        made_by=by,
    )
