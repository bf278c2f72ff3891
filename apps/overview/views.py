"""The front page."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required

from .queries import PERIODS, overview


@member_required()
@require_GET
def home(request: MemberRequest) -> HttpResponse:
    """The headline, this week's steps, and what costs most."""
    wanted = request.GET.get("period", "")
    found = overview(request.workspace, wanted if wanted in PERIODS else "")
    context = {"section": "overview", "o": found, "periods": PERIODS}
    return render(request, "overview/home.html", context)
