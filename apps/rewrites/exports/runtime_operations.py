# ruff: noqa: UP006, UP035, UP045 - the export runs on Python 3.9
"""The write runtime: no write is sent twice unless it is proven to have had no effect.

- The operation's reference is made and stored before the first write.
- Each next action leads to one state; `advance` takes one step at a time.
- Waits belong to the scheduler: `advance` before the time does nothing.
- After an unknown outcome (a time-out, a crash) the effect is looked up first.
- Attempts and look-ups are bounded; what is left over is escalated, which is an end.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from typing import Any, Callable, List, Optional, Tuple

from apps.rewrites.exports.runtime_stores import OPEN, Operation, OperationStore
from apps.rewrites.exports.runtime_template import (
    ContractError,
    Envelope,
    Success,
    epoch_of,
    iso,
)


class ToolError(Exception):
    """What a `send` raises when the tool says that it failed, and how."""

    def __init__(self, envelope: Envelope) -> None:
        """Carry the envelope."""
        super().__init__(f"{envelope.code}: {envelope.agent_message}")
        self.envelope = envelope


# send(arguments, ref) -> result; raises ToolError, or anything else if the outcome
# is not known (a time-out, a lost connection).
Send = Callable[[Any, str], Any]
# verify(ref) -> ("committed", result, evidence_ref), ("absent", None, evidence_ref)
# or ("unknown", None, "").
Verify = Callable[[str], Tuple[str, Any, str]]

STATE_AFTER = {
    "correct_input": "needs_input",
    "wait_and_retry": "waiting",
    "switch_tool": "switched",
    "verify_operation": "verifying",
    "ask_user": "needs_user",
    "request_approval": "needs_approval",
    "escalate": "escalated",
    "stop": "stopped",
}


class WriteRuntime:
    """Carries operations to their end; any number of programs may share a store."""

    def __init__(
        self,
        store: OperationStore,
        *,
        max_attempts: int = 3,
        max_checks: int = 5,
        first_wait_seconds: float = 1.0,
        lease_seconds: float = 60.0,
        approval_seconds: float = 86400.0,
        clock: Callable[[], float] = time.time,
        new_ref: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        """Say how often and how long.

        `lease_seconds` is how long an attempt may be under way before others take
        its program for dead: more than the longest time-out of any `send`. An
        approval that did not come within `approval_seconds` is escalated.
        """
        self._store = store
        self._max_attempts = max_attempts
        self._max_checks = max_checks
        self._first_wait = first_wait_seconds
        self._lease = lease_seconds
        self._approval = approval_seconds
        self._clock = clock
        self._new_ref = new_ref

    def begin(self, tool: str, arguments: Any, ref: str = "") -> Operation:
        """Make the reference and store the operation. Nothing is sent yet.

        With a known `ref` and the same call the known operation comes back, whatever
        its state; the same reference for another call is refused.
        """
        operation = Operation(ref or self._new_ref(), tool, arguments)
        known = self._store.get(operation.ref)
        if known is None:
            self._store.add(operation)
            return operation
        if (known.tool, known.arguments) != (tool, arguments):
            raise ContractError(f"The reference {ref!r} belongs to another call.")
        return known

    def advance(self, ref: str, send: Send, verify: Verify) -> Operation:
        """Take the next step, if it is due. Raises ContractError for no such ref."""
        operation = self._store.get(ref)
        if operation is None:
            raise ContractError(f"There is no operation {ref!r}.")
        if operation.is_over or operation.state in ("needs_input", "needs_user"):
            return operation
        if self._clock() < operation.due:
            return operation  # it rests, or another program is at it
        if operation.state == "needs_approval":  # lost, or nobody was there
            return self._stored(replace(operation, state="escalated"))
        if operation.state == "verifying" or operation.may_have_written:
            return self._verify(operation, verify)
        return self._send(operation, send)

    def run(self, ref: str, send: Send, verify: Verify) -> Operation:
        """Advance until it is over, rests, or somebody else must act."""
        while True:
            before = self._store.get(ref)
            after = self.advance(ref, send, verify)
            if before is None or after.version == before.version or after.is_over:
                return after

    def resume(self, send: Send, verify: Verify) -> List[Operation]:
        """After a restart, and from time to time: go on with all that is unfinished.

        Tools are told apart by `operation.tool`; give functions that know them.
        """
        return [self.run(o.ref, send, verify) for o in self._store.unfinished()]

    def correct(self, ref: str, arguments: Any) -> Operation:
        """Go on with other arguments, under a new reference.

        The old reference stands for the old arguments: a server that knows it would
        refuse the new ones, or replay the old answer.
        """
        operation = self._waiting_for(ref, ("needs_input", "needs_user"))
        fresh = Operation(self._new_ref(), operation.tool, arguments)
        self._store.add(fresh)
        self._stored(replace(operation, state="replaced", replaced_by=fresh.ref))
        return fresh

    def approve(self, ref: str) -> Operation:
        """Go on after a person said yes."""
        operation = self._waiting_for(ref, ("needs_approval",))
        return self._stored(replace(operation, state="ready", due=0.0))

    def refuse(self, ref: str) -> Operation:
        """End it: a person said no, or nobody answered."""
        return self._stored(replace(self._waiting_for(ref, OPEN), state="stopped"))

    def answer(self, ref: str) -> Optional[Success]:
        """The success envelope of an operation that took effect, else None."""
        operation = self._store.get(ref)
        if operation is None or operation.state != "committed":
            return None
        return Success(
            operation.result,
            operation.ref,
            checked_at=operation.checked_at,
            evidence_ref=operation.evidence_ref,
        )

    # ------------------------------------------------------------ steps

    def _send(self, operation: Operation, send: Send) -> Operation:
        if operation.attempts >= self._max_attempts:
            return self._stored(replace(operation, state="escalated"))
        # Stored before it goes out: whoever finds this later must look first.
        sent = self._store.put(
            replace(
                operation,
                state="dispatched",
                attempts=operation.attempts + 1,
                may_have_written=True,
                due=self._clock() + self._lease,
            )
        )
        if sent is None:  # another program was faster
            return self._now(operation.ref)
        try:
            result = send(sent.arguments, sent.ref)
        except ToolError as failure:
            return self._failed(sent, failure.envelope)
        except Exception as exc:  # noqa: BLE001 - any other end leaves the outcome open
            error = {"code": type(exc).__name__, "commit_state": "unknown"}
            return self._stored(replace(sent, state="verifying", due=0.0, error=error))
        return self._stored(replace(sent, state="committed", result=result))

    def _failed(self, sent: Operation, envelope: Envelope) -> Operation:
        """One transition for the next action; an unknown effect comes before it."""
        failed = replace(sent, error=envelope.to_dict(), due=0.0)
        if envelope.commit_state in ("unknown", "committed"):
            return self._stored(replace(failed, state="verifying"))
        state = STATE_AFTER[envelope.next_action]
        failed = replace(failed, may_have_written=state == "verifying")
        left = envelope.max_attempts_remaining
        if state == "waiting":
            if left == 0 or sent.attempts >= self._max_attempts:
                return self._stored(replace(failed, state="escalated"))
            wait = self._first_wait * 2.0 ** (sent.attempts - 1)
            due = epoch_of(envelope.not_before) if envelope.not_before else 0.0
            failed = replace(failed, due=max(due, self._clock() + wait))
        return self._stored(self._entered(failed, state))

    def _entered(self, operation: Operation, state: str) -> Operation:
        """An operation in its new state; an approval is given its time."""
        if state == "needs_approval":
            operation = replace(operation, due=self._clock() + self._approval)
        return replace(operation, state=state)

    def _verify(self, operation: Operation, verify: Verify) -> Operation:
        if operation.checks >= self._max_checks:
            return self._stored(replace(operation, state="escalated"))
        checking = self._store.put(
            replace(
                operation,
                state="verifying",
                checks=operation.checks + 1,
                due=self._clock() + self._lease,
            )
        )
        if checking is None:
            return self._now(operation.ref)
        try:
            outcome, result, evidence = verify(checking.ref)
        except Exception:  # noqa: BLE001 - a look-up that fails tells nothing
            outcome, result, evidence = "unknown", None, ""
        if outcome == "committed":
            return self._stored(
                replace(
                    checking,
                    state="committed",
                    result=result,
                    checked_at=iso(self._clock()),
                    evidence_ref=evidence,
                )
            )
        if outcome == "absent":
            return self._stored(self._after_absent(checking, evidence))
        wait = self._first_wait * 2.0 ** (checking.checks - 1)
        return self._stored(replace(checking, due=self._clock() + wait))

    def _after_absent(self, checking: Operation, evidence: str) -> Operation:
        """Nothing happened: send again, unless the last failure asks for other."""
        proven = replace(
            checking, may_have_written=False, due=0.0, evidence_ref=evidence
        )
        action = checking.error.get("next_action", "verify_operation")
        if action in ("verify_operation", "wait_and_retry"):
            return replace(proven, state="ready")
        return self._entered(proven, STATE_AFTER[action])

    # ------------------------------------------------------------ the store

    def _waiting_for(self, ref: str, states: Tuple[str, ...]) -> Operation:
        operation = self._store.get(ref)
        if operation is None or operation.state not in states:
            found = operation.state if operation else "unknown"
            raise ContractError(f"The operation {ref!r} is {found}.")
        return operation

    def _stored(self, operation: Operation) -> Operation:
        """Store a step; if another program went on meanwhile, its step stands."""
        return self._store.put(operation) or self._now(operation.ref)

    def _now(self, ref: str) -> Operation:
        operation = self._store.get(ref)
        if operation is None:
            raise ContractError(f"The operation {ref!r} was removed.")
        return operation
