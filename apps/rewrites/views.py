"""The list of rewrites, the editor, and shipping."""

from datetime import datetime

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Code

from . import actions, queries
from .export_views import FORMS
from .forms import RewriteForm, ShipForm
from .models import Rewrite, RewriteState
from .preview import preview

PAGE_SIZE = 50


@member_required()
@require_GET
def rewrite_list(request: MemberRequest) -> HttpResponse:
    """Every rewrite of the workspace."""
    wanted = {name: request.GET.get(name, "") for name in ("q", "state", "sort")}
    rewrites = queries.rewrites_of(request.workspace, **wanted)
    page = Paginator(rewrites, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "section": "rewrites",
        "page": page,
        "rewrites": page.object_list,
        "wanted": wanted,
        "states": RewriteState.choices,
        "export": queries.export_of(request.workspace),
        "export_forms": list(FORMS),
    }
    return render(request, "rewrites/list.html", context)


@member_required(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def edit(request: MemberRequest, code_id: int) -> HttpResponse:
    """The draft of a code beside the text that models read now."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    draft = Rewrite.objects.filter(
        code=code, state__in=[RewriteState.DRAFT, RewriteState.IN_REVIEW]
    ).first()
    initial = None if draft else _envelope(code)
    form = RewriteForm(request.POST or None, instance=draft, initial=initial)
    if request.method == "POST" and form.is_valid():
        actions.save_draft(code, by=request.user, **form.cleaned_data)
        messages.success(request, "Draft saved.")
        return redirect("rewrites:edit", code.pk)
    present = queries.present_text(code)
    today = datetime.now(request.workspace.tz).date()
    context = {
        "section": "rewrites",
        "code": code,
        "draft": draft,
        "form": form,
        "present": present,
        "ship_form": ShipForm(initial={"shipped_on": today}),
        "preview": preview(code, present, _values(form, draft)),
    }
    return render(
        request, "rewrites/edit.html", context, status=422 if form.errors else 200
    )


def _envelope(code: Code) -> dict[str, str]:
    names = (
        "category",
        "commit_state",
        "retry_directive",
        "next_action",
        "alternative_tool",
    )
    return {name: getattr(code, name) for name in names}


def _values(form: RewriteForm, draft: Rewrite | None) -> dict[str, str]:
    return {
        name: str(form.data.get(name) or (getattr(draft, name) if draft else "") or "")
        for name in form.fields
    }


@require_POST
@member_required(Role.EDITOR)
def check(request: MemberRequest, code_id: int) -> HttpResponse:
    """Difference and checks of a text as it is typed."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    values = {name: request.POST.get(name, "") for name in RewriteForm.base_fields}
    found = preview(code, queries.present_text(code), values)
    return render(request, "rewrites/_preview.html", {"preview": found})


@require_POST
@member_required(Role.EDITOR)
def ship(request: MemberRequest, rewrite_id: int) -> HttpResponse:
    """Ship a draft with its date."""
    rewrite = get_object_or_404(Rewrite, pk=rewrite_id, workspace=request.workspace)
    form = ShipForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say the day from which tools send the new text.")
        return redirect("rewrites:edit", rewrite.code_id)
    try:
        actions.ship(rewrite, form.cleaned_data["shipped_on"], by=request.user)
    except actions.RewriteRefusedError as exc:
        messages.error(request, str(exc))
        return redirect("rewrites:edit", rewrite.code_id)
    messages.success(
        request,
        "Shipped. Its mark stands on the chart; errors that carry the new text count"
        " for it.",
    )
    return redirect("codes:detail", rewrite.code_id)


@require_POST
@member_required(Role.EDITOR)
def end(request: MemberRequest, rewrite_id: int) -> HttpResponse:
    """Keep a shipped rewrite or roll it back."""
    rewrite = get_object_or_404(Rewrite, pk=rewrite_id, workspace=request.workspace)
    today = datetime.now(request.workspace.tz).date()
    try:
        actions.end(rewrite, request.POST.get("state", ""), by=request.user, on=today)
    except actions.RewriteRefusedError as exc:
        messages.error(request, str(exc))
    return redirect("rewrites:list")
