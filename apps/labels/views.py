"""One pair a screen, by keyboard."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role
from apps.runs.models import ToolError

from . import actions, queries
from .forms import LabelForm
from .models import Pair
from .reading import shown_pair


@member_required()
@require_GET
def queue(request: MemberRequest) -> HttpResponse:
    """The next pair for this reviewer, or why there is none."""
    batch = queries.latest_batch(request.workspace)
    state = queries.batch_state(request.workspace)
    pair = None
    if batch is not None:
        after = request.GET.get("after", "")
        pair = queries.next_pair(
            batch, request.user, int(after) if after.isdigit() else 0
        )
    context: dict[str, object] = {
        "section": "labels",
        "batch": batch,
        "state": state,
        "pair": pair,
    }
    if pair is not None:
        context |= _pair_context(pair)
    return render(request, "labels/queue.html", context)


def _pair_context(pair: Pair, form: LabelForm | None = None) -> dict[str, object]:
    error = get_object_or_404(
        ToolError.objects.select_related("code"), pk=pair.error_id
    )
    chosen = {"move": error.next_move}
    if form is not None:
        chosen = {name: form.data.get(name, "") for name in form.fields}
    return {
        "pair": pair,
        "shown": shown_pair(error),
        "questions": LabelForm.QUESTIONS,
        "chosen": chosen,
        "form": form,
    }


@require_POST
@member_required(Role.REVIEWER)
def label_pair(request: MemberRequest, pair_id: int) -> HttpResponse:
    """Save a label and go on; 422 with the form as it was if it is refused."""
    pair = get_object_or_404(Pair, pk=pair_id, batch__workspace=request.workspace)
    form = LabelForm(request.POST)
    if not form.is_valid():
        context = {
            "section": "labels",
            "batch": pair.batch,
            "state": queries.batch_state(request.workspace),
            **_pair_context(pair, form),
        }
        return render(request, "labels/queue.html", context, status=422)
    try:
        actions.set_label(pair, reviewer=request.user, **form.cleaned_data)
    except actions.QuotaFilledError as exc:
        messages.warning(request, str(exc))
    return redirect(f"{reverse('labels:queue')}?after={pair.position}")


@require_POST
@member_required(Role.REVIEWER)
def draw(request: MemberRequest) -> HttpResponse:
    """Draw last week's batch now."""
    try:
        actions.draw_weekly_batch(request.workspace, by=request.user)
    except actions.NothingToDrawError as exc:
        messages.warning(request, str(exc))
    return redirect("labels:queue")
