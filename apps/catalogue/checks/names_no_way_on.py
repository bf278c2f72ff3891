"""The text neither names what is wrong with the call nor offers a way on."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import CONSTRAINT

ID = "names-no-way-on"
SEVERITY = Severity.WARNING
MEANING = "The text neither names what is wrong with the call nor offers a way on."
WHY = (
    "Nothing in it can be acted upon: the next call can only be the same or a "
    "blind guess."
)
FIX = "Name the argument and what it may be, a tool that helps, or the person to ask."


def check(subject: Subject) -> list[Finding]:
    """Look for an instruction, a constraint, or a tool's name."""
    if not subject.text.strip() or subject.reading.steps:
        return []
    if CONSTRAINT.search(subject.text) or any(t in subject.text for t in subject.tools):
        return []
    return [Finding(ID, SEVERITY, "It offers no way on.", FIX)]


CASES_PASS = (
    Subject("Field `amount` must be at most 40.00."),
    Subject("Contact support."),
    Subject("Too many requests for find_order."),
)
CASES_FAIL = (
    Subject("Internal error"),
    Subject("Refund failed (code 7)."),
    Subject("Duplicate?"),
)
