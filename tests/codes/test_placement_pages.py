"""The pages that place, name and explain."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.catalogue.models import (
    Code,
    CodeChange,
    FoldSuggestion,
    PlacementJob,
    PlacementRule,
    RuleKind,
    Text,
)
from apps.runs.models import ToolError
from tests.factories import HTMX, failing, ingest, make_run

DECLINED = "Error: the card was declined"
REFUSED = "Error: payment refused by the bank"


@pytest.fixture
def codes(workspace) -> tuple[Code, Code]:
    ingest(
        workspace,
        *(
            make_run(f"r{n}", [failing("pay", {"n": n}, text)])
            for n, text in enumerate([DECLINED, DECLINED, REFUSED])
        ),
    )
    one, two = (Text.objects.get(sample=text).code for text in (DECLINED, REFUSED))
    return one, two


def page(client: Client, name: str, *args: int, **query: str | int) -> str:
    return str(client.get(reverse(name, args=args), query).content.decode())


def test_a_preview_says_what_would_move_and_moves_nothing(client, codes):
    declined, refused = codes

    shown = page(client, "codes:place", declined.pk, kind="merge", into=refused.pk)

    assert "This would move 2 errors in 2 runs" in shown
    assert not PlacementRule.objects.exists()


def test_a_merge_is_done_logged_and_undone_from_the_page(client, codes, owner):
    declined, refused = codes
    url = reverse("codes:place", args=[declined.pk])

    response = client.post(
        url, {"kind": "merge", "into": refused.pk, "why": "same answer"}
    )

    assert response["Location"] == reverse("codes:detail", args=[refused.pk])
    rule = PlacementRule.objects.get()
    assert (rule.made_by, rule.why) == (owner, "same answer")
    assert set(ToolError.objects.values_list("code", flat=True)) == {refused.pk}
    assert "same answer" in page(client, "codes:detail", refused.pk)
    assert "are now at" in page(client, "codes:detail", declined.pk)

    client.post(reverse("codes:undo", args=[rule.pk]))

    rule.refresh_from_db()
    assert rule.undone_by == owner
    assert ToolError.objects.filter(code=declined).count() == 2
    again = client.post(reverse("codes:undo", args=[rule.pk]), follow=True)
    assert "undone already" in again.content.decode()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"kind": "merge"}, "Choose the code that stands."),
        ({"kind": "split", "pattern": "x"}, "Name the failure"),
        ({"kind": "split", "name": "x", "pattern": "(a+)+", "how": "regex"}, "flat"),
        ({"kind": "split", "name": "x", "pattern": "(", "how": "regex"}, "no regular"),
        ({"kind": "split", "name": "x", "pattern": "a*b*c*", "how": "regex"}, "most"),
        ({"kind": "split", "name": "x", "pattern": r"(a)\1", "how": "regex"}, "Back"),
        ({"kind": "move", "tool": "pay"}, "this very code"),
        ({"kind": "stir"}, "valid choice"),
    ],
)
def test_what_cannot_be_done_is_refused_kindly(client, codes, values, said):
    response = client.post(reverse("codes:place", args=[codes[0].pk]), values)

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not PlacementRule.objects.exists()


def test_a_large_job_is_left_to_a_worker_and_shown(client, codes, monkeypatch):
    monkeypatch.setattr("apps.codes.placement_views.AT_ONCE", 1)
    declined, refused = codes
    url = reverse("codes:place", args=[declined.pk])

    response = client.post(url, {"kind": "merge", "into": refused.pk})

    job = PlacementJob.objects.get()
    assert response["Location"] == reverse("codes:job", args=[job.pk])
    assert "every 2s" in page(client, "codes:job", job.pk)
    fragment = client.get(reverse("codes:job", args=[job.pk]), headers=HTMX)
    assert fragment.content.decode().startswith("\n<section") or "<html" not in (
        fragment.content.decode()
    )


def test_a_code_is_renamed_muted_and_both_are_logged(client, codes, owner):
    declined, _ = codes

    client.post(reverse("codes:rename", args=[declined.pk]), {"title": "Card says no"})
    client.post(reverse("codes:mute", args=[declined.pk]), {"muted": "yes"})
    client.post(reverse("codes:mute", args=[declined.pk]), {"muted": "yes"})

    declined.refresh_from_db()
    assert (declined.title, declined.is_muted) == ("Card says no", True)
    changes = CodeChange.objects.order_by("pk")
    assert [(c.what, c.after, c.made_by) for c in changes] == [
        ("name", "Card says no", owner),
        ("mute", "muted", owner),
    ]
    listed = page(client, "codes:list")
    assert "Card says no" not in listed
    assert "1 muted" in listed
    assert "Card says no" in page(client, "codes:list", muted="yes")


def test_why_shows_each_step(client, codes, workspace):
    wrapped = "Error executing tool pay: the card was declined"
    ingest(workspace, make_run("w", [failing("pay", {"n": 9}, wrapped)]))
    error = ToolError.objects.get(delivered=wrapped)
    declined, refused = codes
    url = reverse("codes:place", args=[declined.pk])
    client.post(url, {"kind": "merge", "into": refused.pk, "why": "one bank"})

    shown = page(client, "codes:why", error.pk)

    for part in (wrapped, "fastmcp", "the card was declined", declined.key, "one bank"):
        assert part in shown


def test_the_tester_explains_and_writes_nothing(client, codes):
    before = (Code.objects.count(), Text.objects.count())

    def tested(text: str) -> str:
        values = {"tool": "pay", "text": text}
        return str(client.post(reverse("codes:tester"), values).content.decode())

    assert codes[0].key in tested(DECLINED)
    assert "E_LIMIT" in tested('{"error": {"code": "E_LIMIT", "message": "too many"}}')
    assert "new: no such text has been seen" in tested("Error: never met before")
    assert (Code.objects.count(), Text.objects.count()) == before
    assert client.post(reverse("codes:tester"), {"tool": ""}).status_code == 422


def test_a_suggestion_is_folded_or_never_shown_again(client, codes, workspace):
    declined, refused = codes
    values = {"workspace": workspace, "code": declined, "into": refused}
    suggestion = FoldSuggestion.objects.create(reason="alike", **values)
    assert "alike" in page(client, "codes:grouping")

    client.post(reverse("codes:answer", args=[suggestion.pk]), {"answer": "never"})

    assert PlacementRule.objects.get().kind == RuleKind.APART
    assert not FoldSuggestion.objects.exists()
    suggestion = FoldSuggestion.objects.create(reason="alike", **values)

    client.post(reverse("codes:answer", args=[suggestion.pk]), {"answer": "fold"})

    assert ToolError.objects.filter(code=refused).count() == 3
    assert "alike" in page(client, "codes:grouping")
