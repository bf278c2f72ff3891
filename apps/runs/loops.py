"""Counts how often in a row a call has failed alike: the agent's loops. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from .next_moves import same_arguments


class Step(NamedTuple):
    """One call of a turn."""

    tool: str
    arguments: str
    code: str | None  # what failed; None: it did not fail, or does not count


class Loop(NamedTuple):
    """The last call of a tool, which failed, and how often in a row it did so."""

    arguments: str
    code: str
    length: int


Loops = dict[str, Loop]  # by tool


def follow(
    steps: Sequence[Step], loops: Loops, *, goes_on: bool = False
) -> tuple[Loops, list[int]]:
    """Carry loops on through the calls of one turn, tool by tool, in their order.

    Gives the loops after the turn, and each call's length (0: it did not fail). A loop
    of a tool that the turn does not call has ended, unless `goes_on` (the turn only
    thinks); so has one whose tool's next call goes well, differs or fails otherwise.
    Calls of other tools beside it do not end it.
    """
    running = dict(loops)
    lengths = []
    for tool, arguments, code in steps:
        before = running.pop(tool, None)
        if code is None:
            lengths.append(0)
            continue
        is_same = (
            before is not None
            and before.code == code
            and same_arguments(before.arguments, arguments)
        )
        length = before.length + 1 if before is not None and is_same else 1
        running[tool] = Loop(arguments, code, length)
        lengths.append(length)
    if not goes_on:
        called = {step.tool for step in steps}
        running = {tool: loop for tool, loop in running.items() if tool in called}
    return running, lengths
