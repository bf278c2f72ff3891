"""Every check against its own cases, and the page that tells of them."""

import re
import time
from pathlib import Path

import pytest

from apps.catalogue.branches import read_branches
from apps.catalogue.checks import Severity, Subject, all_checks, run
from apps.catalogue.checks.docs import render
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import NextAction, RetryDirective, ToolHints

CHECKS = {check.ID: check for check in all_checks()}
PASSING = [(c.ID, n) for c in all_checks() for n in range(len(c.CASES_PASS))]
FAILING = [(c.ID, n) for c in all_checks() for n in range(len(c.CASES_FAIL))]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"


@pytest.mark.parametrize(("name", "number"), PASSING)
def test_check_passes_its_passing_case(name, number):
    check = CHECKS[name]

    assert check.check(check.CASES_PASS[number]) == []


@pytest.mark.parametrize(("name", "number"), FAILING)
def test_check_finds_its_failing_case(name, number):
    check = CHECKS[name]
    subject = check.CASES_FAIL[number]

    findings = check.check(subject)

    assert findings
    for finding in findings:
        assert finding.id == name
        assert finding.severity is check.SEVERITY
        assert finding.fix == check.FIX
        assert finding.message.endswith(".")
        for start, end in finding.spans:
            assert 0 <= start < end <= len(subject.text)


@pytest.mark.parametrize("check", all_checks(), ids=lambda c: c.ID)
def test_check_says_what_why_and_how_in_sentences(check):
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", check.ID)
    for sentence in (check.MEANING, check.WHY, check.FIX):
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    assert len(re.findall(r"[.!?](?:\s|$)", check.FIX)) == 1, "one sentence"
    assert len(check.CASES_PASS) >= 2
    assert check.CASES_FAIL


def test_every_module_of_a_check_is_registered():
    folder = PAGE.parents[1] / "apps" / "catalogue" / "checks"
    modules = {p.stem for p in folder.glob("*.py") if "CASES_FAIL =" in p.read_text()}

    assert {name.replace("-", "_") for name in CHECKS} == modules


def test_the_page_of_checks_is_what_the_checks_say():
    assert PAGE.read_text(encoding="utf-8") == render()


def test_run_puts_errors_first_and_then_goes_by_id():
    findings = run(Subject("FATAL: pid 4711 at db-1.internal. A. B. C."))

    order = [(list(Severity).index(f.severity), f.id) for f in findings]
    assert order == sorted(order)
    assert {f.id for f in findings} >= {"leaks-host", "alarming-words", "too-long"}


GOOD = {
    "find_account": ToolHints("find_account", read_only=True),
    "refund": ToolHints("refund", read_only=False, idempotent=False),
    "get_refund": ToolHints("get_refund", read_only=True),
}
# Texts as they should be: nothing to find.
CLEAN = [
    Subject(
        "No account matches `customer_ref`. Ask the customer for the reference on the "
        "invoice, then call find_account again; do not guess.",
        Contract(next_action=NextAction.ASK_USER,
                 directive=RetryDirective.AFTER_INPUT_FIX),
        tool="find_account", tools=GOOD, placeholders=frozenset(),
    ),
    Subject(
        "The amount is above {limit}, nothing was paid. Call refund again with at most "
        "{limit}.",
        tool="refund", tools=GOOD, placeholders=frozenset({"limit"}),
    ),
    Subject(
        "The gateway did not answer; it is unknown whether the money moved. Call "
        "get_refund with the same key before calling refund again.",
        tool="refund", tools=GOOD, placeholders=frozenset(),
    ),
    Subject(
        "You lack the permission for refunds above {limit}. Ask a supervisor to "
        "approve it; do not split the amount or retry.",
        tool="refund", tools=GOOD, placeholders=frozenset({"limit"}),
    ),
]  # fmt: skip


@pytest.mark.parametrize("subject", CLEAN)
def test_run_finds_nothing_in_a_good_text(subject):
    assert run(subject) == []


def test_run_of_a_masked_failure_says_so_once():
    text = "An error occurred while running the tool. Please try again."

    findings = run(Subject(text))

    assert [f.id for f in findings].count("masked-failure") == 1


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "/srv/" * 40_000, "SELECT " * 30_000, "10." * 60_000,
             "{a}" * 60_000, "ignore all " * 18_000, " at a" * 40_000, "a.b" * 60_000,
             "a_" * 90_000, "x@" * 90_000,
     "a-" * 90_000, "\n" * 150_000, " " * 150_000, "\t" * 90_000 + "at",
     "with kwargs " * 15_000, "\\n" * 90_000, "9 " * 90_000, "1970-" * 30_000],
)  # fmt: skip
def test_run_takes_time_in_proportion_to_the_text(text):
    started = time.process_time()
    run(Subject(text, placeholders=frozenset()))

    assert time.process_time() - started < 5


def test_subject_reads_its_text_once():
    subject = Subject("Correct `date` and call again.")

    assert subject.reading is subject.reading
    assert subject.reading == read_branches(subject.text)
