"""Wrappers of agent frameworks, and codes inside structured results."""

import json
from itertools import pairwise

import pytest

from apps.catalogue.fingerprints.v1 import fingerprint
from apps.catalogue.wrappers import WRAPPERS, peel

MESSAGE = "row_id must be 1 or more"

# (what the model read, wrappers taken off)
WRAPPED = [
    (MESSAGE, ()),
    (f"Error: {MESSAGE}", ("error-prefix",)),
    (f"ERROR:\n{MESSAGE}\n", ("error-prefix",)),
    (f"[ERROR] {MESSAGE}", ("error-prefix",)),
    (f"Error: Tool execution failed with error: {MESSAGE}", ("error-prefix",) * 2),
    (f"<tool_use_error>{MESSAGE}</tool_use_error>", ("claude-code",)),
    (
        f"An error occurred while running the tool. Please try again. Error: {MESSAGE}",
        ("openai-agents",),
    ),
    (
        f"Error: ValueError('{MESSAGE}')\n Please fix your mistakes.",
        ("langgraph", "exception-repr"),
    ),
    (
        "Error invoking tool 'read_row' with kwargs {'row_id': 0} with error:\n "
        f"{MESSAGE}\n Please fix the error and try again.",
        ("langgraph-kwargs",),
    ),
    (
        "Error: ToolInvocationError(\"Error invoking tool 'read_row' with kwargs "
        f"{{'a': 1}} with error:\\n {MESSAGE}\\n Please fix the error and try again.\")"
        "\n Please fix your mistakes.",
        ("langgraph", "exception-repr", "langgraph-kwargs"),
    ),
    (f"Error executing tool read_row: {MESSAGE}", ("fastmcp",)),
    (f"Error calling tool 'read_row': {MESSAGE}", ("fastmcp",)),
    (f"MCP error -32602: {MESSAGE}", ("mcp",)),
    (f"{MESSAGE}\n\nFix the errors and try again.", ("pydantic-ai",)),
    (
        "Call id: call_1\nError:\nError executing tool 'read_row' with arguments "
        f"{{'row_id': '0'}}: ValueError: {MESSAGE}\nPlease try again or use another "
        "tool\nNow let's retry: take care not to repeat previous errors! If you have "
        "retried several times, try a completely different approach.\n",
        ("smolagents-retry", "smolagents-tool"),
    ),
    (
        "Code execution failed at line 'x=read_row(0)' due to: ValueError: " + MESSAGE,
        ("smolagents-code",),
    ),
    (
        "[read_row for 'x'] Result:\nThe tool execution failed with the following "
        f"error:\n<error>\n{MESSAGE}\n</error>",
        ("cline-result", "cline", "error-tag"),
    ),
    (
        "I encountered an error while trying to use the tool. This was the error: "
        f"{MESSAGE}.\n Tool read_row accepts these inputs: read_row(row_id: 'int')",
        ("crewai",),
    ),
    (json.dumps({"error": MESSAGE}), ("json",)),
    (json.dumps({"error": MESSAGE}, indent=2), ("json",)),
    (str({"error": MESSAGE}), ("json",)),
    (json.dumps(json.dumps({"error": MESSAGE})), ("json", "json")),
    (json.dumps({"ok": False, "error": {"message": MESSAGE, "id": "7f"}}), ("json",)),
    (json.dumps({"status": "error", "error_message": MESSAGE}), ("json",)),
    (json.dumps({"success": False, "message": MESSAGE}), ("json",)),
    (json.dumps({"detail": MESSAGE}), ("json",)),
    (
        json.dumps({"jsonrpc": "2.0", "error": {"code": -32602, "message": MESSAGE}}),
        ("json",),
    ),
    (json.dumps([{"type": "text", "text": MESSAGE}]), ("json",)),
    (
        json.dumps(
            {
                "isError": True,
                "content": [{"type": "text", "text": f"Error: {MESSAGE}"}],
            }
        ),
        ("json", "error-prefix"),
    ),
    (f"```json\n{json.dumps({'error': MESSAGE})}\n```", ("fence", "json")),
    (f"Error: {json.dumps({'error': {'message': MESSAGE}})}", ("error-prefix", "json")),
]

