"""The page of the week, decisions, minutes."""

from datetime import date, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.catalogue.models import Code
from apps.rewrites.actions import save_draft, ship
from apps.runs.weeks import this_week
from apps.triage.minutes import minutes
from apps.triage.models import Decision
from apps.triage.queries import agenda
from tests.factories import HTMX, failing, ingest, make_run, make_workspace

CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")


@pytest.fixture
def monday(workspace) -> date:
    return this_week(workspace.tz)


@pytest.fixture
def code(workspace, monday) -> Code:
    day = monday - timedelta(days=20)
    ingest(
        workspace,
        *(
            make_run(f"r{n}", [CONFLICT], started_at=f"{day}T10:00:00Z", success=n > 4)
            for n in range(9)
        ),
        *(make_run(f"c{n}", [], started_at=f"{day}T10:00:00Z") for n in range(9)),
    )
    return Code.objects.get()


def test_nothing_to_decide_is_an_agenda(client, workspace, monday):
    found = agenda(workspace, monday)

    assert found.is_empty
    assert "Nothing to decide" in client.get(reverse("triage:week")).content.decode()
    assert "Nothing to decide." in minutes(found, "Team")


def test_costliest_codes_stand_with_their_loss(workspace, code, monday):
    found = agenda(workspace, monday)

    assert [item.row.counts.code_id for item in found.costly] == [code.pk]
    loss = found.costly[0].row.loss
    assert loss is not None
    assert loss.runs_per_week > 0
    assert found.new == []


def test_a_code_is_new_by_its_own_time_and_not_by_its_upload(workspace, code, monday):
    day = timezone.now().date()
    ingest(
        workspace,
        make_run(
            "new", [failing("pay", {}, "Error: locked")], started_at=f"{day}T00:00:01Z"
        ),
        make_run(
            "old",
            [failing("pay", {}, "Error: late log")],
            started_at="2026-01-05T10:00:00Z",
        ),
    )

    assert [item.row.counts.name for item in agenda(workspace, monday).new] == [
        "pay.locked"
    ]


def test_a_decision_is_recorded_changed_and_comes_back_next_week(
    client, owner, code, monday
):
    url = reverse("triage:decide", args=[code.pk])

    client.post(url, {"kind": "watch", "owner": ""})
    response = client.post(url, {"kind": "rewrite", "owner": owner.pk}, headers=HTMX)

    decision = Decision.objects.get()
    assert (decision.kind, decision.owner, decision.week) == ("rewrite", owner, monday)
    assert f'id="decision-{code.pk}"' in response.content.decode()
    later = agenda(decision.workspace, monday + timedelta(days=7))
    assert later.earlier == [decision]
    client.post(reverse("triage:close", args=[decision.pk]))
    assert agenda(decision.workspace, monday + timedelta(days=7)).earlier == []


def test_an_unknown_decision_is_refused(client, code):
    client.post(reverse("triage:decide", args=[code.pk]), {"kind": "dance"})

    assert Decision.objects.count() == 0


def watched(workspace, monday, tools: int):
    """A rewrite a tool; only the first has runs after: 6 of 24 before, GOOD since."""
    before, since = monday - timedelta(weeks=4), monday - timedelta(weeks=3)

    def met(tool: str, text: str, day: date, good: int):
        return [
            make_run(
                f"{tool}{day}{n}",
                [failing(tool, {"id": 7}, text)],
                started_at=f"{day}T10:00:00Z",
                success=n < good,
            )
            for n in range(24)
        ]

    for number in range(tools):
        tool = f"tool_{number}"
        ingest(workspace, *met(tool, f"Error: {tool} is locked", before, 6))
        draft = save_draft(
            Code.objects.get(workspace=workspace, tool=tool),
            by=None,
            agent_message=f"Ask {tool} again.",
        )
        ship(draft, since, by=None)
    ingest(workspace, *met("tool_0", "Ask tool_0 again.", since, GOOD))
    return agenda(workspace, monday)


GOOD = 17  # always-valid p 0.0456: a word alone, none in a list of four


def test_a_word_stands_only_where_the_whole_list_allows_it(client, workspace, monday):
    one = watched(workspace, monday, 1).watched[0]
    assert one.found is not None
    p = one.found.verdict.p
    assert (one.word, one.is_held_back) == ("better", False)
    assert 0.1 / 4 < p < 0.05

    many = watched(make_workspace("many"), monday, 4)

    assert [item.word for item in many.watched] == ["cannot tell yet"] * 4
    assert [item.is_held_back for item in many.watched] == [True, False, False, False]
    assert "held back" in minutes(many, "Team")
    page = client.get(reverse("triage:week")).content.decode()
    assert "Benjamini" in page
    assert "like for like" in minutes(many, "Team")


def test_each_watched_rewrite_costs_three_queries(workspace, monday):
    def queries(tools: int) -> int:
        team = make_workspace(f"team-{tools}")
        watched(team, monday, tools)
        with CaptureQueriesContext(connection) as context:
            agenda(team, monday)
        labels = sum("labels_" in query["sql"] for query in context)
        return len(context) - labels

    assert queries(4) - queries(2) == 6


def test_minutes_hold_rewrites_decisions_and_no_markup(
    client, workspace, owner, code, monday
):
    Code.objects.update(title="x](javascript:alert(1)) `<b>`\n# head")
    ship(save_draft(code, by=None, agent_message="Do this."), monday, by=None)
    client.post(
        reverse("triage:decide", args=[code.pk]),
        {"kind": "rewrite", "owner": owner.pk, "note": "[click](http://x) <b>"},
    )

    text = client.get(reverse("triage:minutes")).content.decode()

    assert "\n# head" not in text
    assert "`x](javascript:alert(1)) '<b>' # head`" in text
    assert r"\[click\]\(http://x\) \<b\>" in text
    assert "**Rewrite**" in text
