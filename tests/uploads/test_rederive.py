"""New rules over stored runs: counts follow, exactly once, beside uploads."""

import threading
import time

import msgspec
import pytest
from django.db import connection

from apps.catalogue.models import Code
from apps.overview.purge import purge
from apps.overview.report import report
from apps.runs import rollups
from apps.runs.actions import say_outcome
from apps.runs.models import (
    CountedFailure,
    DayLeftOut,
    PersonOutcome,
    Rederivation,
    RuleSet,
    Run,
    RunTranscript,
    ToolError,
)
from apps.runs.rule_sets import current_rules, save_rules
from apps.runs.rules import DEFAULT_RULES, Rules
from apps.uploads import batches, pipeline
from apps.uploads import rederive as jobs
from apps.uploads.actions import save_rules as queue_rules
from apps.uploads.rederive import rederive
from apps.uploads.tasks import rederive_task, requeue_forgotten_task
from tests.factories import (
    failing,
    ingest,
    make_run,
    make_workspace,
    step,
    upload_bytes,
)

CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")
BY_TEXT = step("pay", {"n": 1}, "Error: card declined")


def figures(workspace) -> dict[str, object]:
    return {**report(workspace), "workspace": ""}


def change(workspace, **values) -> Rederivation:
    """Save rules and read all stored runs by them."""
    rules = msgspec.structs.replace(current_rules(workspace.pk), **values)
    job = save_rules(workspace, rules, by=None)
    assert job is not None
    assert not rederive(job)
    job.refresh_from_db()
    return job


def many_runs() -> list[dict[str, object]]:
    return [
        make_run("a", [CONFLICT, BY_TEXT, CONFLICT]),
        make_run("b", [BY_TEXT], success=False, agent="tester", tags=["smoke"]),
        make_run("c", [step("get", {})], success=None, scores={"accuracy": 0.9}),
        make_run("d", [CONFLICT], success=None, scores={"accuracy": 0.2}),
        make_run("", [BY_TEXT, step("think", {}), CONFLICT], success=None),
    ]


CHANGES = [
    {"disabled_evidence": frozenset({"error-prefix@pay"})},
    {"thinking_tools": frozenset({"get"})},
    {"excluded": ("agent: test*",)},
    {"excluded": ("tag: smoke", "format: openai_chat")},
    {"score_name": "accuracy", "score_threshold": 0.5},
    {
        "score_name": "accuracy",
        "score_threshold": 0.5,
        "score_higher_is_better": False,
    },
]


@pytest.mark.parametrize("values", CHANGES)
def test_stored_runs_read_again_equal_runs_read_for_the_first_time(db, values):
    one, other = make_workspace(), make_workspace()
    ingest(one, *many_runs())
    change(other, **values)

    change(one, **values)
    ingest(other, *many_runs())

    assert figures(one) == figures(other)
    assert set(Run.objects.values_list("rules_version", flat=True)) == {2}


@pytest.mark.parametrize("values", CHANGES)
def test_rules_taken_back_give_the_figures_of_before(workspace, values):
    ingest(workspace, *many_runs())
    before = figures(workspace)
    change(workspace, **values)
    assert figures(workspace) != before or "thinking_tools" in values

    first = {name: getattr(DEFAULT_RULES, name) for name in values}
    job = change(workspace, **first)

    assert figures(workspace) == before
    assert (job.rules_version, job.total, job.done, job.state) == (3, 5, 5, "done")
    assert RuleSet.objects.count() == 2


def test_errors_that_stay_keep_their_ids(workspace):
    ingest(workspace, make_run("a", [CONFLICT, BY_TEXT]))
    kept = ToolError.objects.get(tool="update_event").pk

    change(workspace, disabled_evidence=frozenset({"error-prefix@pay"}))

    assert [error.pk for error in ToolError.objects.all()] == [kept]
    assert Code.objects.count() == 2


def test_a_pass_that_dies_goes_on_and_counts_each_run_once(workspace, monkeypatch):
    ingest(workspace, *(make_run(f"run-{n}", [BY_TEXT]) for n in range(7)))
    monkeypatch.setattr(jobs, "BATCH_RUNS", 2)
    rules = Rules(disabled_evidence=frozenset({"error-prefix"}))
    job = save_rules(workspace, rules, by=None)
    assert job is not None
    written, batches_seen = jobs.replace_facts, []

    def dies_in_third_batch(*values):
        batches_seen.append(1)
        written(*values)
        if len(batches_seen) == 3:
            raise SystemExit("killed")

    monkeypatch.setattr(jobs, "replace_facts", dies_in_third_batch)
    with pytest.raises(SystemExit):
        rederive(job)
    assert Run.objects.filter(rules_version=2).count() == 4
    assert report(workspace)["tool_errors"] == 3
    monkeypatch.setattr(jobs, "replace_facts", written)

    rederive_task(job.pk)
    rederive_task(job.pk)
    rederive_task(0)

    job.refresh_from_db()
    assert (job.total, job.done, job.state) == (7, 7, "done")
    assert report(workspace)["tool_errors"] == 0
    assert report(workspace)["runs"] == 7


