"""The framework's wrapper tells the agent something else than the text."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.envelope import Branch, branch_of

ID = "wrapper-contradicts"
SEVERITY = Severity.WARNING
MEANING = "The framework's wrapper tells the agent something else than the text."
WHY = 'The agent reads "please try again" around a text that says to stop.'
FIX = "Set the framework's own error handler, so that your text arrives alone."

_RETRIES = (Branch.RETRY_CHANGED, Branch.RETRY_UNCHANGED)


def check(subject: Subject) -> list[Finding]:
    """Compare what the wrapper is known to say with the branch."""
    says = subject.wrapper_says
    branch = subject.reading.branch
    if subject.envelope and subject.envelope.next_action:
        branch = branch_of(subject.envelope.next_action)
    if not says or branch is Branch.NONE:
        return []
    fits = branch in _RETRIES if says == "retry" else branch is Branch.STOP
    if fits:
        return []
    name = next(iter(subject.wrappers))
    message = (
        f"The wrapper {name} says to {says}, the text {branch.value.replace('_', ' ')}."
    )
    return [Finding(ID, SEVERITY, message, FIX)]


CASES_PASS = (
    Subject("Correct `date` and call again.", wrappers=("langgraph",)),
    Subject("Hand over to a person.", wrappers=("fastmcp",)),
    Subject("boom", wrappers=("langgraph",)),
)
CASES_FAIL = (
    Subject("Hand over to a person.", wrappers=("langgraph",)),
    Subject("Use create_refund instead.", wrappers=("openai-agents",)),
)
