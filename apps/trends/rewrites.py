"""Recovery before and after a rewrite: counts, moves, verdict. One definition.

Before is every run whose first error of the code had another text and that began in
the eight weeks before the rewrite shipped; after is every run whose first error of the
code was delivered with the new text. The running week is no evidence until it is over.
A run without a date counts on the side that its text says, in the week of shipping.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection

from apps.rewrites.models import Rewrite
from apps.runs.rates import THIN_BELOW, Rate
from apps.runs.weeks import this_week, week_of

from .cases import CellRow, cells_of, picked_weeks, ship_rho
from .multiplicity import Family, benjamini_hochberg
from .verdict import Case, ControlWeek, Outcomes, Verdict, Word, judge
from .wording import VerdictWords, words_of

BASELINE = timedelta(weeks=8)
ENOUGH = THIN_BELOW  # known outcomes on each side before anything is called


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """What a rewrite changed, and what can be said of it."""

    before: Rate  # of the baseline weeks
    after: Rate
    verdict: Verdict
    after_errors: int
    moves_before: dict[str, int]
    moves_after: dict[str, int]
    other_after: int  # runs that still met another text after the day of shipping
    running: int  # runs of the running week that met the new text: not yet counted

    @property
    def adoption(self) -> float | None:
        """Share of runs since shipping that met the new text; None before the first."""
        return _share(self.after.n + self.after.unknown, self.other_after)

    @property
    def word(self) -> Word:
        """Say what can be said: better, worse, or cannot tell yet."""
        return self.verdict.word

    @property
    def says(self) -> VerdictWords:
        """Give the sentences that stand beside the word."""
        return words_of(self.verdict)


def before_after(rewrite: Rewrite) -> BeforeAfter | None:
    """Compare the runs before a shipped rewrite with those that met its text.

    Three queries over the day rollups, whatever their size. They hold neither tool
    version nor evidence nor agent version: those strata keys stay empty, so a change
    of them is neither adjusted for nor named. rho rests on the weeks before shipping
    alone; only a late upload of such weeks can move it.
    """
    if rewrite.text_id is None or rewrite.shipped_on is None:
        return None
    shipped = rewrite.shipped_on
    zone = rewrite.workspace.tz
    values: dict[str, Any] = {
        "workspace": rewrite.workspace_id,
        "code": rewrite.code_id,
        "text": rewrite.text_id,
        "shipped": shipped,
        "week": week_of(shipped),
        "from": week_of(shipped) - BASELINE,
        "running": this_week(zone),
    }
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, values)
        rows = [CellRow(*row) for row in cursor.fetchall()]
        cursor.execute(_MOVES, values)
        moves: dict[str, dict[str, int]] = {"before": {}, "after": {}, "other": {}}
        for side, move, n in cursor.fetchall():
            moves[side][move] = int(n)
        cursor.execute(_CONTROLS, values)
        controls = _controls(cursor.fetchall(), week_of(shipped))
    running = sum(r.runs for r in rows if r.week >= values["running"])
    full = [row for row in rows if row.week < values["running"]]
    cells = cells_of(full)
    other = sum(row.runs for row in full if row.side == "other")
    met = sum(row.runs for row in full if row.side == "after")
    drafted = week_of(rewrite.created_at.astimezone(zone).date())
    case = Case(
        cells=cells,
        shipped=week_of(shipped),
        rho=ship_rho(cells, week_of(shipped)),
        controls=controls,
        picked=picked_weeks(cells, drafted, week_of(shipped)),
        adoption=_share(met, other),
    )
    verdict = judge(case)
    return BeforeAfter(
        before=_rate(verdict.before),
        after=_rate(verdict.after),
        verdict=verdict,
        after_errors=sum(moves["after"].values()),
        moves_before=moves["before"],
        moves_after=moves["after"],
        other_after=other,
        running=running,
    )


def family(found: Iterable[BeforeAfter | None]) -> Family:
    """Hold the false discovery rate over the verdicts of one list, in its order."""
    return benjamini_hochberg([1.0 if f is None else f.verdict.p for f in found])


def _share(met: int, other: int) -> float | None:
    return met / (met + other) if met + other else None


def _rate(outcomes: Outcomes) -> Rate:
    return Rate.of(outcomes.good, outcomes.n - outcomes.good, outcomes.unknown)


def _controls(
    rows: Iterable[tuple[date, bool, int, int]], shipped: date
) -> tuple[ControlWeek, ...]:
    """Take the codes of the same tool; where they have too few runs, all others."""
    found = [
        (is_same_tool, ControlWeek(week, int(good), int(n)))
        for week, is_same_tool, good, n in rows
    ]
    same = [week for is_same_tool, week in found if is_same_tool]
    sides = [
        [w.n for w in same if (w.week >= shipped) is after] for after in (False, True)
    ]
    if all(sum(side) >= ENOUGH for side in sides):
        return tuple(same)
    every: dict[date, ControlWeek] = {}
    for _, week in found:
        old = every.get(week.week, ControlWeek(week.week, 0, 0))
        every[week.week] = ControlWeek(week.week, old.good + week.good, old.n + week.n)
    return tuple(every.values())


_SIDE = """
    CASE WHEN t.id = %(text)s OR t.version_of_id = %(text)s THEN 'after'
         WHEN d.day >= %(shipped)s THEN 'other'
         WHEN d.day >= %(from)s OR d.day IS NULL THEN 'before' END
"""
_RUNS = f"""
    SELECT * FROM (
        SELECT coalesce(date_trunc('week', d.day)::date, %(week)s::date) AS week,
               d.model, {_SIDE} AS side, d.outcome, sum(d.runs)::int AS runs
        FROM runs_daycode d JOIN catalogue_text t ON t.id = d.text_id
        WHERE d.workspace_id = %(workspace)s AND d.code_id = %(code)s
        GROUP BY 1, 2, 3, 4 HAVING sum(d.runs) <> 0
    ) counted
    WHERE side IS NOT NULL AND (side = 'after' OR week < %(running)s)
    ORDER BY 1, 2, 3, 4
"""  # noqa: S608
_MOVES = f"""
    SELECT * FROM (
        SELECT {_SIDE} AS side, d.next_move, sum(d.errors) AS errors
        FROM runs_dayerrors d JOIN catalogue_text t ON t.id = d.text_id
        WHERE d.workspace_id = %(workspace)s AND d.code_id = %(code)s AND d.is_counted
        GROUP BY 1, 2 HAVING sum(d.errors) <> 0
    ) counted WHERE side IS NOT NULL
"""  # noqa: S608
# Codes that a rewrite may have moved through shared runs are not left out here: who
# shares runs is not in the rollups, and counting runs would cost what is stored.
_CONTROLS = """
    SELECT date_trunc('week', d.day)::date, c.tool = own.tool,
           coalesce(sum(d.runs) FILTER (WHERE d.outcome = 'correct'), 0), sum(d.runs)
    FROM runs_daycode d
    JOIN catalogue_code c ON c.id = d.code_id
    JOIN catalogue_code own ON own.id = %(code)s
    WHERE d.workspace_id = %(workspace)s AND d.code_id <> own.id
      AND d.day >= %(from)s AND d.day < %(running)s AND d.outcome <> 'unknown'
      AND NOT EXISTS (
          SELECT FROM rewrites_rewrite r
          WHERE r.code_id = d.code_id AND r.text_id IS NOT NULL
            AND r.shipped_on >= %(from)s)
    GROUP BY 1, 2 HAVING sum(d.runs) > 0 ORDER BY 1, 2
"""
