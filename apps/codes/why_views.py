"""Why an error has its code; and which code a pasted text would get."""

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.middleware import MemberRequest, member_required
from apps.catalogue.why import why
from apps.runs.models import ToolError
from apps.runs.raw_texts import raw_text

from . import placing_queries
from .forms import TesterForm


@member_required()
@require_GET
def why_code(request: MemberRequest, error_id: int) -> HttpResponse:
    """Each step from an error's raw text to its code."""
    error = get_object_or_404(
        ToolError.objects.select_related("code", "run"),
        pk=error_id,
        workspace=request.workspace,
        is_counted=True,
    )
    context = {
        "section": "codes",
        "error": error,
        "why": why(request.workspace.pk, error.tool, raw_text(error)),
    }
    fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    return render(request, "codes/_why.html" if fragment else "codes/why.html", context)


@member_required()
@require_http_methods(["GET", "POST"])
def tester(request: MemberRequest) -> HttpResponse:
    """Say which code a pasted text would get, and why. Writes nothing."""
    form = TesterForm(request.POST or None)
    context = {
        "section": "codes",
        "form": form,
        "tools": placing_queries.tools_of(request.workspace),
        "why": None,
    }
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        context["why"] = why(request.workspace.pk, values["tool"], values["text"])
    status = 422 if form.errors else 200
    return render(request, "codes/tester.html", context, status=status)
