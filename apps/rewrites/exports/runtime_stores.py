# ruff: noqa: UP006, UP035, UP045 - the export runs on Python 3.9
"""Where operations are kept: a protocol, in memory, and in SQLite.

An operation is stored before its first write, so that a program that dies in the
middle finds after its restart what it may have done.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Dict, List, Optional, Protocol, Tuple

from apps.rewrites.exports.runtime_template import ContractError

OPEN = ("needs_input", "needs_user", "needs_approval")  # somebody else must act
# The runtime has to go on with these; an approval that does not come is its affair too.
UNFINISHED = ("ready", "dispatched", "waiting", "verifying", "needs_approval")
TERMINAL = ("committed", "replaced", "switched", "escalated", "stopped")


@dataclass(frozen=True)
class Operation:
    """One write, from before its first attempt until it has an end."""

    ref: str  # the idempotency key, or maps to it; the same on every attempt
    tool: str
    arguments: Any
    state: str = "ready"  # of UNFINISHED, OPEN or TERMINAL
    attempts: int = 0  # how often the write was sent
    checks: int = 0  # how often its effect was looked up
    due: float = 0.0  # epoch seconds; before that the runtime lets it rest
    may_have_written: bool = False  # an attempt went out and nobody proved it void
    error: Dict[str, Any] = field(default_factory=dict)  # the last envelope
    result: Any = None
    checked_at: str = ""
    evidence_ref: str = ""
    replaced_by: str = ""  # reference of the operation with corrected arguments
    version: int = 0  # for compare-and-set: two programs cannot both send

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in TERMINAL


class OperationStore(Protocol):
    """What the write runtime needs of a store. Every write must be durable."""

    def add(self, operation: Operation) -> None:
        """Store a new operation; raises ContractError if its reference is known."""

    def get(self, ref: str) -> Optional[Operation]:
        """The operation of a reference, or None."""

    def put(self, operation: Operation) -> Optional[Operation]:
        """Store a change if nobody else changed it; None: somebody did."""

    def unfinished(self) -> List[Operation]:
        """Every operation that the runtime has to go on with, the oldest first."""


class MemoryStore:
    """For tests, and for tools whose program outlives all that it writes to."""

    def __init__(self) -> None:
        """Begin empty."""
        self._rows: Dict[str, Operation] = {}
        self._lock = threading.Lock()

    def add(self, operation: Operation) -> None:
        """Store a new operation."""
        with self._lock:
            if operation.ref in self._rows:
                raise ContractError(f"The reference {operation.ref!r} is in use.")
            self._rows[operation.ref] = operation

    def get(self, ref: str) -> Optional[Operation]:
        """The operation of a reference, or None."""
        return self._rows.get(ref)

    def put(self, operation: Operation) -> Optional[Operation]:
        """Store a change if nobody else changed it."""
        with self._lock:
            known = self._rows.get(operation.ref)
            if known is None or known.version != operation.version:
                return None
            stored = replace(operation, version=operation.version + 1)
            self._rows[operation.ref] = stored
            return stored

    def unfinished(self) -> List[Operation]:
        """Every operation to go on with, the oldest first."""
        return [row for row in self._rows.values() if row.state in UNFINISHED]


_TABLE = """
CREATE TABLE IF NOT EXISTS operations (
    ref TEXT PRIMARY KEY, state TEXT NOT NULL, version INTEGER NOT NULL,
    data TEXT NOT NULL, added INTEGER NOT NULL
)
"""


class SqliteStore:
    """In one file; several programs may share it, each with a store of its own."""

    def __init__(self, path: str) -> None:
        """Open or make the file."""
        self._lock = threading.Lock()
        self._db = sqlite3.connect(
            path, timeout=30, isolation_level=None, check_same_thread=False
        )
        # A commit must be on the disk before the write goes out.
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(_TABLE)

    def add(self, operation: Operation) -> None:
        """Store a new operation."""
        sql = (
            "INSERT INTO operations SELECT ?, ?, ?, ?, coalesce(max(added), 0) + 1"
            " FROM operations"
        )
        row = _row(operation)
        try:
            self._run(sql, (operation.ref, *row))
        except sqlite3.IntegrityError as exc:
            message = f"The reference {operation.ref!r} is in use."
            raise ContractError(message) from exc

    def get(self, ref: str) -> Optional[Operation]:
        """The operation of a reference, or None."""
        _, rows = self._run("SELECT data FROM operations WHERE ref = ?", (ref,))
        return Operation(**json.loads(rows[0][0])) if rows else None

    def put(self, operation: Operation) -> Optional[Operation]:
        """Store a change if nobody else changed it."""
        stored = replace(operation, version=operation.version + 1)
        sql = (
            "UPDATE operations SET state = ?, version = ?, data = ?"
            " WHERE ref = ? AND version = ?"
        )
        values = (*_row(stored), operation.ref, operation.version)
        changed, _ = self._run(sql, values)
        return stored if changed else None

    def unfinished(self) -> List[Operation]:
        """Every operation to go on with, the oldest first."""
        marks = ",".join("?" * len(UNFINISHED))
        sql = f"SELECT data FROM operations WHERE state IN ({marks}) ORDER BY added"  # noqa: S608
        _, rows = self._run(sql, UNFINISHED)
        return [Operation(**json.loads(row[0])) for row in rows]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _run(self, sql: str, values: Tuple[Any, ...]) -> Tuple[int, List[Any]]:
        """Run one statement, which commits by itself: (rows changed, rows read)."""
        with self._lock:
            cursor = self._db.execute(sql, values)
            rows = cursor.fetchall()
            return cursor.rowcount, rows


def _row(operation: Operation) -> Tuple[str, int, str]:
    data = json.dumps(asdict(operation), ensure_ascii=False)
    return operation.state, operation.version, data
