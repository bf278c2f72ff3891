"""Contract, findings, and texts that nobody announced."""

import json

import pytest
from django.urls import reverse

from apps.catalogue.models import Code, CodeChange, Text, Tool
from apps.codes.contracts import contract_page
from apps.codes.queries import texts_of
from apps.rewrites.models import Rewrite
from tests.factories import HTMX, failing, ingest, make_run

LIMIT = json.dumps(
    {"error": {"code": "E_LIMIT", "message": "Rate limit.", "status": 429}}
)
OTHER = json.dumps({"error": {"code": "E_LIMIT", "message": "Wait, then try later."}})


def runs(prefix: str, text: str, day: str, n: int = 2):
    return [
        make_run(
            f"{prefix}{number}",
            [failing("pay", {"n": number}, text)],
            started_at=f"{day}T10:00:00Z",
        )
        for number in range(n)
    ]


@pytest.fixture
def code(workspace) -> Code:
    ingest(workspace, *runs("a", LIMIT, "2026-11-03"))
    return Code.objects.get()


def test_an_envelope_is_proposed_and_confirmed_by_a_person(client, code, owner):
    url = reverse("codes:contract", args=[code.pk])

    shown = client.get(url, headers=HTMX).content.decode()
    client.post(
        reverse("codes:confirm", args=[code.pk]),
        {"category": "limit", "next_action": "escalate", "retry_directive": "never"},
    )

    assert "not confirmed" in shown
    assert '<option value="limit" selected>' in shown
    code.refresh_from_db()
    assert (code.category, code.contract_by) == ("limit", owner)
    change = CodeChange.objects.get()
    assert (change.what, change.before) == ("contract", "nothing said")
    assert "limit" in change.after
    assert "confirmed" in client.get(url).content.decode()


def test_a_value_that_is_no_choice_is_refused(client, code):
    client.post(reverse("codes:confirm", args=[code.pk]), {"category": "weather"})

    code.refresh_from_db()
    assert (code.category, code.contract_at) == ("", None)


def test_a_contradiction_is_a_finding(workspace, code):
    Tool.objects.create(workspace=workspace, name="pay", is_idempotent=False)
    Code.objects.update(
        category="dependency",
        commit_state="unknown",
        retry_directive="after_delay",
        next_action="wait_and_retry",
    )
    code.refresh_from_db()

    found = contract_page(code).findings

    assert any("unknown" in f.finding.message.lower() for f in found)


def test_findings_are_ordered_by_runs(workspace, code):
    ingest(workspace, *runs("b", OTHER, "2026-11-03", 5))

    found = contract_page(code).findings

    assert found
    assert [f.runs for f in found] == sorted((f.runs for f in found), reverse=True)


def test_a_text_that_nobody_shipped_is_shown_and_adopted(client, workspace, code):
    ingest(workspace, *runs("b", OTHER, "2026-11-17", 3))
    ingest(workspace, *runs("c", LIMIT, "2026-11-18", 1))
    first, second = texts_of(code)

    assert (first.is_unannounced, second.is_unannounced) == (False, True)
    assert (first.week_share, second.week_share) == (0.25, 0.75)
    page = reverse("codes:detail", args=[code.pk])
    assert "unannounced rewrite" in client.get(page).content.decode()

    client.post(reverse("codes:adopt", args=[second.text.pk]))

    rewrite = Rewrite.objects.get()
    assert str(rewrite.shipped_on) == "2026-11-17"
    assert "unannounced rewrite" not in client.get(page).content.decode()
    assert Text.objects.filter(code=code).count() == 2
