"""The page of moves: what was told, what was done, what the contract forbids."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required
from apps.runs import queries
from apps.runs.weeks import this_week
from apps.trends.series import four_full_weeks

from .moves import MOVES, moves_page

CODES_SHOWN = 100


@member_required()
@require_GET
def moves(request: MemberRequest) -> HttpResponse:
    """Code to next move, branch told to branch taken, and breaches of contracts."""
    since = until = None
    if request.GET.get("period") != "all":
        weeks = queries.weekly(request.workspace.pk)
        last = queries.last_week(weeks)
        since, until = four_full_weeks(last, this_week(request.workspace.tz))
    context = {
        "section": "codes",
        "m": moves_page(request.workspace, since, until),
        "moves": MOVES,
        "since": since,
        "until": until,
        "shown": CODES_SHOWN,
    }
    return render(request, "codes/moves.html", context)
