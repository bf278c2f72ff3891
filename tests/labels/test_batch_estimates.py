"""Estimates from a batch: the design's own weights, and what they cover."""

import pytest

from apps.labels.batch_estimates import (
    LabelledPair,
    batch_share,
    batch_share_with_machine,
)
from apps.labels.estimates import StratumSample, stratified_mean
from apps.runs.rates import wilson_interval
from tests.bench.coverage import simulate_batches
from tests.printed import printed


def make_pairs(
    stratum: str, good: int, n: int, errors_in_run: int = 1, machine: float = 0.0
) -> list[LabelledPair]:
    """Make `n` labels of a stratum, the first `good` of them yes."""
    return [
        LabelledPair(stratum, errors_in_run, float(i < good), machine) for i in range(n)
    ]


STRATA = (("small", 50, 5, 25), ("large", 900, 36, 45), ("odd", 50, 9, 30))
SIZES = {name: size for name, size, _, _ in STRATA}
PAIRS = [p for name, _, good, n in STRATA for p in make_pairs(name, good, n)]


def test_runs_of_one_error_give_the_stratified_mean():
    got = batch_share(PAIRS, SIZES)
    plain = stratified_mean(
        StratumSample.of_share(size, good, n) for _, size, good, n in STRATA
    )

    assert got is not None
    assert got.value == pytest.approx(plain.value)
    assert got.value == printed("0.745")
    assert got.se == pytest.approx(plain.se, rel=0.05)
    assert (got.n, got.covered, got.weight) == (100, 1.0, 0.0)
    assert got.low < got.value < got.high


def test_a_label_speaks_for_all_errors_of_its_run():
    pairs = make_pairs("a", 0, 10, errors_in_run=9) + make_pairs("b", 10, 10)

    got = batch_share(pairs, {"a": 100, "b": 100})

    assert got is not None
    assert got.value == pytest.approx(0.1)  # 100 of 1,000 errors; unweighted 0.5


def test_a_census_of_runs_with_one_error_has_no_error():
    got = batch_share(make_pairs("a", 4, 10), {"a": 10})

    assert got is not None
    assert (got.value, got.se) == (0.4, 0.0)


def test_all_alike_ends_at_exactly_one_and_claims_only_its_labels():
    got = batch_share(make_pairs("a", 40, 40), {"a": 500})

    assert got is not None
    assert (got.value, got.high) == (1.0, 1.0)
    assert got.low == pytest.approx(wilson_interval(40, 40)[0])


def test_strata_without_a_label_are_reported_as_not_covered():
    got = batch_share(make_pairs("a", 4, 10), {"a": 60, "silent": 40})

    assert got is not None
    assert got.covered == 0.6
    assert got.value == 0.4


def test_one_label_in_a_stratum_still_has_a_variance():
    pairs = make_pairs("a", 1, 1) + make_pairs("b", 0, 1)

    got = batch_share(pairs, {"a": 10, "b": 10})

    assert got is not None
    assert got.value == 0.5
    assert got.se > 0.3


def test_a_domain_takes_only_its_own_labels():
    others = [
        LabelledPair("small", 1, 1.0, is_in_domain=False),
        LabelledPair("elsewhere", 1, 1.0, is_in_domain=False),
    ]

    got = batch_share([*make_pairs("small", 3, 9), *others], {**SIZES, "elsewhere": 5})

    assert got is not None
    assert got.value == pytest.approx(1 / 3)
    assert got.n == 9
    assert batch_share(others, {**SIZES, "elsewhere": 5}) is None
    assert batch_share([], {}) is None


@pytest.mark.parametrize("sizes", [{}, {"a": 3}])
def test_a_stratum_smaller_than_its_labels_is_refused(sizes):
    with pytest.raises(ValueError, match="smaller than its labels"):
        batch_share(make_pairs("a", 2, 4), sizes)


def test_fewer_than_thirty_labels_make_no_powered_estimate():
    sizes = {"a": 500}

    assert batch_share_with_machine(make_pairs("a", 9, 29), sizes, 0.4) is None
    assert batch_share_with_machine(make_pairs("a", 9, 30), sizes, 0.4) is not None


def test_lambda_0_is_the_estimate_from_labels_alone():
    assert batch_share_with_machine(PAIRS, SIZES, 0.9, weight=0.0) == batch_share(
        PAIRS, SIZES
    )


def test_a_constant_machine_changes_nothing():
    pairs = [p for name, _, good, n in STRATA for p in make_pairs(name, good, n, 1, 1)]

    got = batch_share_with_machine(pairs, SIZES, machine_share=1.0)

    assert got == batch_share(PAIRS, SIZES)


def test_a_machine_that_is_never_wrong_is_taken_at_its_word():
    pairs = [LabelledPair("a", 1, float(i < 20), float(i < 20)) for i in range(50)]

    got = batch_share_with_machine(pairs, {"a": 500}, machine_share=0.37)
    alone = batch_share(pairs, {"a": 500})

    assert got is not None
    assert alone is not None
    assert got.value == pytest.approx(0.37)
    assert (got.weight, got.se) == (1.0, 0.0)
    assert 0 < got.high - got.low < 0.5 * (alone.high - alone.low)


def test_a_machine_biased_one_way_is_set_right():
    """It says yes ten points too often, everywhere; labels show by how much."""
    pairs = [LabelledPair("a", 1, float(i < 40), float(i < 50)) for i in range(100)]

    got = batch_share_with_machine(pairs, {"a": 5_000}, machine_share=0.5, weight=1.0)

    assert got is not None
    assert got.value == pytest.approx(0.4)


def test_intervals_hold_the_truth_and_are_narrower_with_the_machine():
    got = simulate_batches(batches=60, size=60, runs=600, seed=6, declined=0.05)

    assert got.labels >= 0.88 * got.batches  # 95 % less two standard errors
    assert got.powered >= 0.88 * got.batches
    assert got.powered_width < 0.8 * got.labels_width
    assert abs(got.labels_bias) < 0.03
    assert abs(got.powered_bias) < 0.02
