"""The failure or its cause is hidden from the agent."""

import re

from apps.catalogue.checks.subject import Events, Finding, Severity, Subject

ID = "masked-failure"
SEVERITY = Severity.ERROR
MEANING = "The failure or its cause is hidden from the agent."
WHY = "One text for every cause: the agent cannot do better than guess."
FIX = "Replace the framework's default handler by one that passes code and text on."

_MASKED = re.compile(
    r"(?i)\s*(?:Error: )?(?:an? (?:unexpected |unknown |internal )?error (?:has )?"
    r"occurred"
    r"(?: while running the tool)?\.?(?: please try again(?: later)?\.?)?"
    r"|error (?:executing|calling) tool '?[\w.-]+'?:?|something went wrong\.?"
    r"|internal (?:server )?error\.?|unknown error\.?|tool (?:execution )?failed\.?)\s*"
)


def check(subject: Subject) -> list[Finding]:
    """Look for the known masks, and at what the logs counted."""
    if subject.events.masked:
        message = f"{subject.events.masked} results look like successes and hide it."
        return [Finding(ID, SEVERITY, message, FIX)]
    if _MASKED.fullmatch(subject.text):
        return [Finding(ID, SEVERITY, "Every cause reads the same.", FIX)]
    return []


CASES_PASS = (
    Subject("Order 7 was not found."),
    Subject("Error executing tool find: order 7 was not found."),
)
CASES_FAIL = (
    Subject("An error occurred while running the tool. Please try again."),
    Subject("Error executing tool find_order:"),
    Subject("Something went wrong"),
    Subject('{"ok": true}', events=Events(errors=3, masked=3)),
)
