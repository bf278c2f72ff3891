"""The text holds a secret: a key, a password, a token."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.secrets import KINDS, find_secrets

ID = "leaks-secret"
SEVERITY = Severity.ERROR
MEANING = "The text holds a secret: a key, a password, a token."
WHY = (
    "Whatever the model reads it may repeat, and every later request carries it along."
)
FIX = "Take it out of the message and of the logs, and change the secret."

# Addresses are most often the call's own argument; another check sees the echo.
_PERSONAL = frozenset({"email"})
_MARKER = re.compile(r"\[([a-z_]{3,40})\]")


def check(subject: Subject) -> list[Finding]:
    """Look for secrets, and for the marks that redaction left of them."""
    told = subject.envelope.user_message if subject.envelope else ""
    found = [(s.kind, (s.start, s.end)) for s in find_secrets(subject.text)]
    found += [(m[1], m.span()) for m in _MARKER.finditer(subject.text) if m[1] in KINDS]
    kinds = [kind for kind, _ in found] + [s.kind for s in find_secrets(told)]
    kinds = [kind for kind in kinds if kind not in _PERSONAL]
    if not kinds:
        return []
    names = ", ".join(dict.fromkeys(kind.replace("_", " ") for kind in kinds))
    places = tuple(span for kind, span in found if kind not in _PERSONAL)
    return [Finding(ID, SEVERITY, f"It holds: {names}.", FIX, places)]


CASES_PASS = (
    Subject("SMTP 550 <bob@example.com>: Recipient rejected"),
    Subject("The api_key is missing. Ask the user for it."),
    Subject("request id 7f0c1d9e-4b7a-4c1e-a9d3-0b6f1f2a3c4d [INFO]"),
)
CASES_FAIL = (
    Subject("relay closed: auth=svc-mailer password=pw-85c35840"),
    Subject("relay closed: auth=svc-mailer password=[password]"),
    Subject("Card 4111 1111 1111 1111 was declined."),
)
