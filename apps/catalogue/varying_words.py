"""Judge the words that stand at one place of otherwise equal texts.

Values (a table, a user, a field) are one failure; cases (`NEW`, `denied`, `not`) are
several. No list of words can tell them apart, so the rules ask, in this order:

- Does a word turn the sentence round (`not`, `is`), or follow an advice (`call X`)?
  Then the agent should do something else for each: never one failure.
- Do the words name states or failures (`expired`, `TIMEOUT`, `disabled`)? A few among
  many are names by chance; more than a fifth are cases.
- What do they look like? `order_id`, `com.example.Map` and `a/b` are names that people
  gave to things: two are enough. Plain words need four different ones, since three
  may be three cases. The first word of a text, its subject, needs more that stays.
- Does enough stay the same? Without two fixed words there is nothing to be sure of.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from apps.catalogue.word_sets import word_set

VALUE: Final = "<*>"
ENOUGH_NAMES: Final = 2
ENOUGH_MIXED: Final = 3
ENOUGH_WORDS: Final = 4
ENOUGH_SUBJECTS: Final = 8  # different first words where little else is fixed
LONG_REST: Final = 6  # fixed words that make up for a varying first one
FEW_STATES: Final = 0.2  # share of states among the words that may be chance

_SIGN = re.compile(r"\W+")
_TURNS_ROUND = word_set(
    "not no never none cannot can't without is isn't are aren't was wasn't were "
    "weren't has hasn't have haven't had a an the of to in on at by for from with "
    "and or but if when while as than then this that these those it its be been do "
    "don't does doesn't did didn't will won't would can could may might must should "
    "only already still yet before after again"
)
_ADVICE = word_set("call use using try run see invoke calling via instead with")
# Words that name a failure, also as a part of a name: `rate_limit_exceeded`.
_FAILURES = word_set(
    "abort aborted broken conflict corrupt corrupted denied disabled disallowed "
    "duplicate error errors exceeded exception exhausted exists expired fail failed "
    "failure fatal forbidden found illegal insufficient invalid locked lost "
    "malformed mismatch missing overflow refused rejected timeout truncated "
    "unauthenticated unauthorized unavailable undefined underflow unexpected "
    "unknown unreachable unrecognized unsupported unterminated violation"
)
# Words for states and acts: as a word of its own each asks for another move.
_STATES = word_set(
    "active alive allowed available begin blocked busy cancelled canceled close "
    "closed complete connected create critical dead delete disconnected done down "
    "empty enable enabled end enter exit external false full get high idle inactive "
    "insert internal large limit load local long low many normal null off offline "
    "ok on online open optional partial paused pending permanent post put quota "
    "read ready remote required reset running save select short shutdown small "
    "start startup stop stopped success succeeded successful temporary too "
    "transient true up update valid warning write yes"
)
_LONGEST_INITIALS: Final = 3  # USD, JFK, DE: capitals that name a thing
_PART = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_NAME = re.compile(r"\w+(?:[._\-/$\\]+\w+)+|\w*\d\w*")
_CAMEL = re.compile(r"[A-Za-z]+[a-z][A-Z][A-Za-z]*")
_TERM = re.compile(r"[Ii][Pp][Vv][46]|(?:utf|UTF|sha|SHA|int|uint|float)-?\d+|HTTP\d?")
_CONSTANT = re.compile(r"[\w.]*[A-Z]{2,}_[A-Z_]+")
# A number that masking left is one that names the failure: 404, -32602, TS2322.
_NUMBER = re.compile(r"-?\d+|[A-Z]{1,8}-?\d+")
_EXCEPTION = re.compile(r".*(?:Error|Exception|Fault|Failure|Timeout)")


class Place(NamedTuple):
    """One position of texts that are equal elsewhere."""

    before: Sequence[str]  # tokens on its left
    after: Sequence[str]  # tokens on its right
    words: Collection[str]  # the distinct ones that stand there; VALUE is one
    seen_after_same: int  # distinct words after the same two tokens in like families


class Verdict(NamedTuple):
    """Whether the words vary without changing the failure, and why."""

    folds: bool
    doubtful: bool  # worth a person's look, where it does not fold
    reason: str


_CASES = Verdict(folds=False, doubtful=False, reason="")


def is_word(token: str) -> bool:
    """Whether a token is a word or a value, not punctuation."""
    return token == VALUE or _SIGN.fullmatch(token) is None


def judge(place: Place) -> Verdict:
    """Say whether the words at a place are values of one failure."""
    fixed = sum(
        token != VALUE and is_word(token) for token in (*place.before, *place.after)
    )
    lowered = {word.lower() for word in place.words}
    words = [word for word in place.words if word != VALUE]
    if lowered <= {"true", "false"}:
        return Verdict(fixed >= 2, doubtful=True, reason=_reason(words, "yes or no"))
    if not _TURNS_ROUND.isdisjoint(lowered):
        return _CASES
    if len({_singular(word) for word in lowered}) == 1:  # 1 match, 2 matches
        reason = f"one and many of a word: {', '.join(sorted(words))}"
        return Verdict(fixed >= 2, doubtful=True, reason=reason)
    if place.before and place.before[-1].lower() in _ADVICE:
        return _CASES
    if fixed < 2:
        return _CASES
    states = sum(map(_names_a_case, words)) / len(words)
    if states > FEW_STATES:
        return Verdict(folds=False, doubtful=states < 1, reason=_reason(words, "words"))
    enough, kind = _enough(place, fixed)
    folds = max(len(place.words), place.seen_after_same) >= enough
    return Verdict(folds, doubtful=True, reason=_reason(words, kind))


def _enough(place: Place, fixed: int) -> tuple[int, str]:
    """How many different words are needed here, and what they are called."""
    names = sum(
        word == VALUE or _NAME.fullmatch(word) is not None for word in place.words
    )
    camel = sum(_CAMEL.fullmatch(word) is not None for word in place.words)
    if names == len(place.words):
        enough, kind = ENOUGH_NAMES, "names"
    elif 2 * (names + camel) >= len(place.words):
        enough, kind = ENOUGH_MIXED, "names"
    else:
        enough, kind = ENOUGH_WORDS, "words"
    if not any(token != VALUE and is_word(token) for token in place.before):
        kind = "first words"
        enough = ENOUGH_WORDS if fixed >= LONG_REST else ENOUGH_SUBJECTS
    return enough, kind


def _names_a_case(word: str) -> bool:
    """Whether a word says which case it is: a state, a failure, an exception."""
    word = word.strip("'")
    if word.isalpha():
        if word.isupper() and len(word) > _LONGEST_INITIALS:  # RUNNING, ABORTED
            return True
        if word.islower() or word.isupper() or word.istitle():
            lower = word.lower()
            return (
                lower in _STATES
                or lower in _FAILURES
                or (len(lower) > 5 and lower.endswith(("ed", "able", "ible")))
            )
    if any(shape.fullmatch(word) for shape in (_EXCEPTION, _TERM, _NUMBER)):
        return True
    if word.rpartition(".")[2].isupper() and _CONSTANT.fullmatch(word):  # a.SCREEN_ON
        return True
    if "." in word:  # com.example.SafeUpdate is where, not what
        return False
    return not _FAILURES.isdisjoint(part.lower() for part in _PART.split(word))


def _singular(word: str) -> str:
    return word.removesuffix("s").removesuffix("e") if len(word) > 3 else word


def _reason(words: Collection[str], kind: str) -> str:
    shown = ", ".join(sorted(words)[:3])
    more = ", …" if len(words) > 3 else ""
    return f"{len(words)} different {kind} at one place: {shown}{more}"
