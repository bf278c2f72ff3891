"""The contract of a code, and a text taken as the rewrite that nobody announced."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Code, Text

from . import actions, contracts
from .forms import ContractForm


@member_required()
@require_GET
def contract(request: MemberRequest, code_id: int) -> HttpResponse:
    """What a code promises, what its errors propose, what is wrong with its texts."""
    code = get_object_or_404(
        Code.objects.select_related("contract_by"),
        pk=code_id,
        workspace=request.workspace,
    )
    context = {
        "section": "codes",
        "code": code,
        "c": contracts.contract_page(code),
        "may_edit": request.membership.may(Role.EDITOR),
    }
    fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    template = "codes/_contract.html" if fragment else "codes/contract.html"
    return render(request, template, context)


@require_POST
@member_required(Role.EDITOR)
def confirm(request: MemberRequest, code_id: int) -> HttpResponse:
    """Confirm the contract of a code."""
    code = get_object_or_404(Code, pk=code_id, workspace=request.workspace)
    form = ContractForm(request.POST)
    if form.is_valid():
        contracts.confirm(code, form.cleaned_data, by=request.user)
        messages.success(request, "The contract is confirmed.")
    else:
        messages.error(request, "Choose values from the lists, then confirm.")
    return redirect("codes:detail", code.pk)


@require_POST
@member_required(Role.EDITOR)
def adopt(request: MemberRequest, text_id: int) -> HttpResponse:
    """Say that a text was a rewrite that somebody shipped without a word here."""
    text = get_object_or_404(
        Text.objects.select_related("code"), pk=text_id, workspace=request.workspace
    )
    try:
        actions.adopt(text, by=request.user)
    except ValueError as exc:
        messages.error(request, str(exc))
    else:
        messages.success(request, "It is a rewrite now, shipped on its first day.")
    return redirect("codes:detail", text.code_id)
