"""What a check looks at, and what it says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple, Protocol

from apps.catalogue.branches import Reading, read_branches
from apps.catalogue.contradictions import Contract
from apps.catalogue.envelope import ToolHints
from apps.catalogue.wrappers import WRAPPERS


class Severity(StrEnum):
    """How bad a finding is. Errors come first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Events(NamedTuple):
    """What the logs say of a code or of one of its texts."""

    errors: int = 0
    runs: int = 0
    loops: int = 0  # how often the identical call came back three times or more
    empty_flagged: int = 0  # results that were empty and flagged as errors
    masked: int = 0  # results that looked like successes and hid a failure


@dataclass(frozen=True)
class Subject:
    """A text, with as much around it as is known."""

    text: str  # what the tool says, without the framework's wrapper
    envelope: Contract | None = None
    tool: str = ""  # the tool that failed
    tools: Mapping[str, ToolHints] = field(default_factory=dict)  # {}: none is known
    placeholders: frozenset[str] | None = None
    # names allowed in `{…}`; None: this is a delivered text, no draft with `{…}`
    wrappers: tuple[str, ...] = ()  # names, as `catalogue/wrappers.py` has them
    arguments: str = ""  # the call's arguments, as JSON text
    is_error: bool = False  # the result was flagged as an error
    events: Events = field(default_factory=Events)

    @cached_property
    def reading(self) -> Reading:
        """What the text tells the agent to do."""
        return read_branches(self.text, self.tool, self.tools.keys())

    @property
    def hints(self) -> ToolHints | None:
        """What is known of the tool that failed."""
        return self.tools.get(self.tool)

    @property
    def wrapper_says(self) -> str:
        """What the wrappers tell the agent: "retry", "stop" or ""."""
        says = {wrapper.name: wrapper.says for wrapper in WRAPPERS}
        return next((says[n] for n in self.wrappers if says.get(n)), "")


class Finding(NamedTuple):
    """What is wrong with a text."""

    id: str  # of the check
    severity: Severity
    message: str  # one sentence about this text
    fix: str  # one sentence: how to fix it
    spans: tuple[tuple[int, int], ...] = ()  # where in the text


class Check(Protocol):
    """A check: one module, with the cases that it passes and those that it finds."""

    @property
    def ID(self) -> str:  # noqa: N802 - a module's constant
        """Its stable name."""

    @property
    def SEVERITY(self) -> Severity:  # noqa: N802
        """How bad its findings are."""

    @property
    def MEANING(self) -> str:  # noqa: N802
        """What it finds, one sentence."""

    @property
    def WHY(self) -> str:  # noqa: N802
        """What that does to the agent, or to the team."""

    @property
    def FIX(self) -> str:  # noqa: N802
        """How to fix it, one sentence."""

    @property
    def CASES_PASS(self) -> tuple[Subject, ...]:  # noqa: N802
        """Subjects without a finding."""

    @property
    def CASES_FAIL(self) -> tuple[Subject, ...]:  # noqa: N802
        """Subjects with one."""

    def check(self, subject: Subject) -> list[Finding]:
        """Say what is wrong; nothing if all is well or too little is known."""
