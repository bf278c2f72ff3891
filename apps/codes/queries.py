"""Reads of the code pages, across the apps below."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Max, QuerySet, Sum

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text
from apps.rewrites.models import Rewrite, RewriteState
from apps.runs import queries
from apps.runs.models import DayErrors, ToolError
from apps.runs.rates import Rate
from apps.runs.weeks import this_week, week_of
from apps.trends.ranking import CostRow, costs
from apps.trends.series import four_full_weeks


@dataclass(frozen=True, slots=True)
class Listed:
    """The code list with what its filters offer."""

    rows: list[CostRow]
    tools: list[str]
    since: date | None
    until: date | None
    period: str
    muted: int  # codes that are left out because somebody muted them


def listed(
    workspace: Workspace,
    *,
    q: str,
    tool: str,
    sort: str,
    period: str,
    with_muted: bool = False,
) -> Listed:
    """Give the codes of a period under filters, in order.

    The period is the four full weeks that cost is measured over; `all` takes every
    run, and so does a workspace without a run in those weeks.
    """
    weeks = queries.weekly(workspace.pk)
    last = queries.last_week(weeks)
    since: date | None
    until: date | None
    since, until = four_full_weeks(last, this_week(workspace.tz))
    rows = costs(workspace, since, until) if period != "all" else []
    if not rows:
        since = until = None
        rows = costs(workspace, None, None)
    tools = sorted({row.counts.tool for row in rows})
    muted = set(
        Code.objects.filter(workspace=workspace, is_muted=True).values_list(
            "pk", flat=True
        )
    )
    hidden = 0 if with_muted else sum(row.counts.code_id in muted for row in rows)
    needle = q.lower()
    rows = [
        row
        for row in rows
        if (with_muted or row.counts.code_id not in muted)
        and (not tool or row.counts.tool == tool)
        and (
            not needle
            or needle in f"{row.counts.name} {row.counts.key} {row.counts.tool}".lower()
        )
    ]
    return Listed(
        _ordered(rows, sort),
        tools,
        since,
        until,
        "all" if since is None else "4w",
        hidden,
    )


def _ordered(rows: list[CostRow], sort: str) -> list[CostRow]:
    """Order by a column; ties keep the order of cost."""
    column = sort.lstrip("-")
    keys = {
        "loss": lambda row: row.loss.runs_per_week if row.loss else 0.0,
        "runs": lambda row: row.counts.outcomes.runs,
        "errors": lambda row: row.counts.errors,
        "rate": lambda row: row.rate.rate if row.rate.rate is not None else -1.0,
        "code": lambda row: row.counts.name.lower(),
    }
    key = keys.get(column, keys["loss"])
    return sorted(rows, key=key, reverse=sort.startswith("-"))


@dataclass(frozen=True, slots=True)
class Summary:
    """All that was ever seen of one code."""

    outcomes: queries.Outcomes
    rate: Rate
    errors: int
    next_moves: dict[str, int]


@dataclass(frozen=True, slots=True)
class TextRow:
    """One text of a code with what happened after it."""

    number: int
    text: Text
    counts: queries.TextCounts
    rate: Rate
    rewrite: Rewrite | None
    week_share: float | None  # of the code's errors in its last week; None: no day
    is_unannounced: bool  # first seen later than the rest, and nobody shipped it


def summary(code: Code) -> Summary:
    """Sum up a code over all time; equal to the sums of its texts."""
    texts = queries.by_text(code.workspace_id, code.pk)
    outcomes = sum((text.outcomes for text in texts), queries.Outcomes())
    moves: dict[str, int] = {}
    for text in texts:
        for move, n in text.next_moves.items():
            moves[move] = moves.get(move, 0) + n
    return Summary(outcomes, outcomes.rate, sum(text.errors for text in texts), moves)


def texts_of(code: Code) -> list[TextRow]:
    """Give every text delivered for a code and every one shipped, the oldest first.

    A shipped text stands once, with all that its placeholders were filled in with.
    """
    counts: dict[int, queries.TextCounts] = {}
    versions = dict(Text.objects.filter(code=code).values_list("pk", "version_of_id"))
    for found in queries.by_text(code.workspace_id, code.pk):
        text_id = versions.get(found.text_id) or found.text_id
        known = counts.get(text_id)
        counts[text_id] = known.joined(found) if known else found
    rewrites = {
        rewrite.text_id: rewrite for rewrite in Rewrite.objects.filter(text__code=code)
    }
    order = {text_id: place for place, text_id in enumerate(counts)}
    texts = [
        text
        for text in Text.objects.filter(code=code, version_of=None)
        if text.side_of_id is None or text.pk in counts
    ]
    rows: list[TextRow] = []
    shares = _week_shares(code, versions)
    began = min((c.first_day for c in counts.values() if c.first_day), default=None)
    for text in sorted(texts, key=lambda t: (order.get(t.pk, len(order)), t.pk)):
        found = counts.get(text.pk, queries.TextCounts(text.pk))
        rewrite = rewrites.get(text.pk)
        is_late = (
            began is not None
            and found.first_day is not None
            and found.first_day >= began + timedelta(weeks=1)
        )
        rows.append(
            TextRow(
                len(rows) + 1,
                text,
                found,
                found.outcomes.rate,
                rewrite,
                shares.get(text.pk, 0.0) if shares else None,
                # texts that a fold or a merge brought here differ for that reason
                is_late and rewrite is None and text.home_id == code.pk,
            )
        )
    return rows


def _week_shares(code: Code, versions: Mapping[int, int | None]) -> dict[int, float]:
    """Share of each text in the errors of the last week in which the code was hit."""
    days = DayErrors.objects.filter(code=code, is_counted=True, day__isnull=False)
    last = days.filter(errors__gt=0).aggregate(day=Max("day"))["day"]
    if last is None:
        return {}
    counted = (
        days.filter(day__gte=week_of(last))
        .values_list("text")
        .annotate(n=Sum("errors"))
    )
    shares: dict[int, float] = {}
    found = {text_id: n for text_id, n in counted if n}
    for text_id, n in found.items():
        shown = versions.get(text_id) or text_id
        shares[shown] = shares.get(shown, 0.0) + n / sum(found.values())
    return shares


def errors_of(code: Code, move: str = "") -> QuerySet[ToolError]:
    """Give a code's errors, the latest first; of one next move if it is named."""
    errors = ToolError.objects.filter(
        code=code, is_counted=True, run__is_excluded=False
    )
    if move:
        errors = errors.filter(next_move=move)
    return errors.select_related("run").order_by("-day", "-pk")


def open_draft(code: Code) -> Rewrite | None:
    """Give the draft that is open for a code."""
    return Rewrite.objects.filter(
        code=code, state__in=[RewriteState.DRAFT, RewriteState.IN_REVIEW]
    ).first()
