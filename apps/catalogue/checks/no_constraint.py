"""The text asks for a correction without naming what is allowed."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import CONSTRAINT
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Branch, Category

ID = "no-constraint"
SEVERITY = Severity.WARNING
MEANING = "The text asks for a correction without naming what is allowed."
WHY = "The agent changes something, most often not what was wrong, and fails again."
FIX = "Name the field, the rule that it broke, and what it may be."


def check(subject: Subject) -> list[Finding]:
    """Ask of a text that wants a changed call for the constraint beside the fix."""
    category = subject.envelope.category if subject.envelope else None
    changed = subject.reading.branch is Branch.RETRY_CHANGED
    if not changed and category is not Category.VALIDATION:
        return []
    if not CONSTRAINT.search(subject.text):
        message = "It names no field, no rule and no allowed value."
    elif not subject.reading.steps:
        message = "It names the rule, but not how to keep it."
    else:
        return []
    return [Finding(ID, SEVERITY, message, FIX)]


CASES_PASS = (
    Subject("Field `qty` must be between 1 and 60. Correct it and call again."),
    Subject("Queue x does not exist. Choose one of: a, b."),
    Subject("Refund failed."),
)
CASES_FAIL = (
    Subject("Something is wrong. Please fix your mistakes."),
    Subject("qty must be positive", Contract(category=Category.VALIDATION)),
)
