"""Reads behind the results of a batch: its labels, its frame, its rows to export."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from django.db.models import Prefetch, QuerySet, Sum

from apps.accounts.models import User, Workspace
from apps.catalogue.branches import read_branches
from apps.catalogue.envelope import Branch
from apps.catalogue.models import Text, Tool
from apps.catalogue.wrappers import peel
from apps.runs.models import DayErrors, ToolError
from apps.runs.weeks import WEEK, week_of

from . import results
from .models import BranchChoice, Label, LabelledMove, Pair, RightMove, SampleBatch
from .results import Answer, FrameCount, LabelledRow

QUESTIONS = (
    ("branch", "What the text told it", BranchChoice.choices),
    ("move", "What it did", LabelledMove.choices),
    ("was_right", "Was that right", RightMove.choices),
)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything on the page of results."""

    batch: SampleBatch
    pairs: int
    labelled: int  # with a label at least
    labels: int
    doubles: int  # pairs with two labels or more
    agreement: list[results.QuestionAgreement]
    disagreements: list[results.Disagreement]
    shares: list[results.Share]  # empty where nobody kept how the pairs were drawn
    by_code: list[results.CodeShares]
    quality: list[results.MoveQuality]
    frame_errors: int  # of the week, as it is known now

    @property
    def has_design(self) -> bool:
        """Whether shares can be estimated."""
        return bool(self.shares)


def batch_of(workspace: Workspace, week: str) -> SampleBatch | None:
    """Give the batch of the week that a day is in; the newest for no day at all."""
    batches = SampleBatch.objects.filter(workspace=workspace)
    if not week:
        return batches.order_by("-week").first()
    try:
        return batches.filter(week=week_of(date.fromisoformat(week))).first()
    except ValueError:
        return None


def weeks_drawn(workspace: Workspace) -> list[date]:
    """List the weeks that have a batch, the newest first."""
    batches = SampleBatch.objects.filter(workspace=workspace)
    return list(batches.order_by("-week").values_list("week", flat=True))


def results_of(batch: SampleBatch) -> Results:
    """Work out all that the labels of a batch say."""
    silent = _silent_texts(batch)
    pairs = list(_pairs(batch))
    rows = _rows(pairs, silent)
    frame = _frame(batch, silent)
    sizes = {pair.stratum_number: pair.stratum_size for pair in pairs}
    shares: list[results.Share] = []
    by_code: list[results.CodeShares] = []
    if rows and all(pair.stratum_size and pair.errors_in_run for pair in pairs):
        given = {answer.move for row in rows for answer in row.answers}
        moves = [
            results.move_question(value, label)
            for value, label in LabelledMove.choices
            if value in given or any(count.move == value for count in frame)
        ]
        asked = (results.RIGHT, results.NO_BRANCH, *moves)
        shares = [results.share_of(q, rows, sizes, frame) for q in asked]
        by_code = results.shares_by_code(rows, sizes, frame)
    return Results(
        batch=batch,
        pairs=len(pairs),
        labelled=len(rows),
        labels=sum(len(row.answers) for row in rows),
        doubles=sum(len(row.answers) > 1 for row in rows),
        agreement=[
            results.question_agreement(rows, name, label, choices)
            for name, label, choices in QUESTIONS
        ],
        disagreements=results.disagreements(
            rows, [(name, label, dict(choices)) for name, label, choices in QUESTIONS]
        ),
        shares=shares,
        by_code=by_code,
        quality=results.move_quality(rows, LabelledMove.choices),
        frame_errors=sum(count.errors for count in frame),
    )


def _pairs(batch: SampleBatch) -> QuerySet[Pair]:
    current = (
        Label.objects.filter(is_current=True).select_related("reviewer").order_by("pk")
    )
    return batch.pairs.order_by("position").prefetch_related(
        Prefetch("labels", current), Prefetch("error", _errors())
    )


def _errors() -> QuerySet[ToolError]:
    return ToolError.objects.select_related("code", "run")


