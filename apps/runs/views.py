"""The runs list and one run with its transcript."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST
from django.views.decorators.vary import vary_on_headers

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.catalogue.models import Code

from . import actions, listing, queries
from .blob import unpack
from .forms import OutcomeForm, RunFilter
from .models import PersonOutcome, Run, RunTranscript, ToolError
from .outcomes import speaker
from .reading import shown_thread

PAGE_SIZE = 50
TURNS_A_PAGE = 200


@member_required()
@require_GET
@vary_on_headers("HX-Request")
def run_list(request: MemberRequest) -> HttpResponse:
    """Runs under filters; the whole state is in the address."""
    form = RunFilter(request.GET)
    form.is_valid()
    wanted = form.cleaned_data
    sort = request.GET.get("sort", "-started")
    runs = listing.listed(request.workspace.pk, wanted, sort)
    page = Paginator(runs, PAGE_SIZE).get_page(request.GET.get("page"))
    code = None
    if wanted.get("code"):
        code = Code.objects.filter(
            pk=wanted["code"], workspace=request.workspace
        ).first()
    context = {
        "section": "runs",
        "page": page,
        "form": form,
        "wanted": wanted,
        "sort": sort,
        "code": code,
        "models": listing.known_values(request.workspace.pk, "model"),
        "agents": listing.known_values(request.workspace.pk, "agent"),
        "left_out": queries.left_out(request.workspace.pk),
    }
    fragment = request.htmx and not request.htmx.boosted  # type: ignore[attr-defined]
    return render(request, "runs/_list.html" if fragment else "runs/list.html", context)


@member_required()
@require_GET
def run_detail(request: MemberRequest, run_id: int) -> HttpResponse:
    """One run: how it ended, its errors, its transcript a stretch at a time."""
    run = get_object_or_404(Run, pk=run_id, workspace=request.workspace)
    stored = get_object_or_404(RunTranscript, run=run)
    transcript = unpack(stored.data)
    errors = list(
        ToolError.objects.filter(run=run)
        .select_related("code")
        .order_by("thread", "turn", "call")
    )
    index = _number(request.GET.get("thread"), 0)
    first = _number(request.GET.get("from"), 0)
    if not 0 <= index < max(1, len(transcript.threads)):
        raise Http404("There is no such thread in this run.")
    shown = None
    if transcript.threads:
        shown = shown_thread(transcript, index, errors, max(0, first), TURNS_A_PAGE)
    context = {
        "section": "runs",
        "run": run,
        "transcript": transcript,
        "errors": errors,
        "speaker": speaker(run.outcome, run.outcome_by),
        "words": PersonOutcome.objects.filter(
            workspace=request.workspace, run_identity=bytes(run.identity)
        )
        .select_related("said_by")
        .order_by("-pk")[:20],
        "may_say": request.membership.may(Role.REVIEWER),
        "counted": [error for error in errors if error.is_counted],
        "shown": shown,
        "first": first,
        "previous": max(0, first - TURNS_A_PAGE) if first > 0 else None,
        "next": first + TURNS_A_PAGE
        if shown and first + TURNS_A_PAGE < shown.total
        else None,
    }
    return render(request, "runs/detail.html", context)


@require_POST
@member_required(Role.REVIEWER)
def say_outcome(request: MemberRequest, run_id: int) -> HttpResponse:
    """Keep a person's word on how a run ended."""
    run = get_object_or_404(Run, pk=run_id, workspace=request.workspace)
    form = OutcomeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say correct, incorrect, or unknown.")
    elif not actions.say_outcome(
        run,
        form.cleaned_data["outcome"],
        by=request.user,
        note=form.cleaned_data["note"],
    ):
        messages.warning(
            request,
            "Kept, but not counted: the log, a list or a rule says how this run ended.",
        )
    return redirect("runs:detail", run.pk)


def _number(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() and len(value) < 9 else default
