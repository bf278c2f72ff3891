"""Agents repeat the identical call although the text is clear."""

from apps.catalogue.checks.subject import Events, Finding, Severity, Subject
from apps.catalogue.envelope import Branch

ID = "loop-through-clear-text"
SEVERITY = Severity.NOTE
MEANING = "Agents repeat the identical call although the text is clear."
WHY = "Some models do not read it; better words will not help these."
FIX = (
    "Break the loop in the dispatcher, not by rewriting: refuse the third "
    "identical call."
)


def check(subject: Subject) -> list[Finding]:
    """Look at the logs of a text that selects one branch, other than a repeat."""
    unclear = (Branch.NONE, Branch.SEVERAL, Branch.RETRY_UNCHANGED)
    loops = subject.events.loops
    if not loops or subject.reading.branch in unclear:
        return []
    return [Finding(ID, SEVERITY, f"{loops} loops went through this text.", FIX)]


CASES_PASS = (
    Subject("Refund failed.", events=Events(errors=40, loops=5)),
    Subject("Correct `date` and call again.", events=Events(errors=40)),
)
CASES_FAIL = (
    Subject("Correct `date` and call again.", events=Events(errors=40, loops=5)),
)
