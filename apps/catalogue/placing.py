"""Keeps each text at the code where the rules place it, beside running uploads.

Writers of errors hold the workspace's lock shared, the job that moves texts holds it
alone: an error is thus written either before the texts move, and is moved with them,
or after, and is placed by the new rules.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from django.db import connection, transaction

from .models import PlacementRule, RuleKind, Text
from .placement import PatternError, Rule, Rules, fitting

_LOCK_SPACE = 0x4554  # first half of the advisory lock's key: texts


def hold_places(workspace_id: int) -> None:
    """Keep every text where it is until this transaction ends."""
    _lock("pg_advisory_xact_lock_shared", workspace_id)


def hold_alone(workspace_id: int) -> None:
    """Wait for all who write errors, and keep them waiting until the end."""
    _lock("pg_advisory_xact_lock", workspace_id)


def _lock(function: str, workspace_id: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(%s, %s)", [_LOCK_SPACE, workspace_id])


def has_raw_splits(workspace_id: int) -> bool:
    """Tell whether any error's raw text must be looked at."""
    return PlacementRule.objects.filter(
        workspace_id=workspace_id, is_on_raw=True, undone_at=None
    ).exists()


def live_rules(
    workspace_id: int, *, without: Collection[int] = (), extra: Collection[Rule] = ()
) -> Rules:
    """Read the rules that hold, but for some, and with some that are only planned."""
    rows = (
        PlacementRule.objects.filter(workspace_id=workspace_id, undone_at=None)
        .exclude(kind=RuleKind.APART)
        .exclude(pk__in=without)
    )
    return Rules([*(as_rule(row) for row in rows.iterator()), *extra])


def as_rule(row: PlacementRule) -> Rule:
    """Give a stored rule as the value that places texts."""
    fits = None
    if row.kind == RuleKind.SPLIT:
        try:
            fits = fitting(row.pattern, is_regex=row.is_regex)
        except PatternError:  # a later version is stricter: the rule then fits nothing
            fits = _never
    return Rule(
        row.pk,
        row.code_id,
        row.into_id,
        fits,
        row.is_on_raw,
        row.kind == RuleKind.FOLD,
    )


def _never(_: str) -> bool:
    return False


@dataclass(slots=True)
class Shift:
    """What a change of the rules asks for."""

    texts: dict[int, int] = field(default_factory=dict)  # text -> its new code
    codes: set[int] = field(default_factory=set)  # codes that errors must leave
    raw_texts: list[int] = field(default_factory=list)  # texts with sides, or to get


def shift_under(workspace_id: int, rules: Rules) -> Shift:
    """Compare where texts are with where these rules place them. Writes nothing."""
    shift = Shift()
    with_sides: set[int] = set()
    raw_codes: dict[int, set[int]] = {}
    rows = Text.objects.filter(workspace_id=workspace_id).values_list(
        "pk", "home_id", "code_id", "masked", "side_of_id", "matched_rules"
    )
    for pk, home, code, masked, side_of, matched in rows.iterator():
        path = rules.follow(home, masked, matched=matched)
        if path.code != code:
            shift.texts[pk] = path.code
            shift.codes.add(code)
        base = side_of or pk
        if side_of or path.meets_raw:
            with_sides.add(base)
        raw_codes.setdefault(base, set()).update((code, path.code))
    shift.raw_texts = sorted(with_sides)
    for base in with_sides:
        shift.codes |= raw_codes[base]
    return shift


@transaction.atomic
def place_texts(workspace_id: int) -> Shift:
    """Put every text at its code under the live rules; its errors follow later."""
    hold_alone(workspace_id)
    shift = shift_under(workspace_id, live_rules(workspace_id))
    by_code: dict[int, list[int]] = {}
    for text, code in shift.texts.items():
        by_code.setdefault(code, []).append(text)
    for code, texts in by_code.items():
        Text.objects.filter(pk__in=texts).update(code_id=code)
    return shift
