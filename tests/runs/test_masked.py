"""Failures that look like successes: suggested, counted by a person, taken back."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role
from apps.overview.report import report
from apps.runs.masked import suggestions
from apps.runs.models import CountedFailure, Rederivation, Run, ToolError
from apps.runs.rules import DEFAULT_RULES, Rules
from apps.runs.transcript import Call, Result, Thread, Transcript, Turn
from apps.uploads.actions import save_rules
from apps.uploads.rederive import rederive
from tests.factories import failing, ingest, make_member, make_run, step

NOTHING = step("search", {"q": "x"}, "[]")
FOUND = step("search", {"q": "y"}, "3 things")
PRINTED = "ok\nTraceback (most recent call last):\n  boom"
INNER = step("bash", {"command": "make"}, PRINTED, is_error=False)


def transcript(*calls: Call) -> Transcript:
    return Transcript(
        "x", [Thread([Turn("assistant", calls=[call]) for call in calls])]
    )


def call(tool: str, text: str, is_error: bool | None = None, q: str = "1") -> Call:
    return Call(tool, q, result=Result(text, is_error))


CASES = [
    ("nothing anywhere", [call("a", ""), call("a", "")], []),
    ("nothing, elsewhere found", [call("a", ""), call("a", "3", q="2")], [0]),
    ("nothing, elsewhere failed", [call("a", "[]"), call("a", "x", True)], [0]),
    ("another tool finds", [call("a", ""), call("b", "3")], []),
    ("a shell prints nothing", [call("bash", ""), call("bash", "3", q="2")], []),
    ("a thinking tool", [call("think", ""), call("think", "3", q="2")], []),
    ("no results", [call("a", "No results found."), call("a", "3", q="2")], [0]),
    ("flagged", [call("a", "", True), call("a", "3")], []),
]


@pytest.mark.parametrize(
    ("calls", "wanted"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_nothing_is_suspicious_where_the_tool_elsewhere_tells(calls, wanted):
    found = suggestions({7: transcript(*calls)}, DEFAULT_RULES, {})

    assert [hidden.place[1] for hidden in found.hidden] == wanted


def test_runs_tell_of_each_other_and_what_is_spoken_of_is_left_out():
    runs = {1: transcript(call("a", "")), 2: transcript(call("a", "3"))}

    assert [h.run_id for h in suggestions(runs, DEFAULT_RULES, {}).hidden] == [1]
    spoken = {1: frozenset({(0, 0, 0)})}
    assert suggestions(runs, DEFAULT_RULES, spoken).hidden == []
    off = Rules(disabled_evidence=frozenset({"empty-result"}))
    assert suggestions(runs, off, {}).hidden == []


def test_an_empty_result_that_is_flagged_is_a_finding_of_its_own():
    found = suggestions({1: transcript(call("a", " ", True))}, DEFAULT_RULES, {})

    assert [(h.tool, h.place) for h in found.flagged_empty] == [("a", (0, 0, 0))]
    assert found.hidden == []


@pytest.fixture
def reviewer(workspace) -> Client:
    client = Client()
    client.force_login(make_member(workspace, Role.REVIEWER))
    return client


def word(turn: int, is_failure: str = "yes") -> dict[str, object]:
    return {"thread": 0, "turn": turn, "call": 0, "is_failure": is_failure}


def test_a_reviewer_counts_a_failure_and_takes_it_back(workspace, reviewer):
    ingest(workspace, make_run("a", [NOTHING, FOUND, NOTHING]))
    before = report(workspace)
    url = reverse("uploads:say-failure", args=[Run.objects.get().pk])
    page = reviewer.get(reverse("runs:masked"))
    assert page.context["hidden_total"] == 2

    reviewer.post(url, word(1))

    error = ToolError.objects.get()
    assert (error.evidence, error.rule) == ("masked", "a person's word")
    assert (error.is_counted, error.next_move) == (True, "retried_changed")
    assert report(workspace)["evidence"] == {"masked": 1}
    assert report(workspace)["runs_with_error"] == 1
    assert reviewer.get(reverse("runs:masked")).context["hidden_total"] == 1
    detail = reviewer.get(reverse("runs:detail", args=[Run.objects.get().pk]))
    assert "It went well" in detail.content.decode()
    reviewer.post(url, word(1, "no"))
    assert report(workspace) == before
    assert CountedFailure.objects.count() == 2


def test_a_counted_failure_stays_through_uploads_and_rules(workspace, reviewer, owner):
    short = [NOTHING, FOUND]
    whole = make_run("", [NOTHING, FOUND, NOTHING], success=None)["messages"]
    ingest(workspace, make_run("a", short, final=""), {"messages": whole[:4]})
    for run in Run.objects.all():
        reviewer.post(reverse("uploads:say-failure", args=[run.pk]), word(1))
    assert report(workspace)["tool_errors"] == 2

    ingest(workspace, make_run("a", [*short, FOUND]), {"messages": whole})
    assert report(workspace)["tool_errors"] == 2
    save_rules(workspace, Rules(thinking_tools=frozenset()), by=owner)
    rederive(Rederivation.objects.get())

    assert report(workspace)["tool_errors"] == 2
    assert report(workspace)["runs"] == 2


def test_only_a_call_that_seems_well_can_be_counted(workspace, reviewer):
    ingest(workspace, make_run("a", [failing("pay", {}, "Error: no"), FOUND]))
    url = reverse("uploads:say-failure", args=[Run.objects.get().pk])

    for values in (word(1), word(99), word(0), {"turn": "x"}):
        assert reviewer.post(url, values).status_code == 302

    assert CountedFailure.objects.count() == 0
    assert report(workspace)["tool_errors"] == 1


def test_a_printed_stack_trace_is_suggested_and_shown_as_text(workspace, reviewer):
    ingest(workspace, make_run("a", [INNER, FOUND, step("search", {"q": "<b>"}, "")]))

    page = reviewer.get(reverse("runs:masked")).content.decode()

    assert "traceback-inside" in page
    assert "&lt;b&gt;" in page


def test_who_may_not_count_does_not(workspace, stranger):
    ingest(workspace, make_run("a", [NOTHING, FOUND]))
    url = reverse("uploads:say-failure", args=[Run.objects.get().pk])
    viewer = Client()
    viewer.force_login(make_member(workspace, Role.VIEWER))

    assert viewer.post(url, word(1)).status_code == 403
    assert stranger.post(url, word(1)).status_code == 404
    assert "Count it" not in viewer.get(reverse("runs:masked")).content.decode()
    assert CountedFailure.objects.count() == 0
