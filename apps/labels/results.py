"""What a batch's labels say: agreement, shares of all errors, the machine's quality.

Pure. Where two people differ on a pair, each counts half for the shares; for the
machine's quality the pair is left out, since nobody says what it should have found.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from apps.labels.agreement import Agreement, agreement
from apps.labels.batch_estimates import (
    BatchShare,
    LabelledPair,
    batch_share,
    batch_share_with_machine,
)
from apps.labels.estimates import JudgeQuality, judge_quality

MIN_FOR_CODE: Final = 10  # labelled pairs; a code with fewer has no share of its own
CANNOT_TELL: Final = "cannot_tell"


@dataclass(frozen=True, slots=True)
class Answer:
    """What one reviewer says of a pair."""

    reviewer: str
    branch: str
    move: str
    was_right: str


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """One pair of a batch with all its answers and how it was drawn."""

    id: int
    position: int
    code_id: int | None  # None: its error is gone since
    code: str
    link: tuple[int, int, int, int]  # run, thread, turn, call
    stratum: int
    errors_in_run: int
    chance: float
    machine_move: str
    machine_says_no_branch: bool
    answers: tuple[Answer, ...]


class FrameCount(NamedTuple):
    """Errors of the week with one machine's verdict."""

    code_id: int
    move: str
    says_no_branch: bool
    errors: int


class Question(NamedTuple):
    """One yes/no question to a label, and the machine's answer to it."""

    name: str
    label: str
    answer: Callable[[Answer], float | None]  # None: cannot tell
    machine: Callable[[str, bool], bool]  # of the move, and of "tells nothing"


def _right(answer: Answer) -> float | None:
    if answer.was_right == CANNOT_TELL:
        return None
    return float(answer.was_right == "yes")


RIGHT: Final = Question(
    "right", "Right moves", _right, lambda move, _: move != "retried_unchanged"
)
NO_BRANCH: Final = Question(
    "no_branch",
    "Texts that tell nothing",
    lambda answer: float(answer.branch == "none"),
    lambda _, says_none: says_none,
)


def move_question(move: str, label: str) -> Question:
    """Ask whether a pair's move is this one."""
    return Question(
        move,
        label,
        lambda answer: float(answer.move == move),
        lambda machine, _: machine == move,
    )


@dataclass(frozen=True, slots=True)
class Share:
    """One share of all errors, by labels alone and with the machine's classes."""

    question: Question
    labels: BatchShare | None
    powered: BatchShare | None  # None: fewer than 30 labels, or nothing to set right


def share_of(
    question: Question,
    rows: Sequence[LabelledRow],
    sizes: Mapping[int, int],
    frame: Iterable[FrameCount],
    code_id: int | None = None,
) -> Share:
    """Estimate one share, over all errors or those of one code.

    `rows` are all labelled pairs of the batch, `sizes` has N_h of every stratum,
    `frame` every error of the week. Where a person could not tell, the pair is in no
    domain; the machine knows no such domain, so it is then left out.
    """
    pairs = []
    is_whole = True
    for row in rows:
        said = [question.answer(answer) for answer in row.answers]
        told = [value for value in said if value is not None]
        is_of_code = code_id is None or row.code_id == code_id
        is_whole = is_whole and (bool(told) or not is_of_code)
        machine = question.machine(row.machine_move, row.machine_says_no_branch)
        pairs.append(
            LabelledPair(
                stratum=str(row.stratum),
                errors_in_run=row.errors_in_run,
                answer=math.fsum(told) / len(told) if told else 0.0,
                machine=float(machine),
                is_in_domain=bool(told) and is_of_code,
            )
        )
    by_name = {str(number): size for number, size in sizes.items()}
    errors: Counter[bool] = Counter()
    for count in frame:
        if code_id is None or count.code_id == code_id:
            yes = question.machine(count.move, count.says_no_branch)
            errors[yes] += count.errors
    powered = None
    if is_whole and errors.total() > 0:
        machine_share = errors[True] / errors.total()
        powered = batch_share_with_machine(pairs, by_name, machine_share)
    return Share(question, batch_share(pairs, by_name), powered)


