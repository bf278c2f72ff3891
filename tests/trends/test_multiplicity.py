"""Section 7 of the statistics reference: H."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trends.multiplicity import benjamini_hochberg
from tests.printed import printed

PUBLISHED = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344),
    *(0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0),
]
PUBLISHED_ADJUSTED = [
    *(".0015", ".0030", ".0095", ".0356", ".0603", ".0639", ".0639", ".0645"),
    *(".0765", ".4860", ".5812", ".7149", ".7532", ".8132", "1.0000"),
]
probabilities = st.lists(st.floats(0, 1), max_size=30)


def stop_at_first_miss(p_values: list[float], q: float) -> int:
    """Give the wrong number of calls: of the rule that goes down from the top."""
    m = len(p_values)
    for rank, p in enumerate(sorted(p_values), 1):
        if p > rank * q / m:
            return rank - 1
    return m


@pytest.mark.parametrize(
    ("p_values", "q", "rejected", "bonferroni"),
    [pytest.param(PUBLISHED, 0.05, 4, 3, id="H1")],
)
def test_benjamini_hochberg_rejects_as_published(p_values, q, rejected, bonferroni):
    got = benjamini_hochberg(p_values, q)

    assert got.called == (True,) * rejected + (False,) * (len(p_values) - rejected)
    assert sum(p <= q / len(p_values) for p in p_values) == bonferroni


@pytest.mark.parametrize("shuffle", [pytest.param(1, id="H2"), -1])
def test_benjamini_hochberg_adjusts_as_printed(shuffle):
    got = benjamini_hochberg(PUBLISHED[::shuffle], 0.05)

    assert list(got.adjusted) == [printed(p) for p in PUBLISHED_ADJUSTED[::shuffle]]


@pytest.mark.parametrize(
    ("p_values", "q", "wanted", "actual"),
    [
        pytest.param(PUBLISHED, 0.05, 4, 4, id="happens-to-agree"),
        pytest.param([0.009, 0.025, 0.029], 0.03, 3, 1, id="differs"),
    ],
)
def test_the_rule_that_stops_at_the_first_miss_is_wrong(p_values, q, wanted, actual):
    assert sum(benjamini_hochberg(p_values, q).called) == wanted
    assert stop_at_first_miss(p_values, q) == actual


@given(probabilities, st.floats(0, 1))
def test_calls_are_the_smallest_and_adjusted_never_fall_below_p(p_values, q):
    got = benjamini_hochberg(p_values, q)

    assert all(
        p <= a + 1e-12 <= 1 + 1e-12 for p, a in zip(p_values, got.adjusted, strict=True)
    )
    called = [p for p, is_called in zip(p_values, got.called, strict=True) if is_called]
    others = [
        p for p, is_called in zip(p_values, got.called, strict=True) if not is_called
    ]
    assert max(called, default=0) <= min(others, default=1)


@given(probabilities, st.floats(0.01, 0.99))
def test_a_test_is_called_where_its_adjusted_p_is_at_most_q(p_values, q):
    got = benjamini_hochberg(p_values, q)

    for adjusted, is_called in zip(got.adjusted, got.called, strict=True):
        if abs(adjusted - q) > 1e-9:
            assert is_called == (adjusted < q)


def test_no_tests_are_no_discoveries():
    assert benjamini_hochberg([]).called == ()


@pytest.mark.parametrize(("p_values", "q"), [([1.1], 0.1), ([-0.1], 0.1), ([0.5], 2)])
def test_benjamini_hochberg_refuses_what_is_no_probability(p_values, q):
    with pytest.raises(ValueError, match=r"in 0\.\.1"):
        benjamini_hochberg(p_values, q)