# (structured result, code that names the failure, class of failures)
CODES = [
    # Stripe: the finest one
    (
        {
            "error": {
                "type": "card_error",
                "code": "card_declined",
                "decline_code": "insufficient_funds",
                "message": "No.",
            }
        },
        "insufficient_funds",
        "",
    ),
    # google.rpc: the reason; status and code are classes
    (
        {
            "error": {
                "code": 404,
                "status": "NOT_FOUND",
                "message": "No.",
                "details": [{"reason": "API_DISABLED", "domain": "x"}],
            }
        },
        "API_DISABLED",
        "404",
    ),
    (
        {
            "error": {
                "code": 403,
                "message": "No.",
                "errors": [{"reason": "dailyLimit"}],
            }
        },
        "dailyLimit",
        "403",
    ),
    # RFC 9457: the last segment of the type
    (
        {
            "type": "https://example.com/probs/out-of-credit",
            "title": "T",
            "status": 403,
        },
        "out-of-credit",
        "403",
    ),
    ({"type": "about:blank", "title": "Not Found", "status": 404}, "", "404"),
    # JSON:API, GraphQL, AWS, OAuth, Slack, Anthropic, PostgREST
    (
        {"errors": [{"status": "422", "code": "INVALID_NAME", "detail": "No."}]},
        "INVALID_NAME",
        "422",
    ),
    (
        {"errors": [{"message": "No.", "extensions": {"code": "UNAUTHENTICATED"}}]},
        "UNAUTHENTICATED",
        "",
    ),
    (
        {"__type": "com.a.b#ThrottlingException", "message": "No."},
        "ThrottlingException",
        "",
    ),
    ({"error": "invalid_grant", "error_description": "No."}, "invalid_grant", ""),
    ({"ok": False, "error": "channel_not_found"}, "channel_not_found", ""),
    (
        {"type": "error", "error": {"type": "overloaded_error", "message": "No."}},
        "overloaded_error",
        "",
    ),
    ({"code": "PGRST116", "message": "No."}, "PGRST116", ""),
    # ours
    ({"ok": False, "code": "FARE_EXPIRED", "agent_message": "No."}, "FARE_EXPIRED", ""),
    # classes of failures: the text still counts
    ({"error": {"code": "INTERNAL", "message": "No."}}, "", "INTERNAL"),
    (
        {"error": {"type": "invalid_request_error", "message": "No."}},
        "",
        "invalid_request_error",
    ),
    ({"error": {"type": "ValueError", "message": "No."}}, "", "ValueError"),
    ({"error": {"code": 500, "message": "No."}}, "", "500"),
    ({"error_code": 20404, "message": "No."}, "", "20404"),
    # no codes at all: an occurrence, a channel, a word for "error"
    ({"error": {"code": "a3f9c2d81b44", "message": "No."}}, "", ""),
    (
        {"error": {"code": "0b9d2ca1-1d2e-4f3a-8b4c-5d6e7f8091a2", "message": "No."}},
        "",
        "",
    ),
    ({"error": {"code": -32603, "message": "No."}}, "", ""),
    ({"error": {"code": "tool_error", "type": "error", "message": "No."}}, "", ""),
]

# Results that report no failure: their text is left alone.
NO_ENVELOPES = [
    {"ok": True, "rows": []},
    {"error": None, "data": 1},
    {"error": [], "data": 1},
    {"status": "ok", "code": 7},
    {"message_id": 3},
    [],
    [1, 2],
    ["Error: x"],
    "null",
    7,
]


@pytest.mark.parametrize(("text", "wrappers"), WRAPPED)
def test_peel_takes_known_wrappers_off(text, wrappers):
    peeled = peel(text)

    assert (peeled.message, peeled.wrappers) == (MESSAGE, wrappers)
    assert (peeled.structured_code, peeled.broad_code) == ("", "")


def test_same_error_through_all_wrappers_is_one_fingerprint():
    prints = [fingerprint("read_row", text) for text, _ in WRAPPED]

    assert all(one.key == other.key for one, other in pairwise(prints))
    assert len({one.wrapper for one in prints}) > 15


@pytest.mark.parametrize(("result", "code", "broad"), CODES)
def test_peel_finds_the_code_that_names_the_failure(result, code, broad):
    peeled = peel(json.dumps(result))

    assert (peeled.structured_code, peeled.broad_code) == (code, broad)


@pytest.mark.parametrize("result", NO_ENVELOPES)
def test_peel_leaves_a_result_without_failure_alone(result):
    text = json.dumps(result)

    assert peel(text).message in (text, result)
    assert peel(text).structured_code == ""


def test_peel_reads_a_code_behind_a_lead():
    peeled = peel(
        "Error code: 429 - {'error': {'message': 'Slow.', 'code': 'rate_limited'}}"
    )

    assert peeled.message == "Error code: 429: Slow."
    assert peeled.structured_code == "rate_limited"


def test_peel_keeps_fields_of_the_contract_and_the_wrappers_own_advice():
    peeled = peel(
        '{"error": "LOCKED_ROW", "message": "Row is locked.", "retryable": true, '
        '"next": "wait_and_retry"}\n\nFix the errors and try again.'
    )

    assert peeled.fields == {"retryable": "true", "next": "wait_and_retry"}
    assert peeled.says == "retry"


def test_peel_cuts_a_persons_own_words_after_a_refusal():
    lead = "The user doesn't want to proceed with this tool use. the user said:"

    assert peel(f"{lead}\nuse tabs").message == peel(f"{lead}\nno, wait").message


def test_peel_cuts_what_an_edit_looked_for():
    lead = "String to replace not found in file."

    assert peel(f"{lead}\nString: x = 1\n\ny = 2").message == lead


def test_peel_says_a_validators_findings_once_each():
    found = [
        {"loc": ["body", name], "msg": "Field required", "type": "missing"}
        for name in ("a", "b")
    ]

    message = peel(json.dumps({"detail": found})).message

    assert message == "Validation error: Field required [type=missing]"


@pytest.mark.parametrize(
    "text",
    [
        "An error occurred while running the tool. Please try again.",
        "Error executing tool get_stock",
        "Error:",
        '{"error": ""}',
        "<tool_use_error></tool_use_error>",
    ],
)
def test_peel_never_leaves_nothing(text):
    assert peel(text).message.strip() != ""


def test_names_of_wrappers_are_distinct():
    names = [wrapper.name for wrapper in WRAPPERS]

    assert len(names) == len(set(names))
