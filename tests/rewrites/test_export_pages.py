"""The catalogue as files: what is in it, what is left out, and its ETag."""

import json
import sys
import types
from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.catalogue.envelope import ToolHints
from apps.catalogue.models import Code
from apps.rewrites import actions, exporting
from apps.rewrites.exports.catalogue import TextEntry
from apps.rewrites.exports.json_form import catalogue_schema
from apps.rewrites.models import Rewrite
from tests.factories import failing, ingest, make_run
from tests.rewrites.schema_check import violations

TEXT = "The limit is {limit}; nothing was refunded. Call refund again with less."
WHOLE = {
    "category": "validation",
    "commit_state": "not_committed",
    "retry_directive": "after_input_fix",
    "next_action": "correct_input",
}
FORMS = [
    "catalogue.json",
    "catalogue.yaml",
    "errata_catalogue.py",
    "errata_catalogue.ts",
    "catalogue.schema.json",
]


@pytest.fixture
def code(workspace) -> Code:
    ingest(workspace, make_run("a", [failing("refund", {"n": 1}, "Error: Too high")]))
    code = Code.objects.get()
    Code.objects.filter(pk=code.pk).update(safe_details=["limit"])
    code.refresh_from_db()
    return code


def ship(code: Code, text: str = TEXT, **values: str) -> Rewrite:
    draft = actions.save_draft(code, by=None, agent_message=text, **{**WHOLE, **values})
    return actions.ship(draft, date(2026, 11, 24), by=None)


def address(form: str) -> str:
    return reverse("rewrites:export", args=[form])


def exported(client):
    return json.loads(client.get(address("catalogue.json")).content)


def module_of(source: str) -> types.ModuleType:
    module = types.ModuleType("exported_by_page")
    sys.modules["exported_by_page"] = module  # dataclasses look it up there
    exec(compile(source, "errata_catalogue.py", "exec"), module.__dict__)
    return module


def test_the_catalogue_holds_the_shipped_text_and_its_contract(client, code):
    ship(code)

    found = exported(client)

    entry = found["codes"][code.key]
    assert entry["texts"] == [{"version": 2, "agent_message": TEXT, "user_message": ""}]
    assert (entry["category"], entry["next_action"]) == ("validation", "correct_input")
    assert found["version"] == "1"
    assert violations(found, catalogue_schema()) == []


@pytest.mark.parametrize("form", FORMS)
def test_a_second_call_gives_the_same_and_304_to_who_has_it(client, code, form):
    ship(code)

    first, second = client.get(address(form)), client.get(address(form))
    known = client.get(address(form), headers={"If-None-Match": first["ETag"]})

    assert first.content == second.content
    assert first["ETag"] == second["ETag"]
    assert first["Content-Disposition"] == f'attachment; filename="{form}"'
    assert (known.status_code, known.content) == (304, b"")
    assert known["ETag"] == first["ETag"]


def test_the_etag_is_the_content_hash_and_changes_with_a_text(client, code):
    ship(code)
    first = client.get(address("catalogue.json"))

    ship(code, "At most {limit} can be refunded. Call refund again with less.")
    second = client.get(
        address("catalogue.json"), headers={"If-None-Match": first["ETag"]}
    )

    found = json.loads(second.content)
    assert second.status_code == 200
    assert second["ETag"] == f'"{found["content_hash"]}"' != first["ETag"]
    assert [text["version"] for text in found["codes"][code.key]["texts"]] == [2, 3]


def test_a_rolled_back_rewrite_is_not_in_it_and_renumbers_none(client, code):
    first = ship(code)
    ship(code, "At most {limit} can be refunded. Call refund again with less.")

    actions.end(first, "rolled_back", by=None, on=date(2026, 11, 30))

    texts = exported(client)["codes"][code.key]["texts"]
    assert [text["version"] for text in texts] == [3]
    actions.end(
        Rewrite.objects.get(state="shipped"),
        "rolled_back",
        by=None,
        on=date(2026, 11, 30),
    )
    assert exported(client)["codes"] == {}