def _rows(pairs: Iterable[Pair], silent: set[int]) -> list[LabelledRow]:
    """Give the labelled pairs, also those whose error is gone since."""
    rows = []
    known = list(pairs)
    names = _names(label.reviewer for pair in known for label in pair.labels.all())
    for pair in known:
        labels = list(pair.labels.all())
        if not labels:
            continue
        error = error_of(pair)
        code = error.code if error is not None else None
        rows.append(
            LabelledRow(
                id=pair.pk,
                position=pair.position,
                code_id=code.pk if code else None,
                code=str(code) if code else "",
                link=(error.run_id, error.thread, error.turn, error.call)
                if error
                else (0, 0, 0, 0),
                stratum=pair.stratum_number,
                errors_in_run=pair.errors_in_run,
                chance=pair.chance,
                machine_move=(error.next_move if error else "")
                or labels[0].machine_move,
                machine_says_no_branch=error is not None and error.text_id in silent,
                answers=tuple(
                    Answer(
                        names[label.reviewer_id],
                        label.branch,
                        label.move,
                        label.was_right,
                    )
                    for label in labels
                ),
            )
        )
    return rows


def _names(people: Iterable[User]) -> dict[int, str]:
    """Name each person; two of one name by their address."""
    shown = {person.pk: person for person in people}
    counts = Counter(str(person) for person in shown.values())
    return {
        pk: str(person) if counts[str(person)] == 1 else person.email
        for pk, person in shown.items()
    }


def error_of(pair: Pair) -> ToolError | None:
    """Give a pair's error; None if a longer version of its run took it away."""
    try:
        return pair.error
    except ToolError.DoesNotExist:
        return None


def _week_errors(batch: SampleBatch) -> QuerySet[DayErrors]:
    return DayErrors.objects.filter(
        workspace_id=batch.workspace_id,
        is_counted=True,
        day__gte=batch.week,
        day__lt=batch.week + WEEK,
    )


def _silent_texts(batch: SampleBatch) -> set[int]:
    """Give the texts of the week that tell nothing, as the machine reads them."""
    met = _week_errors(batch).values("text_id")
    texts = Text.objects.filter(pk__in=met).select_related("code")
    names = Tool.objects.filter(workspace_id=batch.workspace_id)
    tools = frozenset(names.values_list("name", flat=True))
    return {
        text.pk
        for text in texts
        if read_branches(peel(text.sample).message, text.code.tool, tools).branch
        is Branch.NONE
    }


def _frame(batch: SampleBatch, silent: set[int]) -> list[FrameCount]:
    """Count the week's errors by code, move and what their text tells.

    From the day rollups: what it costs follows the number of codes.
    """
    counts = (
        _week_errors(batch)
        .values_list("code_id", "next_move", "text_id")
        .annotate(n=Sum("errors"))
        .order_by("code_id", "next_move", "text_id")
    )
    return [
        FrameCount(code_id, move, text_id in silent, n)
        for code_id, move, text_id, n in counts
        if code_id is not None and n > 0
    ]


def labels_to_export(batch: SampleBatch) -> list[dict[str, object]]:
    """Give every label of a batch, earlier words too, with how its pair was drawn."""
    labels = (
        Label.objects.filter(pair__batch=batch)
        .select_related("pair", "reviewer")
        .prefetch_related(Prefetch("pair__error", _errors()))
        .order_by("pair__position", "pk")
    )
    return [_exported(batch, label) for label in labels]


def _exported(batch: SampleBatch, label: Label) -> dict[str, object]:
    pair = label.pair
    error = error_of(pair)
    return {
        "week": batch.week.isoformat(),
        "seed": batch.seed,
        "pair": pair.pk,
        "position": pair.position,
        "stratum_number": pair.stratum_number,
        "stratum": pair.stratum,
        "stratum_size": pair.stratum_size,
        "stratum_drawn": pair.stratum_drawn,
        "errors_in_run": pair.errors_in_run,
        "chance": pair.chance,
        "reviews_wanted": pair.reviews_wanted,
        "run": (error.run.log_id or str(error.run_id)) if error else "",
        "thread": error.thread if error else None,
        "turn": error.turn if error else None,
        "call": error.call if error else None,
        "tool": error.tool if error else "",
        "code": error.code.key if error and error.code else "",
        "delivered": error.delivered if error else "",
        "machine_move": label.machine_move,
        "reviewer": label.reviewer.email,
        "branch": label.branch,
        "move": label.move,
        "was_right": label.was_right,
        "note": label.note,
        "is_current": label.is_current,
        "labelled_at": label.created_at.isoformat(),
    }
