"""The page of the week, decisions, minutes."""

from datetime import date, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.catalogue.models import Code
from apps.rewrites.actions import save_draft, ship
from apps.runs.weeks import this_week
from apps.triage.minutes import minutes
from apps.triage.models import Decision
from apps.triage.queries import agenda
from tests.factories import HTMX, failing, ingest, make_run

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
