"""The text does not say what to do next."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.envelope import Branch

ID = "selects-no-branch"
SEVERITY = Severity.ERROR
MEANING = "The text does not say what to do next."
WHY = "Left to guess, most agents repeat the call as it was, or apologise and stop."
FIX = (
    "End with one instruction: what to change, which tool to call, whom to ask, "
    "or stop."
)


def check(subject: Subject) -> list[Finding]:
    """Look for an instruction; an empty text has other faults."""
    if subject.reading.branch is not Branch.NONE or not subject.text.strip():
        return []
    return [Finding(ID, SEVERITY, "No branch is selected.", FIX)]


CASES_PASS = (
    Subject("Column x does not exist. Call list_tables for the names."),
    Subject("Nothing was booked; ask the user for the right date."),
    Subject("Do not retry."),
    Subject(""),
)
CASES_FAIL = (
    Subject("Refund failed (code 7)."),
    Subject("Invalid value for days: 40"),
    Subject("The amount must be between 1 and 10."),
)
