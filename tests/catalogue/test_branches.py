"""What a text tells the agent to do: a table of cases, and one of wrong answers."""

import importlib.util
import sys
import time

import pytest

from apps.catalogue.branches import Role, read_branches
from apps.catalogue.envelope import Branch

UNCHANGED, CHANGED = Branch.RETRY_UNCHANGED, Branch.RETRY_CHANGED
SWITCH, VERIFY, STOP = Branch.SWITCH_TOOL, Branch.VERIFY, Branch.STOP
ASK_USER, APPROVAL = Branch.ASK_USER, Branch.ASK_APPROVAL
NONE, SEVERAL = Branch.NONE, Branch.SEVERAL

# (text, branch)
CASES = [
    # what frameworks add
    ("An error occurred while running the tool. Please try again.", UNCHANGED),
    ("An error occurred while running the tool. Please try again. Error: Invalid date",
     UNCHANGED),
    ("Error: ValueError('row_id must be 1 or more')\n Please fix your mistakes.",
     CHANGED),
    ("Error invoking tool 'x' with kwargs {'a': 1} with error:\n a: Field required\n "
     "Please fix the error and try again.", CHANGED),
    (r"ToolInvocationError('with error:\n a: Field required\n Please fix the error.')",
     CHANGED),
    ("1 validation error: a Field required\n\nFix the errors and try again.", CHANGED),
    ("Error: foo is not a valid tool, try one of [search, lookup].", SWITCH),
    ("Please try again or use another tool", SEVERAL),
    ("[ERROR] You did not use a tool in your previous response! Please retry with a "
     "tool use.", CHANGED),
    ("Missing value for required parameter 'path'. Please retry with complete "
     "response.", CHANGED),
    ("An error occurred.", NONE),
    ("Error executing tool find_order", NONE),
    ("No such tool available: Grep", NONE),
    # coding agents
    ("File has not been read yet. Read it first before writing to it.", SWITCH),
    ("File has been modified since read, either by the user or by a linter. Read it "
     "again before attempting to write it.", SWITCH),
    ("String to replace not found in file.", NONE),
    ("Found 3 matches of the string to replace, but replace_all is false. To replace "
     "all occurrences, set replace_all to true. To replace only one occurrence, please "
     "provide more context to uniquely identify the instance.", CHANGED),
    ("The user doesn't want to proceed with this tool use. STOP what you are doing and "
     "wait for the user to tell you how to proceed.", STOP),
    ("File content (30000 tokens) exceeds maximum allowed tokens (25000). Please use "
     "offset and limit parameters to read specific portions of the file, or use the "
     "GrepTool to search for specific content.", SEVERAL),
    ("params must have required property 'path'", NONE),
    ("The bash tool was called with invalid arguments: SchemaError(Missing key).\n"
     "Please rewrite the input so it satisfies the expected schema.", CHANGED),
    ("Exit code 1\nFAILED tests/test_a.py::test_b", NONE),
    ("exec_command failed for `ls`: timeout", NONE),
    # retries
    ("Rate limit reached. Wait 30 seconds, then make the same call again.", UNCHANGED),
    ("Try again.", UNCHANGED),
    ("Please retry the request in 5 seconds.", UNCHANGED),
    ("Retry with the same idempotency key.", UNCHANGED),
    ("Back off, then repeat the call.", UNCHANGED),
    ("Invalid date. Please try again. Use YYYY-MM-DD.", CHANGED),
    ("Try a different query.", CHANGED),
    ("HTTP 422: correct the field and post again.", CHANGED),
    ("ValidationError: Provide a customer id.", CHANGED),
    ("Amount too high - use at most 40.00", CHANGED),
    ("You should pass either `id` or `name`.", CHANGED),
    ("Hint: escape the bracket.", CHANGED),
    ("The queue does not exist. Valid queues: a, b. Choose one.", CHANGED),
    ("Make sure the path is absolute.", CHANGED),
    ("Send a link instead.", CHANGED),
    # other branches
    ("Cannot be cancelled. Use create_refund instead.", SWITCH),
    ("Call `grep` to find the path.", SWITCH),
    ("Use grep to find the path, then call again with it.", SWITCH),
    ("Call list_tables for the names, then call run_sql again.", SWITCH),
    ("It is unknown whether the money moved. Call get_status with the same key before "
     "trying again.", VERIFY),
    ("Verify the order status with get_order before retrying.", VERIFY),
    ("Check whether the booking exists.", VERIFY),
    ("Do not post again; use http_get to read it.", VERIFY),
    ("No booking was made; ask the user for the right date.", ASK_USER),
    ("Ask for the reference on the invoice.", ASK_USER),
    ("Ask the customer for the reference, then call find_account again.", ASK_USER),
    ("You must ask a supervisor to approve refunds above 100.", APPROVAL),
    ("Request approval from a person.", APPROVAL),
    ("Wait for approval.", APPROVAL),
    ("Hand over to a person.", STOP),
    ("Escalate.", STOP),
    ("Contact support.", STOP),
    ("Do not pay again. Tell the user it is settled.", STOP),
    ("Do not retry.", STOP),
    ("Retrying will not help.", STOP),
    ("This is not retryable.", STOP),
    ("Ask a supervisor to approve it; do not split the amount or retry.", APPROVAL),
    # more than one, or steps that only follow
    ("Correct the id, or ask the user.", SEVERAL),
    ("Check the order id. Ask the user for confirmation.", SEVERAL),
    ("If you meant A, use find_a; otherwise ask the user.", SEVERAL),
    ("Correct the id and tell the user that it takes longer.", CHANGED),
    ("Correct the id. If it fails again, escalate.", CHANGED),
    ("Use create_refund instead. Tell the user that nothing was cancelled.", SWITCH),
    # words that only look like instructions
    ("Limit 50 exceeded", NONE),
    ("Bad request: limit", NONE),
    ("Retry limit reached", NONE),
    ("Update failed: version mismatch", NONE),
    ("Query timed out", NONE),
    ("Format error in line 3", NONE),
    ("Check constraint \"amount_positive\" is violated", NONE),
    ("expected a comma, got '}' instead", NONE),
    ("Use of undeclared name x", NONE),
    ("remove(PendingIntent{1}) changed bounds", NONE),
    ("LINE 1: SELECT id FROM orders", NONE),
    ("The amount must be between 1 and 10.", NONE),
    ("null", NONE),
    ("", NONE),
]  # fmt: skip


