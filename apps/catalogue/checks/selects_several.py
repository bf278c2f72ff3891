"""The text tells the agent to do several things that exclude each other."""

from apps.catalogue.branches import Role
from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.envelope import Branch

ID = "selects-several"
SEVERITY = Severity.ERROR
MEANING = "The text tells the agent to do several things that exclude each other."
WHY = (
    "Which one it takes then depends on the model and its mood; figures mix two "
    "behaviours."
)
FIX = "Choose one branch; give each other cause a code of its own."


def check(subject: Subject) -> list[Finding]:
    """Name the branches that stand side by side."""
    reading = subject.reading
    if reading.branch is not Branch.SEVERAL:
        return []
    names = ", ".join(branch.value.replace("_", " ") for branch in reading.branches)
    spans = tuple((s.start, s.end) for s in reading.steps if s.role is Role.SELECTS)
    return [Finding(ID, SEVERITY, f"It selects {names}.", FIX, spans)]


CASES_PASS = (
    Subject("Correct the id, then call find_order again."),
    Subject("Correct the id. If it fails again, escalate."),
    Subject("Refund failed."),
)
CASES_FAIL = (
    Subject("Rewrite it as a SELECT, or hand over to a person."),
    Subject("Check the order id. Ask the user for confirmation."),
    Subject("Please try again or use another tool"),
)
