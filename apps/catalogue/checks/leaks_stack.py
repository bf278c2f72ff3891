"""The text shows a stack trace or the inside of a program."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans

ID = "leaks-stack"
SEVERITY = Severity.ERROR
MEANING = "The text shows a stack trace or the inside of a program."
WHY = (
    "It costs tokens on every later request and tells the agent nothing that it "
    "can act on."
)
FIX = "Catch the exception, give it a code, and point to the trace by detail_ref."

_PATTERN = re.compile(
    r"Traceback \(most recent call last\)|File \"[^\"]{1,300}\", line \d+"
    r"|^[ \t]+at [\w$.<>]{1,200}\([^)\n]{0,200}\)|\bat Object\.<anonymous>"
    r"|\bgoroutine \d+ \[|Exception in thread|\bpanic: |core dumped"
    r"|debug_error_string|<_\w{1,60} of \w{1,60} that"
    r"|\b(?:[a-z_]\w{0,60}\.){1,6}_?[A-Z]\w{0,60}(?:Error|Exception|Disconnected)\b",
    re.MULTILINE,
)


def check(subject: Subject) -> list[Finding]:
    """Look at both messages: the customer's must not show it either."""
    found = spans(_PATTERN, subject.text)
    told = subject.envelope.user_message if subject.envelope else ""
    if not found and not _PATTERN.search(told):
        return []
    where = "" if found else " in the customer's message"
    return [
        Finding(
            ID,
            SEVERITY,
            f"It shows a trace or a class of the program{where}.",
            FIX,
            found,
        )
    ]


CASES_PASS = (
    Subject("The file changed on disk since you read it. Call read_file again."),
    Subject("ValueError: row_id must be 1 or more"),
    Subject("Meet me at noon (room 5)."),
)
CASES_FAIL = (
    Subject('Traceback (most recent call last):\n  File "x.py", line 3, in <module>'),
    Subject("Ledger failed\n\tat com.example.Ledger.post(Ledger.java:77)"),
    Subject("smtplib.SMTPServerDisconnected: Connection unexpectedly closed"),
)
