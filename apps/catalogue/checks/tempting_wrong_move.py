"""A missing right is reported without forbidding the way around it."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import is_about_authorization
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Category

ID = "tempting-wrong-move"
SEVERITY = Severity.WARNING
MEANING = "A missing right is reported without forbidding the way around it."
WHY = "Agents that are refused try other accounts, other ids, other tools."
FIX = 'Say what not to do: "Do not try other accounts", "do not use another tool".'

_FORBIDS = re.compile(r"(?i)\b(?:do not|don't|never|must not|no other|may not)\b")


def check(subject: Subject) -> list[Finding]:
    """Ask of authorization codes for a prohibition."""
    if not is_about_authorization(subject) or _FORBIDS.search(subject.text):
        return []
    return [Finding(ID, SEVERITY, "It forbids no way around the refusal.", FIX)]


CASES_PASS = (
    Subject("You lack permission for refunds. Do not try other tools; escalate."),
    Subject("Permission denied", Contract(category=Category.NOT_FOUND)),
    Subject("Order 7 was not found."),
)
CASES_FAIL = (
    Subject("HTTP 401 Unauthorized"),
    Subject("Ask a supervisor.", Contract(category=Category.AUTHORIZATION)),
)
