"""Verdicts: what the word needs, what holds it back, what stands beside it."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.trends.comparison import OneSided, Stratum, mantel_haenszel
from apps.trends.rivals import Rival
from apps.trends.sequential import (
    always_valid_p,
    difference_interval,
    rho_at_ship,
)
from apps.trends.verdict import (
    Case,
    ControlWeek,
    Outcomes,
    StratumKey,
    WeekCell,
    decision_variance,
    judge,
)
from tests.bench.coverage import simulate_verdicts

SMALL = StratumKey("small", "1", "flagged")
LARGE = StratumKey("large", "1", "flagged")
WEEKS = [date(2026, 1, 5) + timedelta(weeks=n) for n in range(16)]
SHIPPED = WEEKS[8]
RHO = rho_at_ship(160, 320, 320)


HALF = Outcomes(20, 40)
THREE_QUARTERS = Outcomes(30, 40)


def make_case(
    before: Outcomes = HALF,
    after: Outcomes = THREE_QUARTERS,
    weeks: int = 8,
    key: StratumKey = SMALL,
    **others: Any,
) -> Case:
    """Eight weeks with the old text, then `weeks` with the new one."""
    cells = [WeekCell(week, key, before=before) for week in WEEKS[:8]]
    cells += [WeekCell(week, key, after=after) for week in WEEKS[8 : 8 + weeks]]
    return Case(tuple(cells), SHIPPED, RHO, **others)


def test_a_clear_gain_is_better():
    got = judge(make_case())

    assert (got.word, got.reason) == ("better", "excludes_zero")
    assert got.adjusted == pytest.approx(0.25)
    assert 0 < got.low < 0.25 < got.high
    assert got.p < 0.05
    assert (got.before, got.after) == (Outcomes(160, 320), Outcomes(240, 320))
    assert (got.more_runs, got.more_weeks) == (0, 0)
    assert got.baseline == tuple(WEEKS[:8])
    assert got.rivals == ()
    assert got.is_final


def test_a_clear_loss_is_worse():
    got = judge(make_case(before=THREE_QUARTERS, after=HALF))

    assert (got.word, got.reason) == ("worse", "excludes_zero")
    assert got.high < 0


def test_a_small_gain_cannot_be_told_yet_and_says_how_long_it_takes():
    case = make_case(after=Outcomes(23, 40), weeks=4)

    got = judge(case)

    assert (got.word, got.reason) == ("cannot tell yet", "includes_zero")
    assert got.low < 0 < got.high
    assert got.more_runs is None or got.more_runs > 0
    assert not got.is_final


def test_about_so_many_more_runs_are_enough_if_the_difference_stays():
    case = make_case(after=Outcomes(27, 40), weeks=1)

    got = judge(case)
    assert got.word == "cannot tell yet"
    assert got.more_runs is not None
    assert got.more_weeks == -(-got.more_runs // 40)
    later = judge(make_case(after=Outcomes(27, 40), weeks=1 + got.more_weeks))

    assert later.word == "better"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(Outcomes(1, 40), Outcomes(19, 19), id="after"),
        pytest.param(Outcomes(0, 2), Outcomes(40, 40), id="before"),
    ],
)
def test_fewer_than_twenty_known_outcomes_in_an_arm_are_too_few(before, after):
    got = judge(make_case(before=before, after=after, weeks=1))

    assert (got.word, got.reason) == ("cannot tell yet", "too_few")
    if after.n < 20:
        assert got.more_runs == 1
    else:
        assert got.more_runs is None  # no run of the new text mends the baseline


def test_unknown_outcomes_count_in_no_arm():
    got = judge(make_case(after=Outcomes(19, 19, unknown=500), weeks=1))

    assert got.reason == "too_few"
    assert got.after == Outcomes(19, 19, 500)


def test_no_runs_at_all_cannot_tell():
    got = judge(Case(cells=(), shipped=SHIPPED, rho=RHO))

    assert (got.word, got.reason) == ("cannot tell yet", "no_baseline")
    assert (got.adjusted, got.low, got.high, got.p) == (None, -1.0, 1.0, 1.0)
    assert (got.crude, got.more_runs, got.more_weeks) == (None, None, None)


def test_strata_without_overlap_cannot_tell_and_are_named():
    cells = (
        WeekCell(WEEKS[0], SMALL, before=Outcomes(50, 100)),
        WeekCell(WEEKS[8], LARGE, after=Outcomes(90, 100)),
    )

    got = judge(Case(cells, SHIPPED, RHO))

    assert (got.word, got.reason) == ("cannot tell yet", "no_overlap")
    assert got.crude is not None
    assert got.crude.value == pytest.approx(0.4)
    assert got.one_sided == (
        OneSided(SMALL, "before", 100),
        OneSided(LARGE, "after", 100),
    )


def test_a_mix_that_moved_makes_no_verdict_but_a_rival():
    cells = (
        WeekCell(WEEKS[0], SMALL, before=Outcomes(80, 160)),
        WeekCell(WEEKS[0], LARGE, before=Outcomes(36, 40)),
        WeekCell(WEEKS[8], SMALL, after=Outcomes(20, 40)),
        WeekCell(WEEKS[8], LARGE, after=Outcomes(144, 160)),
    )

    got = judge(Case(cells, SHIPPED, RHO))

    assert got.word == "cannot tell yet"
    assert got.adjusted == pytest.approx(0)
    assert got.more_runs is None
    model, mix = got.rivals
    assert model == Rival("model", 0.2, 0.8, ("large", "small"))
    assert mix.kind == "mix"
    assert (mix.before, mix.after) == pytest.approx((0.24, 0))


def test_the_week_that_got_the_code_picked_is_not_the_baseline():
    bad_week = WeekCell(WEEKS[8], SMALL, before=Outcomes(2, 40))
    case = make_case(after=HALF)
    picked = Case((*case.cells, bad_week), WEEKS[9], RHO, picked=frozenset({WEEKS[8]}))

    got = judge(picked)

    assert got.baseline == tuple(WEEKS[:8])
    assert got.before == Outcomes(160, 320)
    assert got.adjusted == pytest.approx(0)


def test_without_a_week_before_the_pick_there_is_no_baseline():
    got = judge(make_case(picked=frozenset({WEEKS[0]})))

    assert (got.word, got.reason, got.baseline) == (
        "cannot tell yet",
        "no_baseline",
        (),
    )


def controls(before: int, after: int, trend: int = 0) -> tuple[ControlWeek, ...]:
    """Sixteen weeks of 100 runs; `trend` good runs more each week before."""
    old = [ControlWeek(w, before + trend * i, 100) for i, w in enumerate(WEEKS[:8])]
    return (*old, *(ControlWeek(w, after, 100) for w in WEEKS[8:]))


def test_controls_that_rose_as_well_are_shown_beside_the_word():
    got = judge(make_case(controls=controls(50, 75)))

    assert got.word == "better"
    assert got.against_controls is not None
    assert got.against_controls.delta == pytest.approx(0)
    assert not got.against_controls.excludes_zero
    assert got.placebo is not None
    assert not got.placebo.excludes_zero


def test_a_placebo_that_excludes_zero_refuses_the_verdict():
    got = judge(make_case(controls=controls(30, 75, trend=8)))

    assert (got.word, got.reason) == ("cannot tell yet", "placebo")
    assert got.placebo is not None
    assert got.placebo.excludes_zero
    assert got.low > 0  # the interval alone would have said better


def test_placebo_needs_four_weeks():
    case = make_case(controls=controls(50, 50), picked=frozenset({WEEKS[3]}))

    got = judge(case)

    assert got.placebo is None
    assert got.word == "better"


@pytest.mark.parametrize(
    ("case", "rival"),
    [
        pytest.param(
            make_case(adoption=0.6), Rival("adoption", None, 0.6), id="adoption"
        ),
        pytest.param(
            make_case(after=Outcomes(30, 40, unknown=10)),
            Rival("unknown_outcomes", 0.0, 0.2),
            id="unknown",
        ),
        pytest.param(
            make_case(agents_before={"1": 100}, agents_after={"1": 20, "2": 80}),
            Rival("agent_version", 1.0, 0.2, ("1", "2")),
            id="agent",
        ),
    ],
)
def test_what_else_moved_is_listed(case, rival):
    assert judge(case).rivals == (rival,)


def test_tool_version_and_soft_errors_that_moved_are_listed():
    soft = StratumKey("small", "2", "textual")
    cells = (*make_case().cells, WeekCell(WEEKS[9], soft, after=Outcomes(30, 80)))

    got = judge(Case(cells, SHIPPED, RHO))

    version, mix, soft_errors = got.rivals
    assert version == Rival("tool_version", 1.0, 0.8, ("1", "2"))
    assert (mix.before, mix.after) == pytest.approx((0.175, 0.25))
    assert soft_errors == Rival("soft_errors", 0.0, 0.2)


def test_full_adoption_and_small_moves_are_no_rivals():
    case = make_case(
        after=Outcomes(30, 40, unknown=1),
        adoption=0.9,
        agents_before={"1": 95, "2": 5},
        agents_after={"1": 90, "2": 10},
    )

    assert judge(case).rivals == ()


def test_texts_side_by_side_are_compared_within_their_weeks():
    """A canary that grows while all rates rise: only the weeks' mix differs."""
    shares = [(72, 8), (64, 16), (40, 40), (16, 64)]
    cells = tuple(
        WeekCell(
            week,
            SMALL,
            before=Outcomes(old * (4 + 2 * i) // 10, old),
            after=Outcomes(new * (4 + 2 * i) // 10, new),
        )
        for i, (week, (old, new)) in enumerate(zip(WEEKS, shares, strict=False))
    )

    got = judge(Case(cells, WEEKS[0], RHO, is_side_by_side=True))
    pooled = judge(Case(cells, WEEKS[0], RHO))

    assert got.adjusted == pytest.approx(0, abs=0.02)
    assert got.word == "cannot tell yet"
    assert got.baseline == ()
    assert got.placebo is None
    assert pooled.adjusted is not None
    assert pooled.adjusted > 0.2  # what before and after would have made of it


def test_all_right_after_twenty_runs_is_not_certainty():
    """Sato's variance forgets an arm without failures; the decision must not."""
    pooled = mantel_haenszel([Stratum("only", 20, 20, 294, 320)])
    assert pooled.adjusted is not None
    assert pooled.variance is not None

    rho = rho_at_ship(294, 320, 320)
    wrong_low, _ = difference_interval(pooled.adjusted, pooled.variance, rho)
    variance = decision_variance(pooled)
    low, _ = difference_interval(pooled.adjusted, variance, rho)

    assert wrong_low > 0
    assert low < 0
    assert always_valid_p(pooled.adjusted, variance, rho) > 0.2


@pytest.mark.parametrize(("rho", "alpha"), [(0, 0.05), (-1, 0.05), (5, 0), (5, 1)])
def test_judge_refuses_settings_that_are_none(rho, alpha):
    with pytest.raises(ValueError, match="rho > 0"):
        judge(Case((), SHIPPED, rho, alpha))


def test_judge_refuses_counts_that_are_none():
    with pytest.raises(ValueError, match="on both sides"):
        judge(make_case(after=Outcomes(41, 40)))


outcomes = st.integers(0, 60).flatmap(
    lambda n: st.builds(Outcomes, st.integers(0, n), st.just(n), st.integers(0, 9))
)


@given(
    st.lists(
        st.builds(
            WeekCell,
            st.sampled_from(WEEKS),
            st.sampled_from([SMALL, LARGE]),
            outcomes,
            outcomes,
        ),
        max_size=12,
    ),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_any_case_has_a_verdict_that_its_figures_bear_out(cells, side_by_side, rng):
    case = Case(tuple(cells), SHIPPED, RHO, is_side_by_side=side_by_side)

    got = judge(case)

    shuffled = rng.sample(cells, len(cells))
    again = judge(Case(tuple(shuffled), SHIPPED, RHO, is_side_by_side=side_by_side))
    assert again.word == got.word
    assert again.p == pytest.approx(got.p)
    assert (got.word == "better") == (got.is_final and got.low > 0)
    assert (got.word == "worse") == (got.is_final and got.high < 0)
    if got.is_final:
        assert got.p < 0.05
        assert min(got.before.n, got.after.n) >= 20
    if got.adjusted is not None:
        assert -1 <= got.low <= got.adjusted <= got.high <= 1


@pytest.mark.parametrize(("rate", "runs_a_week"), [(0.7, 8), (0.95, 30)])
def test_weekly_looks_at_nothing_say_better_or_worse_in_few_codes(rate, runs_a_week):
    told = simulate_verdicts(100, rate, 0.0, runs_a_week, seed=8)

    assert told.share_final() <= 0.05


def test_weekly_looks_find_a_gain_of_20_points():
    told = simulate_verdicts(50, 0.7, 0.2, 30, seed=9)

    assert told.share_final(within=8) >= 0.9
    assert told.worse == 0
