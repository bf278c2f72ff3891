"""The text has more than two sentences."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import sentences

ID = "too-long"
SEVERITY = Severity.WARNING
MEANING = "The text has more than two sentences."
WHY = "It is read again with every later request, and the instruction drowns in it."
FIX = "Say in one sentence what is wrong and in one what to do."

_MOST = 2


def check(subject: Subject) -> list[Finding]:
    """Count sentences and lines."""
    found = sentences(subject.text)
    if len(found) <= _MOST:
        return []
    beyond = (found[_MOST][0], found[-1][1])
    return [Finding(ID, SEVERITY, f"It has {len(found)} sentences.", FIX, (beyond,))]


CASES_PASS = (
    Subject("No account matches customer_ref. Ask the customer for the invoice."),
    Subject("Use a date on or after 2026-09-07, e.g. 2026-09-08. Then call again."),
    Subject("null"),
)
CASES_FAIL = (
    Subject("No account matches. Ask for the invoice. Then call again."),
    Subject("Exit code 1\nline one\nline two"),
)
