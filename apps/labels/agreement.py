"""How far reviewers agree: kappa, alpha, AC1, raw agreement, marginals. Pure.

Section 9 of the project's statistics reference. No adjectives: the figures stand
beside raw agreement and marginals, since kappa alone misleads at low prevalence.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from apps.runs.rates import Z95

NO_VARIATION: Final = "no variation"  # all answers alike: agreement by chance is total
NO_DATA: Final = "no data"  # nothing was answered twice
Coefficient = float | Literal["no variation", "no data"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two reviewers with all that belongs beside it."""

    n: int  # pairs that both answered
    raw_agreement: float | None  # share 0..1; None where n is 0
    chance_agreement: float | None
    kappa: Coefficient
    first_marginal: tuple[float, ...] = ()  # shares by choice; empty where n is 0
    second_marginal: tuple[float, ...] = ()
    se: float | None = None  # this and the rest: None where kappa is no number
    low: float | None = None  # 95 %
    high: float | None = None
    se_null: float | None = None  # if they agreed by chance alone
    z: float | None = None  # kappa / se_null; None where se_null is 0


def cohen_kappa(table: Sequence[Sequence[int]], z: float = Z95) -> Kappa:
    """Measure agreement of two reviewers; table[i][j] counts first i, second j.

    Raises ValueError unless the table is square without negative counts. Source:
    Cohen 1960, Educ. Psychol. Meas. 20:37-46; standard errors: Fleiss, Cohen &
    Everitt 1969, Psychol. Bull. 72:323-327.
    """
    size = len(table)
    if any(len(row) != size or min(row, default=0) < 0 for row in table):
        raise ValueError("Agreement needs a square table of counts.")
    n = sum(map(sum, table))
    if n == 0:
        return Kappa(0, None, None, NO_DATA)
    share = [[count / n for count in row] for row in table]
    rows = [sum(row) / n for row in table]
    columns = [sum(column) / n for column in zip(*table, strict=True)]
    raw = sum(table[i][i] for i in range(size)) / n
    chance = math.fsum(r * c for r, c in zip(rows, columns, strict=True))
    if max(rows) == 1 and max(columns) == 1 and raw == 1:
        return Kappa(n, raw, chance, NO_VARIATION, tuple(rows), tuple(columns))
    kappa = (raw - chance) / (1 - chance)
    a = math.fsum(
        share[i][i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2
        for i in range(size)
    )
    b = (1 - kappa) ** 2 * math.fsum(
        share[i][j] * (columns[i] + rows[j]) ** 2
        for i in range(size)
        for j in range(size)
        if i != j
    )
    c = (kappa - chance * (1 - kappa)) ** 2
    se = math.sqrt(max(a + b - c, 0.0) / n) / (1 - chance)
    d = math.fsum(r * k * (r + k) for r, k in zip(rows, columns, strict=True))
    se_null = math.sqrt(max(chance + chance**2 - d, 0.0) / n) / (1 - chance)
    return Kappa(
        n=n,
        raw_agreement=raw,
        chance_agreement=chance,
        kappa=kappa,
        first_marginal=tuple(rows),
        second_marginal=tuple(columns),
        se=se,
        low=max(kappa - z * se, -1.0),
        high=min(kappa + z * se, 1.0),
        se_null=se_null,
        z=kappa / se_null if se_null > 1e-9 else None,  # below: rounding noise
    )


def cross_table(
    first: Sequence[Hashable], second: Sequence[Hashable], choices: Sequence[Hashable]
) -> list[list[int]]:
    """Count two reviewers' answers to the same pairs, in the order of `choices`.

    Raises ValueError for unequal lengths or an answer that is no choice.
    """
    place = {choice: i for i, choice in enumerate(choices)}
    table = [[0] * len(choices) for _ in choices]
    for one, other in zip(first, second, strict=True):
        if one not in place or other not in place:
            raise ValueError(f"{one!r} or {other!r} is not one of the choices.")
        table[place[one]][place[other]] += 1
    return table


def krippendorff_alpha(units: Iterable[Sequence[Hashable | None]]) -> Coefficient:
    """Measure agreement of any number of reviewers, nominal; None = no answer.

    A unit is one pair's answers; a unit answered once drops out. "no variation"
    where all answers are alike, "no data" where no unit has two. Source:
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C.
    """
    values: Counter[Hashable] = Counter()
    differing = 0.0
    for answers in _answered_twice(units):
        counts = Counter(answers)
        m = len(answers)
        values.update(counts)
        differing += (m * m - sum(k * k for k in counts.values())) / (m - 1)
    n = values.total()
    if n == 0:
        return NO_DATA
    expected = n * n - sum(k * k for k in values.values())
    if expected == 0:
        return NO_VARIATION
    return 1 - (n - 1) * differing / expected


def gwet_ac1(units: Iterable[Sequence[Hashable | None]], choices: int) -> Coefficient:
    """Measure agreement where one answer prevails; units as in `krippendorff_alpha`.

    `choices` counts the answers on offer, also those that nobody gave. "no
    variation" where all answers are alike. Raises ValueError for fewer choices than
    were used. Source: Gwet 2008, Br. J. Math. Stat. Psychol. 61:29-48.
    """
    answered = _answered_twice(units)
    if not answered:
        return NO_DATA
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for answers in answered:
        for answer in answers:
            sums[answer] += 1 / len(answers)
    if len(sums) > choices:
        raise ValueError(f"{len(sums)} different answers, but {choices} choices.")
    if len(sums) == 1:
        return NO_VARIATION
    shares = [total / len(answered) for total in sums.values()]
    chance = math.fsum(share * (1 - share) for share in shares) / (choices - 1)
    return (_pairwise_agreement(answered) - chance) / (1 - chance)


def raw_agreement(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Share of agreeing answers, mean over units answered twice; None for none."""
    answered = _answered_twice(units)
    return _pairwise_agreement(answered) if answered else None


def _answered_twice(
    units: Iterable[Sequence[Hashable | None]],
) -> list[list[Hashable]]:
    answered = [[answer for answer in unit if answer is not None] for unit in units]
    return [answers for answers in answered if len(answers) > 1]


def _pairwise_agreement(answered: Sequence[Sequence[Hashable]]) -> float:
    return math.fsum(
        sum(k * (k - 1) for k in Counter(answers).values())
        / (len(answers) * (len(answers) - 1))
        for answers in answered
    ) / len(answered)


@dataclass(frozen=True, slots=True)
class Agreement:
    """All figures of one question, for any number of reviewers."""

    n: int  # pairs with two answers or more
    raw_agreement: float | None  # None where n is 0
    alpha: Coefficient
    ac1: Coefficient
    kappa: Kappa | None  # only where exactly two reviewers share pairs
    marginals: Mapping[str, tuple[float, ...]]  # reviewer: shares by choice


def agreement(units: Iterable[Mapping[str, str]], choices: Sequence[str]) -> Agreement:
    """Sum up one question from each pair's answers by reviewer.

    Pairs answered once count nowhere. Raises ValueError on an answer that is not in
    `choices`.
    """
    doubles = [unit for unit in units if len(unit) > 1]
    given: dict[str, Counter[str]] = {}
    for unit in doubles:
        for reviewer, answer in unit.items():
            if answer not in choices:
                raise ValueError(f"{answer!r} is not one of the choices.")
            given.setdefault(reviewer, Counter())[answer] += 1
    kappa = None
    if len(given) == 2:
        one, other = sorted(given)
        first = [unit[one] for unit in doubles]
        second = [unit[other] for unit in doubles]
        kappa = cohen_kappa(cross_table(first, second, choices))
    answers = [list(unit.values()) for unit in doubles]
    return Agreement(
        n=len(doubles),
        raw_agreement=raw_agreement(answers),
        alpha=krippendorff_alpha(answers),
        ac1=gwet_ac1(answers, len(choices)),
        kappa=kappa,
        marginals={
            reviewer: tuple(counts[choice] / counts.total() for choice in choices)
            for reviewer, counts in sorted(given.items())
        },
    )
