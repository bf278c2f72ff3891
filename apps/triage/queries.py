"""The page of a week: rewrites under watch, new codes, costliest codes, decisions."""

from dataclasses import dataclass
from datetime import date

from django.db.models import Min

from apps.accounts.models import Workspace
from apps.labels.queries import label_counts
from apps.rewrites.models import Rewrite, RewriteState
from apps.runs import queries
from apps.runs.models import DayErrors
from apps.runs.weeks import WEEK, this_week
from apps.trends.ranking import CostRow, costs
from apps.trends.rewrites import BeforeAfter, before_after, family
from apps.trends.series import four_full_weeks

from .models import Decision

COSTLIEST = 6


@dataclass(frozen=True, slots=True)
class Watched:
    """A shipped rewrite with what it changed."""

    rewrite: Rewrite
    found: BeforeAfter | None
    word: str  # after the false discovery rate over the list

    @property
    def is_held_back(self) -> bool:
        """Whether only the number of rewrites watched keeps the word from it."""
        return self.found is not None and self.word != self.found.word


@dataclass(frozen=True, slots=True)
class NewCode:
    """A code first met this week or the week before."""

    row: CostRow
    first_day: date
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Costly:
    """A code that costs much, what labels say of it, and what was decided."""

    row: CostRow
    labels: dict[str, int]
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Agenda:
    """Everything on the page of a week."""

    week: date
    watched: list[Watched]
    new: list[NewCode]
    costly: list[Costly]
    decisions: list[Decision]
    earlier: list[Decision]
    headline: queries.Totals

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to decide."""
        return not (self.watched or self.new or self.costly)


def agenda(workspace: Workspace, week: date) -> Agenda:
    """Put together the agenda of the meeting in a week (given by its Monday)."""
    decisions = {
        decision.code_id: decision
        for decision in Decision.objects.filter(workspace=workspace, week=week)
        .select_related("code", "owner")
        .order_by("pk")
    }
    weeks = queries.weekly(workspace.pk)
    last = queries.last_week(weeks, until=week)
    since, until = four_full_weeks(last, week)
    ranked = costs(workspace, since, until)
    new = _new_codes(workspace, week, decisions)
    new_ids = {item.row.counts.code_id for item in new}
    costly = [
        Costly(row, label_counts(row.counts.code_id), decisions.get(row.counts.code_id))
        for row in ranked[:COSTLIEST]
        if row.counts.code_id not in new_ids
    ]
    return Agenda(
        week=week,
        watched=_watched(workspace),
        new=new,
        costly=costly,
        decisions=list(decisions.values()),
        earlier=list(
            Decision.objects.filter(workspace=workspace, week__lt=week, is_closed=False)
            .select_related("code", "owner")
            .order_by("-week", "pk")[:20]
        ),
        headline=queries.totals(workspace.pk, since, until),
    )


def _watched(workspace: Workspace) -> list[Watched]:
    """Shipped rewrites; a word stands only where the whole list allows it."""
    rewrites = (
        Rewrite.objects.filter(workspace=workspace, state=RewriteState.SHIPPED)
        .select_related("code", "workspace")
        .order_by("shipped_on", "pk")
    )
    found = [(rewrite, before_after(rewrite)) for rewrite in rewrites]
    called = family(each for _, each in found).called
    return [
        Watched(rewrite, each, each.word if each and is_called else "cannot tell yet")
        for (rewrite, each), is_called in zip(found, called, strict=True)
    ]


def _new_codes(
    workspace: Workspace, week: date, decisions: dict[int, Decision]
) -> list[NewCode]:
    """Codes whose first error, by its own time, is of this week or the one before."""
    first_days = dict(
        DayErrors.objects.filter(
            workspace=workspace, is_counted=True, day__isnull=False
        )
        .values("code_id")
        .annotate(first=Min("day"))
        .filter(first__gte=week - WEEK, first__lt=week + WEEK)
        .values_list("code_id", "first")
    )
    if not first_days:
        return []
    rows = costs(workspace, week - WEEK, week + WEEK)
    return [
        NewCode(row, first_days[row.counts.code_id], decisions.get(row.counts.code_id))
        for row in sorted(rows, key=lambda r: (-r.counts.outcomes.runs, r.counts.key))
        if row.counts.code_id in first_days
    ]


def current_week(workspace: Workspace) -> date:
    """Give the Monday of the week going on."""
    return this_week(workspace.tz)
