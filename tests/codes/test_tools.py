"""The registry of tools: from logs, from lists, by hand."""

import itertools
import json

import pytest
from django.urls import reverse

from apps.catalogue.models import Tool
from apps.catalogue.tool_lists import Definition, ToolListError, read_tools
from apps.catalogue.tools import note_tools
from apps.rewrites.checking import tool_hints
from tests.factories import failing, ingest, make_run

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
HINTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False}
MCP = {"name": "pay", "description": "Pays.", "inputSchema": SCHEMA}
OPENAI = {"name": "pay", "description": "Pays.", "parameters": SCHEMA}
ANTHROPIC = {"name": "pay", "description": "Pays.", "input_schema": SCHEMA}


@pytest.mark.parametrize(
    "value",
    [
        {"tools": [MCP]},
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [MCP]}},
        [{"type": "function", "function": OPENAI}],
        [{"type": "function", **OPENAI}],
        {"model": "m", "tools": [{"type": "function", "function": OPENAI}]},
        [ANTHROPIC],
        MCP,
        [MCP, {"no": "name"}, 7, MCP],
    ],
)
def test_lists_of_every_kind_are_read(value):
    assert read_tools(json.dumps(value)) == [Definition("pay", "Pays.", SCHEMA)]


def test_annotations_are_read():
    (found,) = read_tools(json.dumps([{**MCP, "annotations": HINTS}]))

    assert found[3:] == (False, True, False)


@pytest.mark.parametrize("text", ["", "[", "7", "[]", '{"tools": "x"}', "[" * 9000])
def test_what_holds_no_tools_is_refused(text):
    with pytest.raises(ToolListError):
        read_tools(text)


def test_the_order_of_sources_makes_no_difference(workspace):
    sources = [
        Definition("pay", "Pays.", None, None, True, None),
        Definition("pay", "Pays a bill.", SCHEMA, None, False, True),
        Definition("pay", "", None, True, None, False),
    ]
    found = set()

    for order in itertools.permutations(sources):
        Tool.objects.all().delete()
        for source in order:
            note_tools(workspace.pk, [source])
        tool = Tool.objects.get()
        hints = (tool.is_read_only, tool.is_destructive, tool.is_idempotent)
        found.add((tool.description, json.dumps(tool.input_schema), hints))

    assert found == {("Pays a bill.", json.dumps(SCHEMA), (True, True, False))}


def test_tools_of_logs_come_into_the_registry_once(workspace):
    tools = [{"type": "function", "function": OPENAI}]
    error = failing("pay", {"n": 1}, "Error: no")

    ingest(workspace, make_run("a", [error], tools=tools))
    ingest(workspace, make_run("b", [error], tools=tools))

    tool = Tool.objects.get()
    assert (tool.name, tool.description, tool.input_schema) == ("pay", "Pays.", SCHEMA)
    assert note_tools(workspace.pk, [Definition("pay", "Pays.", SCHEMA)]) == 0


def test_what_a_person_says_stands_against_logs(client, workspace):
    client.post(reverse("codes:add-tool"), {"name": "get_bill", "is_read_only": "yes"})
    verify = Tool.objects.get()
    note_tools(workspace.pk, [Definition("pay", "Pays.")])
    tool = Tool.objects.get(name="pay")
    values = {
        "name": "pay",
        "description": "Pays a bill once.",
        "is_idempotent": "no",
        "verification_tool": verify.pk,
        "owner": "billing",
    }

    client.post(reverse("codes:tool", args=[tool.pk]), values)
    note_tools(workspace.pk, [Definition("pay", "Pays. " * 9, SCHEMA, True)])

    tool.refresh_from_db()
    assert (tool.description, tool.is_read_only) == ("Pays a bill once.", None)
    assert tool_hints(workspace.pk)["pay"] == ("pay", None, None, False, "get_bill")
    page = client.get(reverse("codes:tools")).content.decode()
    assert "not idempotent" in page
    edit = client.get(reverse("codes:tool", args=[tool.pk])).content.decode()
    assert '<option value="no" selected>' in edit


def test_a_name_is_taken_once_and_a_bad_list_refused(client, workspace):
    note_tools(workspace.pk, [Definition("pay")])

    again = client.post(reverse("codes:add-tool"), {"name": "pay"})
    bad = client.post(reverse("codes:read-tools"), {"tools": "{}"})
    good = client.post(reverse("codes:read-tools"), {"tools": json.dumps([MCP])})

    assert (again.status_code, bad.status_code, good.status_code) == (422, 422, 302)
    assert Tool.objects.get().description == "Pays."
