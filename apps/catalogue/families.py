"""Families: forms that are equal but for the word at one position, or at two.

A family is the evidence for a fold. One position is looked at first: what it takes to
believe that a word varies is then least (`varying_words`). Two at once only where no
single one folds any more, and only with four forms or more, as in "No flights from BER
to CDG", where hardly two texts agree in all but one word.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate, combinations
from typing import Final, NamedTuple

from apps.catalogue.text_forms import Form
from apps.catalogue.varying_words import (
    ENOUGH_WORDS,
    VALUE,
    Place,
    Verdict,
    is_word,
    judge,
)

FIXED_BESIDE_TWO: Final = 3  # words that must stay where two positions vary
MAX_DIFFERING: Final = (
    16  # positions of a bucket that are paired: pairs grow as squares
)
_START: Final = ""


class Family(NamedTuple):
    """Forms with one rest, and whether what differs is values."""

    forms: list[Form]
    verdict: Verdict


def families(forms: Iterable[Form]) -> Iterator[Family]:
    """Families of one position, of two forms or more."""
    found: dict[tuple[int, Form], list[Form]] = {}
    for bucket in _buckets(forms):
        found.update(_alike_but_for_one(bucket))
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (position, rest), alike in found.items():
        seen[_left_of(position, rest)].update(form[position] for form in alike)
    for (position, rest), alike in found.items():
        place = Place(
            before=rest[:position],
            after=rest[position:],
            words={form[position] for form in alike},
            seen_after_same=len(seen[_left_of(position, rest)]) if position else 0,
        )
        yield Family(alike, judge(place))


def _alike_but_for_one(bucket: list[Form]) -> dict[tuple[int, Form], list[Form]]:
    """Two forms or more by the position in which they differ, and their rest.

    Rests are compared by hash first: most are met once, and keeping them all would
    take the square of a long text's length.
    """
    differing = _differing(bucket)
    marks = [_marks_of_rests(form, differing) for form in bucket]
    met: set[int] = set()
    again: set[int] = set()
    for marks_of_form in marks:
        for mark in marks_of_form:
            (again if mark in met else met).add(mark)
    found: dict[tuple[int, Form], list[Form]] = defaultdict(list)
    for form, marks_of_form in zip(bucket, marks, strict=True):
        for position, mark in zip(differing, marks_of_form, strict=True):
            if mark in again:
                rest = (*form[:position], *form[position + 1 :])
                found[position, rest].append(form)
    return {place: alike for place, alike in found.items() if len(alike) > 1}


def _marks_of_rests(form: Form, positions: list[int]) -> list[int]:
    """A hash of each position with what stands before and after it."""
    before = list(accumulate(map(hash, form), _mixed, initial=0))
    after = list(accumulate(map(hash, reversed(form)), _mixed, initial=0))[::-1]
    return [hash((at, before[at], after[at + 1])) for at in positions]


def _mixed(one: int, other: int) -> int:
    return hash((one, other))


def families_of_two(forms: Iterable[Form]) -> Iterator[Family]:
    """Families of two positions that both vary."""
    for bucket in _buckets(forms):
        differing = _differing(bucket)
        if len(differing) > MAX_DIFFERING:
            continue
        for pair in combinations(differing, 2):
            found: dict[Form, list[Form]] = defaultdict(list)
            for form in bucket:
                found[_with_values(form, pair)].append(form)
            for rest, alike in found.items():
                if len(alike) >= ENOUGH_WORDS and _fixed(rest) >= FIXED_BESIDE_TWO:
                    yield Family(alike, _judge_both(rest, alike, pair))


def _judge_both(rest: Form, forms: list[Form], pair: tuple[int, int]) -> Verdict:
    verdicts = [
        judge(
            Place(
                before=rest[:position],
                after=rest[position + 1 :],
                words={form[position] for form in forms},
                seen_after_same=0,
            )
        )
        for position in pair
    ]
    return Verdict(
        folds=all(verdict.folds for verdict in verdicts),
        doubtful=False,
        reason=" and ".join(verdict.reason for verdict in verdicts),
    )


def _buckets(forms: Iterable[Form]) -> Iterator[list[Form]]:
    """Distinct forms with signs at the same positions, two or more at a time."""
    buckets: dict[Form, set[Form]] = defaultdict(set)
    for form in forms:
        buckets[tuple("w" if is_word(token) else token for token in form)].add(form)
    for bucket in buckets.values():
        if len(bucket) > 1:
            yield sorted(bucket)


def _differing(bucket: list[Form]) -> list[int]:
    """Positions at which forms of one length do not all agree."""
    return [
        at
        for at, tokens in enumerate(zip(*bucket, strict=True))
        if len(set(tokens)) > 1
    ]


def _with_values(form: Form, positions: tuple[int, int]) -> Form:
    one, other = positions
    return (*form[:one], VALUE, *form[one + 1 : other], VALUE, *form[other + 1 :])


def _fixed(form: Form) -> int:
    return sum(token != VALUE and is_word(token) for token in form)


def _left_of(position: int, rest: Form) -> tuple[str, str]:
    left = (_START, _START, *rest[:position])
    return left[-2], left[-1]
