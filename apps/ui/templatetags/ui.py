"""Template tags that every page shares."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from django import template
from django.http import QueryDict
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

from apps.ui.bars import MOVE_GROUPS, Segment, move_bar, outcome_bar

register = template.Library()


@register.filter
def percent(share: float | None) -> str:
    """Show a share (0..1) as whole per cent; a dash for none."""
    return "–" if share is None else f"{100 * share:.0f}%"


@register.filter
def percent1(share: float | None) -> str:
    """Show a share with one decimal."""
    return "–" if share is None else f"{100 * share:.1f}%"


@register.filter
def points(difference: float | None) -> str:
    """Show a difference of shares in points, with its sign."""
    return "–" if difference is None else f"{100 * difference:+.0f}".replace("-", "−")


@register.filter
def count(number: int | None) -> str:
    """Show a count with separators."""
    return "–" if number is None else f"{number:,}"


@register.filter
def words(name: str) -> str:
    """Show a stored value as words."""
    return name.replace("_", " ")


@register.filter
def size(number: int) -> str:
    """Show bytes in a unit people read."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return (
                f"{amount:.0f} {unit}"
                if unit == "B" or amount >= 100
                else f"{amount:.1f} {unit}"
            )
        amount /= 1000
    return ""


@register.simple_tag(takes_context=True)
def when(context: Mapping[str, Any], moment: datetime | date | None) -> str:
    """Show a time in the workspace's zone; a day as it is; a dash for none."""
    if moment is None:
        return "–"
    if not isinstance(moment, datetime):
        return f"{moment.day} {moment:%b %Y}"
    workspace = context.get("workspace")
    local = localtime(moment, workspace.tz if workspace else None)
    return f"{local.day} {local:%b %Y, %H:%M}"


@register.simple_tag(takes_context=True)
def query(context: Mapping[str, Any], **changes: Any) -> str:
    """Give this page's query with some values changed; None takes one out."""
    values: QueryDict = context["request"].GET.copy()
    for name, value in changes.items():
        if value is None:
            values.pop(name, None)
        else:
            values[name] = str(value)
    encoded = values.urlencode()
    return f"?{encoded}" if encoded else "?"


@register.simple_tag(takes_context=True)
def sort_link(context: Mapping[str, Any], column: str, label: str) -> SafeString:
    """Give a table head that sorts by a column; the other way if it does already."""
    current = context.get("sort", "")
    descending = f"-{column}"
    wanted = column if current == descending else descending
    arrow = "▼" if current == descending else "▲" if current == column else ""
    state = (
        "descending"
        if current == descending
        else "ascending"
        if current == column
        else ""
    )
    return format_html(
        '<a href="{}" data-sort="{}">{}{}</a>',
        query(context, sort=wanted, page=None),
        state,
        label,
        f" {arrow}" if arrow else "",
    )


@register.inclusion_tag("ui/_bar.html")
def moves_bar(moves: Mapping[str, int]) -> dict[str, list[Segment]]:
    """Draw counts of next moves as a stacked bar."""
    return {"segments": move_bar(moves)}


@register.inclusion_tag("ui/_bar.html")
def outcomes_bar(outcomes: Any) -> dict[str, list[Segment]]:
    """Draw outcomes as a stacked bar."""
    return {
        "segments": outcome_bar(outcomes.correct, outcomes.incorrect, outcomes.unknown)
    }


@register.inclusion_tag("ui/_legend.html")
def moves_legend() -> dict[str, Any]:
    """Explain the colours of next moves."""
    return {"groups": [(css, label) for css, label, _ in MOVE_GROUPS]}


_JSON_ESCAPES = {ord("<"): "\\u003C", ord(">"): "\\u003E", ord("&"): "\\u0026"}


@register.filter
def safe_json(json_text: str) -> SafeString:
    """Put JSON text into a script element of data; nothing in it can end that."""
    return SafeString(json_text.translate(_JSON_ESCAPES))