def test_a_pass_stops_for_uploads_and_goes_on(workspace, monkeypatch):
    ingest(workspace, make_run("a", [BY_TEXT]), make_run("b", [BY_TEXT]))
    monkeypatch.setattr(jobs, "BATCH_BYTES", 1)
    job = save_rules(workspace, Rules(thinking_tools=frozenset()), by=None)
    assert job is not None

    assert rederive(job, seconds=0)

    job.refresh_from_db()
    assert (job.done, job.state) == (1, "running")
    assert not rederive(job)


def test_newer_rules_overtake_a_pass(workspace):
    ingest(workspace, make_run("a", [BY_TEXT]))
    first = save_rules(workspace, Rules(thinking_tools=frozenset()), by=None)
    second = save_rules(workspace, Rules(handoff_tools=frozenset()), by=None)
    assert first is not None
    assert second is not None

    rederive(first)
    rederive(second)

    first.refresh_from_db()
    assert first.state == "superseded"
    assert Run.objects.get().rules_version == second.rules_version == 3


def test_the_same_rules_are_not_saved_twice(workspace):
    rules = Rules(excluded=("tag: x",))

    assert save_rules(workspace, rules, by=None) is not None
    assert save_rules(workspace, rules, by=None) is None
    assert current_rules(workspace.pk) == msgspec.structs.replace(rules, version=2)
    assert current_rules(make_workspace().pk) == DEFAULT_RULES


def test_a_run_without_its_transcript_keeps_facts_and_version(workspace):
    ingest(workspace, make_run("a", [BY_TEXT]), make_run("b", [BY_TEXT]))
    RunTranscript.objects.filter(run__log_id="a").delete()

    job = change(workspace, disabled_evidence=frozenset({"error-prefix"}))

    assert job.total == 1
    assert list(
        Run.objects.order_by("log_id").values_list("errors", "rules_version")
    ) == [(1, 1), (0, 2)]
    assert report(workspace)["tool_errors"] == 1


def test_a_batch_read_by_older_rules_is_read_again_before_it_is_written(
    workspace, monkeypatch
):
    prepare = batches.prepare

    def rules_change_meanwhile(records, rules):
        work = prepare(records, rules)
        if rules.version == 1:
            off = Rules(disabled_evidence=frozenset({"error-prefix"}))
            save_rules(workspace, off, by=None)
        return work

    monkeypatch.setattr(batches, "prepare", rules_change_meanwhile)

    ingest(workspace, make_run("a", [BY_TEXT]))

    assert Run.objects.get().rules_version == 2
    assert report(workspace)["tool_errors"] == 0


def test_forgotten_passes_are_queued_again(workspace, monkeypatch):
    queued: list[int] = []
    monkeypatch.setattr(rederive_task, "delay", queued.append)
    job = save_rules(workspace, Rules(excluded=("tag: x",)), by=None)
    assert job is not None

    requeue_forgotten_task()
    assert queued == []
    Rederivation.objects.update(touched_at="2026-01-01T00:00:00Z")
    requeue_forgotten_task()

    assert queued == [job.pk]


def test_left_out_runs_are_in_no_figure_and_counted_by_rule(workspace):
    ingest(workspace, make_run("a", [CONFLICT]))
    alone = figures(workspace)

    ingest(workspace, make_run("b", [CONFLICT], agent="tester"))
    change(workspace, excluded=("agent: test*",))
    ingest(workspace, make_run("b", [CONFLICT, CONFLICT], agent="tester"))

    assert figures(workspace) == alone
    run = Run.objects.get(log_id="b")
    assert (run.is_excluded, run.excluded_by) == (True, "agent: test*")
    assert sum(DayLeftOut.objects.values_list("runs", flat=True)) == 1
    rollups.compact(workspace.pk)
    assert DayLeftOut.objects.get().rule == "agent: test*"


def test_a_list_goes_before_rule_and_person(workspace, owner):
    runs = [
        make_run("c", [], success=None, scores={"accuracy": 0.9}),
        make_run("d", [], success=None),
    ]
    ingest(workspace, *runs)
    change(workspace, score_name="accuracy", score_threshold=0.5)
    say_outcome(Run.objects.get(log_id="d"), "correct", by=owner)
    said = dict(Run.objects.values_list("log_id", "outcome_by"))
    assert said == {"c": "rule: accuracy >= 0.5", "d": f"person: {owner}"}

    upload_bytes(workspace, b"run_id,outcome\nc,incorrect\nd,incorrect\n", "o.csv")

    assert report(workspace)["outcomes"]["incorrect"] == 2
    change(workspace, score_threshold=0.1)
    assert report(workspace)["outcomes"]["incorrect"] == 2
    assert all(by.startswith("list: ") for by in _said_by())


