"""Which pairs of a week are labelled: a sample with known chances. Pure.

Each run puts forward one of its m errors, drawn uniformly; those are drawn by strata
(code and text, looping errors and unknown outcomes apart). A pair's chance is thus
1 / m x n_h / N_h. All choices come from a keyed hash of seed and id, so the order in
which the frame arrives, and what else is in it, moves no run's own draw.

Section 10 of the project's statistics reference.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

DEFAULT_SIZE = 60  # pairs a batch
DEFAULT_DOUBLES = 0.2  # share of a batch that two people label
DEFAULT_VARIANCE = 0.25  # of a yes/no answer that nothing is known of
FLOOR = 5  # runs; a stratum of fewer is merged
PER_STRATUM = 2  # pairs: fewer give no variance


class FrameError(NamedTuple):
    """One error of a run, as the sampler needs it."""

    id: int
    code: str
    text_id: int
    is_loop: bool = False


class FrameRun(NamedTuple):
    """One run with its errors; whether its outcome is unknown."""

    id: int
    errors: tuple[FrameError, ...]
    outcome_unknown: bool = False


class Cell(NamedTuple):
    """The finest stratum. None: several codes or texts, too rare apart."""

    code: str | None
    text_id: int | None
    is_loop: bool
    outcome_unknown: bool


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """One stratum of a batch: `size` runs put a pair forward, `drawn` were taken."""

    cells: tuple[Cell, ...]  # what was merged into it; one cell where nothing was
    size: int  # N_h
    drawn: int  # n_h


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """One pair to label."""

    error_id: int
    run_id: int
    errors_in_run: int  # m
    stratum: int  # index into `Batch.strata`
    chance: float  # of being drawn, 1 / m x n_h / N_h
    seed: int
    is_double: bool  # True: two people label it


@dataclass(frozen=True, slots=True)
class Batch:
    """A week's sample, in a random order, and the strata that it came from."""

    pairs: tuple[DrawnPair, ...]
    strata: tuple[DrawnStratum, ...]
    runs: int  # with an error, in the frame
    errors: int


class _Forward(NamedTuple):
    run: FrameRun
    error: FrameError


def draw_batch(
    frame: Iterable[FrameRun],
    seed: int,
    size: int = DEFAULT_SIZE,
    doubles: float = DEFAULT_DOUBLES,
    variances: Mapping[str, float] | None = None,
    floor: int = FLOOR,
) -> Batch:
    """Draw a batch; equal frame, seed and settings give an equal batch.

    `variances` has the variance of the answers of a code where earlier labels show
    it, else 0.25 counts. Runs without an error are passed over; the batch is smaller
    than `size` where the frame is. Raises ValueError if a run or an error stands
    twice in the frame, or size < 2, floor < 2, or doubles outside 0..1.
    """
    if size < PER_STRATUM or floor < PER_STRATUM or not 0 <= doubles <= 1:
        raise ValueError("Need size and floor of 2 or more, and doubles in 0..1.")
    runs = [run for run in frame if run.errors]
    error_ids = [error.id for run in runs for error in run.errors]
    if len({run.id for run in runs}) < len(runs):
        raise ValueError("A run stands twice in the frame.")
    if len(set(error_ids)) < len(error_ids):
        raise ValueError("An error stands twice in the frame.")
    by_cell: dict[Cell, list[_Forward]] = {}
    for run in runs:
        error = _put_forward(run, seed)
        cell = Cell(error.code, error.text_id, error.is_loop, run.outcome_unknown)
        by_cell.setdefault(cell, []).append(_Forward(run, error))
    merged = merge_cells(
        {cell: len(forward) for cell, forward in by_cell.items()}, size, floor
    )
    sizes = [sum(len(by_cell[cell]) for cell in cells) for cells in merged]
    sds = [_spread(cells, by_cell, variances or {}) for cells in merged]
    counts = neyman_allocation(sizes, sds, size)
    drawn: list[tuple[int, _Forward]] = []
    for index, cells in enumerate(merged):
        members = [pair for cell in cells for pair in by_cell[cell]]
        members.sort(key=lambda pair: _ticket(seed, "pair", pair.error.id))
        drawn += [(index, pair) for pair in members[: counts[index]]]
    drawn.sort(key=lambda item: _ticket(seed, "order", item[1].error.id))
    lots = sorted(_ticket(seed, "double", pair.error.id) for _, pair in drawn)
    twice = set(lots[: round(doubles * len(lots))])
    pairs = tuple(
        DrawnPair(
            error_id=pair.error.id,
            run_id=pair.run.id,
            errors_in_run=len(pair.run.errors),
            stratum=index,
            chance=counts[index] / sizes[index] / len(pair.run.errors),
            seed=seed,
            is_double=_ticket(seed, "double", pair.error.id) in twice,
        )
        for index, pair in drawn
    )
    strata = tuple(
        DrawnStratum(cells, sizes[index], counts[index])
        for index, cells in enumerate(merged)
    )
    return Batch(pairs, strata, len(runs), len(error_ids))


def _put_forward(run: FrameRun, seed: int) -> FrameError:
    return min(run.errors, key=lambda error: _ticket(seed, "error", error.id))


def _ticket(seed: int, purpose: str, item: int) -> tuple[bytes, int]:
    """Give an item its place in a random order; the id settles the (unlikely) tie."""
    text = f"{seed}:{purpose}:{item}".encode()
    return blake2b(text, digest_size=8).digest(), item


