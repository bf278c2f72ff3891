"""The text or the envelope names a tool that does not exist."""

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import NextAction, ToolHints

ID = "unknown-tool"
SEVERITY = Severity.ERROR
MEANING = "The text or the envelope names a tool that does not exist."
WHY = "The agent calls it, gets a second error, and often ends there."
FIX = "Name a tool of the registry, or register the tool."


def check(subject: Subject) -> list[Finding]:
    """Compare the tools it tells to call with the registry, if there is one."""
    if not subject.tools:
        return []
    named = subject.reading.tools_named()
    if subject.envelope and subject.envelope.alternative_tool:
        named += (subject.envelope.alternative_tool,)
    missing = [n for n in dict.fromkeys(named) if n not in subject.tools]
    found = []
    for name in missing:
        at = subject.text.find(name)
        places = ((at, at + len(name)),) if at >= 0 else ()
        found.append(Finding(ID, SEVERITY, f"There is no tool {name}.", FIX, places))
    own = subject.envelope and subject.envelope.next_action is NextAction.SWITCH_TOOL
    if own and subject.envelope and subject.envelope.alternative_tool == subject.tool:
        found.append(Finding(ID, SEVERITY, "It switches to the tool that failed.", FIX))
    return found


_TOOLS = {"find_order": ToolHints("find_order"), "refund": ToolHints("refund")}
CASES_PASS = (
    Subject("Call find_order for the id.", tools=_TOOLS),
    Subject("Call find_user for the id."),
    Subject("Correct the order_id.", tools=_TOOLS),
)
CASES_FAIL = (
    Subject("Call find_user for the id.", tools=_TOOLS),
    Subject("Gone.", Contract(alternative_tool="find_user"), tools=_TOOLS),
    Subject(
        "Gone.",
        Contract(next_action=NextAction.SWITCH_TOOL, alternative_tool="refund"),
        tool="refund",
        tools=_TOOLS,
    ),
)
