"""A transcript as a page shows it: turns with their calls, errors marked. Pure."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from .models import ToolError
from .transcript import Call, Thread, Transcript, Turn

SHOWN_CHARS = 20_000  # of one text; the rest is said to be there


@dataclass(slots=True)
class ShownCall:
    """A call with its result and, where it failed, the row about it."""

    anchor: str
    call: Call
    arguments: str
    result: str
    cut: int  # characters of the result that are not shown
    error: ToolError | None = None


@dataclass(slots=True)
class ShownTurn:
    """A turn with its place in the thread."""

    anchor: str
    number: int
    turn: Turn
    text: str
    calls: list[ShownCall] = field(default_factory=list)


@dataclass(slots=True)
class ShownThread:
    """A stretch of the turns of one thread."""

    index: int
    thread: Thread
    turns: list[ShownTurn]
    total: int


def pretty(arguments: str) -> str:
    """Lay out arguments that are JSON; give other text as it is."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(value, (dict, list)) or len(arguments) > SHOWN_CHARS:
        return arguments
    return json.dumps(value, indent=2, ensure_ascii=False)


def shown_thread(
    transcript: Transcript,
    index: int,
    errors: Iterable[ToolError],
    first: int = 0,
    most: int = 200,
) -> ShownThread:
    """Give `most` turns of a thread from `first` on. Raises IndexError on no thread."""
    thread = transcript.threads[index]
    by_place = {(e.turn, e.call): e for e in errors if e.thread == index}
    turns = []
    for number, turn in list(enumerate(thread.turns))[first : first + most]:
        shown = ShownTurn(f"t{number}", number, turn, turn.text[:SHOWN_CHARS])
        for position, call in enumerate(turn.calls):
            result = call.result.text if call.result else ""
            shown.calls.append(
                ShownCall(
                    anchor=f"t{number}c{position}",
                    call=call,
                    arguments=pretty(call.arguments)[:SHOWN_CHARS],
                    result=result[:SHOWN_CHARS],
                    cut=max(0, len(result) - SHOWN_CHARS),
                    error=by_place.get((number, position)),
                )
            )
        turns.append(shown)
    return ShownThread(index, thread, turns, len(thread.turns))
