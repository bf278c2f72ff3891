"""A retry is asked for although it is unknown whether the first call took effect."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans
from apps.catalogue.contradictions import Contract, contradictions
from apps.catalogue.envelope import Branch, CommitState, RetryDirective, ToolHints

ID = "unknown-with-retry"
SEVERITY = Severity.ERROR
MEANING = (
    "A retry is asked for although it is unknown whether the first call took effect."
)
WHY = "If it did, the retry pays, books or sends twice."
FIX = (
    "Ask for a look-up by the operation reference first, or retry under the same "
    "key only."
)

_UNKNOWN = re.compile(
    r"(?i)\b(?:unknown|unclear|not known|cannot tell|may (?:or may not )?have"
    r"|might have)\b"
)
_SAME_KEY = re.compile(r"(?i)\bsame (?:\w+ )?(?:key|reference|operation\w*|id)\b")


def check(subject: Subject) -> list[Finding]:
    """Look at the envelope's promises, and at the text's own words."""
    if subject.envelope:
        found = contradictions(subject.envelope, subject.hints)
        wrong = [c for c in found if c.id == "unknown_with_retry"]
        if wrong:
            return [Finding(ID, SEVERITY, wrong[0].message, FIX)]
    repeats = subject.reading.branch is Branch.RETRY_UNCHANGED
    if not repeats or not _UNKNOWN.search(subject.text):
        return []
    if _SAME_KEY.search(subject.text):
        return []
    message = "It says that the effect is unknown, and to make the call again."
    return [Finding(ID, SEVERITY, message, FIX, spans(_UNKNOWN, subject.text))]


_WAITS = Contract(
    commit_state=CommitState.UNKNOWN, directive=RetryDirective.AFTER_DELAY
)
CASES_PASS = (
    Subject("It is unknown whether it was paid. Retry with the same key."),
    Subject("It is unknown whether it was paid. Call get_status before retrying."),
    Subject(
        "Busy.",
        Contract(
            commit_state=CommitState.UNKNOWN,
            directive=RetryDirective.AFTER_DELAY,
            operation_ref="op-1",
        ),
        tool="pay",
        tools={"pay": ToolHints("pay", idempotent=True)},
    ),
)
CASES_FAIL = (
    Subject("It is unknown whether it was paid. Please try again."),
    Subject("Busy.", _WAITS),
)
