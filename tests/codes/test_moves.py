"""Moves by code, by branch told, and against the contract."""

from collections import Counter

import pytest
from django.urls import reverse

from apps.catalogue.models import Code
from apps.codes.moves import breaches, moves_page
from apps.runs.models import ToolError
from tests.factories import failing, ingest, make_run, step

BUSY = "The service was busy. Retry the same call."


@pytest.fixture
def code(workspace) -> Code:
    error = failing("pay", {"n": 1}, BUSY)
    ingest(
        workspace,
        make_run("a", [error, step("get_payment", {"n": 1})]),
        make_run("b", [error, error], success=False),
        make_run("c", [error], final=""),
    )
    return Code.objects.get()


def test_moves_are_counted_with_their_denominators(workspace, code):
    page = moves_page(workspace, None, None)

    (row,) = page.codes
    counts = {cell.move: cell.errors for cell in row.cells if cell.errors}
    expected = Counter(ToolError.objects.values_list("next_move", flat=True))
    assert (row.errors, counts) == (4, expected)
    assert sum(cell.share for cell in row.cells) == pytest.approx(1)


def test_obeyed_leaves_out_logs_that_end(workspace, code):
    (row,) = moves_page(workspace, None, None).told

    assert row.branch == "retry_unchanged"
    assert row.obeyed is not None
    assert (row.obeyed.good, row.obeyed.n, row.obeyed.unknown) == (1, 3, 1)
    assert (row.ended.good, row.ended.n) == (2, 3)


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        ({"next_action": "correct_input"}, ["unchanged though the input"]),
        ({"retry_directive": "never"}, ["says never"]),
        ({"commit_state": "unknown"}, ["before a look-up"]),
        ({"next_action": "stop"}, ["should stop"]),
        ({"next_action": "request_approval"}, ["without the approval"]),
        ({"next_action": "wait_and_retry"}, []),
        ({}, []),
    ],
)
def test_moves_against_the_contract_are_found(contract, said):
    code = Code(pk=1, tool="pay", key="pay.late", **contract)
    moves = Counter({"retried_unchanged": 3, "verified": 7})

    found = breaches({1: code}, {1: moves})

    assert [(b.errors, b.of) for b in found] == [(3, 10)] * len(said)
    for breach, words in zip(found, said, strict=True):
        assert words in breach.rule


def test_a_cell_leads_to_its_rows(client, code):
    Code.objects.update(commit_state="unknown", next_action="verify_operation")
    page = client.get(reverse("codes:moves") + "?period=all").content.decode()
    url = reverse("codes:detail", args=[code.pk])

    assert f"{url}?move=retried_unchanged#errors" in page
    rows = client.get(url, {"move": "retried_unchanged"}).context["page"]
    assert {error.next_move for error in rows} == {"retried_unchanged"}
    assert client.get(reverse("codes:moves")).status_code == 200
