"""From rows of rewrites to the catalogue that is exported. Pure.

A code that cannot be exported is left out with its reason: one code that needs a
second look must not keep the others from production.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from apps.catalogue.contradictions import Contract, contradictions
from apps.catalogue.envelope import (
    Category,
    CommitState,
    EnvelopeError,
    NextAction,
    RetryDirective,
    ToolHints,
    export_code,
)
from apps.rewrites.exports.catalogue import (
    Catalogue,
    CatalogueError,
    CodeEntry,
    TextEntry,
    ToolEntry,
)

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class CodeRow:
    """A code with its live texts and the contract that holds; "" is not said."""

    id: int
    key: str
    texts: tuple[TextEntry, ...]  # the highest version is in use
    title: str = ""
    tool: str = ""
    category: str = ""
    commit_state: str = ""
    retry_directive: str = ""
    next_action: str = ""
    alternative_tool: str = ""
    safe_details: tuple[str, ...] = ()


class LeftOut(NamedTuple):
    """A code that is not exported, and what to change so that it is."""

    code_id: int
    name: str
    tool: str
    reason: str


class Export(NamedTuple):
    """The catalogue, and what is not in it."""

    catalogue: Catalogue
    left_out: list[LeftOut]


def build(
    name: str,
    version: str,
    domain: str,
    rows: Iterable[CodeRow],
    tools: Sequence[ToolHints],
) -> Export:
    """Put the catalogue together; the same rows give the same catalogue.

    Of two codes with one exported spelling the one made first stays: a later one
    must not take a code away that tools send already.
    """
    hints = {tool.name: tool for tool in tools}
    known = tuple(
        ToolEntry(t.name, t.read_only, t.destructive, t.idempotent, t.verification_tool)
        for t in tools
    )
    owner = re.sub(r"[^A-Za-z0-9.-]", "-", domain)
    empty = Catalogue(name, version, owner, (), known)
    entries: dict[str, CodeEntry] = {}
    left_out = []
    for row in sorted(rows, key=lambda row: row.id):
        reason, entry = _entry(row, hints, empty)
        if entry is not None:
            exported = export_code(entry.code)
            first = entries.setdefault(exported, entry)
            if first is not entry:
                reason = (
                    f"The code {first.code} of the tool {first.tool} is exported as"
                    f" {exported} already; merge the two."
                )
        if reason:
            left_out.append(LeftOut(row.id, row.title or row.key, row.tool, reason))
    codes = tuple(entries.values())
    return Export(Catalogue(name, version, owner, codes, known), left_out)


def _entry(
    row: CodeRow, tools: dict[str, ToolHints], empty: Catalogue
) -> tuple[str, CodeEntry | None]:
    """Give why a row cannot be exported, or its entry."""
    category = _choice(Category, row.category)
    commit_state = _choice(CommitState, row.commit_state)
    action = _choice(NextAction, row.next_action)
    directive = _choice(RetryDirective, row.retry_directive)
    if category is None or commit_state is None or action is None:
        missing = [
            words
            for words, value in (
                ("category", category),
                ("commit state", commit_state),
                ("next action", action),
            )
            if value is None
        ]
        return f"Its contract does not say: {', '.join(missing)}.", None
    entry = CodeEntry(
        code=row.key,
        texts=row.texts,
        category=category,
        commit_state=commit_state,
        next_action=action,
        directive=directive,
        title=row.title,
        tool=row.tool,
        alternative_tool=row.alternative_tool,
        safe_details=row.safe_details,
    )
    try:
        Catalogue(empty.name, empty.version, empty.domain, (entry,), empty.tools)
    except (CatalogueError, EnvelopeError) as exc:
        return str(exc), None
    contract = Contract(
        category,
        commit_state,
        directive,
        action,
        alternative_tool=row.alternative_tool,
        user_message=row.texts[-1].user_message,
    )
    found = contradictions(contract, tools.get(row.tool))
    if found:
        return " ".join(one.message for one in found), None
    return "", entry


def _choice(kind: type[Choice], value: str) -> Choice | None:
    return kind(value) if value in {choice.value for choice in kind} else None
