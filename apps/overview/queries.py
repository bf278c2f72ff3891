"""What the front page shows, put together from the apps below."""

from dataclasses import dataclass
from datetime import date

from apps.accounts.models import Workspace
from apps.labels.queries import BatchState, batch_state
from apps.rewrites.models import Rewrite, RewriteState
from apps.runs import queries
from apps.runs.rates import Interval, Rate, newcombe_interval
from apps.runs.weeks import WEEK, this_week
from apps.trends.charts import Chart, weekly_chart
from apps.trends.figures import Mark
from apps.trends.ranking import CostRow, costs
from apps.trends.series import four_full_weeks, weekly_points
from apps.triage.models import Decision
from apps.uploads.models import Upload, UploadState

PERIODS = {"4w": "last four full weeks", "14w": "last 14 weeks", "all": "all runs"}


@dataclass(frozen=True, slots=True)
class Period:
    """The stretch of days that the figures of the page are of."""

    name: str
    label: str
    since: date | None
    until: date | None


@dataclass(frozen=True, slots=True)
class Steps:
    """How far the five steps are this week."""

    uploads: int
    open_uploads: int
    batch: BatchState | None
    drafts: int
    decisions: int
    watched: int


@dataclass(frozen=True, slots=True)
class Overview:
    """Everything on the page."""

    period: Period
    totals: queries.Totals
    recovery: Rate
    clean: Rate
    earlier: Rate | None
    change: Interval | None
    loops: int
    undated: int
    left_out: list[tuple[str, int]]  # rule, runs that it leaves out
    chart: Chart
    costs: list[CostRow]
    steps: Steps

    @property
    def left_out_runs(self) -> int:
        """Count the runs that rules leave out."""
        return sum(runs for _, runs in self.left_out)


def overview(workspace: Workspace, wanted: str) -> Overview:
    """Put the page together for a period; one without known outcomes widens to all."""
    weeks = queries.weekly(workspace.pk)
    current = this_week(workspace.tz)
    with_error = [(week.start, week.with_error) for week in weeks]
    last = queries.last_week(weeks)
    period = _period(wanted or "4w", last, current)
    totals = queries.totals(workspace.pk, period.since, period.until)
    if not wanted and not totals.with_error.known:
        period = _period("all", last, current)
        totals = queries.totals(workspace.pk)
    earlier, change = _earlier(workspace, period, totals)
    clean_weeks = [(week.start, week.without_error) for week in weeks]
    chart = weekly_chart(
        "headline",
        "Runs with an error that still ended correctly, by week",
        weekly_points(with_error, current),
        marks(workspace),
        workspace.target_rate,
        weekly_points(clean_weeks, current),
    )
    return Overview(
        period=period,
        totals=totals,
        recovery=totals.with_error.rate,
        clean=totals.without_error.rate,
        earlier=earlier,
        change=change,
        loops=queries.error_counts(workspace.pk, period.since, period.until)["other"][
            "loops"
        ],
        left_out=queries.left_out(workspace.pk, period.since, period.until),
        undated=sum(week.runs for week in weeks if week.start is None),
        chart=chart,
        costs=costs(workspace, period.since, period.until)[:8],
        steps=_steps(workspace, current),
    )


def _period(name: str, last: date | None, current: date) -> Period:
    if name == "14w":
        end = (last or current) + WEEK
        return Period(name, PERIODS[name], end - 14 * WEEK, end)
    if name == "4w":
        since, until = four_full_weeks(last, current)
        return Period(name, PERIODS[name], since, until)
    return Period("all", PERIODS["all"], None, None)


def _earlier(
    workspace: Workspace, period: Period, totals: queries.Totals
) -> tuple[Rate | None, Interval | None]:
    """The stretch of equal length before, and the change from it."""
    if period.since is None or period.until is None:
        return None, None
    length = period.until - period.since
    before = queries.totals(
        workspace.pk, period.since - length, period.since
    ).with_error
    now = totals.with_error
    if not before.known or not now.known:
        return None, None
    change = newcombe_interval(now.correct, now.known, before.correct, before.known)
    return before.rate, change


def marks(workspace: Workspace) -> list[Mark]:
    """Give a mark for each day on which rewrites shipped: “rewrite”, “3 rewrites”."""
    days: dict[date, int] = {}
    for day in Rewrite.objects.filter(
        workspace=workspace, shipped_on__isnull=False
    ).values_list("shipped_on", flat=True):
        if day is not None:
            days[day] = days.get(day, 0) + 1
    return [
        Mark(day, "rewrite" if n == 1 else f"{n} rewrites")
        for day, n in sorted(days.items())
    ]


def _steps(workspace: Workspace, current: date) -> Steps:
    uploads = Upload.objects.filter(workspace=workspace)
    open_states = [UploadState.RECEIVED, UploadState.READING]
    rewrites = Rewrite.objects.filter(workspace=workspace)
    return Steps(
        uploads=uploads.filter(created_at__date__gte=current).count(),
        open_uploads=uploads.filter(state__in=open_states).count(),
        batch=batch_state(workspace),
        drafts=rewrites.filter(
            state__in=[RewriteState.DRAFT, RewriteState.IN_REVIEW]
        ).count(),
        decisions=Decision.objects.filter(workspace=workspace, week=current).count(),
        watched=rewrites.filter(state=RewriteState.SHIPPED).count(),
    )
