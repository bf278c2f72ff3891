"""Merge, split, rename, mute, move, regroup: the pages and acts of placement."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import (
    Code,
    FoldSuggestion,
    PlacementJob,
    PlacementRule,
    RuleKind,
)

from . import actions, placements, placing_queries
from .forms import PlaceForm
from .placements import AT_ONCE, PlacementRefusedError, Plan
from .tasks import carry_out_task, regroup_task


@member_required(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def place(request: MemberRequest, code_id: int) -> HttpResponse:
    """Merge, split or move a code: a GET with values previews, a POST does it."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    values = request.POST if request.method == "POST" else request.GET or None
    form = PlaceForm(code, values)
    moved = None
    if values is not None and form.is_valid():
        if request.method == "POST":
            why = request.POST.get("why", "")
            job = placements.place(form.plan(), by=request.user, why=why[:1000])
            return _start(request, job)
        moved = placements.preview(form.plan())
    context = {
        "section": "codes",
        "code": code,
        "form": form,
        "plan": form.plan() if moved is not None else None,
        "moved": moved,
        "tools": placing_queries.tools_of(request.workspace),
    }
    status = 422 if form.errors else 200
    return render(request, "codes/place.html", context, status=status)


def _start(request: MemberRequest, job: PlacementJob) -> HttpResponse:
    """Do a small job at once, leave a large one to a worker; show how far it is."""
    if job.errors_expected <= AT_ONCE:
        placements.carry_out(job)
        moved = (
            f"{job.errors_moved:,} error{'' if job.errors_moved == 1 else 's'} moved"
        )
        messages.success(request, f"{job.title}: {moved}. The log below has it.")
        if job.rule is not None:
            rule = job.rule
            standing = rule.code_id if rule.undone_at else rule.into_id
            return redirect("codes:detail", standing)
    else:
        transaction.on_commit(lambda: carry_out_task.delay(job.pk))
    return redirect("codes:job", job.pk)


@member_required()
@require_GET
def job(request: MemberRequest, job_id: int) -> HttpResponse:
    """How far a job has come; asks again until it is done."""
    found = get_object_or_404(
        PlacementJob.objects.select_related("rule__into", "rule__code", "made_by"),
        pk=job_id,
        workspace=request.workspace,
    )
    fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    template = "codes/_job.html" if fragment else "codes/job.html"
    return render(request, template, {"section": "codes", "job": found})


@require_POST
@member_required(Role.EDITOR)
def undo(request: MemberRequest, rule_id: int) -> HttpResponse:
    """Undo a rule; what it moved goes back."""
    rule = get_object_or_404(PlacementRule, pk=rule_id, workspace=request.workspace)
    try:
        return _start(request, placements.undo(rule, by=request.user))
    except PlacementRefusedError as exc:
        messages.error(request, str(exc))
        return redirect("codes:detail", rule.code_id)


@require_POST
@member_required(Role.EDITOR)
def rename(request: MemberRequest, code_id: int) -> HttpResponse:
    """Call a code something else."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    actions.rename(code, request.POST.get("title", ""), by=request.user)
    return redirect("codes:detail", code.pk)


@require_POST
@member_required(Role.EDITOR)
def mute(request: MemberRequest, code_id: int) -> HttpResponse:
    """Leave a code out of the list, or show it again."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    actions.set_muted(code, request.POST.get("muted") == "yes", by=request.user)
    return redirect("codes:detail", code.pk)


@member_required()
@require_GET
def grouping(request: MemberRequest) -> HttpResponse:
    """The folds made, the folds suggested, and every rule with its log."""
    context = {
        "section": "codes",
        "g": placing_queries.grouping(request.workspace, request.GET.get("page")),
        "may_edit": request.membership.may(Role.EDITOR),
    }
    return render(request, "codes/grouping.html", context)


@require_POST
@member_required(Role.EDITOR)
def regroup(request: MemberRequest) -> HttpResponse:
    """Start the regrouping job now."""
    workspace_id = request.workspace.pk
    transaction.on_commit(lambda: regroup_task.delay(workspace_id))
    messages.success(request, "Regrouping has begun; this page shows what it folds.")
    return redirect("codes:grouping")


@require_POST
@member_required(Role.EDITOR)
def answer(request: MemberRequest, suggestion_id: int) -> HttpResponse:
    """Fold what was suggested, or say that it never should be."""
    suggestion = get_object_or_404(
        FoldSuggestion.objects.select_related("code", "into"),
        pk=suggestion_id,
        workspace=request.workspace,
    )
    code, into = suggestion.code, suggestion.into
    suggestion.delete()
    if request.POST.get("answer") != "fold":
        placements.keep_apart(code, into, by=request.user, why=suggestion.reason)
        messages.success(request, f"{code} and {into} stay apart.")
        return redirect("codes:grouping")
    plan = Plan(code, RuleKind.MERGE, into.key, into.tool)
    return _start(
        request, placements.place(plan, by=request.user, why=suggestion.reason)
    )
