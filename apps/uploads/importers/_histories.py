"""Tells lists of messages that repeat one another from lists that do not.

A log of API requests and a store of checkpoints write the whole history again at each
step. Of lists that are each the beginning of the next, the longest is the run.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from ._said import say
from .values import Json

MAX_OPEN = 256  # histories that grow side by side, as parallel agents' do

Payload = TypeVar("Payload")


class Histories(Generic[Payload]):
    """Holds the histories that may still grow; hands on those that will not."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: dict[object, tuple[list[int], Payload]] = {}

    def offer(
        self, messages: list[Json], payload: Payload, key: str = ""
    ) -> Iterator[Payload]:
        """Take a history; give those that it shows to be complete.

        Histories with a `key` of the log (a thread's id) are compared among themselves,
        others with those that begin with the same message of the user.
        """
        marks = [mark(message) for message in messages]
        users = [m for m, item in zip(marks, messages, strict=True) if _is_user(item)]
        group: object = (key, users[0] if users and not key else 0)
        known = self._open.get(group)
        if known is not None:
            if marks == known[0][: len(marks)]:
                return
            del self._open[group]
            if known[0] != marks[: len(known[0])]:
                yield known[1]
        self._open[group] = (marks, payload)
        if len(self._open) > MAX_OPEN:
            yield self._open.pop(next(iter(self._open)))[1]

    def finish(self) -> Iterator[Payload]:
        """Give the rest, in the order of their last growth."""
        for _, payload in self._open.values():
            yield payload
        self._open.clear()


def mark(message: Json) -> int:
    """Hash what a message says, without ids and cache marks, which may change."""
    said = say(message)
    calls = tuple((call.tool, call.arguments) for call in said.calls)
    answers = tuple(answer.result.text for answer in said.answers)
    return hash((said.role, said.text, calls, answers))


def _is_user(message: Json) -> bool:
    return say(message).role == "user"
