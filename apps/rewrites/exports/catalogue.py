"""The plain value that every export is made from. Pure; knows no Django.

The same catalogue gives the same bytes in every form, on every machine: nothing here
depends on time, order of a set, or locale.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    directive_for,
    export_code,
)

FORMAT_VERSION: Final = 1  # of the exported data; higher when its shape changes
PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


class CatalogueError(ValueError):
    """A catalogue that cannot be exported; the message says what to change."""


@dataclass(frozen=True, slots=True)
class TextEntry:
    """One version of a code's messages; `{name}` stands for a safe detail."""

    version: int  # from 1; the highest is the one in use
    agent_message: str
    user_message: str = ""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool of the registry. None: nobody said."""

    name: str
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    verification_tool: str = ""


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """A code with its contract and every text it ever had."""

    code: str  # as its owner spells it
    texts: tuple[TextEntry, ...]
    category: Category
    commit_state: CommitState
    next_action: NextAction
    directive: RetryDirective | None = None  # None: the one that goes with the action
    title: str = ""
    tool: str = ""
    alternative_tool: str = ""
    max_attempts: int | None = None
    safe_details: tuple[str, ...] = ()  # the allow-list
    help_url: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that is exported. Raises CatalogueError, one sentence."""

    name: str
    version: str  # of the catalogue as a whole: changes with every release of a text
    domain: str  # owner of the codes: "crm.example.com"
    codes: tuple[CodeEntry, ...]
    tools: tuple[ToolEntry, ...] = ()
    problem_base: str = ""  # "https://crm.example.com/problems/"

    def __post_init__(self) -> None:
        if not self.name or not self.version:
            raise CatalogueError("Give the catalogue a name and a version.")
        if not re.fullmatch(r"[A-Za-z0-9.-]{1,200}", self.domain):
            raise CatalogueError("Give a domain of letters, digits, dots and dashes.")
        tools = {tool.name: tool for tool in self.tools}
        exported: dict[str, str] = {}
        for entry in self.codes:
            _check(entry, tools)
            other = exported.setdefault(export_code(entry.code), entry.code)
            if other is not entry.code:
                raise CatalogueError(
                    f"Rename {entry.code!r} or {other!r}: exported they are the same."
                )


def _check(entry: CodeEntry, tools: Mapping[str, ToolEntry]) -> None:
    """Refuse what a tool could not use.

    Contradictions are findings, no refusals: one code that needs a second look must
    not keep the others from production.
    """
    where = f"of the code {entry.code!r}"
    if not entry.texts:
        raise CatalogueError(f"Write a text {where}.")
    versions = [text.version for text in entry.texts]
    if versions != sorted(set(versions)) or versions[0] < 1:
        raise CatalogueError(f"Number the texts {where} upwards from 1.")
    for name in entry.safe_details:
        if not _NAME.fullmatch(name):
            raise CatalogueError(f"Rename the safe detail {name!r} {where}.")
    for text in entry.texts:
        _check_text(text, entry)
    if entry.next_action is NextAction.SWITCH_TOOL and not entry.alternative_tool:
        raise CatalogueError(f"Name the tool to switch to {where}.")
    if tools and entry.alternative_tool and entry.alternative_tool not in tools:
        raise CatalogueError(f"Register the tool {entry.alternative_tool!r} {where}.")


def _check_text(text: TextEntry, entry: CodeEntry) -> None:
    where = f"of the code {entry.code!r}"
    if not text.agent_message.strip():
        raise CatalogueError(f"Write text {text.version} {where}.")
    for message in (text.agent_message, text.user_message):
        unknown = set(PLACEHOLDER.findall(message)) - {*entry.safe_details}
        if unknown:
            names = ", ".join(sorted(unknown))
            raise CatalogueError(f"Allow the detail {names} {where}, or drop it.")


def directive_of(entry: CodeEntry) -> RetryDirective:
    """The directive of a code: its own, else the one that goes with its action."""
    return entry.directive or directive_for(entry.next_action)


def to_plain(catalogue: Catalogue) -> dict[str, object]:
    """The catalogue as plain JSON values, codes and tools sorted by name."""
    codes = {entry.code: _plain_code(entry) for entry in catalogue.codes}
    tools = {tool.name: _without_name(tool) for tool in catalogue.tools}
    return {
        "format_version": FORMAT_VERSION,
        "name": catalogue.name,
        "version": catalogue.version,
        "domain": catalogue.domain,
        "problem_base": catalogue.problem_base
        or f"urn:errata:{catalogue.domain}:problem:",
        "codes": dict(sorted(codes.items())),
        "tools": dict(sorted(tools.items())),
    }


def _plain_code(entry: CodeEntry) -> dict[str, object]:
    return {
        "exported_code": export_code(entry.code),
        "title": entry.title or entry.code,
        "tool": entry.tool,
        "category": entry.category.value,
        "commit_state": entry.commit_state.value,
        "directive": directive_of(entry).value,
        "next_action": entry.next_action.value,
        "alternative_tool": entry.alternative_tool,
        "max_attempts": entry.max_attempts,
        "safe_details": sorted(entry.safe_details),
        "help_url": entry.help_url,
        "texts": [asdict(text) for text in entry.texts],
    }


def _without_name(tool: ToolEntry) -> dict[str, object]:
    return {name: value for name, value in asdict(tool).items() if name != "name"}


def content_hash(catalogue: Catalogue) -> str:
    """SHA-256 of the content: what the ETag and the modules carry."""
    text = json.dumps(
        to_plain(catalogue), sort_keys=True, ensure_ascii=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode()).hexdigest()


def with_hash(catalogue: Catalogue) -> dict[str, object]:
    """The plain catalogue with its content hash in front."""
    return {"content_hash": content_hash(catalogue), **to_plain(catalogue)}
