"""Previews and saves the workspace's rules; a worker then reads the stored runs again.

The page is `runs:rules`. Its acts stand here, since they read uploads and start a job.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.runs.rule_forms import RulesForm
from apps.runs.rule_sets import current_rules
from apps.runs.rule_views import page_context

from . import actions
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
