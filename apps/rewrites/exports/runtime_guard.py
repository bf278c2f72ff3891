# ruff: noqa: UP006, UP035, UP045 - the export runs on Python 3.9
"""The guard that breaks the loop on a repeated identical (tool, arguments, error)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Optional, Tuple

from apps.rewrites.exports.runtime_template import Envelope, canonical


class LoopGuard:
    """Breaks the loop on a repeated identical (tool, arguments, error).

    Ask `before` each call, tell `after` it. Any other call of the same run in between
    ends the loop, except of a tool in `siblings`.
    """

    def __init__(self, limit: int = 2, siblings: Tuple[str, ...] = ()) -> None:
        """Let a call fail `limit` times in the same way, then refuse it."""
        self._limit = limit
        self._siblings = siblings  # tools whose calls run beside others
        self._last: Tuple[str, str] = ("", "")
        self._error: Optional[Envelope] = None
        self._count = 0

    def before(self, tool: str, arguments: Any) -> Optional[Envelope]:
        """An envelope to answer with instead of the call, or None: go ahead."""
        same = (tool, _digest(arguments)) == self._last
        if not same or self._count < self._limit or self._error is None:
            return None
        return replace(
            self._error,
            directive="never",
            next_action="escalate",
            not_before="",
            owner="model",
            alternative_tool="",
            agent_message=(
                f"This exact call failed {self._count} times with {self._error.code} "
                "and was not made again. Do not repeat it; hand over to a person."
            ),
        )

    def after(self, tool: str, arguments: Any, error: Optional[Envelope]) -> None:
        """Count what a call came back with; None: it succeeded."""
        key = (tool, _digest(arguments))
        if tool in self._siblings and key != self._last:
            return
        known = self._error.code if self._error else ""
        same = error is not None and key == self._last and error.code == known
        self._count = self._count + 1 if same else (1 if error else 0)
        self._last, self._error = key, error


def _digest(arguments: Any) -> str:
    return hashlib.sha256(canonical(arguments).encode()).hexdigest()
