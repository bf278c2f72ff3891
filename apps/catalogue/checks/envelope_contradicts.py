"""The envelope contradicts itself, or what is known of the tool."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.contradictions import Contract, contradictions
from apps.catalogue.envelope import Category, NextAction, RetryDirective

ID = "envelope-contradicts"
SEVERITY = Severity.ERROR
MEANING = "The envelope contradicts itself, or what is known of the tool."
WHY = "A runtime that obeys one field breaks the promise of another."
FIX = "Change the field that is wrong; the message names the two that collide."

# These two have checks of their own, which read the text as well.
_ELSEWHERE = ("unknown_with_retry", "delay_not_repeatable")


def check(subject: Subject) -> list[Finding]:
    """Report each contradiction of the contract."""
    if subject.envelope is None:
        return []
    return [
        Finding(ID, SEVERITY, found.message, FIX)
        for found in contradictions(subject.envelope, subject.hints)
        if found.id not in _ELSEWHERE
    ]


CASES_PASS = (
    Subject("Busy."),
    Subject(
        "Correct `date`.",
        Contract(
            category=Category.VALIDATION,
            directive=RetryDirective.AFTER_INPUT_FIX,
            next_action=NextAction.CORRECT_INPUT,
        ),
    ),
)
CASES_FAIL = (
    Subject(
        "Use create_refund.",
        Contract(
            directive=RetryDirective.AFTER_DELAY, next_action=NextAction.SWITCH_TOOL
        ),
    ),
    Subject(
        "Bad date.",
        Contract(category=Category.VALIDATION, directive=RetryDirective.AFTER_DELAY),
    ),
)
