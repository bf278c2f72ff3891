"""The regrouping job: what it folds, and that arrival order changes nothing."""

import pytest

from apps.catalogue.models import (
    Code,
    FoldSuggestion,
    PlacementRule,
    RuleKind,
    Text,
)
from apps.codes import tasks
from apps.codes.placements import carry_out, undo
from apps.codes.regrouping import Regrouped, regroup_workspace
from apps.overview.report import report
from apps.runs.models import ToolError
from tests.factories import failing, ingest, make_run, make_workspace

TABLES = ("orders", "customers", "invoices", "shipments", "refunds", "carts", "events")


def logs(names=TABLES, prefix: str = "r"):
    return [
        make_run(
            f"{prefix}{name}",
            [failing("query", {"t": name}, f"Error: relation {name} is locked")],
            started_at=f"2026-11-{10 + TABLES.index(name)}T10:00:00Z",
        )
        for name in names
    ]


def standing() -> dict[str, int]:
    found: dict[str, int] = {}
    for key in ToolError.objects.values_list("code__key", flat=True):
        found[key] = found.get(key, 0) + 1
    return found


def test_texts_that_differ_in_varying_words_are_folded(workspace):
    ingest(workspace, *logs())
    totals = report(workspace)["tool_errors"]
    assert Code.objects.count() == len(TABLES)

    done = regroup_workspace(workspace)

    assert done.folds == len(TABLES) - 1
    assert report(workspace)["tool_errors"] == totals
    assert list(standing().values()) == [len(TABLES)]
    assert all(rule.why for rule in PlacementRule.objects.all())
    assert all(rule.made_by is None for rule in PlacementRule.objects.all())


def test_the_job_run_twice_does_nothing_the_second_time(workspace):
    ingest(workspace, *logs())

    first = tasks.regroup_task(workspace.pk)
    again = tasks.regroup_task()

    assert (first, again) == (len(TABLES) - 1, 0)
    assert PlacementRule.objects.count() == len(TABLES) - 1


@pytest.mark.parametrize(
    "order", [TABLES, TABLES[::-1], TABLES[3:] + TABLES[:3]], ids=("as", "back", "cut")
)
@pytest.mark.parametrize("steps", [1, 3, 7])
def test_the_code_that_stands_hangs_not_on_arrival(db, order, steps):
    team = make_workspace()

    size = -(-len(order) // steps)
    for start in range(0, len(order), size):
        part = order[start : start + size]
        ingest(team, *logs(part))
        regroup_workspace(team)

    assert standing() == {"query.relation_orders_locked": len(TABLES)}


def test_new_texts_of_folded_codes_are_placed_at_once(workspace):
    ingest(workspace, *logs())
    regroup_workspace(workspace)

    ingest(workspace, *logs(prefix="later"))

    assert list(standing().values()) == [2 * len(TABLES)]


def test_a_fold_that_a_person_undoes_is_not_made_again(workspace, owner):
    ingest(workspace, *logs())
    regroup_workspace(workspace)
    rule = PlacementRule.objects.filter(kind=RuleKind.FOLD).earliest("pk")

    carry_out(undo(rule, by=owner))
    regroup_workspace(workspace)

    assert standing()[rule.code.key] == 1
    assert sorted(standing().values()) == [1, len(TABLES) - 1]


def test_a_code_that_people_named_stands(workspace):
    ingest(workspace, *logs())
    Code.objects.filter(key="query.relation_refunds_locked").update(title="Locked")

    regroup_workspace(workspace)

    assert standing() == {"query.relation_refunds_locked": len(TABLES)}


def test_two_codes_that_people_worked_on_are_only_suggested(workspace):
    ingest(workspace, *logs())
    named = ["query.relation_refunds_locked", "query.relation_carts_locked"]
    Code.objects.filter(key__in=named).update(title="Locked")

    regroup_workspace(workspace)

    assert sorted(standing()) == sorted(named)
    assert [s.reason for s in FoldSuggestion.objects.all()] != []


def test_other_teams_texts_change_nothing(workspace):
    other = make_workspace()
    ingest(other, *logs(TABLES[:1]))
    ingest(workspace, *logs())

    regroup_workspace(workspace)

    assert Text.objects.get(workspace=other).code.key == "query.relation_orders_locked"
    assert regroup_workspace(other) == Regrouped(0, 0, 0)
