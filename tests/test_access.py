"""Every address: who gets in, and by which method."""

from collections.abc import Sequence
from datetime import date

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from apps.accounts.models import Role
from apps.catalogue.models import Code, FoldSuggestion, RuleKind, Text, Tool
from apps.codes.placements import Plan, place
from apps.labels.actions import draw_weekly_batch
from apps.labels.models import Pair
from apps.rewrites.actions import save_draft
from apps.runs.models import Run, ToolError
from apps.triage.actions import decide
from apps.uploads.models import Deletion, Upload
from tests.factories import failing, ingest, make_member, make_run

OPEN = {
    "healthz",
    "accounts:sign-in",
    "accounts:link",
    "accounts:sign-out",
    "accounts:help",
}
OWN_STATUS = {  # an act without its values is refused kindly
    "accounts:choose-workspace": (404,),
    "labels:label-pair": (422,),
    "codes:read-tools": (422,),
    "uploads:preview-rules": (422,),
    "uploads:save-rules": (422,),
}
POST_ONLY = {
    "accounts:sign-out",
    "accounts:choose-workspace",
    "codes:adopt",
    "codes:answer",
    "codes:confirm",
    "codes:mute",
    "codes:read-tools",
    "codes:regroup",
    "codes:rename",
    "codes:undo",
    "labels:draw",
    "labels:label-pair",
    "rewrites:check",
    "rewrites:end",
    "rewrites:ship",
    "triage:close",
    "triage:decide",
    "runs:say-outcome",
    "uploads:say-failure",
    "uploads:cancel",
    "uploads:preview-rules",
    "uploads:save-rules",
    "uploads:delete",
    "uploads:retry",
}


def names(
    patterns: Sequence[URLPattern | URLResolver], namespace: str = ""
) -> list[str]:
    """Every named address with its namespace; in a namespace all have a name."""
    found = []
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found += names(pattern.url_patterns, f"{namespace}{pattern.namespace}:")
        elif pattern.name or namespace:
            found.append(f"{namespace}{pattern.name}")
    return found


@pytest.fixture
def rows(workspace, owner) -> dict[str, int]:
    """A row behind each kind of id in an address."""
    error = failing("pay", {"n": 1}, "Error: no")
    upload = ingest(workspace, *(make_run(f"r{n}", [error]) for n in range(4)))
    code = Code.objects.get()
    draft = save_draft(code, by=owner, agent_message="Use another card.")
    monday = date(2026, 11, 23)
    decision = decide(code, week=monday, kind="watch", owner=None, note="", by=owner)
    batch = draw_weekly_batch(workspace, week=None, seed=1)
    job = place(Plan(code, RuleKind.MOVE, code.key, "billing"), by=owner, why="")
    assert job.rule is not None
    suggestion = FoldSuggestion.objects.create(
        workspace=workspace, code=code, into=job.rule.into, reason="alike"
    )
    return {
        "job_id": job.pk,
        "text_id": Text.objects.values_list("pk", flat=True)[0],
        "tool_id": Tool.objects.create(workspace=workspace, name="spare").pk,
        "rule_id": job.rule.pk,
        "suggestion_id": suggestion.pk,
        "error_id": ToolError.objects.values_list("pk", flat=True)[0],
        "upload_id": upload.pk,
        "deletion_id": Deletion.objects.create(
            workspace=workspace, upload_id=0, name="gone.jsonl"
        ).pk,
        "run_id": Run.objects.values_list("pk", flat=True)[0],
        "code_id": code.pk,
        "rewrite_id": draft.pk,
        "decision_id": decision.pk,
        "pair_id": Pair.objects.filter(batch=batch).values_list("pk", flat=True)[0],
    }


def address(name: str, rows: dict[str, int]) -> str:
    needed = get_resolver()
    for part in name.split(":")[:-1]:
        needed = needed.namespace_dict[part][1]
    keys = needed.reverse_dict.getlist(name.rpartition(":")[2])[0][0][0][1]
    values: dict[str, int | str] = {key: rows[key] for key in keys if key in rows}
    if "token" in keys:
        values["token"] = "x"
    if "form" in keys:
        values["form"] = "catalogue.json"
    return reverse(name, kwargs=values)


@pytest.mark.parametrize("name", names(get_resolver().url_patterns))
def test_an_address_lets_in_whom_it_should(name, rows, client, stranger):
    url = address(name, rows)
    method = "post" if name in POST_ONLY else "get"
    has_row = any(character.isdigit() for character in url)

    anonymous = getattr(Client(), method)(url)
    foreign = getattr(stranger, method)(url)
    own = getattr(client, method)(url)

    if name not in OPEN:
        assert anonymous.status_code == 302
        assert "/accounts/sign-in" in anonymous["Location"]
        if has_row:
            assert foreign.status_code == 404
    assert own.status_code in OWN_STATUS.get(name, (200, 302))


@pytest.mark.parametrize("name", sorted(POST_ONLY))
def test_an_act_is_not_a_get(name, rows, client):
    assert client.get(address(name, rows)).status_code == 405


@pytest.mark.parametrize(
    "name",
    [
        "codes:add-tool",
        "codes:adopt",
        "codes:answer",
        "codes:confirm",
        "codes:mute",
        "codes:place",
        "codes:read-tools",
        "codes:regroup",
        "codes:rename",
        "codes:tool",
        "codes:undo",
        "labels:draw",
        "runs:say-outcome",
        "uploads:cancel",
        "uploads:save-rules",
        "uploads:say-failure",
        "triage:decide",
        "rewrites:ship",
    ],
)
def test_a_viewer_only_looks(name, rows, workspace):
    viewer = Client()
    viewer.force_login(make_member(workspace, Role.VIEWER))

    assert viewer.post(address(name, rows)).status_code == 403


def test_an_expired_sign_in_answers_a_fragment_with_a_redirect_of_the_page(rows):
    response = Client().get(reverse("uploads:list"), headers={"HX-Request": "true"})

    assert response.status_code == 401
    assert response["HX-Redirect"] == reverse("accounts:sign-in")


def test_every_page_has_a_strict_policy(client):
    policy = client.get("/")["Content-Security-Policy"]

    assert "'unsafe-inline'" not in policy
    assert "script-src 'self'" in policy


def test_upload_files_are_not_served(client, workspace):
    upload = ingest(workspace, make_run("a", []))

    assert client.get(f"/media/{upload.file.name}").status_code == 404
    assert Upload.objects.get().file.size > 0
