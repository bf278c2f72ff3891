"""Section 9 of the statistics reference: K."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.labels.agreement import (
    NO_DATA,
    NO_VARIATION,
    agreement,
    cohen_kappa,
    cross_table,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)
from tests.printed import printed

RARE_YES = [[118, 5], [2, 0]]
RARE_UNITS = [("no", "no")] * 118 + [("no", "yes")] * 5 + [("yes", "no")] * 2


def units_of(*reviewers: str) -> list[list[str | None]]:
    """Turn one line a reviewer into one list a unit; a dot is a missing answer."""
    answers = [[None if a == "." else a for a in line] for line in reviewers]
    return [list(unit) for unit in zip(*answers, strict=True)]


@pytest.mark.parametrize(
    ("table", "kappa", "se", "low", "high", "se_null", "z"),
    [
        pytest.param(
            [[0, 4, 1], [0, 8, 0], [0, 1, 5]],
            "0.4842",
            "0.1380",
            "0.2137",
            "0.7547",
            "0.1484",
            "3.2626",
            id="K1",
        )
    ],
)
def test_cohen_kappa_gives_the_printed_errors(table, kappa, se, low, high, se_null, z):
    got = cohen_kappa(table)

    assert (got.kappa, got.se) == (printed(kappa), printed(se))
    assert (got.low, got.high) == (printed(low), printed(high))
    assert (got.se_null, got.z) == (printed(se_null), printed(z))


@pytest.mark.parametrize(
    ("table", "raw", "chance", "kappa"),
    [
        pytest.param([[20, 5], [10, 15]], "0.70", "0.50", "0.40", id="K2"),
        pytest.param(RARE_YES, "0.944", "0.945", "-0.023", id="K3"),
    ],
)
def test_cohen_kappa_gives_the_printed_value(table, raw, chance, kappa):
    got = cohen_kappa(table)

    assert (got.raw_agreement, got.kappa) == (printed(raw), printed(kappa))
    assert got.chance_agreement == printed(chance)


@pytest.mark.parametrize(
    ("units", "expected"), [pytest.param(RARE_UNITS, "0.941", id="K3-ac1")]
)
def test_gwet_ac1_gives_the_printed_value(units, expected):
    assert gwet_ac1(units, choices=2) == printed(expected)


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        pytest.param(units_of("0100000010", "1110010000"), "0.095", id="K4"),
        pytest.param(
            units_of("123321412...", "1233224125.3", ".3332342251.", "12332441251."),
            "0.743",
            id="K5",
        ),
    ],
)
def test_krippendorff_alpha_gives_the_printed_value(units, expected):
    assert krippendorff_alpha(units) == printed(expected)


def test_all_answers_equal_is_no_variation_and_no_error():
    table = cohen_kappa([[7, 0], [0, 0]])

    assert (table.kappa, table.se, table.low) == (NO_VARIATION, None, None)
    assert (table.raw_agreement, table.n) == (1.0, 7)
    assert table.first_marginal == table.second_marginal == (1.0, 0.0)
    assert krippendorff_alpha([("a", "a")] * 7) == NO_VARIATION
    assert gwet_ac1([("a", "a")] * 7, choices=2) == NO_VARIATION


def test_no_pair_answered_twice_is_no_data_and_no_error():
    table = cohen_kappa([[0, 0], [0, 0]])

    assert (table.kappa, table.raw_agreement, table.n) == (NO_DATA, None, 0)
    assert krippendorff_alpha([("a", None), (None, None)]) == NO_DATA
    assert gwet_ac1([("a",)], choices=2) == NO_DATA
    assert raw_agreement([]) is None


def test_one_reviewer_without_variation_agrees_by_chance_alone():
    got = cohen_kappa([[8, 0], [2, 0]])

    assert got.kappa == pytest.approx(0)
    assert got.z is None


def test_full_agreement_on_several_answers_is_one():
    got = cohen_kappa([[4, 0], [0, 6]])

    assert (got.kappa, got.se, got.high) == (1.0, 0.0, 1.0)
    assert krippendorff_alpha([("a", "a"), ("b", "b")]) == 1.0
    assert gwet_ac1([("a", "a"), ("b", "b")], choices=2) == 1.0


@pytest.mark.parametrize("table", [[[1, 2]], [[1], [2]], [[1, -1], [0, 0]]])
def test_cohen_kappa_refuses_what_is_no_square_of_counts(table):
    with pytest.raises(ValueError, match="square table"):
        cohen_kappa(table)


def test_cross_table_counts_in_the_order_of_the_choices():
    assert cross_table("aab", "abb", "ba") == [[1, 0], [1, 1]]
    with pytest.raises(ValueError, match="not one of the choices"):
        cross_table("x", "a", "ab")


def test_gwet_ac1_refuses_more_answers_than_choices():
    with pytest.raises(ValueError, match="3 different answers"):
        gwet_ac1([("a", "b"), ("c", "c")], choices=2)


tables = st.integers(1, 4).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 30), min_size=k, max_size=k), min_size=k, max_size=k
    )
)


@given(tables)
def test_kappa_is_the_same_when_reviewers_swap(table):
    got = cohen_kappa(table)

    mirror = cohen_kappa([list(column) for column in zip(*table, strict=True)])

    if isinstance(got.kappa, str):
        assert mirror.kappa == got.kappa
        return
    assert mirror.kappa == pytest.approx(got.kappa)
    assert mirror.se == pytest.approx(got.se, abs=1e-9)
    assert got.low is not None
    assert got.high is not None
    assert -1 <= got.low <= got.kappa + 1e-12
    assert got.kappa - 1e-12 <= got.high <= 1


@given(st.lists(st.lists(st.sampled_from(["a", "b", None]), max_size=4), max_size=20))
def test_alpha_does_not_ask_who_answered_or_in_what_order(units):
    got = krippendorff_alpha(units)

    again = krippendorff_alpha([unit[::-1] for unit in units][::-1])

    assert again == (got if isinstance(got, str) else pytest.approx(got))


def test_agreement_of_two_reviewers_has_all_figures_and_marginals():
    units = [{"ann": a, "bob": b} for a, b in RARE_UNITS] + [{"ann": "yes"}] * 9

    got = agreement(units, ["no", "yes"])

    assert got.n == 125
    assert got.raw_agreement == printed("0.944")
    assert got.ac1 == printed("0.941")
    assert got.kappa is not None
    assert got.kappa == cohen_kappa(RARE_YES)
    assert got.marginals == {"ann": (123 / 125, 2 / 125), "bob": (120 / 125, 5 / 125)}


def test_agreement_of_three_reviewers_has_no_kappa():
    units = [{"ann": "a", "bob": "b"}, {"bob": "b", "cy": "b"}]

    got = agreement(units, ["a", "b"])

    assert got.kappa is None
    assert got.raw_agreement == 0.5
    assert got.alpha == krippendorff_alpha([("a", "b"), ("b", "b")])


def test_agreement_of_nothing_is_no_data():
    got = agreement([{"ann": "a"}], ["a", "b"])

    assert (got.n, got.raw_agreement, got.kappa) == (0, None, None)
    assert got.alpha == got.ac1 == NO_DATA
    with pytest.raises(ValueError, match="not one of the choices"):
        agreement([{"ann": "x", "bob": "a"}], ["a", "b"])
