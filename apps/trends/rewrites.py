"""Recovery before and after a rewrite: counts, rates, difference. One definition.

Before is every run whose first error of the code had another text and that began in
the eight weeks before the rewrite shipped; after is every run whose first error of the
code was delivered with the new text.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from apps.rewrites.models import Rewrite
from apps.runs.queries import Outcomes
from apps.runs.rates import Interval, Rate, newcombe_interval
from apps.runs.weeks import week_of

BASELINE = timedelta(weeks=8)
ENOUGH = 20  # known outcomes on each side before a difference is called anything


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """What a rewrite changed, as far as counts tell."""

    before: Rate
    after: Rate
    difference: Interval | None  # None while one side has no known outcome
    after_errors: int
    moves_before: dict[str, int]
    moves_after: dict[str, int]
    other_after: int  # runs that still met another text after the day of shipping

    @property
    def adoption(self) -> float | None:
        """Share of runs since shipping that met the new text; None before the first."""
        met = self.after.n + self.after.unknown
        return met / (met + self.other_after) if met + self.other_after else None

    @property
    def word(self) -> str:
        """Say what can be said: better, worse, or cannot tell yet."""
        if self.difference is None or min(self.before.n, self.after.n) < ENOUGH:
            return "cannot tell yet"
        if self.difference.low > 0:
            return "better"
        return "worse" if self.difference.high < 0 else "cannot tell yet"


def before_after(rewrite: Rewrite) -> BeforeAfter | None:
    """Compare the runs before a shipped rewrite with those that met its text."""
    if rewrite.text_id is None or rewrite.shipped_on is None:
        return None
    shipped = rewrite.shipped_on
    values: dict[str, Any] = {
        "workspace": rewrite.workspace_id,
        "code": rewrite.code_id,
        "text": rewrite.text_id,
        "shipped": shipped,
        "from": week_of(shipped) - BASELINE,
    }
    sides: dict[str, dict[str, int]] = {"before": {}, "after": {}, "other": {}}
    moves: dict[str, dict[str, int]] = {"before": {}, "after": {}, "other": {}}
    with connection.cursor() as cursor:
        cursor.execute(_RUNS, values)
        for side, outcome, n in cursor.fetchall():
            if side is not None:
                sides[side][outcome] = int(n)
        cursor.execute(_MOVES, values)
        for side, move, n in cursor.fetchall():
            if side is not None:
                moves[side][move] = int(n)
    before, after = Outcomes(**sides["before"]), Outcomes(**sides["after"])
    difference = None
    if before.known and after.known:
        difference = newcombe_interval(
            after.correct, after.known, before.correct, before.known
        )
    return BeforeAfter(
        before=Rate.of(before.correct, before.incorrect, before.unknown),
        after=Rate.of(after.correct, after.incorrect, after.unknown),
        difference=difference,
        after_errors=sum(moves["after"].values()),
        moves_before=moves["before"],
        moves_after=moves["after"],
        other_after=Outcomes(**sides["other"]).runs,
    )


_SIDE = """
    CASE WHEN t.id = %(text)s OR t.version_of_id = %(text)s THEN 'after'
         WHEN d.day >= %(shipped)s THEN 'other'
         WHEN d.day >= %(from)s OR d.day IS NULL THEN 'before' END
"""
_RUNS = f"""
    SELECT {_SIDE} AS side, d.outcome, sum(d.runs)
    FROM runs_daycode d JOIN catalogue_text t ON t.id = d.text_id
    WHERE d.workspace_id = %(workspace)s AND d.code_id = %(code)s
    GROUP BY 1, 2 HAVING sum(d.runs) <> 0
"""  # noqa: S608
_MOVES = f"""
    SELECT {_SIDE} AS side, d.next_move, sum(d.errors)
    FROM runs_dayerrors d JOIN catalogue_text t ON t.id = d.text_id
    WHERE d.workspace_id = %(workspace)s AND d.code_id = %(code)s AND d.is_counted
    GROUP BY 1, 2 HAVING sum(d.errors) <> 0
"""  # noqa: S608
