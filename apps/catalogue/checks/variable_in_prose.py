"""A variable part of the text is in no allow-listed detail."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import PLACEHOLDER
from apps.catalogue.contradictions import Contract

ID = "variable-in-prose"
SEVERITY = Severity.WARNING
MEANING = "A variable part of the text is in no allow-listed detail."
WHY = "A program cannot read it, and what is not on the list may be anything."
FIX = "Add the name to safe_details, or leave the value out."

_VALUE = re.compile(
    r"(?<![\w.{-])(?:\d{4}-\d\d-\d\d(?:T[\d:]+Z?)?|[A-Z]{2,6}-\d+|[a-z]{2,6}_[0-9a-z]{8,}"
    r"|\d+(?:\.\d+)?)(?![\w}-])"
)


def check(subject: Subject) -> list[Finding]:
    """Ask of a draft for known names, of a delivered text for known values."""
    if subject.placeholders is not None:
        wrong = [
            match
            for match in PLACEHOLDER.finditer(subject.text)
            if match[1] not in subject.placeholders
        ]
        message = "{{{}}} is not among the safe details."
    elif subject.envelope and subject.envelope.safe_details:
        known = _known(subject)
        wrong = [m for m in _VALUE.finditer(subject.text) if m[0] not in known]
        message = "{} stands in the text alone."
    else:
        return []
    return [
        Finding(ID, SEVERITY, message.format(m[m.lastindex or 0]), FIX, (m.span(),))
        for m in wrong
    ]


def _known(subject: Subject) -> set[str]:
    """Every value of the details, as it may be written in a text."""
    known: set[str] = set()
    for value in subject.envelope.safe_details.values() if subject.envelope else ():
        for item in value if isinstance(value, tuple) else (value,):
            known |= {str(item), *re.findall(r"[\w.:-]+", str(item))}
    return known


CASES_PASS = (
    Subject("The amount is above {limit}.", placeholders=frozenset({"limit"})),
    Subject("The amount is above 40.", Contract(safe_details={"limit": 40})),
    Subject("The amount is above 40."),
)
CASES_FAIL = (
    Subject("{customer_name} is unknown.", placeholders=frozenset({"limit"})),
    Subject(
        "Order ORD-004211 is above 40.",
        Contract(safe_details={"limit": 40}),
    ),
)
