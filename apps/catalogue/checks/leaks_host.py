"""The text shows an internal host, address, port or process."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans

ID = "leaks-host"
SEVERITY = Severity.ERROR
MEANING = "The text shows an internal host, address, port or process."
WHY = (
    "It helps an attacker and nobody else; the agent may try to reach the host itself."
)
FIX = "Name the service by its public name; keep host and port in the trace."

_PATTERN = re.compile(
    r"\b[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9-]{1,63}){0,6}\.(?:internal|local|lan|corp|intranet|svc)"
    r"(?:\.[a-z0-9-]{1,63}){0,3}(?=$|[\s:/,;)\"'.])"
    r"|\b(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|127(?:\.\d{1,3}){3}"
    r"|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})\b|\b\d{1,3}(?:\.\d{1,3}){3}:\d+\b"
    r"|\blocalhost:\d+|\b(?i:pid|thread)[ =:]\d{2,}\b|\b(?:host|server|relay)=\S+"
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
            f"It shows an internal host, address or process{where}.",
            FIX,
            found,
        )
    ]


CASES_PASS = (
    Subject("HTTP 404 Not Found: https://api.example.com/v2/orders/7"),
    Subject("Version 10.2.1 is not supported; use 11.0.0 or later."),
    Subject("The local time is past. Pass a later date."),
)
CASES_FAIL = (
    Subject("HTTP 502 Bad Gateway from db-prod-3.internal.example (10.0.4.7:52025)"),
    Subject("connection slots are reserved (pid 38105640, host 192.168.3.9)"),
    Subject("Could not connect to localhost:5432"),
)