def _said_by() -> list[str]:
    return list(Run.objects.values_list("outcome_by", flat=True))


def test_a_persons_word_stays_when_its_run_is_replaced(workspace, owner):
    named = make_run("a", [CONFLICT], success=None, final="")
    whole = make_run("", [CONFLICT, BY_TEXT], success=None)["messages"]
    ingest(workspace, named, {"messages": whole[:3]})
    for run in Run.objects.all():
        assert say_outcome(run, "correct", by=owner, note="Looked at it.")
    assert report(workspace)["with_error"]["correct"] == 2

    longer = make_run("a", [CONFLICT, CONFLICT], success=None)
    ingest(workspace, longer, {"messages": whole})
    assert report(workspace)["with_error"] == {
        "correct": 2,
        "incorrect": 0,
        "unknown": 0,
    }
    change(workspace, thinking_tools=frozenset())

    assert report(workspace)["with_error"]["correct"] == 2
    assert PersonOutcome.objects.count() == 2


def test_a_persons_word_is_kept_but_does_not_overrule_the_log(workspace, owner):
    ingest(workspace, make_run("a", [CONFLICT]))

    assert not say_outcome(Run.objects.get(), "incorrect", by=owner)

    assert report(workspace)["outcomes"]["correct"] == 1
    assert PersonOutcome.objects.get().outcome == "incorrect"


def test_a_word_taken_back_leaves_the_outcome_unknown(workspace, owner):
    ingest(workspace, make_run("a", [CONFLICT], success=None))
    for outcome in ("correct", "incorrect", "unknown"):
        say_outcome(Run.objects.get(), outcome, by=owner)
        assert report(workspace)["outcomes"][outcome] == 1
    change(workspace, thinking_tools=frozenset())

    assert report(workspace)["outcomes"]["unknown"] == 1


def test_an_emptied_workspace_keeps_no_decision(workspace, owner):
    ingest(workspace, make_run("a", [CONFLICT], success=None))
    say_outcome(Run.objects.get(), "correct", by=owner)
    change(workspace, excluded=("agent: x",))

    purge(workspace)

    tables = (RuleSet, Rederivation, PersonOutcome, CountedFailure, DayLeftOut)
    assert [table.objects.count() for table in tables] == [0] * len(tables)


@pytest.mark.slow
def test_a_real_worker_reads_the_stored_runs_again(worker):
    workspace = make_workspace()
    ingest(workspace, *many_runs())
    off = Rules(disabled_evidence=frozenset({"error-prefix"}))

    job = queue_rules(workspace, off, by=None)

    assert job is not None
    until = time.monotonic() + 30
    while job.is_open and time.monotonic() < until:
        time.sleep(0.2)
        job.refresh_from_db()
    assert (job.state, job.done) == ("done", 5)
    assert set(Run.objects.values_list("rules_version", flat=True)) == {2}


@pytest.mark.django_db(transaction=True)
def test_uploads_and_two_passes_at_once_lose_and_double_nothing(monkeypatch):
    workspace = make_workspace()
    ingest(workspace, *(make_run(f"run-{n}", [BY_TEXT]) for n in range(40)))
    monkeypatch.setattr(jobs, "BATCH_RUNS", 3)
    monkeypatch.setattr(pipeline, "BATCH_RECORDS", 5)
    rules = Rules(disabled_evidence=frozenset({"error-prefix"}))
    job = save_rules(workspace, rules, by=None)
    assert job is not None
    longer = [make_run(f"run-{n}", [BY_TEXT, CONFLICT]) for n in range(39, 9, -1)]
    faults: list[BaseException] = []

    def at_once(work) -> None:
        try:
            work()
        except BaseException as fault:  # noqa: BLE001 (told below)
            faults.append(fault)
        finally:
            connection.close()

    acts = [
        lambda: rederive(Rederivation.objects.get()),
        lambda: rederive(Rederivation.objects.get()),
        lambda: ingest(workspace, *longer),
    ]
    threads = [threading.Thread(target=at_once, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rederive(job)

    assert faults == []
    assert set(Run.objects.values_list("rules_version", flat=True)) == {2}
    found = report(workspace)
    assert (found["runs"], found["tool_calls"], found["tool_errors"]) == (40, 70, 30)
    assert sum(found["outcomes"].values()) == 40
