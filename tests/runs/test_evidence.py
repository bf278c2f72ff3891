"""Evidence: which results count as failures, by which rule, and for what cause."""

import pytest

from apps.runs.evidence import EVIDENCE_RULES, judge
from apps.runs.rules import Rules
from apps.runs.transcript import Result
from tests.runs.transcripts import call

TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "a.py", line 1, in <module>\n'
    "    import b\n"
    "ModuleNotFoundError: No module named 'b'"
)


def rule_of(text: str) -> str:
    """The rule by which a text alone is judged a failure; "" if it is none."""
    verdict = judge(call("some_tool", result=Result(text)))
    return verdict.rule if verdict else ""


# --- by the text alone ----------------------------------------------------------------

FAILURES = [
    ("exit-code", "Exit code 2\nls: cannot access 'x'"),
    ("exit-code", "<returncode>1</returncode>\n<output>\nTraceback\n</output>"),
    ("exit-code", "x\n[Command finished with exit code 1]"),
    ("json-error", '{"error": "no such order"}'),
    ("json-error", "{'success': False, 'message': 'declined'}"),
    ("denied", "The user doesn't want to proceed with this tool use."),
    ("denied", "[Operation Cancelled] Reason: User denied execution."),
    ("denied", "Permission to use web_search has been rejected. It is not allowed."),
    ("denied", "aborted by user after 3.2s"),
    ("sibling", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
    ("unknown-tool", "unsupported call: run_tests"),
    ("unknown-tool", 'Tool "run_tests" not found. Did you mean read_file?'),
    ("unknown-tool", "Tool cancel_item not found"),
    ("unknown-tool", "Error: pay is not a valid tool, try one of [get_order]."),
    ("unknown-tool", "Unknown tool: pay"),
    ("bad-args", "failed to parse function arguments: missing field `cmd`"),
    ("bad-args", "<tool_use_error>InputValidationError: Read failed</tool_use_error>"),
    ("bad-args", "params must have required property 'command'"),
    ("bad-args", "2 validation errors for Order\nid\n  Field required"),
    ("masked-cause", "An error occurred while running the tool. Please try again."),
    ("masked-cause", "Error executing tool pay"),
    ("known-text", "Your proposed edit has introduced new syntax error(s)."),
    ("known-text", "[No exact match found in /srv/a.py for\n```\nx\n```]"),
    ("known-text", "# 1 SEARCH/REPLACE block failed to match!"),
    ("traceback", TRACEBACK),
    ("traceback", "-" * 75 + "\nNameError      Traceback (most recent call last)"),
    (
        "traceback",
        "Cell In[2], line 1\n    import *\n           ^\nSyntaxError: declined",
    ),
    ("traceback", "panic: runtime error: index out of range"),
    ("traceback-end", f"Reading …\nlen: 3\n{TRACEBACK}\n"),
    ("error-prefix", "Error: flight HAT030 not available on date 2024-05-13"),
    ("error-prefix", "ERROR:\nNo replacement was made."),
    ("error-prefix", "error: unknown subcommand: `status'"),
    ("error-prefix", "fatal: not a git repository"),
    ("error-prefix", "[ERROR] could not write"),
    ("error-prefix", "Error executing tool pay: card declined"),
    ("error-prefix", "Error (500): try again"),
    ("error-prefix", "googleapi: Error 403: Rate Limit Exceeded"),
    ("error-prefix", "regex parse error:\n    a(\n    ^ unclosed group"),
    ("error-prefix", "Failed to connect to host"),
    ("error-prefix", '"Error: as a JSON string"'),
    ("error-prefix", "❌ Error: declined"),
    ("error-prefix", "错误：找不到文件"),
    ("exception-name", "ValueError: id must be a number"),
    (
        "exception-name",
        "java.sql.SQLException: pool is empty\n\tat com.x.Y.z(Y.java:3)",
    ),
    ("exception-name", 'psycopg.errors.UndefinedColumn: column "x" does not exist'),
    ("exception-name", "KeyError('id')"),
    ("status-line", "HTTP 502 Bad Gateway from api-3 (10.0.0.1:8080)"),
    ("status-line", "404 Not Found"),
    ("status-line", "404: Not Found"),
    ("errno", "ENOENT: no such file or directory, open '/srv/a'"),
    ("errno", "[Errno 13] Permission denied: '/srv/a'"),
    ("errno", "cat: /srv/a: No such file or directory"),
    ("errno", "awk: cannot open x (No such file or directory)"),
    ("errno", "bash: line 1: foo: command not found"),
    (
        "program-message",
        "/bin/sh: 1: cd: can't cd to /srv/build\nmake: *** [all] Error 2",
    ),
    ("program-message", "df: invalid option -- 'p'\nTry 'df --help'."),
    ("program-message", "find: unknown predicate `-v'"),
    ("failure-phrase", "The request timed out after 30 seconds"),
    ("failure-phrase", "Patch failed: 0 matches"),
    ("failure-phrase", "Directory src not found"),
    ("failure-phrase", "File /srv/a does not exist. Use grep to find it."),
    ("failure-phrase", "A user with that name already exists."),
    ("argument-phrase", "ticket_id must look like T-123"),
    ("argument-phrase", "amount_cents is above the order's total of 4200"),
    ("refusal-phrase", "Could not find an exact match for 'old_string' in 'a.py'."),
    ("refusal-phrase", "Unable to complete booking 5"),
    ("refusal-phrase", "Internal error 5f1c"),
    ("refusal-phrase", "Conflict"),
]


@pytest.mark.parametrize(
    ("rule", "text"), FAILURES, ids=[f"{r}-{i}" for i, (r, _) in enumerate(FAILURES)]
)
def test_judge_sees_a_failure_by_its_text(rule, text):
    assert rule_of(text) == rule


def test_every_rule_that_counts_has_a_case():
    suggestions = {"inner-error", "traceback-inside", "empty-result"}
    by_a_field = {"error-code"}

    assert {rule for rule, _ in FAILURES} == (
        set(EVIDENCE_RULES) - suggestions - by_a_field
    )


SUCCESSES = [
    "",
    "[]",
    "null",
    "fine",
    "Transfer successful",
    "No matches found",
    "No files found",
    'No matches found for "NDimArray.py" in /srv',
    "(no output)",
    '{"ok": true, "summary": "0 errors, 3 warnings", "log": "last error was cleared"}',
    '{"rows": [{"status": "failed"}]}',
    '[{"error": "in a row"}]',
    "0 errors, 2 warnings",
    "12 passed, 1 failed in 3.2s",
    "Tests failed: 0",
    "Last error: connection reset at 10:02",
    "Mean squared error: 0.031",
    "Error: (none)\nExit Code: 0",
    "Command: ls\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 0\nSignal: 0",
    "Process exited with code 0\nOutput:\nerror: in the log that was read",
    "Script completed successfully, no errors.",
    "src/errors/ApiError.ts\nsrc/errors/NotFoundError.ts",
    "src/a.py:12:class ValueError(Exception):",
    '     1→package main\n     2→import "errors"',
    '   340\tif err != nil {\n   341\t\tt.Fatalf("error")',
    "# Error handling\n\nErrors are values.",
    "ErrorBoundary is a React component",
    "Errors are logged to /var/log/app",
    "exit code: 1",
    "Retry of failed job 12 started",
    "List of failed payments: none",
    "Status: failed",
    "status: unknown\ncolour: red",
    "node: v18.2.0\nnpm: 9.1.0",
    "make: Nothing to be done for 'all'.",
    "make: Entering directory '/srv'",
    "EXAMPLE: of an upper-case word",
    "The file a.py has been edited.",
    "[File: a.py (3 lines total)]\n1:raise ValueError('x')",
    "diff --git a/a.py b/a.py\n+raise ValueError",
    "User already exists, so nothing was changed",
    "total 12\n-rw-r--r-- 1 root root 35 error.log",
    "On branch main\nnothing to commit",
    "ok  \tpkg/a\t2.1s\n?   \tpkg/b\t[no test files]",
    "find: '/proc/1/fd': Permission denied\n" + "/srv/found.txt\n" * 60,
    "Failure modes of bridges: an overview",
    "ValueError - raised if `name` is not known\nImportError - raised if …",
]


@pytest.mark.parametrize("text", SUCCESSES)
def test_judge_lets_a_success_pass(text):
    assert rule_of(text) == ""


KNOWN_WRONG = [  # text, wanted, actual
    ("No order 404. Use search_orders to find the number.", "refusal-phrase", ""),
    ("null", "masked-cause", ""),  # all that some tools say of a failure
    ("Duplicate?", "refusal-phrase", ""),
    ("Attachments above 5 MB are not accepted; the mail was not sent.", "failure", ""),
    ("INVALID_DATE", "error-prefix", ""),
    ("Booking error. Please try again later.", "error-prefix", ""),
    ("Unknown Pleasures is the first album of Joy Division.", "", "refusal-phrase"),
    ("Basic economy flights cannot be modified.", "", "failure-phrase"),
    ("Room 5 is not available on 3 May.", "", "failure-phrase"),
    ("Error in Judgment is a film of 1999.", "", "error-prefix"),
    (f"== app.log, last lines ==\n{TRACEBACK}", "", "traceback-end"),
    ("Reading lists… Done\nE: Unable to locate package x", "program-message", ""),
    ("tar: Removing leading `/'\ntar: /x: Cannot stat: No such file", "errno", ""),
]


@pytest.mark.parametrize(("text", "wanted", "actual"), KNOWN_WRONG)
def test_judge_known_wrong(text, wanted, actual):
    assert wanted != actual
    assert rule_of(text) == actual


def test_a_shell_wrappers_own_label_is_no_error():
    # seen in real logs: the label stands there always, with “(none)” where all is well
    text = "Command: touch a\nOutput: (empty)\nError: (none)\nExit Code: 0\nSignal: 0"

    assert judge(call("run_shell_command", result=Result(text))) is None


@pytest.mark.parametrize("rule", [rule for rule, _ in FAILURES])
def test_a_rule_that_is_off_judges_nothing(rule):
    text = next(text for name, text in FAILURES if name == rule)
    off = Rules(disabled_evidence=frozenset({rule}))

    verdict = judge(call("some_tool", result=Result(text)), off)

    assert verdict is None or verdict.rule != rule


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["a ", "- ", "E", "1 ", "Error ", "a.", "a::", "(", "tar: ", "\n", "`a` "]
)
def test_long_texts_of_one_kind_take_no_time(part):
    verdicts = [judge(call("a_tool", result=Result(part * n))) for n in (100, 500_000)]

    assert len(verdicts) == 2
