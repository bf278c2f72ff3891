"""Where the rules of a workspace place a text. Pure.

A text's home is the code of its fingerprint. Folds come first: they finish the
grouping. Then what people decided, in the order in which they decided it. A rule
leads only the texts that stand on its code when its turn comes, so new texts end where
they would be had they been there from the start, and a rule that is undone is passed
over as if it had never been made.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple

MAX_PATTERN: Final = 200
REGEX_CHARS: Final = 1000  # of a text that a regular expression is tried on
RAW_CHARS: Final = 4000  # of a raw text that words are looked for in
_FEW: Final = 30  # a repeat up to this often is cheap
_MAX_REPEATS: Final = 2


class PatternError(ValueError):
    """The pattern cannot be used; the text says why and what to do."""


class Rule(NamedTuple):
    """One live rule."""

    pk: int
    code: int
    into: int
    fits: Callable[[str], bool] | None = None  # of a split
    is_on_raw: bool = False
    is_fold: bool = False


class Path(NamedTuple):
    """Where a text ends up, and which rules led it there."""

    code: int
    steps: tuple[int, ...]  # rules that placed it, in order
    matched: tuple[int, ...]  # those of them that split by the raw text
    meets_raw: bool  # a split on the raw text stood on its way


class Rules:
    """The live rules of a workspace."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        """Sort them by the code that they lead away from."""
        self._folds: dict[int, Rule] = {}
        self._by_code: dict[int, list[Rule]] = {}
        self.has_raw = False
        for rule in sorted(rules):
            self.has_raw |= rule.is_on_raw
            if rule.is_fold:
                self._folds[rule.code] = rule
            else:
                self._by_code.setdefault(rule.code, []).append(rule)

    def follow(
        self,
        home: int,
        masked: str,
        *,
        raw: str | None = None,
        matched: Collection[int] = (),
    ) -> Path:
        """Lead a text from its home to its code.

        Splits on the raw text look at `raw`; without it those in `matched` count as
        fitting, as they do for the row of one side.
        """
        code, steps, sides, meets_raw = home, [], [], False
        while (fold := self._folds.get(code)) is not None and fold.pk not in steps:
            code = fold.into
            steps.append(fold.pk)
        last = 0
        while (rules := self._by_code.get(code)) is not None:
            start = bisect_right(rules, last, key=lambda rule: rule.pk)
            for rule in rules[start:]:
                last = rule.pk
                meets_raw |= rule.is_on_raw
                if not _leads(rule, masked, raw, matched):
                    continue
                code = rule.into
                steps.append(rule.pk)
                if rule.is_on_raw:
                    sides.append(rule.pk)
                break
            else:
                break
        return Path(code, tuple(steps), tuple(sides), meets_raw)


def _leads(rule: Rule, masked: str, raw: str | None, matched: Collection[int]) -> bool:
    if rule.fits is None:
        return True
    if not rule.is_on_raw:
        return rule.fits(masked)
    return rule.pk in matched if raw is None else rule.fits(raw[:RAW_CHARS])


def side_key(key: str, matched: Iterable[int]) -> str:
    """Name the row of a text's side by the splits on raw text that it matched."""
    return "+".join([key, *map(str, matched)])[:64]


def fitting(pattern: str, *, is_regex: bool) -> Callable[[str], bool]:
    """Give the test of a split. Raises PatternError if it cannot be used."""
    if not pattern.strip():
        raise PatternError("Give the words that tell the two failures apart.")
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"Use at most {MAX_PATTERN} characters.")
    if not is_regex:
        words = _plain(pattern)
        return lambda text: words in _plain(text)
    try:
        tree = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as exc:
        raise PatternError(f"This is no regular expression: {exc}.") from exc
    if _repeats(tree, inside=False) > _MAX_REPEATS:
        raise PatternError(
            f"Use at most {_MAX_REPEATS} open repeats (*, +): no text may take long."
        )
    compiled = re.compile(pattern)
    return lambda text: compiled.search(text[:REGEX_CHARS]) is not None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _repeats(tree: Any, *, inside: bool) -> int:
    """Count open repeats; refuse what could take time without end."""
    found = 0
    for op, value in tree:
        if op in (sre.GROUPREF, sre.GROUPREF_EXISTS):
            raise PatternError("Back references are not allowed; use plain groups.")
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            is_open = value[1] > _FEW
            if inside and value[1] > 1:
                raise PatternError(
                    "A repeat inside a repeat can take for ever; write it flat."
                )
            found += is_open + _repeats(value[2], inside=inside or value[1] > 1)
        elif op is sre.BRANCH:
            found += sum(_repeats(branch, inside=inside) for branch in value[1])
        elif op is sre.SUBPATTERN:
            found += _repeats(value[3], inside=inside)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            found += _repeats(value[1], inside=inside)
        elif op is sre.ATOMIC_GROUP:
            found += _repeats(value, inside=inside)
    return found
