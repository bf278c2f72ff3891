"""Section 10 of the statistics reference: T3, and the sampler's promises."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.labels.sampling import (
    Batch,
    Cell,
    FrameError,
    FrameRun,
    draw_batch,
    merge_cells,
    neyman_allocation,
    neyman_shares,
    planned_variance,
)
from tests.printed import printed

SIZES = [400, 300, 100, 200]
RATES = [0.9, 0.8, 0.5, 0.2]
SDS = [(p * (1 - p)) ** 0.5 for p in RATES]


def make_frame(runs: int = 300, seed: int = 1) -> list[FrameRun]:
    """Runs of one to six errors of ten codes, common and rare."""
    rng = random.Random(seed)
    frame, error_id = [], 0
    for run_id in range(1, runs + 1):
        errors = []
        for _ in range(rng.choice([1, 1, 1, 2, 3, 6])):
            error_id += 1
            code = min(int(rng.expovariate(0.5)), 9)
            text_id = 10 * code + (rng.random() < 0.2)
            errors.append(FrameError(error_id, f"c{code}", text_id, rng.random() < 0.2))
        frame.append(FrameRun(run_id, tuple(errors), rng.random() < 0.2))
    return frame


@pytest.mark.parametrize(
    ("sizes", "sds", "pairs", "shares", "neyman", "proportional", "simple"),
    [
        pytest.param(
            SIZES,
            SDS,
            100,
            ["32.4", "32.4", "13.5", "21.6"],
            "0.001369",
            "0.001410",
            "0.002139",
            id="T3",
        )
    ],
)
def test_neyman_allocation_gives_the_printed_shares_and_variances(
    sizes, sds, pairs, shares, neyman, proportional, simple
):
    got = neyman_shares(sizes, sds, pairs)
    by_size = [pairs * n / sum(sizes) for n in sizes]
    mean = sum(n * p for n, p in zip(sizes, RATES, strict=True)) / sum(sizes)

    assert got == [printed(share) for share in shares]
    assert planned_variance(sizes, sds, got) == printed(neyman)
    assert planned_variance(sizes, sds, by_size) == printed(proportional)
    assert mean * (1 - mean) / pairs == printed(simple)


def test_neyman_allocation_in_whole_numbers_is_near_the_shares():
    counts = neyman_allocation(SIZES, SDS, 100)

    assert sum(counts) == 100
    for count, share in zip(counts, neyman_shares(SIZES, SDS, 100), strict=True):
        assert abs(count - share) < 1


@given(
    st.lists(
        st.tuples(st.integers(1, 200), st.floats(0, 0.5)), min_size=1, max_size=25
    ),
    st.integers(2, 200),
)
def test_neyman_allocation_gives_two_at_least_and_all_at_most(strata, pairs):
    sizes = [size for size, _ in strata]

    counts = neyman_allocation(sizes, [sd for _, sd in strata], pairs)

    least = [min(2, size) for size in sizes]
    for count, low, size in zip(counts, least, sizes, strict=True):
        assert low <= count <= size
    assert sum(counts) == max(min(pairs, sum(sizes)), sum(least))


def test_what_a_full_stratum_cannot_take_goes_to_the_others():
    assert neyman_allocation([3, 100], [0.5, 0.01], 50) == [3, 47]


def test_neyman_without_any_spread_goes_by_size():
    assert neyman_shares([30, 10], [0.0, 0.0], 8) == [6, 2]
    with pytest.raises(ValueError, match="Strata need sizes"):
        neyman_shares([], [], 8)
    with pytest.raises(ValueError, match="some of the sample"):
        planned_variance([10], [0.5], [0])


def chances_by_error(frame: list[FrameRun], batches: int, size: int) -> Counter[int]:
    hits: Counter[int] = Counter()
    for seed in range(batches):
        hits.update(pair.error_id for pair in draw_batch(frame, seed, size).pairs)
    return hits


def test_a_batch_has_its_size_doubles_and_chances():
    frame = make_frame()

    batch = draw_batch(frame, seed=7, size=60, doubles=0.2)

    many = {run.id: len(run.errors) for run in frame}
    assert len(batch.pairs) == 60
    assert sum(pair.is_double for pair in batch.pairs) == 12
    assert (batch.runs, batch.errors) == (300, sum(many.values()))
    assert sum(stratum.size for stratum in batch.strata) == 300
    assert Counter(pair.stratum for pair in batch.pairs) == {
        index: stratum.drawn for index, stratum in enumerate(batch.strata)
    }
    for pair in batch.pairs:
        stratum = batch.strata[pair.stratum]
        assert pair.errors_in_run == many[pair.run_id]
        assert pair.chance == pytest.approx(
            stratum.drawn / stratum.size / many[pair.run_id]
        )
        assert pair.seed == 7


def test_each_run_puts_forward_one_error_at_most():
    runs = [pair.run_id for pair in draw_batch(make_frame(), seed=3, size=250).pairs]

    assert len(set(runs)) == len(runs)


def test_a_batch_does_not_ask_in_what_order_the_frame_came():
    frame = make_frame()
    rng = random.Random(9)
    shuffled = [
        run._replace(errors=tuple(rng.sample(run.errors, len(run.errors))))
        for run in rng.sample(frame, len(frame))
    ]

    assert draw_batch(shuffled, seed=5) == draw_batch(frame, seed=5)
    assert draw_batch(frame, seed=6) != draw_batch(frame, seed=5)


def test_errors_of_a_run_are_put_forward_alike():
    frame = [
        FrameRun(1, tuple(FrameError(n, "a", 1) for n in range(1, 5))),
        FrameRun(2, (FrameError(5, "a", 1),)),
    ]

    hits = chances_by_error(frame, batches=2_000, size=2)

    assert hits[5] == 2_000
    for error_id in range(1, 5):
        assert hits[error_id] / 2_000 == pytest.approx(0.25, abs=0.03)


def test_chances_are_true_and_weigh_back_to_the_number_of_errors():
    """1 / chance, summed over a batch, estimates the errors of the frame."""
    frame = make_frame(runs=120)
    errors = sum(len(run.errors) for run in frame)

    totals = [
        sum(1 / pair.chance for pair in draw_batch(frame, seed, 40).pairs)
        for seed in range(400)
    ]

    assert sum(totals) / len(totals) == pytest.approx(errors, rel=0.02)


def drawn_cells(batch: Batch) -> list[Cell]:
    return [cell for stratum in batch.strata for cell in stratum.cells]


@given(st.integers(1, 60), st.integers(2, 30), st.integers(0, 9), st.integers(2, 8))
def test_every_stratum_fits_two_pairs_and_holds_a_cell_once(runs, size, seed, floor):
    batch = draw_batch(make_frame(runs, seed), seed, size, floor=floor)

    cells = drawn_cells(batch)
    assert len(set(cells)) == len(cells)
    assert len(batch.pairs) == min(size, runs)
    if runs >= 2:
        assert all(stratum.drawn >= 2 for stratum in batch.strata)
    if runs >= floor:
        assert all(stratum.size >= floor for stratum in batch.strata)


def test_rare_texts_then_rare_codes_are_merged_and_flags_stay_apart():
    common = Cell("a", 1, False, False)
    rare_texts = [Cell("a", 2, False, False), Cell("a", 3, False, False)]
    rare_codes = [Cell("b", 4, False, False), Cell("c", 5, False, False)]
    loops = Cell("a", 1, True, False)
    unknown = Cell("a", 1, False, True)
    sizes = {common: 50, rare_texts[0]: 3, rare_texts[1]: 3, loops: 9, unknown: 9}
    sizes |= dict.fromkeys(rare_codes, 3)

    got = merge_cells(sizes, pairs=60, floor=5)

    assert {frozenset(cells) for cells in got} == {
        frozenset({common}),
        frozenset(rare_texts),
        frozenset(rare_codes),
        frozenset({loops}),
        frozenset({unknown}),
    }


def test_few_pairs_keep_the_largest_strata_apart():
    sizes = {Cell(f"c{n}", n, False, False): 100 - n for n in range(40)}

    got = merge_cells(sizes, pairs=20, floor=5)

    assert len(got) == 10
    assert sorted(len(cells) for cells in got) == [1] * 9 + [31]
    assert {cells[0].code for cells in got if len(cells) == 1} == {
        f"c{n}" for n in range(9)
    }


def test_two_pairs_make_one_stratum():
    sizes = {
        Cell("a", 1, loop, unknown): 9
        for loop in (True, False)
        for unknown in (True, False)
    }

    assert len(merge_cells(sizes, pairs=2)) == 1


def test_codes_whose_answers_vary_more_get_more_pairs():
    frame = [FrameRun(n, (FrameError(n, "ab"[n % 2], n % 2),)) for n in range(200)]

    batch = draw_batch(frame, seed=1, size=40, variances={"a": 0.25, "b": 0.01})

    drawn = {stratum.cells[0].code: stratum.drawn for stratum in batch.strata}
    assert drawn == {"a": 33, "b": 7}


def test_a_frame_smaller_than_the_batch_is_drawn_whole():
    frame = make_frame(runs=9)

    batch = draw_batch(frame, seed=1, size=60)

    assert len(batch.pairs) == 9
    assert all(stratum.drawn == stratum.size for stratum in batch.strata)


@pytest.mark.parametrize("frame", [[], [FrameRun(1, ()), FrameRun(2, ())]])
def test_a_frame_without_errors_gives_an_empty_batch(frame):
    batch = draw_batch(frame, seed=1)

    assert (batch.pairs, batch.strata, batch.runs) == ((), (), 0)


ONE = FrameRun(1, (FrameError(1, "a", 1),))


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ([ONE, ONE], {}, "run stands twice"),
        ([ONE, ONE._replace(id=2)], {}, "error stands twice"),
        ([ONE], {"size": 1}, "Need size"),
        ([ONE], {"doubles": 1.5}, "doubles"),
        ([ONE], {"floor": 1}, "floor"),
    ],
)
def test_draw_batch_refuses_what_has_no_chances(frame, options, message):
    with pytest.raises(ValueError, match=message):
        draw_batch(frame, 1, **options)