def test_a_draft_is_not_in_it_and_a_kept_one_is(client, code):
    actions.save_draft(code, by=None, agent_message=TEXT, **WHOLE)
    assert exported(client)["codes"] == {}

    rewrite = ship(code)
    actions.end(rewrite, "kept", by=None, on=date(2026, 11, 30))

    assert list(exported(client)["codes"]) == [code.key]


def test_the_python_module_of_the_page_builds_an_envelope(client, code):
    ship(code)

    response = client.get(address("errata_catalogue.py"))
    envelope = module_of(response.content.decode()).failure(code.key, {"limit": 50})

    made = envelope.to_dict()
    assert made["agent_message"] == TEXT.replace("{limit}", "50")
    assert made["text_version"] == 2
    assert made["catalogue_version"] == "1"


def test_a_stranger_gets_the_codes_of_their_own_workspace(client, stranger, code):
    ship(code)

    for form in FORMS[:4]:
        assert TEXT in client.get(address(form)).content.decode()
        assert TEXT not in stranger.get(address(form)).content.decode()
    assert exported(stranger)["name"] == "Others"


def test_an_unknown_form_is_404(client, code):
    assert client.get(address("catalogue.xml")).status_code == 404


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"category": "", "next_action": ""}, "category, next action"),
        ({"retry_directive": "never"}, "never"),
        ({"next_action": "switch_tool", "retry_directive": "never"}, "Name the tool"),
    ],
)
def test_a_code_that_cannot_be_exported_is_named_with_the_reason(
    client, code, values, reason
):
    ship(code, **values)

    page = client.get(reverse("rewrites:list"))

    assert exported(client)["codes"] == {}
    left_out = page.context["export"].left_out
    assert [one.code_id for one in left_out] == [code.pk]
    assert reason in left_out[0].reason
    assert "Why it is not in the catalogue" in page.content.decode()


def test_a_detail_off_the_allow_list_keeps_the_code_out(client, code):
    ship(code)
    Code.objects.filter(pk=code.pk).update(safe_details=[])

    left_out = client.get(reverse("rewrites:list")).context["export"].left_out

    assert "Allow the detail limit" in left_out[0].reason


def test_a_contract_confirmed_after_shipping_is_the_one_exported(client, code):
    ship(code, category="", next_action="")
    Code.objects.filter(pk=code.pk).update(**WHOLE, contract_at=timezone.now())

    assert exported(client)["codes"][code.key]["category"] == "validation"


def test_the_page_links_to_every_form(client, code):
    page = client.get(reverse("rewrites:list")).content.decode()

    assert all(f'href="{address(form)}"' in page for form in FORMS)


def row(pk: int, key: str, tool: str = "refund", **changes) -> exporting.CodeRow:
    texts = (TextEntry(2, "Call refund again with less."),)
    return exporting.CodeRow(pk, key, texts, tool=tool, **{**WHOLE, **changes})


def test_of_two_codes_with_one_exported_spelling_the_first_made_stays():
    rows = [row(9, "too.high"), row(3, "TOO_HIGH", tool="pay"), row(12, "TOO_HIGH")]

    found = exporting.build("Crm", "1", "crm_team", rows, [])

    assert [(c.code, c.tool) for c in found.catalogue.codes] == [("TOO_HIGH", "pay")]
    assert [one.code_id for one in found.left_out] == [9, 12]
    assert "TOO_HIGH of the tool pay" in found.left_out[0].reason
    assert found.catalogue.domain == "crm-team"


def test_the_order_of_rows_changes_nothing():
    rows = [row(1, "a.b"), row(2, "c.d"), row(3, "e.f", category="dance")]
    tools = [ToolHints("refund")]

    forth = exporting.build("Crm", "1", "crm", rows, tools)
    back = exporting.build("Crm", "1", "crm", reversed(rows), tools)

    assert forth == back
    assert [one.name for one in forth.left_out] == ["e.f"]
