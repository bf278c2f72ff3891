"""The headline and what stands behind it, as one value for page, command and API."""

from typing import Any

from apps.accounts.models import Workspace
from apps.runs import queries


def report(workspace: Workspace) -> dict[str, Any]:
    """Give every figure of a workspace in the form that `report --json` promises."""
    totals = queries.totals(workspace.pk)
    errors = queries.error_counts(workspace.pk)
    everything = totals.with_error + totals.without_error
    return {
        "workspace": workspace.slug,
        "runs": totals.runs,
        "tool_calls": totals.tool_calls,
        "tool_errors": totals.tool_errors,
        "outcomes": everything.as_dict(),
        "runs_with_error": totals.with_error.runs,
        "with_error": totals.with_error.as_dict(),
        "without_error": totals.without_error.as_dict(),
        "recovery": recovery(totals.with_error),
        "next_moves": errors["next_moves"],
        "evidence": errors["evidence"],
        "causes": errors["causes"],
        "not_delivered": errors["other"]["not_delivered"],
        "weeks": [
            {
                "start": week.start.isoformat() if week.start else None,
                "runs": week.runs,
                "runs_with_error": week.with_error.runs,
                **week.with_error.as_dict(),
            }
            for week in queries.weekly(workspace.pk)
        ],
        "codes": [
            {
                "code": code.key,
                "tool": code.tool,
                "errors": code.errors,
                "runs": code.outcomes.runs,
                **code.outcomes.as_dict(),
                "next_moves": dict(sorted(code.next_moves.items())),
            }
            for code in queries.by_code(workspace.pk)
        ],
    }


def recovery(outcomes: queries.Outcomes) -> dict[str, Any]:
    """Give a rate with its interval and what unknown outcomes could make of it."""
    rate = outcomes.rate
    return {
        "rate": rate.rate,
        "low": rate.low,
        "high": rate.high,
        "n": rate.n,
        "bounds": [rate.bound_low, rate.bound_high],
    }
