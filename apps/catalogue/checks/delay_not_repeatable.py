"""A retry is asked for of a tool that is not known to be safe to repeat."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Branch, RetryDirective, ToolHints

ID = "delay-not-repeatable"
SEVERITY = Severity.ERROR
MEANING = "A retry is asked for of a tool that is not known to be safe to repeat."
WHY = "The second call may do the write a second time."
FIX = "Mark the tool read-only or idempotent, or let the agent verify first."


def check(subject: Subject) -> list[Finding]:
    """Ask the registry; a tool that is not in it says nothing."""
    promised = subject.envelope is not None and subject.envelope.waits
    told = subject.reading.branch is Branch.RETRY_UNCHANGED
    if subject.hints is None or subject.hints.is_safe_to_repeat:
        return []
    if not promised and not told:
        return []
    who = "The envelope" if promised else "The text"
    message = f"{who} asks to repeat {subject.tool}, which is not marked idempotent."
    return [Finding(ID, SEVERITY, message, FIX)]


_READ = {"find": ToolHints("find", read_only=True)}
_WRITE = {"pay": ToolHints("pay", idempotent=False)}
CASES_PASS = (
    Subject("Wait, then make the same call again.", tool="find", tools=_READ),
    Subject("Wait, then make the same call again.", tool="pay"),
    Subject("Correct `amount` and call pay again.", tool="pay", tools=_WRITE),
)
CASES_FAIL = (
    Subject("Please try again later.", tool="pay", tools=_WRITE),
    Subject(
        "Busy.",
        Contract(directive=RetryDirective.AFTER_DELAY),
        tool="pay",
        tools=_WRITE,
    ),
)
