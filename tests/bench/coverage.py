"""Do the intervals keep their word? Simulations with known truth.

    python -m tests.bench.coverage            all of it, one to three minutes
    python -m tests.bench.coverage verdicts   2,000 codes under 26 weekly looks
    python -m tests.bench.coverage labels     200 batches with a known share

The test suite runs the same functions for a few seconds.
"""

import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from apps.labels.batch_estimates import (
    BatchShare,
    LabelledPair,
    batch_share,
    batch_share_with_machine,
)
from apps.labels.sampling import Batch, FrameError, FrameRun, draw_batch
from apps.trends.sequential import TUNED_WEEKS, rho_at_ship
from apps.trends.verdict import Case, Outcomes, StratumKey, Verdict, WeekCell, judge

MONDAY = date(2026, 1, 5)
BASELINE_WEEKS = 8
LOOKS = 26
STRATA = (
    StratumKey("small", "1", "flagged"),
    StratumKey("large", "1", "flagged"),
)


@dataclass(frozen=True)
class Told:
    """How many of the simulated codes got which word, and after how many looks."""

    codes: int
    better: int
    worse: int
    looks: tuple[int, ...]  # at which the word was first said, sorted

    def share_final(self, within: int = LOOKS) -> float:
        return sum(look <= within for look in self.looks) / self.codes


def simulate_verdicts(
    codes: int,
    rate: float | None,
    lift: float,
    runs_a_week: int | None,
    seed: int,
    looks: int = LOOKS,
) -> Told:
    """Follow codes through weekly looks and stop each at its first final word.

    Eight weeks of baseline; two models 10 points apart whose mix turns over when the
    rewrite ships, so that the crude difference is wrong by 4 points. `rate` None draws
    each code's from Beta(7, 3), `runs_a_week` None from 3 to 100.
    """
    rng = random.Random(seed)
    words = {"better": 0, "worse": 0}
    when = []
    for _ in range(codes):
        middle = rng.betavariate(7, 3) if rate is None else rate
        weekly = runs_a_week or rng.choice([3, 5, 8, 15, 30, 60, 100])
        for look, verdict in enumerate(_looks(rng, middle, lift, weekly, looks), 1):
            if verdict.is_final:
                words[verdict.word] += 1
                when.append(look)
                break
    return Told(codes, words["better"], words["worse"], tuple(sorted(when)))


def _looks(
    rng: random.Random, rate: float, lift: float, weekly: int, looks: int
) -> Iterable[Verdict]:
    old_rates = [max(rate - 0.05, 0.0), min(rate + 0.05, 1.0)]
    new_rates = [min(max(old + lift, 0.0), 1.0) for old in old_rates]
    old_weeks = [_week(rng, weekly, 0.7, old_rates) for _ in range(BASELINE_WEEKS)]
    before = [sum(cells, Outcomes()) for cells in zip(*old_weeks, strict=True)]
    known = sum(before, Outcomes())
    if not known.n:
        return
    rho = rho_at_ship(known.good, known.n, known.n / BASELINE_WEEKS * TUNED_WEEKS)
    shipped = MONDAY + timedelta(weeks=BASELINE_WEEKS)
    cells = [
        WeekCell(MONDAY, key, old) for key, old in zip(STRATA, before, strict=True)
    ]
    after = [Outcomes(), Outcomes()]
    for _ in range(looks):
        week = _week(rng, weekly, 0.3, new_rates)
        after = [a + b for a, b in zip(after, week, strict=True)]
        new_cells = [
            WeekCell(shipped, key, after=new)
            for key, new in zip(STRATA, after, strict=True)
        ]
        yield judge(Case((*cells, *new_cells), shipped, rho))


def _week(
    rng: random.Random, weekly: int, first_share: float, rates: Sequence[float]
) -> list[Outcomes]:
    runs = sum(rng.random() < 0.5 for _ in range(2 * weekly))
    first = sum(rng.random() < first_share for _ in range(runs))
    return [
        Outcomes(sum(rng.random() < rate for _ in range(n)), n)
        for n, rate in zip((first, runs - first), rates, strict=True)
    ]


@dataclass(frozen=True)
class Frame:
    """A week's runs, and of each error what people and the machine would say."""

    runs: tuple[FrameRun, ...]
    answers: dict[int, int]
    machine: dict[int, int]

    @property
    def truth(self) -> float:
        return sum(self.answers.values()) / len(self.answers)

    @property
    def machine_share(self) -> float:
        return sum(self.machine.values()) / len(self.machine)


def make_frame(runs: int, seed: int, ease: float = 0.85) -> Frame:
    """Make a week: errors of one run resemble each other, long runs do worse.

    `ease` is the commonest code's chance of a yes.
    """
    rng = random.Random(seed)
    codes = [f"tool.code{n}" for n in range(12)]
    popularity = [1 / (n + 1) for n in range(12)]
    frame, answers, machine = [], {}, {}
    error_id = 0
    for run_id in range(runs):
        many = 1
        while many < 12 and rng.random() < 0.45:
            many += 1
        mood = rng.gauss(0, 0.15)
        errors = []
        for code in rng.choices(codes, popularity, k=many):
            error_id += 1
            number = codes.index(code)
            text_id = 2 * number + (rng.random() < 0.3)
            is_loop = many > 3 and rng.random() < 0.4
            chance = ease - 0.05 * number + mood - 0.2 * is_loop
            answers[error_id] = int(rng.random() < chance)
            is_right = rng.random() < (0.9 if answers[error_id] else 0.85)
            machine[error_id] = answers[error_id] if is_right else 1 - answers[error_id]
            errors.append(FrameError(error_id, code, text_id, is_loop))
        frame.append(FrameRun(run_id, tuple(errors), rng.random() < 0.15))
    return Frame(tuple(frame), answers, machine)


