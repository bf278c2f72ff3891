"""The text leaves open whether the call may be made again."""

import re

from apps.catalogue.branches import Role
from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Branch, RetryDirective

ID = "retry-not-said"
SEVERITY = Severity.NOTE
MEANING = "The text leaves open whether the call may be made again."
WHY = (
    "Unsure, the agent makes the same call again: the commonest and costliest "
    "next move."
)
FIX = 'Say "call X again with …", or "do not call it again", or add the envelope.'

_SAID = re.compile(
    r"(?i)\b(?:again|retry|retried|retrying|repeat|same call|try with|once more)\b"
)


def check(subject: Subject) -> list[Finding]:
    """Look for a word about repeating, or an envelope that says it."""
    if subject.envelope and subject.envelope.directive:
        return []
    forbids = any(step.role is Role.FORBIDS for step in subject.reading.steps)
    branch = subject.reading.branch
    again = (Branch.RETRY_CHANGED, Branch.RETRY_UNCHANGED, Branch.STOP)
    if forbids or branch in again or _SAID.search(subject.text) or not subject.text:
        return []
    return [Finding(ID, SEVERITY, "It does not say whether to call again.", FIX)]


CASES_PASS = (
    Subject("Call list_tables for the names, then call run_sql again."),
    Subject("Already shipped. Do not cancel it; use create_refund."),
    Subject("Gone.", Contract(directive=RetryDirective.NEVER)),
)
CASES_FAIL = (
    Subject("Refund failed (code 7)."),
    Subject("Already shipped. Use create_refund instead."),
)
