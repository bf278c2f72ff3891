"""Acts on what counts: rules previewed and saved, hidden failures counted.

Their pages are `runs:rules` and `runs:masked`. The acts stand here, since they write
the rows of runs again.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.runs.forms import FailureForm
from apps.runs.models import Run
from apps.runs.rule_forms import RulesForm
from apps.runs.rule_sets import current_rules
from apps.runs.rule_views import page_context

from . import actions
from .hidden_failures import NotACallError
from .hidden_failures import say_failure as say
from .rule_preview import preview


@require_POST
@member_required(Role.EDITOR)
def preview_rules(request: MemberRequest) -> HttpResponse:
    """Say what the rules in the form would change, on the latest runs."""
    form = RulesForm(request.POST)
    is_valid = form.is_valid()
    context: dict[str, object] = {"form": form}
    if is_valid:
        before = current_rules(request.workspace.pk)
        context["preview"] = preview(request.workspace, before, form.rules())
    status = 200 if is_valid else 422
    if request.htmx:
        return render(request, "runs/_rules_preview.html", context, status=status)
    context = {**page_context(request, form), **context}
    return render(request, "runs/rules.html", context, status=status)


@require_POST
@member_required(Role.REVIEWER)
def say_failure(request: MemberRequest, run_id: int) -> HttpResponse:
    """Count a call that seems to have gone well as failed, or say that it went well."""
    run = get_object_or_404(Run, pk=run_id, workspace=request.workspace)
    form = FailureForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a call, and say whether it failed.")
        return redirect("runs:masked")
    is_failure = form.cleaned_data["is_failure"] == "yes"
    try:
        say(run, form.place(), is_failure=is_failure, by=request.user)
    except NotACallError as exc:
        messages.warning(request, str(exc))
    return redirect("runs:masked")


@require_POST
@member_required(Role.EDITOR)
def save_rules(request: MemberRequest) -> HttpResponse:
    """Save a new version and let a worker read the stored runs by it."""
    form = RulesForm(request.POST)
    if not form.is_valid():
        context = page_context(request, form)
        return render(request, "runs/rules.html", context, status=422)
    job = actions.save_rules(
        request.workspace, form.rules(), by=request.user, note=form.cleaned_data["note"]
    )
    if job is None:
        messages.warning(request, "Nothing is changed: these are the rules that hold.")
    return redirect("runs:rules")
