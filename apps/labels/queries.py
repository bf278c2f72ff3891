"""Reads of labelling: the batch, the next pair, how far it is."""

from dataclasses import dataclass
from datetime import date
from typing import TypedDict

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django_stubs_ext import WithAnnotations

from apps.accounts.models import User, Workspace
from apps.runs.models import ToolError
from apps.runs.weeks import WEEK

from .models import Label, Pair, SampleBatch
from .sampling import FrameError, FrameRun


@dataclass(frozen=True, slots=True)
class BatchState:
    """How far a batch is; the two counts sum to its size."""

    week: date
    pairs: int
    labelled: int  # pairs with as many labels as wanted

    @property
    def is_done(self) -> bool:
        """Whether every pair has its labels."""
        return self.labelled >= self.pairs


def latest_batch(workspace: Workspace) -> SampleBatch | None:
    """Give the newest batch of a workspace."""
    return SampleBatch.objects.filter(workspace=workspace).order_by("-week").first()


def batch_state(workspace: Workspace) -> BatchState | None:
    """Say how far the newest batch is; None before the first."""
    batch = latest_batch(workspace)
    if batch is None:
        return None
    pairs = with_reviews(batch.pairs.all())
    labelled = pairs.filter(reviews__gte=F("reviews_wanted")).count()
    return BatchState(batch.week, batch.pairs.count(), labelled)


class Reviews(TypedDict):
    """What `with_reviews` adds to a pair."""

    reviews: int


def with_reviews(pairs: QuerySet[Pair]) -> "QuerySet[WithAnnotations[Pair, Reviews]]":
    """Add to each pair how many people have labelled it."""
    current = Q(labels__is_current=True)
    return pairs.annotate(reviews=Count("labels", filter=current))


def next_pair(batch: SampleBatch, reviewer: User, after: int = 0) -> Pair | None:
    """Give the next pair that this reviewer has not labelled and that wants a label.

    After `after` first, then from the beginning again, so that a skipped pair comes
    back at the end.
    """
    mine = Label.objects.filter(pair=OuterRef("pk"), reviewer=reviewer, is_current=True)
    pairs = (
        with_reviews(batch.pairs.all())
        .filter(~Exists(mine), reviews__lt=F("reviews_wanted"))
        .filter(
            Exists(ToolError.objects.filter(pk=OuterRef("error_id"), is_counted=True))
        )
        .order_by("position")
    )
    return pairs.filter(position__gt=after).first() or pairs.first()


def frame_of(workspace: Workspace, week: date) -> list[FrameRun]:
    """Give each run with tool errors in a week, for the sampler."""
    rows = (
        ToolError.objects.filter(
            workspace=workspace,
            is_counted=True,
            run__is_excluded=False,
            day__gte=week,
            day__lt=week + WEEK,
        )
        .values_list(
            "run_id",
            "run__outcome",
            "pk",
            "code__key",
            "code__tool",
            "text_id",
            "loop_length",
        )
        .order_by("run_id", "pk")
    )
    runs: dict[int, tuple[bool, list[FrameError]]] = {}
    for run_id, outcome, pk, key, tool, text_id, loop in rows.iterator():
        _, errors = runs.setdefault(run_id, (outcome == "unknown", []))
        errors.append(FrameError(pk, f"{tool}\n{key}", text_id, loop > 1))
    return [
        FrameRun(run_id, tuple(errors), unknown)
        for run_id, (unknown, errors) in runs.items()
    ]


def label_counts(code_id: int) -> dict[str, int]:
    """Count what people said of a code's pairs: labels, wrong moves, no branch."""
    labels = Label.objects.filter(pair__error__code_id=code_id, is_current=True)
    return labels.aggregate(
        labels=Count("pk"),
        wrong=Count("pk", filter=Q(was_right="no")),
        no_branch=Count("pk", filter=Q(branch="none")),
    )
