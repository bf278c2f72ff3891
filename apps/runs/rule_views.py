"""The page of the workspace's rules, its history, and how far a change has got."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.middleware import MemberRequest, member_required
from apps.accounts.models import Role, Workspace
from apps.catalogue.models import Code

from .blob import unpack
from .models import Rederivation, RuleSet, RunTranscript
from .outcomes import as_number
from .rule_changes import changes
from .rule_forms import RulesForm, initial_of
from .rule_sets import current_rules, rules_of
from .rules import DEFAULT_RULES

VERSIONS_SHOWN = 50
SCANNED_RUNS = 300


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the rules and what it changed."""

    row: RuleSet
    changes: list[str]


@dataclass(slots=True)
class ScoreName:
    """A score that logs of the workspace have."""

    name: str
    runs: int = 0
    low: float | None = None
    high: float | None = None
    words: str = ""  # an example of a value that is no number
    direction: str = ""  # as the log says it

    @property
    def span(self) -> str:
        """Give the lowest and the highest number."""
        if self.low is None or self.high is None:
            return ""
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:g} to {self.high:g}"

    def add(self, value: float | str | bool | None) -> None:
        """Count one more run with a value."""
        self.runs += 1
        number = as_number(value)
        if number is None:
            self.words = self.words or str(value)[:40]
            return
        self.low = number if self.low is None else min(self.low, number)
        self.high = number if self.high is None else max(self.high, number)


@member_required()
@require_GET
def rules(request: MemberRequest) -> HttpResponse:
    """The rules as they are, for everybody to see and for editors to change."""
    form = RulesForm(initial=initial_of(current_rules(request.workspace.pk)))
    return render(request, "runs/rules.html", page_context(request, form))


def page_context(request: MemberRequest, form: RulesForm) -> dict[str, Any]:
    """Give what the page needs beside its preview."""
    workspace = request.workspace
    return {
        "section": "runs",
        "form": form,
        "versions": history(workspace),
        "job": newest_job(workspace),
        "version": current_rules(workspace.pk).version,
        "tools": known_tools(workspace),
        "may_change": request.membership.may(Role.EDITOR),
    }


def known_tools(workspace: Workspace) -> list[str]:
    """List the tools that have failed in this workspace."""
    codes = Code.objects.filter(workspace=workspace).exclude(tool="")
    return list(codes.order_by("tool").values_list("tool", flat=True).distinct()[:200])


def history(workspace: Workspace) -> list[Version]:
    """Give the versions, the newest first, each with what it changed."""
    rows = list(
        RuleSet.objects.filter(workspace=workspace)
        .select_related("made_by")
        .order_by("-version")[: VERSIONS_SHOWN + 1]
    )
    values = [rules_of(row.version, row.rules) for row in rows]
    before = [*values[1:], DEFAULT_RULES]
    pairs = zip(rows, before, values, strict=False)
    versions = [Version(row, changes(old, new)) for row, old, new in pairs]
    return versions[:VERSIONS_SHOWN]


def newest_job(workspace: Workspace) -> Rederivation | None:
    """Give the pass over the stored runs that was asked for last."""
    jobs = Rederivation.objects.filter(workspace=workspace)
    return jobs.order_by("-rules_version").first()


@member_required()
@require_GET
def progress(request: MemberRequest) -> HttpResponse:
    """How far the stored runs are read again; asks for itself until it has ended."""
    context = {"job": newest_job(request.workspace)}
    return render(request, "runs/_rederivation.html", context)


@member_required()
@require_GET
def scores(request: MemberRequest) -> HttpResponse:
    """Which scores the latest runs have, so that one can be chosen."""
    kept = RunTranscript.objects.filter(run__workspace=request.workspace)
    found: dict[str, ScoreName] = {}
    latest = kept.order_by("-run_id").values_list("data", flat=True)[:SCANNED_RUNS]
    for data in latest.iterator(chunk_size=50):
        for score in unpack(data).scores:
            of_name = found.setdefault(score.name, ScoreName(score.name))
            of_name.add(score.value)
            if score.higher_is_better is not None:
                better = "higher" if score.higher_is_better else "lower"
                of_name.direction = f"{better} is better"
    names = sorted(found.values(), key=lambda s: (-s.runs, s.name))[:50]
    context = {"names": names, "scanned": SCANNED_RUNS}
    return render(request, "runs/_score_names.html", context)
