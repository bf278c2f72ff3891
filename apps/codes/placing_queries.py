"""Reads of the pages that place texts."""

from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet

from apps.accounts.models import Workspace
from apps.catalogue.models import (
    Code,
    CodeChange,
    FoldSuggestion,
    JobState,
    PlacementJob,
    PlacementRule,
    RuleKind,
    Tool,
)

RULES_A_PAGE = 50


def rules_of(workspace: Workspace) -> QuerySet[PlacementRule]:
    """Give a workspace's rules, the latest first."""
    return (
        PlacementRule.objects.filter(workspace=workspace)
        .select_related("code", "into", "made_by", "undone_by")
        .order_by("-pk")
    )


@dataclass(frozen=True, slots=True)
class Placement:
    """What was ever decided on a code."""

    rules: list[PlacementRule]
    changes: list[CodeChange]
    gone_into: Code | None  # where all of its texts are now


def placement_of(workspace: Workspace, code: Code) -> Placement:
    """Give the log of a code, and where it went if it was merged away."""
    rules = list(rules_of(workspace).filter(Q(code=code) | Q(into=code))[:100])
    away = [
        rule
        for rule in rules
        if rule.code_id == code.pk
        and rule.undone_at is None
        and rule.kind in (RuleKind.FOLD, RuleKind.MERGE, RuleKind.MOVE)
    ]
    has_texts = code.texts.exists()
    changes = CodeChange.objects.filter(code=code).select_related("made_by")
    return Placement(
        rules,
        list(changes.order_by("-pk")[:100]),
        away[0].into if away and not has_texts else None,
    )


@dataclass(frozen=True, slots=True)
class Grouping:
    """The page of all placement."""

    suggestions: list[FoldSuggestion]
    rules: "Page[PlacementRule]"
    jobs: list[PlacementJob]
    is_busy: bool


def grouping(workspace: Workspace, page: str | None) -> Grouping:
    """Give suggestions, the latest jobs, and a page of rules."""
    suggested = FoldSuggestion.objects.filter(workspace=workspace)
    jobs = list(PlacementJob.objects.filter(workspace=workspace).order_by("-pk")[:10])
    return Grouping(
        list(
            suggested.select_related("code", "into").order_by("code__tool", "pk")[:200]
        ),
        Paginator(rules_of(workspace), RULES_A_PAGE).get_page(page),
        jobs,
        any(job.state != JobState.DONE for job in jobs),
    )


def tools_of(workspace: Workspace) -> list[str]:
    """Give every tool's name: those of the registry and those that codes have."""
    names: set[Any] = set(
        Tool.objects.filter(workspace=workspace).values_list("name", flat=True)
    )
    names |= set(
        Code.objects.filter(workspace=workspace).values_list("tool", flat=True)
    )
    return sorted(names)