@pytest.mark.parametrize(("text", "branch"), CASES)
def test_read_branches_reads_what_a_text_tells(text, branch):
    assert read_branches(text).branch is branch


# (text, what it tells, what is read)
KNOWN_WRONG = [
    # A wish, not an instruction.
    ("It would help to pass a smaller limit.", CHANGED, NONE),
    # The end of a build's log.
    ("make: *** No rule to make target 'all'.  Stop.", NONE, STOP),
    # A person's words inside a refusal.
    ("The user said:\nCall it homebrew-tab instead of home.", NONE, CHANGED),
    # Other languages.
    ("Bitte versuchen Sie es später erneut.", UNCHANGED, NONE),
    # A person is meant, but the rules know no names of roles.
    ("Let billing know.", STOP, NONE),
    # Whose tool it is cannot be seen when the failing tool is not given.
    ("The fare has expired. Call search_flights again.", SWITCH, UNCHANGED),
    # A hint for developers.
    ("x.go:340: os/exec.Command is slow. use os/exec.CommandContext", NONE, CHANGED),
    # Two conditions that exclude each other are one branch at run time.
    ("If the order is open, call cancel_order. If it has shipped, call create_refund.",
     SEVERAL, SWITCH),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted", "actual"), KNOWN_WRONG)
def test_read_branches_is_known_to_be_wrong_here(text, wanted, actual):
    assert read_branches(text).branch is actual
    assert wanted is not actual


def test_read_branches_gives_the_evidence():
    text = "Already shipped. Do not cancel it. Use create_refund instead, then tell me."

    steps = read_branches(text, "cancel_order", ["create_refund"]).steps

    assert [(s.role, text[s.start : s.end], s.tool) for s in steps] == [
        (Role.FORBIDS, "Do not cancel it", ""),
        (Role.SELECTS, "Use create_refund instead, then tell me", "create_refund"),
    ]


@pytest.mark.parametrize(
    ("tool", "branch"),
    [("search_flights", UNCHANGED), ("book_flight", SWITCH), ("", UNCHANGED)],
)
def test_a_call_of_the_same_tool_is_a_retry(tool, branch):
    reading = read_branches("Call search_flights again.", tool, ["search_flights"])

    assert reading.branch is branch
    assert reading.tools_named() == ("search_flights",)


def test_several_keeps_the_order_in_which_they_are_told():
    reading = read_branches("Ask the user, or escalate, or correct the id.")

    assert reading.branch is SEVERAL
    assert reading.branches == (ASK_USER, STOP, CHANGED)


# Every template of the benchmark corpus, read with its tool and the others known.
CORPUS = {
    "T01": (SWITCH,), "T02": (SWITCH,), "T03": (NONE, CHANGED), "T04": (NONE, VERIFY),
    "T05": (CHANGED,), "T07": (CHANGED,), "T09": (NONE, SWITCH), "T13": (SEVERAL,),
    "T16": (SWITCH,), "T17": (CHANGED,), "T20": (SWITCH,), "T21": (NONE, SWITCH),
    "T32": (CHANGED,), "T33": (VERIFY,), "T36": (CHANGED,), "T38": (CHANGED,),
    "T39": (UNCHANGED, SWITCH), "T41": (ASK_USER,), "T42": (SWITCH,),
    "T47": (CHANGED,), "T50": (STOP,), "T52": (NONE, SEVERAL), "T55": (UNCHANGED,),
}  # fmt: skip


@pytest.mark.shared
def test_read_branches_reads_the_templates_of_the_corpus(shared):
    spec = importlib.util.spec_from_file_location(
        "make_corpus", shared / "bench" / "make_corpus.py"
    )
    assert spec is not None
    assert spec.loader is not None
    corpus = importlib.util.module_from_spec(spec)
    sys.modules["make_corpus"] = corpus
    spec.loader.exec_module(corpus)
    draw = corpus.Rnd("branches")

    for name, tools, _, versions in corpus.TEMPLATES:
        texts = (
            [versions] if isinstance(versions, str) else [versions[0], versions[1][1]]
        )
        wanted = CORPUS.get(name, (NONE,) * len(texts))
        own = tools[0] if tools != corpus.ANY else ""
        for text, branch in zip(texts, wanted, strict=True):
            rendered = corpus.render(draw, text)
            found = read_branches(rendered, own, corpus.TOOL_NAMES).branch
            assert found is branch, rendered


@pytest.mark.parametrize(
    "text",
    ["use " * 50_000, "or " * 60_000, "please " * 30_000, "a" * 200_000, ". " * 90_000,
     "ask " * 40_000 + "approval", "wait, then " * 20_000, "\n" * 200_000],
)  # fmt: skip
def test_a_hostile_text_takes_time_in_proportion_to_its_length(text):
    started = time.process_time()
    read_branches(text)

    assert time.process_time() - started < 3
