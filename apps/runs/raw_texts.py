"""The whole text of an error, which its row has only the beginning of."""

from .blob import unpack
from .models import RunTranscript, ToolError


def raw_text(error: ToolError) -> str:
    """Give what the model received; the row's part where the transcript is gone."""
    stored = RunTranscript.objects.filter(run_id=error.run_id).first()
    if stored is None:
        return error.delivered
    try:
        turn = unpack(stored.data).threads[error.thread].turns[error.turn]
        result = turn.calls[error.call].result
    except IndexError:
        return error.delivered
    return result.text if result is not None else error.delivered
