"""The text has alarming words that a model could repeat to a customer."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans
from apps.catalogue.contradictions import Contract

ID = "alarming-words"
SEVERITY = Severity.WARNING
MEANING = "The text has alarming words that a model could repeat to a customer."
WHY = 'Models quote what they read: "a fatal error", "your account was hacked".'
FIX = "Say soberly what did not happen, and that nothing was lost."

_PATTERN = re.compile(
    r"(?i)\b(?:fatal|panic(?:ked)?|catastroph\w+|corrupt(?:ed|ion)?|breach(?:ed)?"
    r"|hack(?:ed|er)?|illegal|kill(?:ed)?|crash(?:ed)?|fraud(?:ulent)?|security"
    r" violation|data loss|compromised|suspicious|attack|severe|disaster|blacklisted"
    r"|terminated|emergency|critical (?:error|failure))\b|!{2,}"
)


def check(subject: Subject) -> list[Finding]:
    """Look at both messages."""
    told = subject.envelope.user_message if subject.envelope else ""
    found = spans(_PATTERN, subject.text)
    word = _PATTERN.search(subject.text) or _PATTERN.search(told)
    if word is None:
        return []
    return [Finding(ID, SEVERITY, f'It says "{word[0].lower()}".', FIX, found)]


CASES_PASS = (
    Subject("The service does not answer. Wait until 2026-09-07T10:05:00Z."),
    Subject("The payment was declined."),
)
CASES_FAIL = (
    Subject("FATAL: remaining connection slots are reserved"),
    Subject("Declined.", Contract(user_message="Your card may be compromised.")),
)
