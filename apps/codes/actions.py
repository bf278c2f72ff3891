"""What people change on a code itself; where texts belong is in `placements`."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from apps.accounts.models import User, Workspace
from apps.catalogue.models import Code, CodeChange, Text, Tool
from apps.catalogue.resolve import storable
from apps.rewrites import actions as rewrites
from apps.rewrites.models import Rewrite, RewriteState
from apps.runs.queries import by_text


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


@transaction.atomic
def adopt(text: Text, *, by: User | None) -> Rewrite:
    """Make an unannounced text a rewrite, shipped on the day it was first seen.

    Raises ValueError if it has no day, or while another draft of the code is open.
    """
    code = text.code
    counts = {found.text_id: found for found in by_text(code.workspace_id, code.pk)}
    first = counts[text.pk].first_day if text.pk in counts else None
    if first is None:
        raise ValueError("This text was never seen on a known day.")
    open_states = [RewriteState.DRAFT, RewriteState.IN_REVIEW]
    if Rewrite.objects.filter(code=code, state__in=open_states).exists():
        raise ValueError("A draft of this code is open. Ship it first.")
    contract = {
        name: getattr(code, name)
        for name in (
            "category",
            "commit_state",
            "retry_directive",
            "next_action",
            "alternative_tool",
        )
    }
    draft = rewrites.save_draft(code, by=by, agent_message=text.sample, **contract)
    return rewrites.ship(draft, first, by=by)


@transaction.atomic
def save_tool(
    workspace: Workspace, tool: Tool | None, values: Mapping[str, Any]
) -> Tool:
    """Write what a person says of a tool; logs then change it no more."""
    columns = {
        name: storable(value) if isinstance(value, str) else value
        for name, value in values.items()
    }
    if tool is None:
        return Tool.objects.create(workspace=workspace, is_edited=True, **columns)
    Tool.objects.filter(pk=tool.pk).update(is_edited=True, **columns)
    tool.refresh_from_db()
    return tool
