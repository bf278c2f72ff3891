"""Merge, split, move, undo: totals hold at each step, and rules outlive new logs."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest
from django.db import IntegrityError, connection, transaction

from apps.catalogue import placing
from apps.catalogue.models import (
    Code,
    JobState,
    PlacementJob,
    PlacementRule,
    RuleKind,
    Text,
)
from apps.catalogue.placement import PatternError
from apps.codes import tasks
from apps.codes.placements import PlacementRefusedError, Plan, carry_out, place, undo
from apps.codes.placements import preview as counted
from apps.overview.report import report
from apps.rewrites import actions as rewrites
from apps.runs.models import RunCode, ToolError
from tests.factories import failing, ingest, make_run

DECLINED = "Error: the card was declined"
REFUSED = "Error: payment refused by the bank"


def runs(prefix: str, *texts: str, tool: str = "pay", n: int = 3):
    return [
        make_run(
            f"{prefix}{number}",
            [failing(tool, {"n": number}, text) for text in texts],
            success=number % 2 == 0,
        )
        for number in range(n)
    ]


def code_of(text: str) -> Code:
    return Code.objects.get(pk=Text.objects.get(sample=text, side_of=None).home_id)


def plan(code: Code, into: str, kind: str = RuleKind.MERGE, **values) -> Plan:
    values.setdefault("into_tool", code.tool)
    return Plan(code=code, kind=kind, into_key=into, **values)


def done(a_plan: Plan) -> PlacementRule:
    job = place(a_plan, by=None, why="same answer")
    carry_out(job)
    assert job.state == JobState.DONE
    assert job.rule is not None
    return job.rule


def undone(rule: PlacementRule) -> None:
    carry_out(undo(rule, by=None))


def totals(workspace) -> dict[str, object]:
    """What of a report no placement may change."""
    found = report(workspace)
    codes = found["codes"]
    return {
        "headline": found["tool_errors"],
        "errors": sum(code["errors"] for code in codes),
        "rows": ToolError.objects.filter(workspace=workspace, is_counted=True).count(),
        "hits": sum(RunCode.objects.values_list("errors", flat=True)),
    }


def by_code(workspace) -> dict[str, int]:
    return {c["code"]: c["errors"] for c in report(workspace)["codes"]}


def agrees(workspace) -> None:
    """The rollups say what the rows say."""
    rows: dict[str, int] = {}
    for key in ToolError.objects.values_list("code__key", flat=True):
        rows[key] = rows.get(key, 0) + 1
    assert by_code(workspace) == rows


def test_merge_then_ingest_then_undo_keeps_every_total(workspace):
    ingest(workspace, *runs("a", DECLINED, REFUSED), *runs("b", DECLINED))
    declined, refused = code_of(DECLINED), code_of(REFUSED)
    before, codes_before = totals(workspace), by_code(workspace)

    rule = done(plan(refused, declined.key))

    assert totals(workspace) == before
    assert by_code(workspace) == {declined.key: 9}
    agrees(workspace)

    ingest(workspace, *runs("c", REFUSED), *runs("d", DECLINED, REFUSED))
    more = totals(workspace)

    assert more["errors"] == more["rows"] == 18
    assert by_code(workspace) == {declined.key: 18}
    agrees(workspace)

    undone(rule)

    assert totals(workspace) == more
    assert by_code(workspace) == {declined.key: 9, refused.key: 9}
    assert codes_before == {declined.key: 6, refused.key: 3}
    agrees(workspace)


def test_a_preview_counts_what_is_then_moved(workspace):
    ingest(workspace, *runs("a", DECLINED, REFUSED, REFUSED), *runs("b", DECLINED))
    a_plan = plan(code_of(REFUSED), code_of(DECLINED).key)

    found = counted(a_plan)
    job = place(a_plan, by=None, why="")
    carry_out(job)

    assert (found.errors, found.runs) == (6, 3)
    assert (job.errors_moved, job.runs_moved) == (6, 3)


def test_a_job_that_is_run_twice_moves_once(workspace):
    ingest(workspace, *runs("a", DECLINED, REFUSED))
    job = place(plan(code_of(REFUSED), code_of(DECLINED).key), by=None, why="")

    tasks.carry_out_task(job.pk)
    tasks.carry_out_task(job.pk)
    tasks.carry_out_task(0)

    job.refresh_from_db()
    assert job.errors_moved == 3
    agrees(workspace)


def test_a_worker_that_died_halfway_is_carried_on(workspace):
    ingest(workspace, *runs("a", DECLINED, REFUSED))
    refused = code_of(REFUSED)
    job = place(plan(refused, code_of(DECLINED).key), by=None, why="")
    shift = placing.place_texts(workspace.pk)
    PlacementJob.objects.filter(pk=job.pk).update(
        codes=list(shift.codes), state=JobState.MOVING
    )

    carry_out(job)

    assert not ToolError.objects.filter(code=refused).exists()
    agrees(workspace)


def test_a_split_by_words_holds_for_new_texts(workspace):
    first = "Error: order 17 not found in archive"
    ingest(workspace, *runs("a", first), *runs("b", DECLINED))
    code = code_of(first)
    done(plan(code_of(DECLINED), code.key))

    rule = done(plan(code, "pay.declined", RuleKind.SPLIT, pattern="CARD  was"))

    assert by_code(workspace) == {code.key: 3, "pay.declined": 3}
    ingest(workspace, *runs("c", DECLINED, first))
    assert by_code(workspace) == {code.key: 6, "pay.declined": 6}
    agrees(workspace)
    undone(rule)
    assert by_code(workspace) == {code.key: 12}
    agrees(workspace)


def test_a_split_on_raw_text_divides_one_masked_form(workspace):
    small, large = (
        "Error: limit of 404 units passed",
        "Error: limit of 503 units passed",
    )
    ingest(workspace, *runs("a", small, large), *runs("b", large))
    assert Text.objects.count() == 1
    code = Code.objects.get()
    split = plan(
        code,
        "pay.unavailable",
        RuleKind.SPLIT,
        pattern=r"of 5\d\d",
        is_regex=True,
        is_on_raw=True,
    )
    before = totals(workspace)

    assert counted(split) == (6, 6)
    rule = done(split)

    assert totals(workspace) == before
    assert by_code(workspace) == {code.key: 3, "pay.unavailable": 6}
    agrees(workspace)
    ingest(workspace, *runs("c", small, large))
    assert by_code(workspace) == {code.key: 6, "pay.unavailable": 9}
    agrees(workspace)
    again = done(plan(Code.objects.get(key="pay.unavailable"), code.key))
    assert by_code(workspace) == {code.key: 15}
    undone(again)
    undone(rule)
    assert by_code(workspace) == {code.key: 15}
    agrees(workspace)


def test_a_code_moves_to_another_tool_with_its_key(workspace):
    ingest(workspace, *runs("a", DECLINED))
    code = code_of(DECLINED)

    rule = done(plan(code, code.key, RuleKind.MOVE, into_tool="billing"))

    moved = Code.objects.get(tool="billing")
    assert moved.key == code.key
    assert ToolError.objects.filter(code=moved, tool="pay").count() == 3
    undone(rule)
    assert ToolError.objects.filter(code=code).count() == 3


def test_the_order_of_logs_and_rules_makes_no_difference(workspace):
    ingest(workspace, *runs("a", DECLINED), *runs("b", REFUSED))
    declined, refused = code_of(DECLINED), code_of(REFUSED)
    done(plan(refused, declined.key))
    done(plan(declined, "pay.bank", RuleKind.SPLIT, pattern="bank"))

    ingest(workspace, *runs("c", REFUSED))

    assert by_code(workspace) == {declined.key: 3, "pay.bank": 6}


def test_a_rewrite_follows_its_text(workspace):
    ingest(workspace, *runs("a", DECLINED), *runs("b", REFUSED))
    refused, declined = code_of(REFUSED), code_of(DECLINED)
    draft = rewrites.save_draft(refused, by=None, agent_message="Ask for a new card.")
    rewrite = rewrites.ship(draft, date(2026, 11, 25), by=None)

    rule = done(plan(refused, declined.key))
    rewrite.refresh_from_db()
    followed = rewrite.code_id
    ingest(workspace, *runs("c", "Ask for a new card."))

    assert followed == declined.pk
    assert by_code(workspace) == {declined.key: 9}
    undone(rule)
    rewrite.refresh_from_db()
    assert rewrite.code_id == refused.pk
    assert by_code(workspace) == {declined.key: 3, refused.key: 6}


def test_a_rewrite_of_a_moved_code_is_recognised_in_later_logs(workspace):
    ingest(workspace, *runs("a", DECLINED))
    code = code_of(DECLINED)
    done(plan(code, code.key, RuleKind.MOVE, into_tool="billing"))
    moved = Code.objects.get(tool="billing")
    draft = rewrites.save_draft(moved, by=None, agent_message="Ask for a new card.")
    rewrite = rewrites.ship(draft, date(2026, 11, 25), by=None)

    ingest(workspace, *runs("c", "Error: Ask for a new card."))

    texts = set(ToolError.objects.filter(run__log_id="c0").values_list("text", "code"))
    assert texts == {(rewrite.text_id, moved.pk)}
    assert ToolError.objects.filter(code=moved).count() == 6


def test_a_merge_into_itself_or_nothing_is_refused(workspace):
    ingest(workspace, *runs("a", DECLINED))
    code = code_of(DECLINED)

    for into in (code.key, "pay.nothing"):
        with pytest.raises(PlacementRefusedError):
            place(plan(code, into), by=None, why="")
    with pytest.raises(PatternError):
        place(plan(code, "pay.x", RuleKind.SPLIT, pattern="  "), by=None, why="")
    assert not PlacementRule.objects.exists()


def test_an_undone_rule_is_not_undone_again(workspace):
    ingest(workspace, *runs("a", DECLINED), *runs("b", REFUSED))
    rule = done(plan(code_of(REFUSED), code_of(DECLINED).key))
    undone(rule)

    with pytest.raises(PlacementRefusedError, match="already"):
        undo(rule, by=None)


def test_the_constraints_of_rules_hold(workspace):
    ingest(workspace, *runs("a", DECLINED), *runs("b", REFUSED))
    one, two = code_of(DECLINED), code_of(REFUSED)
    base = {"workspace": workspace, "code": one, "into": two}

    for wrong in (
        {"kind": "stir"},
        {"kind": "split"},
        {"kind": "merge", "pattern": "x"},
        {"kind": "merge", "into": one},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            PlacementRule.objects.create(**{**base, **wrong})
    PlacementRule.objects.create(kind="fold", **base)
    with pytest.raises(IntegrityError), transaction.atomic():
        PlacementRule.objects.create(kind="fold", **base)


@pytest.mark.django_db(transaction=True)
def test_a_job_beside_running_uploads_loses_nothing(workspace):
    ingest(workspace, *runs("a", DECLINED, REFUSED))
    declined, refused = code_of(DECLINED), code_of(REFUSED)

    def uploading(number: int) -> None:
        try:
            ingest(workspace, *runs(f"u{number}-", REFUSED, DECLINED, n=20))
        finally:
            connection.close()

    def placing_about() -> None:
        try:
            for _ in range(4):
                undone(done(plan(refused, declined.key)))
            done(plan(refused, declined.key))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(uploading, number) for number in range(6)]
        jobs.append(pool.submit(placing_about))
    for job in jobs:
        job.result()

    assert by_code(workspace) == {declined.key: 2 * (3 + 6 * 20)}
    agrees(workspace)
