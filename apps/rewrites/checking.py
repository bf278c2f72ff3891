"""Runs the catalogue's checks on a draft, with what is known of its tools."""

from enum import StrEnum
from typing import TypeVar

from apps.catalogue.checks import Finding, Subject, run
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    ToolHints,
)
from apps.catalogue.models import Code, Tool

Choice = TypeVar("Choice", bound=StrEnum)


def check_draft(code: Code, values: dict[str, str]) -> list[Finding]:
    """Say what is wrong with a draft's text and envelope, the worst first.

    `values` are those of the form, as typed; a value that is no choice counts as not
    said. An empty text has no findings: there is nothing to judge yet.
    """
    text = values.get("agent_message", "").strip()
    if not text:
        return []
    contract = Contract(
        category=_choice(Category, values.get("category")),
        commit_state=_choice(CommitState, values.get("commit_state")),
        directive=_choice(RetryDirective, values.get("retry_directive")),
        next_action=_choice(NextAction, values.get("next_action")),
        alternative_tool=values.get("alternative_tool", "").strip(),
        user_message=values.get("user_message", "").strip(),
    )
    subject = Subject(
        text=text,
        envelope=contract,
        tool=code.tool,
        tools=tool_hints(code.workspace_id),
        placeholders=frozenset(code.safe_details) if code.safe_details else None,
    )
    return run(subject)


def tool_hints(workspace_id: int) -> dict[str, ToolHints]:
    """Give what is known of each tool of a workspace, by name."""
    tools = Tool.objects.filter(workspace_id=workspace_id).select_related(
        "verification_tool"
    )
    return {
        tool.name: ToolHints(
            tool.name,
            tool.is_read_only,
            tool.is_destructive,
            tool.is_idempotent,
            tool.verification_tool.name if tool.verification_tool else "",
        )
        for tool in tools
    }


def _choice(kind: type[Choice], value: str | None) -> Choice | None:
    return kind(value) if value in {choice.value for choice in kind} else None
