"""The page of failures that look like successes: a person says which of them count."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role

from .blob import unpack
from .evidence import EVIDENCE_RULES
from .masked import ELSEWHERE, suggestions
from .models import CountedFailure, RunTranscript
from .rule_sets import current_rules

SCANNED_RUNS = 200
SHOWN = 60
_MEANINGS = {
    **EVIDENCE_RULES,
    ELSEWHERE: "nothing came back from a tool that elsewhere fails or finds",
}


@member_required()
@require_GET
def masked(request: MemberRequest) -> HttpResponse:
    """Suggestions from the latest runs, and what people have counted so far."""
    workspace = request.workspace
    kept = RunTranscript.objects.filter(
        run__workspace=workspace, run__is_excluded=False
    )
    rows = kept.order_by("-run_id").values_list("run_id", "data", "run__identity")
    latest = list(rows[:SCANNED_RUNS])
    runs = {run_id: unpack(data) for run_id, data, _ in latest}
    by_identity = {bytes(identity): run_id for run_id, _, identity in latest}
    words: dict[int, frozenset[tuple[int, int, int]]] = {}
    said = CountedFailure.objects.filter(workspace=workspace)
    for word in said.filter(run_identity__in=list(by_identity)):
        run_id = by_identity[bytes(word.run_identity)]
        place = (word.thread, word.turn, word.call)
        words[run_id] = words.get(run_id, frozenset()) | {place}
    found = suggestions(runs, current_rules(workspace.pk), words)
    context = {
        "section": "runs",
        "hidden": [(h, _MEANINGS.get(h.rule, h.rule)) for h in found.hidden[:SHOWN]],
        "hidden_total": len(found.hidden),
        "flagged_empty": found.flagged_empty[:SHOWN],
        "flagged_empty_total": len(found.flagged_empty),
        "scanned": len(runs),
        "may_say": request.membership.may(Role.REVIEWER),
    }
    return render(request, "runs/masked.html", context)
