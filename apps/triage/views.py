"""The weekly meeting."""

from datetime import date

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Code
from apps.runs.weeks import week_of

from . import actions
from .forms import DecisionForm
from .minutes import LIST_RULE, minutes
from .models import Decision
from .queries import agenda, current_week


def _week(request: MemberRequest) -> date:
    try:
        return week_of(date.fromisoformat(request.GET.get("week", "")))
    except ValueError:
        return current_week(request.workspace)


@member_required()
@require_GET
def week(request: MemberRequest) -> HttpResponse:
    """The agenda of a week, put together from the data."""
    found = agenda(request.workspace, _week(request))
    context = {
        "section": "triage",
        "a": found,
        "form": DecisionForm(request.workspace),
        "minutes": minutes(found, request.workspace.name),
        "list_rule": LIST_RULE,
        "is_current": found.week == current_week(request.workspace),
    }
    return render(request, "triage/week.html", context)


@member_required()
@require_GET
def minutes_file(request: MemberRequest) -> HttpResponse:
    """The minutes as a Markdown file."""
    found = agenda(request.workspace, _week(request))
    text = minutes(found, request.workspace.name)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="triage-{found.week}.md"'
    return response


@require_POST
@member_required(Role.EDITOR)
def decide(request: MemberRequest, code_id: int) -> HttpResponse:
    """Record a decision on a code for the week going on."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    form = DecisionForm(request.workspace, request.POST)
    if not form.is_valid():
        messages.error(request, "Choose what to do about the code, then save.")
        return redirect("triage:week")
    decision = actions.decide(
        code, week=current_week(request.workspace), by=request.user, **form.cleaned_data
    )
    if not request.htmx:
        return redirect("triage:week")
    context = {
        "code": code,
        "decision": decision,
        "form": DecisionForm(request.workspace),
    }
    return render(request, "triage/_decision.html", context)


@require_POST
@member_required(Role.EDITOR)
def close(request: MemberRequest, decision_id: int) -> HttpResponse:
    """Say that a decision has been carried out."""
    decision = get_object_or_404(Decision, pk=decision_id, workspace=request.workspace)
    actions.close(decision)
    return redirect("triage:week")
