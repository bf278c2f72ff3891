"""The regrouping job: folds codes of one tool that differ only in varying words.

Which code of a group stands hangs on the texts and on what people did, never on the
order of arrival: one that people worked on, else the one seen on the earliest day (of
the errors, not of the upload), else the smaller key.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue import placing
from apps.catalogue.models import (
    Code,
    FoldSuggestion,
    PlacementJob,
    PlacementRule,
    RuleKind,
    Text,
    TextOrigin,
)
from apps.catalogue.regroup import Item, Regrouping, regroup
from apps.runs.queries import first_days

from .placements import carry_out


class Fold(NamedTuple):
    """A code that is the same failure as another."""

    code: int
    into: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a regrouping says about codes."""

    folds: dict[Fold, str]  # with the reason
    doubts: dict[Fold, str]


@dataclass(frozen=True, slots=True)
class Regrouped:
    """What a run of the job did."""

    folds: int
    undone: int
    suggestions: int


def regroup_workspace(workspace: Workspace) -> Regrouped:
    """Make the folds that the texts ask for, suggest doubtful ones. May run twice."""
    found = _find(workspace.pk)
    with transaction.atomic():
        placing.hold_alone(workspace.pk)
        made, undone = _make_folds(workspace.pk, found)
        _suggest(workspace.pk, found)
        job = None
        if made or undone:
            job = PlacementJob.objects.create(
                workspace=workspace,
                title=f"Regrouping: {made} folded, {undone} no longer folded",
            )
    if job is not None:
        carry_out(job)
    return Regrouped(made, undone, len(found.doubts))


def _find(workspace_id: int) -> Found:
    texts = list(
        Text.objects.filter(
            workspace_id=workspace_id, side_of=None, version_of=None
        ).select_related("home")
    )
    home_of = {(text.home.tool, text.key): text.home_id for text in texts}
    seen = [text for text in texts if text.origin == TextOrigin.SEEN]
    regrouped = regroup(
        Item(
            text.home.tool,
            text.key,
            text.masked,
            structured_code="coded" if text.is_coded else "",
        )
        for text in seen
    )
    codes = {text.home_id: text.home for text in texts}
    return _judge(
        regrouped,
        home_of,
        codes,
        first_days(workspace_id),
        _touched(workspace_id),
        _apart(workspace_id),
    )


def _judge(
    regrouped: Regrouping,
    home_of: dict[tuple[str, str], int],
    codes: dict[int, Code],
    days: dict[int, date],
    touched: set[int],
    apart: set[frozenset[int]],
) -> Found:
    """Turn groups of texts into folds of codes. Pure."""

    def rank(code: int) -> tuple[bool, date, str]:
        return (code not in touched, days.get(code, date.max), codes[code].key)

    folds: dict[Fold, str] = {}
    doubts: dict[Fold, str] = {}
    standing: dict[int, int] = {}
    for members, reason in _joined(regrouped, home_of, codes):
        stands, *others = sorted(members, key=rank)
        together = [stands]
        standing[stands] = stands
        for other in others:
            fold = Fold(other, stands)
            is_apart = any(frozenset((other, one)) in apart for one in together)
            if is_apart or other in touched:
                standing[other] = other
                if not is_apart:
                    doubts[fold] = f"{reason}; people worked on both"
            else:
                together.append(other)
                standing[other] = stands
                folds[fold] = reason
    for suggestion in regrouped.suggestions:
        one, two = (standing[home_of[suggestion.tool, key]] for key in suggestion.keys)
        stands, other = sorted((one, two), key=rank)
        fold = Fold(other, stands)
        if one != two and frozenset(fold) not in apart:
            doubts.setdefault(fold, suggestion.reason)
    return Found(folds, doubts)


def _joined(
    regrouped: Regrouping, home_of: dict[tuple[str, str], int], codes: Iterable[int]
) -> list[tuple[list[int], str]]:
    """Give the codes whose texts are one group, with the reason. Pure."""
    parents: dict[int, int] = {}

    def root(code: int) -> int:
        while code in parents:
            code = parents[code]
        return code

    why: dict[int, set[str]] = defaultdict(set)
    for group in regrouped.groups:
        homes = sorted({home_of[group.tool, key] for key in group.members})
        for home in homes:
            why[home].update(group.reasons)
            one, other = sorted((root(homes[0]), root(home)))
            if one != other:
                parents[other] = one
    members: dict[int, list[int]] = defaultdict(list)
    for home in codes:
        members[root(home)].append(home)
    return [
        (homes, "; ".join(sorted(set().union(*(why[home] for home in homes)))))
        for homes in members.values()
    ]


def _touched(workspace_id: int) -> set[int]:
    """Codes that people worked on: they are never folded away."""
    worked = (
        Q(rewrites__isnull=False)
        | Q(decisions__isnull=False)
        | Q(contract_at__isnull=False)
        | ~Q(title="")
        | Q(is_muted=True)
    )
    live = PlacementRule.objects.filter(workspace_id=workspace_id, undone_at=None)
    live = live.exclude(kind__in=[RuleKind.FOLD, RuleKind.APART])
    codes = Code.objects.filter(workspace_id=workspace_id).filter(worked)
    return {
        *codes.values_list("pk", flat=True),
        *live.values_list("code_id", flat=True),
        *live.values_list("into_id", flat=True),
    }


def _apart(workspace_id: int) -> set[frozenset[int]]:
    rules = PlacementRule.objects.filter(
        workspace_id=workspace_id, kind=RuleKind.APART, undone_at=None
    )
    return {frozenset(pair) for pair in rules.values_list("code_id", "into_id")}


def _make_folds(workspace_id: int, found: Found) -> tuple[int, int]:
    """Write what changed among the folds; give how many were made and undone."""
    rules = PlacementRule.objects.filter(
        workspace_id=workspace_id, kind=RuleKind.FOLD, undone_at=None
    )
    standing = {Fold(rule.code_id, rule.into_id): rule.pk for rule in rules}
    gone = [pk for fold, pk in standing.items() if fold not in found.folds]
    undone = PlacementRule.objects.filter(pk__in=gone).update(undone_at=timezone.now())
    new = [fold for fold in sorted(found.folds) if fold not in standing]
    PlacementRule.objects.bulk_create(
        PlacementRule(
            workspace_id=workspace_id,
            kind=RuleKind.FOLD,
            code_id=fold.code,
            into_id=fold.into,
            why=found.folds[fold],
        )
        for fold in new
    )
    return len(new), undone


def _suggest(workspace_id: int, found: Found) -> None:
    FoldSuggestion.objects.filter(workspace_id=workspace_id).delete()
    FoldSuggestion.objects.bulk_create(
        FoldSuggestion(
            workspace_id=workspace_id,
            code_id=fold.code,
            into_id=fold.into,
            reason=reason,
        )
        for fold, reason in sorted(found.doubts.items())
    )