@dataclass(frozen=True, slots=True)
class CodeShares:
    """The shares of one code that has labels enough."""

    code_id: int
    code: str
    n: int  # labelled pairs
    shares: tuple[Share, ...]


def shares_by_code(
    rows: Sequence[LabelledRow],
    sizes: Mapping[int, int],
    frame: Sequence[FrameCount],
    floor: int = MIN_FOR_CODE,
) -> list[CodeShares]:
    """Estimate right moves and texts that tell nothing for codes with labels enough."""
    counts: Counter[tuple[int, str]] = Counter()
    for row in rows:
        if row.code_id is not None:
            counts[row.code_id, row.code] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0][1]))
    return [
        CodeShares(
            code_id,
            code,
            n,
            tuple(share_of(q, rows, sizes, frame, code_id) for q in (RIGHT, NO_BRANCH)),
        )
        for (code_id, code), n in ranked
        if n >= floor
    ]


@dataclass(frozen=True, slots=True)
class MoveQuality:
    """How well the machine knows one move."""

    label: str
    quality: JudgeQuality


def move_quality(
    rows: Iterable[LabelledRow], moves: Sequence[tuple[str, str]]
) -> list[MoveQuality]:
    """Hold the machine's move against people's, for each move that either names.

    `moves` has (value, label). Each pair weighs 1 / its chance of being drawn.
    """
    known = list(rows)
    found = []
    for move, label in moves:
        judged = []
        for row in known:
            said = {answer.move == move for answer in row.answers}
            if len(said) == 1:
                judged.append((row.machine_move == move, said.pop(), 1 / row.chance))
        if any(machine or person for machine, person, _ in judged):
            found.append(MoveQuality(label, judge_quality(judged)))
    return found


class Marginal(NamedTuple):
    """How often each reviewer gave one choice."""

    label: str
    shares: tuple[float, ...]  # by reviewer, as in `QuestionAgreement.reviewers`


@dataclass(frozen=True, slots=True)
class QuestionAgreement:
    """Agreement on one question, ready to show."""

    label: str
    found: Agreement
    reviewers: tuple[str, ...]
    marginals: tuple[Marginal, ...]  # of choices that anybody gave


def question_agreement(
    rows: Iterable[LabelledRow],
    name: str,
    label: str,
    choices: Sequence[tuple[str, str]],
) -> QuestionAgreement:
    """Measure agreement on one question; `name` is the field of an answer."""
    units = [{a.reviewer: str(getattr(a, name)) for a in row.answers} for row in rows]
    found = agreement(units, [value for value, _ in choices])
    people = tuple(found.marginals)
    marginals = tuple(
        Marginal(text, tuple(found.marginals[person][place] for person in people))
        for place, (_, text) in enumerate(choices)
        if any(found.marginals[person][place] for person in people)
    )
    return QuestionAgreement(label, found, people, marginals)


class Disagreement(NamedTuple):
    """A pair on which people differ, and on what."""

    row: LabelledRow
    differing: tuple[tuple[str, tuple[str, ...]], ...]  # question, answers given


def disagreements(
    rows: Iterable[LabelledRow],
    questions: Sequence[tuple[str, str, Mapping[str, str]]],
) -> list[Disagreement]:
    """List pairs whose answers differ; `questions` has (field, label, choices).

    Answers stand in the order of the choices, without names.
    """
    found = []
    for row in rows:
        differing = []
        for name, label, choices in questions:
            given = {getattr(answer, name) for answer in row.answers}
            if len(given) > 1:
                words = tuple(text for value, text in choices.items() if value in given)
                differing.append((label, words))
        if differing:
            found.append(Disagreement(row, tuple(differing)))
    return found