def _spread(
    cells: Sequence[Cell],
    by_cell: Mapping[Cell, Sequence[_Forward]],
    variances: Mapping[str, float],
) -> float:
    """Standard deviation to expect in a merged stratum: its codes', by size."""
    runs = sum(len(by_cell[cell]) for cell in cells)
    total = math.fsum(
        len(by_cell[cell]) * variances.get(cell.code or "", DEFAULT_VARIANCE)
        for cell in cells
    )
    return math.sqrt(total / runs)


def merge_cells(
    sizes: Mapping[Cell, int], pairs: int, floor: int = FLOOR
) -> list[tuple[Cell, ...]]:
    """Merge cells until each stratum has `floor` runs and two of `pairs` fit in each.

    Rare texts of a code go together first, then rare codes, then all but the largest
    strata; looping errors and unknown outcomes stay apart as long as there are runs
    for it. Returns the cells of each stratum, in a stable order.
    """
    strata: dict[Cell, list[Cell]] = {}
    for cell in sizes:
        strata[cell] = [cell]

    def runs(key: Cell) -> int:
        return sum(sizes[cell] for cell in strata[key])

    def pool(keys: Iterable[Cell], wider: Mapping[Cell, Cell]) -> None:
        for key in sorted(keys, key=_sortable):
            strata.setdefault(wider[key], []).extend(strata.pop(key))

    by_code = {cell: cell._replace(text_id=None) for cell in sizes}
    pool([key for key in strata if runs(key) < floor], by_code)
    by_flags = {key: key._replace(code=None, text_id=None) for key in strata}
    pool([key for key in strata if runs(key) < floor], by_flags)
    most = max(pairs // PER_STRATUM, 1)
    if len(strata) > most:
        by_flags = {key: key._replace(code=None, text_id=None) for key in strata}
        ranked = sorted(strata, key=lambda key: (-runs(key), _sortable(key)))
        kept = max(most - len(set(by_flags.values())), 0)
        pool([key for key in ranked[kept:] if by_flags[key] != key], by_flags)
    while len(strata) > 1:
        smallest = min(strata, key=lambda key: (runs(key), _sortable(key)))
        if len(strata) <= most and runs(smallest) >= floor:
            break
        nearest = min(
            (key for key in strata if key != smallest),
            key=lambda key: (_distance(key, smallest), runs(key), _sortable(key)),
        )
        strata[nearest].extend(strata.pop(smallest))
    return [
        tuple(sorted(strata[key], key=_sortable))
        for key in sorted(strata, key=_sortable)
    ]


def _sortable(cell: Cell) -> tuple[str, int, bool, bool]:
    text_id = -1 if cell.text_id is None else cell.text_id
    return cell.code or "", text_id, cell.is_loop, cell.outcome_unknown


def _distance(one: Cell, other: Cell) -> tuple[bool, bool, bool]:
    return (
        one.outcome_unknown != other.outcome_unknown,
        one.is_loop != other.is_loop,
        one.code != other.code,
    )


def neyman_shares(
    sizes: Sequence[int], sds: Sequence[float], pairs: float
) -> list[float]:
    """Split `pairs` over strata in proportion to N_h S_h, unrounded and uncapped.

    In proportion to N_h where all standard deviations are 0. Raises ValueError on a
    size or deviation below 0, or no item at all. Source: Neyman 1934, J. R. Stat.
    Soc. 97:558-625.
    """
    if min(sizes, default=0) < 0 or min(sds, default=0) < 0 or not sum(sizes):
        raise ValueError("Strata need sizes and deviations of 0 or more, not all 0.")
    weights = [n * sd for n, sd in zip(sizes, sds, strict=True)]
    if not sum(weights):
        weights = [float(n) for n in sizes]
    total = math.fsum(weights)
    return [pairs * weight / total for weight in weights]


def neyman_allocation(
    sizes: Sequence[int], sds: Sequence[float], pairs: int
) -> list[int]:
    """Split `pairs` over strata in whole numbers: 2 at least, N_h at most.

    What a full stratum cannot take goes to the others. The sum is `pairs`, or all
    items where there are fewer, or two a stratum where `pairs` is too few for that.
    Raises ValueError as `neyman_shares`.
    """
    counts = [min(PER_STRATUM, n) for n in sizes]
    left = min(pairs, sum(sizes)) - sum(counts)
    ideal = neyman_shares(sizes, sds, pairs) if left > 0 else []
    while left > 0:  # one by one to the stratum that lacks most of its ideal share
        open_strata = [i for i, n in enumerate(sizes) if counts[i] < n]
        best = max(
            open_strata, key=lambda i: (ideal[i] / (counts[i] + 0.5), sizes[i], -i)
        )
        counts[best] += 1
        left -= 1
    return counts


def planned_variance(
    sizes: Sequence[int], sds: Sequence[float], counts: Sequence[float]
) -> float:
    """Variance of the stratified mean to expect from an allocation.

    Without the correction for drawing from few. Raises ValueError where a stratum
    with items gets none.
    """
    if any(n and not count > 0 for n, count in zip(sizes, counts, strict=True)):
        raise ValueError("Every stratum that has items needs some of the sample.")
    total = sum(sizes)
    strata = zip(sizes, sds, counts, strict=True)
    return math.fsum((n / total * sd) ** 2 / count for n, sd, count in strata if n)
