"""A pair as its reviewer sees it: the call, the text, the next move.

How the run ended is not among it.
"""

from dataclasses import dataclass

from apps.runs.blob import unpack
from apps.runs.models import RunTranscript, ToolError
from apps.runs.next_moves import same_arguments
from apps.runs.reading import pretty
from apps.runs.transcript import Call, Turn


@dataclass(frozen=True, slots=True)
class ShownPair:
    """What stands on the labelling screen."""

    error: ToolError
    step: int
    steps: int
    tool: str
    arguments: str
    delivered: str
    next_calls: list[
        tuple[str, str, bool]
    ]  # tool, arguments, equal to the failed call's
    next_text: str
    is_cut_off: bool


def shown_pair(error: ToolError) -> ShownPair:
    """Cut the context of a pair out of its transcript."""
    transcript = unpack(RunTranscript.objects.get(run_id=error.run_id).data)
    turns = transcript.threads[error.thread].turns
    call = turns[error.turn].calls[error.call]
    following: Turn | None = (
        turns[error.next_turn] if error.next_turn is not None else None
    )
    return ShownPair(
        error=error,
        step=error.turn + 1,
        steps=len(turns),
        tool=call.tool,
        arguments=pretty(call.arguments),
        delivered=call.result.text if call.result else "",
        next_calls=[
            _shown(call, other) for other in (following.calls if following else [])
        ],
        next_text=following.text if following else "",
        is_cut_off=following is None,
    )


def _shown(failed: Call, call: Call) -> tuple[str, str, bool]:
    equal = call.tool == failed.tool and same_arguments(
        call.arguments, failed.arguments
    )
    return call.tool, pretty(call.arguments), equal
