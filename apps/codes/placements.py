"""Merge, split, move, undo: a rule is previewed, made, and carried out as one job."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from apps.accounts.models import User
from apps.catalogue import placing
from apps.catalogue.models import (
    Code,
    JobState,
    PlacementJob,
    PlacementRule,
    RuleKind,
    Text,
)
from apps.catalogue.placement import Rule, Rules, fitting, side_key
from apps.catalogue.resolve import make_sides, storable, stored_tool
from apps.rewrites.models import Rewrite
from apps.runs import moving

AT_ONCE = 2000  # errors: a smaller job is done before the page comes back
_LAST = 1 << 62  # a planned rule comes after all that are there


class PlacementRefusedError(ValueError):
    """The rule cannot be made; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A rule that somebody thinks of."""

    code: Code
    kind: str
    into_key: str
    into_tool: str
    pattern: str = ""
    is_regex: bool = False
    is_on_raw: bool = False

    def check(self) -> None:
        """Raise PlacementRefusedError or PatternError unless it can be made."""
        if (self.into_tool, self.into_key) == (self.code.tool, self.code.key):
            raise PlacementRefusedError("That is this very code. Choose another one.")
        if self.kind == RuleKind.SPLIT:
            fitting(self.pattern, is_regex=self.is_regex)
        if self.kind == RuleKind.MERGE and self.into() is None:
            raise PlacementRefusedError(
                "There is no such code of this tool. Choose one from the list."
            )

    def into(self) -> Code | None:
        """Give the code that it leads to, if that is there."""
        return Code.objects.filter(
            workspace_id=self.code.workspace_id,
            tool=self.into_tool,
            key=self.into_key,
        ).first()


def preview(plan: Plan) -> moving.Moved:
    """Count what a rule would move. Writes nothing."""
    plan.check()
    fits = None
    if plan.kind == RuleKind.SPLIT:
        fits = fitting(plan.pattern, is_regex=plan.is_regex)
    into = plan.into()
    into_id = into.pk if into else -1
    rule = Rule(_LAST, plan.code.pk, into_id, fits, plan.is_on_raw)
    workspace_id = plan.code.workspace_id
    rules = placing.live_rules(workspace_id, extra=[rule])
    if plan.is_on_raw:
        return _count_raw(plan.code, rules)
    texts = list(placing.shift_under(workspace_id, rules).texts)
    return moving.count_errors([plan.code.pk], texts)


def _count_raw(code: Code, rules: Rules) -> moving.Moved:
    texts = {text.pk: text for text in Text.objects.filter(code=code)}
    errors, runs, last = 0, set(), 0
    while rows := moving.errors_of_texts([code.pk], list(texts), last):
        last = rows[-1].pk
        for row in rows:
            text = texts[row.text_id]
            path = rules.follow(text.home_id, text.masked, raw=row.delivered)
            if path.code != code.pk:
                errors += 1
                runs.add(row.run_id)
    return moving.Moved(errors, len(runs))


@transaction.atomic
def place(plan: Plan, *, by: User | None, why: str) -> PlacementJob:
    """Make the rule and its job; `carry_out` then moves what is stored."""
    plan.check()
    expected = preview(plan)
    source = plan.code
    into, _ = Code.objects.get_or_create(
        workspace_id=source.workspace_id,
        tool=stored_tool(plan.into_tool),
        key=storable(plan.into_key)[:300],
        defaults={
            "category": source.category,
            "commit_state": source.commit_state,
            "retry_directive": source.retry_directive,
            "next_action": source.next_action,
        },
    )
    rule = PlacementRule.objects.create(
        workspace_id=source.workspace_id,
        kind=plan.kind,
        code=source,
        into=into,
        pattern=storable(plan.pattern),
        is_regex=plan.is_regex,
        is_on_raw=plan.is_on_raw,
        why=storable(why),
        made_by=by,
    )
    return PlacementJob.objects.create(
        workspace_id=source.workspace_id,
        rule=rule,
        title=_title(rule),
        errors_expected=expected.errors,
        made_by=by,
    )


_WORDS = {
    "fold": ("Fold", "into"),
    "merge": ("Merge", "into"),
    "split": ("Split", "off into"),
    "move": ("Move", "to"),
    "apart": ("Keep apart", "and"),
}


def _title(rule: PlacementRule, before: str = "") -> str:
    act, to = _WORDS[rule.kind]
    tool = f" of {rule.into.tool}" if rule.kind == RuleKind.MOVE else ""
    return f"{before}{act} {rule.code} {to} {rule.into}{tool}"[:300]


@transaction.atomic
def undo(rule: PlacementRule, *, by: User | None) -> PlacementJob:
    """Undo a rule: what it alone moved goes back. Raises if it is undone already."""
    locked = PlacementRule.objects.select_for_update().get(pk=rule.pk)
    if locked.undone_at is not None:
        raise PlacementRefusedError("This has been undone already.")
    rules = placing.live_rules(locked.workspace_id, without=[locked.pk])
    shift = placing.shift_under(locked.workspace_id, rules)
    expected = moving.count_errors(list(shift.codes), list(shift.texts))
    locked.undone_at, locked.undone_by = timezone.now(), by
    locked.save(update_fields=["undone_at", "undone_by"])
    if locked.kind == RuleKind.FOLD and by is not None:
        keep_apart(locked.code, locked.into, by=by, why="the fold was undone")
    return PlacementJob.objects.create(
        workspace_id=locked.workspace_id,
        rule=locked,
        title=_title(locked, "Undo: "),
        errors_expected=expected.errors,
        made_by=by,
    )


def keep_apart(
    code: Code, into: Code, *, by: User | None, why: str = ""
) -> PlacementRule:
    """Say that two codes are two failures: no fold and no suggestion joins them."""
    rule, _ = PlacementRule.objects.get_or_create(
        workspace_id=code.workspace_id,
        kind=RuleKind.APART,
        code=code,
        into=into,
        undone_at=None,
        defaults={"made_by": by, "why": why},
    )
    return rule


def carry_out(job: PlacementJob) -> None:
    """Place all texts by the rules, then move their errors. Safe to run twice.

    A worker that dies leaves texts placed and the job open: the next run goes on.
    """
    job.refresh_from_db()
    if job.state == JobState.DONE:
        return
    with transaction.atomic():
        shift = placing.place_texts(job.workspace_id)
        _rewrites_follow(job.workspace_id)
        job.codes = sorted({*job.codes, *shift.codes})
        job.raw_texts = sorted({*job.raw_texts, *shift.raw_texts})
        job.state = JobState.MOVING
        job.save(update_fields=["codes", "raw_texts", "state"])
    _divide(job)
    while (moved := moving.move_to_texts(job.codes)).runs:
        _progress(job, moved)
    PlacementJob.objects.filter(pk=job.pk).update(
        state=JobState.DONE, finished_at=timezone.now()
    )
    job.refresh_from_db()


def _rewrites_follow(workspace_id: int) -> None:
    """A shipped rewrite belongs to the code where its text now is."""
    home = Text.objects.filter(pk=OuterRef("text_id")).values("code_id")
    Rewrite.objects.filter(workspace_id=workspace_id, text__isnull=False).exclude(
        code_id=F("text__code_id")
    ).update(code_id=Subquery(home))


def _divide(job: PlacementJob) -> None:
    """Give each error of a divided text the row of its side."""
    if not job.raw_texts:
        return
    rules = placing.live_rules(job.workspace_id)
    bases = {
        text.pk: text for text in Text.objects.filter(pk__in=job.raw_texts).iterator()
    }
    base_of = {pk: pk for pk in bases}
    base_of |= {
        side.pk: side.side_of_id or side.pk
        for side in Text.objects.filter(side_of__in=bases).only("side_of")
    }
    last = 0
    while rows := moving.errors_of_texts(job.codes, list(base_of), last):
        last = rows[-1].pk
        sides: dict[int, tuple[str, tuple[int, ...]]] = {}
        wanted: dict[tuple[str, tuple[int, ...]], str] = {}
        for row in rows:
            base = bases[base_of[row.text_id]]
            path = rules.follow(base.home_id, base.masked, raw=row.delivered)
            sides[row.pk] = (base.key, path.matched)
            if path.matched:
                wanted.setdefault(sides[row.pk], row.delivered)
        places = make_sides(job.workspace_id, rules, wanted) if wanted else {}
        text_of = {key: place.text_id for key, place in places.items()}
        text_of |= {base.key: base.pk for base in bases.values()}
        targets = {pk: text_of[side_key(*side)] for pk, side in sides.items()}
        moves = {
            row.pk: targets[row.pk] for row in rows if targets[row.pk] != row.text_id
        }
        runs = sorted({row.run_id for row in rows if row.pk in moves})
        _progress(job, moving.move_errors(moves, runs))


def _progress(job: PlacementJob, moved: moving.Moved) -> None:
    PlacementJob.objects.filter(pk=job.pk).update(
        errors_moved=F("errors_moved") + moved.errors,
        runs_moved=F("runs_moved") + moved.runs,
        touched_at=timezone.now(),
    )
