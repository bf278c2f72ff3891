"""Sections 10 and 11 of the statistics reference: T1, T2, T4 and X."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.labels.estimates import (
    Predictions,
    StratumSample,
    hajek_mean,
    horvitz_thompson_total,
    horvitz_thompson_variance,
    judge_quality,
    prediction_powered_mean,
    rogan_gladen,
    stratified_mean,
)
from apps.runs.rates import wilson_interval
from tests.printed import printed

FARMS = [
    StratumSample(1_054, 103, 300_504.16, 29_618_183_543),
    StratumSample(220, 21, 97_629.81, 7_647_472_708),
    StratumSample(1_382, 135, 211_315.04, 53_587_487_856),
    StratumSample(422, 41, 662_295.51, 396_185_950_266),
]
HUNDRED = [(1, 1)] * 60 + [(1, 0)] * 10 + [(0, 1)] * 5 + [(0, 0)] * 25
THOUSAND = Predictions.of_counts(620, 1_000)


@pytest.mark.parametrize(
    ("strata", "total", "se"),
    [pytest.param(FARMS, 909_736_035, 50_417_248, id="T1")],
)
def test_stratified_mean_gives_the_printed_total(strata, total, se):
    items = sum(stratum.size for stratum in strata)

    got = stratified_mean(strata)

    assert got.value * items == pytest.approx(total, abs=3)
    assert got.se * items == pytest.approx(se, abs=2)


@pytest.mark.parametrize(
    ("values", "draws", "chances", "total", "variance"),
    [
        pytest.param(
            [3, 10, 7],
            [0.06, 0.20, 0.10],
            ["0.1694", "0.4880", "0.2710"],
            "64.03",
            "62.46",
            id="T2",
        )
    ],
)
def test_horvitz_thompson_gives_the_printed_total(
    values, draws, chances, total, variance
):
    pi = [1 - (1 - p) ** 3 for p in draws]
    joint = [
        [pi[i] + pi[j] - (1 - (1 - draws[i] - draws[j]) ** 3) for j in range(3)]
        for i in range(3)
    ]

    assert pi == [printed(chance) for chance in chances]
    assert horvitz_thompson_total(values, pi) == printed(total)
    assert horvitz_thompson_variance(values, pi, joint) == printed(variance)


@pytest.mark.parametrize(
    ("sizes", "good", "n", "mean", "se", "wrong"),
    [
        pytest.param(
            (50, 900, 50), (5, 36, 9), (25, 45, 30), "0.745", "0.0530", 0.5, id="T4"
        )
    ],
)
def test_stratified_mean_weighs_by_size(sizes, good, n, mean, se, wrong):
    strata = [StratumSample.of_share(*row) for row in zip(sizes, good, n, strict=True)]

    got = stratified_mean(strata)

    assert (got.value, got.se) == (printed(mean), printed(se))
    assert sum(good) / sum(n) == wrong  # the mean that forgets the strata


def test_a_census_has_no_error():
    got = stratified_mean([StratumSample.of_share(10, 4, 10)])

    assert (got.value, got.se, got.low, got.high) == (0.4, 0.0, 0.4, 0.4)


def test_a_single_answer_has_the_widest_variance():
    assert StratumSample.of_share(10, 1, 1).variance == 0.25


@pytest.mark.parametrize(
    "strata",
    [
        pytest.param([], id="none"),
        pytest.param([StratumSample(10, 0, 0.0, 0.0)], id="unsampled"),
        pytest.param([StratumSample(3, 4, 0.5, 0.25)], id="too-many"),
    ],
)
def test_stratified_mean_refuses_empty_strata(strata):
    with pytest.raises(ValueError, match="Each stratum needs"):
        stratified_mean(strata)


@pytest.mark.parametrize(("size", "good", "n"), [(5, 1, 0), (5, 3, 2), (5, 1, 6)])
def test_of_share_refuses_counts_that_are_none(size, good, n):
    with pytest.raises(ValueError, match=r"Need 0 <= good|Cannot sample"):
        StratumSample.of_share(size, good, n)


@pytest.mark.parametrize("chances", [[0.0], [1.1], [-0.2]])
def test_horvitz_thompson_refuses_what_is_no_chance(chances):
    with pytest.raises(ValueError, match="Every chance"):
        horvitz_thompson_total([1], chances)
    with pytest.raises(ValueError, match="drawn together"):
        horvitz_thompson_variance([1, 2], [0.5, 0.5], [[0.5, 0.0], [0.0, 0.5]])


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.01, 1))
def test_equal_chances_give_the_plain_mean(values, chance):
    mean = sum(values) / len(values)

    assert hajek_mean(values, [chance] * len(values)) == pytest.approx(mean, abs=1e-9)


def test_hajek_mean_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        hajek_mean([], [])


@pytest.mark.parametrize(
    ("weight", "used", "value", "se"),
    [
        pytest.param(1.0, "1.0000", "0.6700", "0.04136", id="X1-plain"),
        pytest.param(None, "0.5611", "0.6832", "0.03554", id="X1-tuned"),
        pytest.param(0.0, "0.0000", "0.7000", "0.04583", id="X1-human-only"),
    ],
)
def test_prediction_powered_mean_gives_the_printed_figures(weight, used, value, se):
    got = prediction_powered_mean(HUNDRED, THOUSAND, weight)

    assert (got.weight, got.value, got.se) == (
        printed(used),
        printed(value),
        printed(se),
    )


@pytest.mark.parametrize(
    ("truth", "labels", "low", "high", "alone"),
    [pytest.param(0.259, 1_000, 0.2322, 0.2626, 0.046, id="X2")],
)
def test_galaxies_are_plausible(truth, labels, low, high, alone):
    """The data are not shipped: labels alone, and a made classifier as good."""
    rng = random.Random(5)
    yes = round(truth * labels)
    z90 = 1.6448536269514722
    people = [1] * yes + [0] * (labels - yes)

    def classify(y: int) -> float:  # a score that is right in some nine of ten
        return min(max(0.1 + 0.75 * y + rng.gauss(0, 0.3), 0.0), 1.0)

    labelled = [(float(y), classify(y)) for y in people]
    scores = [classify(int(rng.random() < truth)) for _ in range(15_743)]
    unlabelled = Predictions(len(scores), sum(scores), sum(f * f for f in scores))
    human = prediction_powered_mean(labelled, unlabelled, weight=0.0)
    powered = prediction_powered_mean(labelled, unlabelled)

    assert low < truth < high
    assert 2 * z90 * human.se == pytest.approx(alone, abs=0.001)
    assert 2 * z90 * powered.se == pytest.approx(high - low, abs=0.006)


@pytest.mark.parametrize(
    ("positive", "n", "sensitivity", "specificity", "value", "high"),
    [pytest.param(23, 150, 0.96, 0.89, "0.051", "0.13", id="X3")],
)
def test_rogan_gladen_gives_the_printed_share(
    positive, n, sensitivity, specificity, value, high
):
    got = rogan_gladen(positive, n, sensitivity, specificity)

    assert got is not None
    assert (got.value, got.low, got.high) == (printed(value), 0.0, printed(high))


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.2, 0.3)])
def test_a_classifier_no_better_than_chance_corrects_nothing(sensitivity, specificity):
    assert rogan_gladen(10, 20, sensitivity, specificity) is None


def test_rogan_gladen_of_a_perfect_classifier_is_wilson():
    got = rogan_gladen(30, 100, 1.0, 1.0)

    assert got is not None
    assert (got.value, got.low, got.high) == pytest.approx(
        (0.3, *wilson_interval(30, 100))
    )
    with pytest.raises(ValueError, match="must be in"):
        rogan_gladen(1, 2, 1.2, 0.9)
    with pytest.raises(ValueError, match="Need 0 <= good"):
        rogan_gladen(0, 0, 0.9, 0.9)


answers = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=30, max_size=90)


@given(answers)
def test_lambda_0_is_the_plain_human_mean(pairs):
    labelled = [(float(y), float(f)) for y, f in pairs]
    n = len(labelled)
    mean = sum(y for y, _ in labelled) / n

    got = prediction_powered_mean(labelled, THOUSAND, weight=0.0)

    assert got.value == pytest.approx(mean)
    assert got.se == pytest.approx(math.sqrt(mean * (1 - mean) / n), abs=1e-9)


@given(answers)
def test_a_classifier_that_is_never_wrong_leaves_only_its_own_spread(pairs):
    labelled = [(float(y), float(y)) for y, _ in pairs]

    got = prediction_powered_mean(labelled, THOUSAND, weight=1.0)

    assert got.value == pytest.approx(0.62)
    assert got.se**2 == pytest.approx(0.62 * 0.38 / 1_000)


@given(answers, st.floats(0.1, 1))
def test_a_constant_classifier_gets_no_weight(pairs, constant):
    labelled = [(float(y), constant) for y, _ in pairs]
    unlabelled = Predictions(1_000, 1_000 * constant, 1_000 * constant**2)

    assert prediction_powered_mean(labelled, unlabelled).weight == 0.0


@given(answers, st.floats(-3, 3))
def test_shifting_the_classifier_moves_nothing_at_lambda_1(pairs, shift):
    labelled = [(float(y), float(f)) for y, f in pairs]
    shifted = [(y, f + shift) for y, f in labelled]
    squares = 620 + 2 * shift * 620 + 1_000 * shift**2
    moved = Predictions(1_000, 620 + 1_000 * shift, squares)

    got = prediction_powered_mean(shifted, moved, weight=1.0)
    plain = prediction_powered_mean(labelled, THOUSAND, weight=1.0)

    assert got.value == pytest.approx(plain.value, abs=1e-9)
    assert got.se == pytest.approx(plain.se, abs=1e-9)


@given(answers)
def test_tuned_weight_is_a_share(pairs):
    labelled = [(float(y), float(f)) for y, f in pairs]

    assert 0 <= prediction_powered_mean(labelled, THOUSAND).weight <= 1


@pytest.mark.parametrize(
    ("labelled", "unlabelled", "weight", "message"),
    [
        (HUNDRED[:29], THOUSAND, None, "30 labels"),
        (HUNDRED, Predictions(0, 0, 0), None, "one item"),
        (HUNDRED, THOUSAND, 1.5, "weight must be"),
    ],
)
def test_prediction_powered_mean_refuses_what_it_cannot_bear(
    labelled, unlabelled, weight, message
):
    with pytest.raises(ValueError, match=message):
        prediction_powered_mean(labelled, unlabelled, weight)


def test_judge_quality_of_equal_weights_is_plain_wilson():
    pairs = [(True, True, 2.0)] * 18 + [(False, True, 2.0)] * 2
    pairs += [(False, False, 2.0)] * 30

    got = judge_quality(pairs)

    assert got.sensitivity.n == 20
    assert got.sensitivity.rate == pytest.approx(0.9)
    assert (got.sensitivity.low, got.sensitivity.high) == pytest.approx(
        wilson_interval(18, 20)
    )
    assert (got.specificity.rate, got.specificity.high) == (1.0, 1.0)


def test_judge_quality_weighs_pairs_by_what_they_stand_for():
    got = judge_quality([(True, True, 9.0), (False, True, 1.0)])

    assert got.sensitivity.rate == 0.9
    assert got.sensitivity.n == 2
    assert (got.specificity.rate, got.specificity.low) == (None, 0.0)
    with pytest.raises(ValueError, match="above 0"):
        judge_quality([(True, True, 0.0)])
