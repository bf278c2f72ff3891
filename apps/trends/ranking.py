"""Which codes cost most: avoidable loss with shrunken rates, from one place."""

from dataclasses import dataclass
from datetime import date

from apps.accounts.models import Workspace
from apps.runs import queries
from apps.runs.rates import Rate

from .bayes import AvoidableLoss, avoidable_loss, fit_prior


@dataclass(frozen=True, slots=True)
class CostRow:
    """One code with what it costs."""

    counts: queries.CodeCounts
    rate: Rate
    loss: AvoidableLoss | None  # None: no run without an error has a known outcome


def costs(
    workspace: Workspace, since: date | None, until: date | None
) -> list[CostRow]:
    """Rank the codes of a stretch of four weeks by avoidable loss, the costliest first.

    Over any other stretch only the order means something, not the runs a week.
    """
    totals = queries.totals(workspace.pk, since, until)
    codes = queries.by_code(workspace.pk, since, until)
    prior = fit_prior((c.outcomes.correct, c.outcomes.known) for c in codes)
    clean = totals.without_error
    rows = []
    for code in codes:
        runs = code.outcomes
        loss = avoidable_loss(
            runs.correct, runs.known, clean.correct, clean.known, prior
        )
        rows.append(CostRow(code, runs.rate, loss))
    return sorted(
        rows,
        key=lambda r: (
            -(r.loss.runs_per_week if r.loss else 0.0),
            -r.counts.outcomes.runs,
            r.counts.key,
        ),
    )
