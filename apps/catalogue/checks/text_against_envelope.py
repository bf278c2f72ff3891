"""The text and the envelope say different things."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import Branch, CommitState, NextAction, branch_of

ID = "text-against-envelope"
SEVERITY = Severity.ERROR
MEANING = "The text and the envelope say different things."
WHY = "The runtime obeys the one and the model the other."
FIX = "Change the text or the envelope, so that both select the same branch and state."

_UNCHANGED = re.compile(
    r"(?i)\bnothing (?:was|has been) (?:changed|written|done|booked|paid|sent|created)"
    r"|\bno (?:\w+ ){1,2}(?:was|has been) (?:made|created|written|sent)"
    r"|\bwas not (?:made|created|written|sent|run|booked|changed)\b"
)
_UNKNOWN = re.compile(
    r"(?i)\b(?:it is )?(?:unknown|unclear|not known) (?:whether|if)\b"
)


def check(subject: Subject) -> list[Finding]:
    """Compare branch and state, where both say something."""
    envelope = subject.envelope
    if envelope is None:
        return []
    found = []
    told = subject.reading.branch
    promised = branch_of(envelope.next_action, envelope.directive)
    if Branch.NONE not in (told, promised) and told not in (Branch.SEVERAL, promised):
        names = [b.value.replace("_", " ") for b in (told, promised)]
        message = "The text says {}, the envelope {}.".format(*names)
        found.append(Finding(ID, SEVERITY, message, FIX))
    state = envelope.commit_state
    same = (CommitState.NOT_COMMITTED, CommitState.NOT_APPLICABLE)
    for pattern, states in ((_UNCHANGED, same), (_UNKNOWN, (CommitState.UNKNOWN,))):
        places = spans(pattern, subject.text)
        if places and state is not None and state not in states:
            message = f"The text contradicts the state {state.replace('_', ' ')}."
            found.append(Finding(ID, SEVERITY, message, FIX, places))
    return found


_SWITCH = Contract(next_action=NextAction.SWITCH_TOOL, alternative_tool="create_refund")
CASES_PASS = (
    Subject("Already shipped. Use create_refund instead.", _SWITCH),
    Subject("Already shipped.", _SWITCH),
    Subject("Nothing was paid.", Contract(commit_state=CommitState.NOT_COMMITTED)),
    Subject("Call list_tables for the names."),
)
CASES_FAIL = (
    Subject("Already shipped. Please try again later.", _SWITCH),
    Subject("Nothing was paid.", Contract(commit_state=CommitState.UNKNOWN)),
    Subject(
        "It is unknown whether the money moved.",
        Contract(commit_state=CommitState.NOT_COMMITTED),
    ),
)
