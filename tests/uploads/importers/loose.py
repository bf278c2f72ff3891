"""`counting` for tables of cases: where a field is absent the case fails, as it should.

The types there say that a call may have no result; a case that names the result's text
says that it has one.
"""

from typing import Any

from apps.runs.transcript import Transcript

from . import counting
from .counting import Figures, figures, json_lines, run_of, runs_of

__all__ = [
    "Figures",
    "calls_of",
    "figures",
    "json_lines",
    "read_bytes",
    "run_of",
    "runs_of",
]


def read_bytes(reader: Any, raw: bytes) -> list[Any]:
    """Read a sample to its end."""
    return list(counting.read_bytes(reader, raw))


def calls_of(*runs: Transcript) -> list[Any]:
    """Give all calls in the order of threads and turns."""
    return list(counting.calls_of(*runs))
