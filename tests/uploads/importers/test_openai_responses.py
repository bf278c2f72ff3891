"""OpenAI Responses: item lists, response objects, hosted tools."""

import json

import pytest

from apps.uploads.importers import openai_responses as reader

from .loose import (
    Figures,
    calls_of,
    figures,
    json_lines,
    read_bytes,
    run_of,
    runs_of,
)
from .reading import check_survives

MASK = "An error occurred while running the tool. Please try again."


def call(call_id, name, arguments="{}"):
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
    }


def output(call_id, text):
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def said(text):
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "role": "assistant", "content": content}


ASKED = {"role": "user", "content": "Book R1"}
ITEMS = [
    ASKED,
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Book it."}]},
    call("c1", "book", '{"room": "R1"}'),
    call("c2", "find_room"),
    output("c2", '{"rooms": []}'),
    output("c1", MASK),
    call("c3", "book", '{"room": "R2"}'),
    output("c3", [{"type": "input_text", "text": "booked"}]),
    said("Done."),
]


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (json.dumps(ITEMS), Figures(calls=3, turns=4)),
        (json.dumps(ITEMS, indent=1), Figures(calls=3, turns=4)),
        (json_lines(ITEMS).decode(), Figures(calls=3, turns=4)),
        (json_lines([ITEMS, ITEMS[1:3]]).decode(), Figures(2, 4, 1, 0, 5, 2)),
        (json.dumps(ITEMS[:5]), Figures(calls=2, missing=1, turns=2)),
        (
            json.dumps({"input": "Book R1", "output": ITEMS[2:3]}),
            Figures(1, 1, 1, 0, 2),
        ),
    ],
    ids=["list", "indented", "lines", "two lists", "no result", "call"],
)
def test_read_counts_calls_and_errors(raw, wanted):
    assert figures(read_bytes(reader, raw.encode())) == wanted


def test_items_of_one_response_are_one_turn():
    run = run_of(reader, json.dumps(ITEMS).encode())

    _, answer, again, last = run.threads[0].turns
    assert (answer.reasoning, len(answer.calls)) == ("Book it.", 2)
    assert (len(again.calls), last.text) == (1, "Done.")
    first, _, third = calls_of(run)
    assert (first.arguments, first.result.text, first.result.is_error) == (
        '{"room": "R1"}',
        MASK,
        None,
    )
    assert third.result.text == "booked"


def test_responses_that_name_the_one_before_are_one_run():
    log = [
        {"object": "response", "id": "r1", "model": "m-1", "created_at": 1772445600,
         "instructions": "Be kind.", "output": ITEMS[1:4], "usage": {"input_tokens": 9},
         "tools": [{"type": "function", "name": "book", "parameters": {}}]},
        {"request": {"input": ITEMS[4:6], "previous_response_id": "r1"},
         "response": {"object": "response", "id": "r2", "model": "m-1",
                      "output": ITEMS[6:7]}},
        {"object": "response", "id": "other", "output": [said("Hello.")]},
    ]  # fmt: skip

    first, second = runs_of(reader, json_lines(log))

    assert figures([first]) == Figures(calls=3, missing=1, turns=3)
    assert (first.model, first.started_at) == ("m-1", 1772445600.0)
    assert (first.threads[0].turns[1].input_tokens, first.tools[0].name) == (9, "book")
    assert second.threads[0].turns[0].text == "Hello."


def test_a_log_that_repeats_its_items_is_one_run():
    log = [
        {"input": ITEMS[:1], "output": ITEMS[1:4]},
        {"input": ITEMS[:6], "output": ITEMS[6:7]},
        {"input": ITEMS[:8], "output": ITEMS[8:]},
    ]

    assert figures([run_of(reader, json_lines(log))]) == Figures(calls=3, turns=4)


@pytest.mark.parametrize(
    ("item", "wanted"),
    [
        ({"type": "web_search_call", "status": "completed",
          "action": {"query": "x"}}, ("web_search", False, None, "", "[not recorded]")),
        ({"type": "web_search_call", "status": "failed"},
         ("web_search", False, True, "", "[not recorded]")),
        ({"type": "file_search_call", "status": "in_progress"},
         ("file_search", True, None, "", "")),
        ({"type": "mcp_call", "name": "look", "output": "ok", "error": None,
          "status": "completed"}, ("look", False, None, "", "ok")),
        ({"type": "mcp_call", "name": "look", "error": {"code": 500,
          "message": "no answer"}}, ("look", False, True, "", "no answer")),
        ({"type": "code_interpreter_call", "status": "completed", "code": "1+1",
          "outputs": [{"type": "logs", "text": "2"}]},
         ("code_interpreter", False, None, "", "2")),
    ],
)  # fmt: skip
def test_hosted_tools_hold_their_result_in_the_item(item, wanted):
    raw = json.dumps([ASKED, {"id": "h1", **item}, said("So.")]).encode()

    (made,) = calls_of(run_of(reader, raw))

    result = made.result
    found = (result.is_error, result.cause, result.text) if result else (None, "", "")
    assert (made.tool, result is None, *found) == wanted


def test_an_mcp_call_that_was_not_approved_is_denied():
    request = {
        "type": "mcp_approval_request",
        "id": "a1",
        "name": "delete",
        "arguments": "{}",
    }
    refusal = {"type": "mcp_approval_response", "approval_request_id": "a1",
               "approve": False, "reason": "not that"}  # fmt: skip

    (made,) = calls_of(
        run_of(reader, json.dumps([ITEMS[2], request, refusal]).encode())
    )[1:]

    assert (made.tool, made.result.cause, made.result.text) == (
        "delete",
        "denied",
        "not that",
    )
    allowed = [ITEMS[2], request, {**refusal, "approve": True}]
    assert figures(read_bytes(reader, json.dumps(allowed).encode())).calls == 1


def test_built_in_tools_are_called_by_their_type():
    items = [
        {"type": "shell_call", "call_id": "s1", "action": {"commands": ["ls"]}},
        {"type": "shell_call_output", "call_id": "s1", "output": "a.txt"},
        {
            "type": "custom_tool_call",
            "call_id": "s2",
            "name": "run",
            "input": "print(1)",
        },
        {"type": "custom_tool_call_output", "call_id": "s2", "output": "1"},
    ]

    shell, custom = calls_of(run_of(reader, json.dumps(items).encode()))

    assert (shell.tool, shell.arguments) == ("shell", '{"commands":["ls"]}')
    assert (custom.tool, custom.arguments) == ("run", "print(1)")
    assert (shell.result.text, custom.result.text) == ("a.txt", "1")


def test_items_of_no_known_type_are_set_aside():
    raw = json.dumps({"input": [*ITEMS[:3], 5, {"type": "new"}, *ITEMS[3:]]}).encode()

    wanted = Figures(calls=3, turns=4, set_aside=2)
    assert figures(read_bytes(reader, raw)) == wanted


def test_detect_needs_a_call_or_a_response():
    assert reader.detect(json.dumps(ITEMS).encode()) == 0.75
    assert (
        reader.detect(json.dumps({"object": "response", "output": []}).encode()) == 0.85
    )
    assert reader.detect(json.dumps([ASKED, said("x")]).encode()) == 0.0
    codex = {"id": "s", "timestamp": "2026", "instructions": ""}
    assert reader.detect(json_lines([codex, {"payload": ITEMS[2]}])) == 0.0


@pytest.mark.parametrize("value", [ITEMS, {"input": ITEMS[:6], "output": ITEMS[6:]}])
def test_nothing_escapes_from_spoiled_files(value):
    check_survives(reader, json.dumps(value).encode(), seed=1, count=240)
