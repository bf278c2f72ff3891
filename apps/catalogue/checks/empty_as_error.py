"""An empty result is reported as an error."""

from apps.catalogue.checks.subject import Events, Finding, Severity, Subject
from apps.catalogue.proposals import is_empty_result

ID = "empty-as-error"
SEVERITY = Severity.ERROR
MEANING = "An empty result is reported as an error."
WHY = "Nothing went wrong: the agent tries to repair what works."
FIX = "Report a success with a count of 0, and what was searched for."


def check(subject: Subject) -> list[Finding]:
    """Look at the flag with the text, and at what the logs counted."""
    flagged = subject.is_error and is_empty_result(subject.text)
    count = subject.events.empty_flagged
    if not flagged and not count:
        return []
    message = (
        f"{count} empty results are flagged as errors."
        if count
        else ("An empty result is flagged as an error.")
    )
    return [Finding(ID, SEVERITY, message, FIX)]


CASES_PASS = (
    Subject("[]"),
    Subject("Order 7 was not found.", is_error=True),
)
CASES_FAIL = (
    Subject("[]", is_error=True),
    Subject("No results found.", is_error=True),
    Subject("[]", events=Events(errors=9, empty_flagged=9)),
)