@dataclass(frozen=True)
class Covered:
    """How often intervals held the truth, and how wide they were on average."""

    batches: int
    labels: int  # intervals from labels alone that held the truth
    powered: int  # those from labels and machine
    labels_width: float
    powered_width: float
    labels_bias: float
    powered_bias: float
    unweighted_bias: float  # of the mean that forgets the chances: the wrong answer


def simulate_batches(
    batches: int,
    size: int,
    runs: int,
    seed: int,
    declined: float = 0.0,
    ease: float = 0.85,
) -> Covered:
    """Draw batches from one week with known truth and label them.

    `declined` is the share of pairs that cannot be labelled; `ease` as in `make_frame`.
    """
    frame = make_frame(runs, seed, ease)
    truth, machine_share = frame.truth, frame.machine_share
    rng = random.Random(seed)
    alone: list[BatchShare] = []
    powered: list[BatchShare] = []
    naive = []
    for number in range(batches):
        batch = draw_batch(frame.runs, seed=1000 * seed + number, size=size)
        pairs, sizes = _label(frame, batch, rng, declined)
        naive.append(sum(pair.answer for pair in pairs) / len(pairs))
        labels_only = batch_share(pairs, sizes)
        with_machine = batch_share_with_machine(pairs, sizes, machine_share)
        if labels_only is None or with_machine is None:
            raise ValueError("The simulated batch has too few labels.")
        alone.append(labels_only)
        powered.append(with_machine)
    return Covered(
        batches=batches,
        labels=sum(e.low <= truth <= e.high for e in alone),
        powered=sum(e.low <= truth <= e.high for e in powered),
        labels_width=_mean([e.high - e.low for e in alone]),
        powered_width=_mean([e.high - e.low for e in powered]),
        labels_bias=_mean([e.value for e in alone]) - truth,
        powered_bias=_mean([e.value for e in powered]) - truth,
        unweighted_bias=_mean(naive) - truth,
    )


def _label(
    frame: Frame, batch: Batch, rng: random.Random, declined: float
) -> tuple[list[LabelledPair], dict[str, int]]:
    pairs = [
        LabelledPair(
            stratum=str(pair.stratum),
            errors_in_run=pair.errors_in_run,
            answer=frame.answers[pair.error_id],
            machine=frame.machine[pair.error_id],
        )
        for pair in batch.pairs
        if rng.random() >= declined
    ]
    return pairs, {str(i): stratum.size for i, stratum in enumerate(batch.strata)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def report_verdicts() -> None:
    print("Verdicts: 2,000 codes, 26 weekly looks, nothing changed")
    print(f"{'rate':>12} {'runs/week':>10} {'better':>8} {'worse':>8} {'false':>8}")
    settings: list[tuple[float | None, int | None]] = [
        (None, None),
        (0.5, 8),
        (0.7, 30),
        (0.9, 30),
        (0.95, 30),
        (0.95, 100),
    ]
    for rate, weekly in settings:
        told = simulate_verdicts(2_000, rate, 0.0, weekly, seed=8)
        print(
            f"{rate or 'Beta(7,3)':>12} {weekly or '3-100':>10} {told.better:>8}"
            f" {told.worse:>8} {told.share_final():>8.2%}"
        )
    print("Power: 500 codes, share called better within 8 and within 26 looks")
    print(f"{'lift':>6} {'rate':>6} {'runs/week':>10} {'8':>7} {'26':>7} {'worse':>6}")
    for lift in (0.1, 0.2):
        for rate in (0.5, 0.7):
            for weekly in (8, 30, 100):
                told = simulate_verdicts(500, rate, lift, weekly, seed=9)
                print(
                    f"{lift:>6} {rate:>6} {weekly:>10} {told.share_final(8):>7.1%}"
                    f" {told.share_final():>7.1%} {told.worse:>6}"
                )


def report_labels() -> None:
    print("Labels: 200 batches from a week with known share, 95 % intervals")
    print(
        f"{'truth':>6} {'runs':>6} {'size':>5} {'declined':>9}"
        f" {'labels':>8} {'width':>7} {'powered':>8} {'width':>7}"
        f" {'bias':>8} {'bias':>8} {'unweighted':>11}"
    )
    for runs, size, declined, ease in (
        (1_500, 60, 0.0, 0.85),
        (1_500, 60, 0.1, 0.85),
        (1_500, 60, 0.0, 1.05),
        (1_500, 60, 0.0, 0.35),
        (1_500, 150, 0.0, 0.85),
        (150, 60, 0.0, 0.85),
        (10_000, 300, 0.0, 0.85),
    ):
        truth = make_frame(runs, 6, ease).truth
        got = simulate_batches(200, size, runs, 6, declined, ease)
        print(
            f"{truth:>6.3f} {runs:>6} {size:>5} {declined:>9} {got.labels / 200:>8.1%}"
            f" {got.labels_width:>7.3f} {got.powered / 200:>8.1%}"
            f" {got.powered_width:>7.3f} {got.labels_bias:>+8.4f}"
            f" {got.powered_bias:>+8.4f} {got.unweighted_bias:>+11.4f}"
        )


def main(chosen: Sequence[str]) -> None:
    reports = {"verdicts": report_verdicts, "labels": report_labels}
    times = [time.monotonic()]
    for name in chosen or reports:
        reports[name]()
        times.append(time.monotonic())
    seconds = [f"{end - start:.0f} s" for start, end in pairwise(times)]
    print("Took", ", ".join(seconds))


if __name__ == "__main__":
    main(sys.argv[1:])
