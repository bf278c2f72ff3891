"""A wait is given as a duration, or not at all."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Branch, RetryDirective
from apps.catalogue.waits import find_wait

ID = "relative-wait"
SEVERITY = Severity.WARNING
MEANING = "A wait is given as a duration, or not at all."
WHY = "A transcript is read later than it was written, and a model has no clock."
FIX = "Give an absolute time (2026-09-07T10:05:00Z) and let the runtime wait."


def check(subject: Subject) -> list[Finding]:
    """Look for durations in the text, and for a wait without a time."""
    wait = find_wait(subject.text, None)
    if wait:
        at = subject.text.find(wait.raw)
        place = ((at, at + len(wait.raw)),)
        return [Finding(ID, SEVERITY, f'It says "{wait.raw.strip()}".', FIX, place)]
    told = subject.reading.branch is Branch.RETRY_UNCHANGED
    promised = subject.envelope is not None and subject.envelope.waits
    given = subject.envelope is not None and subject.envelope.not_before is not None
    if not (told or promised) or given or _TIME.search(subject.text):
        return []
    return [Finding(ID, SEVERITY, "It does not say from when to try again.", FIX)]


_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d|\{\w*(?:before|until|at|time)\w*\}")
CASES_PASS = (
    Subject("Busy. Make the same call again after 2026-09-07T10:05:00Z."),
    Subject("Busy. Wait until {not_before}, then make the same call again."),
    Subject("Command timed out after 30 seconds"),
)
CASES_FAIL = (
    Subject("Rate limit reached. Wait 30 seconds, then make the same call again."),
    Subject("Please try again later."),
    Subject("Busy.", Contract(directive=RetryDirective.AFTER_DELAY)),
)
