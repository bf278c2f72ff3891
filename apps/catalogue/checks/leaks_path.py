"""The text shows a path of the server."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject

ID = "leaks-path"
SEVERITY = Severity.WARNING
MEANING = "The text shows a path of the server."
WHY = "The agent takes it for a file that it may read, and customers learn the layout."
FIX = "Name the thing, not where it lies; a path that the agent gave may be repeated."

_PATTERN = re.compile(
    r"(?<![\w.:/~-])/(?:srv|usr|home|root|etc|var|opt|tmp|app|mnt|Users|private|data)/"
    r"[^\s'\",:;()<>]+|\b[A-Z]:\\[\w\\.-]+"
)


def check(subject: Subject) -> list[Finding]:
    """Look for absolute paths that are not the call's own argument."""
    found = tuple(
        match.span()
        for match in _PATTERN.finditer(subject.text)
        if match[0].rstrip(".") not in subject.arguments
    )
    if not found:
        return []
    shown = subject.text[slice(*found[0])]
    return [Finding(ID, SEVERITY, f"It shows {shown[:60]}.", FIX, found)]


CASES_PASS = (
    Subject("ENOENT: no such file, open '/srv/a/b.csv'", arguments='"/srv/a/b.csv"'),
    Subject("GET /v2/orders/7 was not found."),
    Subject("Give the path relative to the project, as in src/app.py."),
)
CASES_FAIL = (
    Subject("PermissionError: [Errno 13] Permission denied: '/srv/order/report.md'"),
    Subject("Cannot open C:\\\\app\\\\config.ini"),
)
