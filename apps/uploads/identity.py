"""When two records are one run, and which of two versions of a run stands. Pure."""

from hashlib import blake2b

import msgspec

from apps.runs.transcript import Outcome, Thread, Transcript

SIZE = 16  # bytes


def run_identity(
    transcript: Transcript, content_hash: bytes, last_prefix: bytes
) -> bytes:
    """Give the 16 bytes by which a run is known in its workspace.

    A global id stands alone; an id that is unique only in its file is joined with the
    content; a run without an id is known by its main thread.
    """
    parts: tuple[bytes, ...]
    if transcript.run_id and transcript.is_global_id:
        parts = (b"global", _bytes(transcript.run_id))
    elif transcript.run_id:
        parts = (b"local", _bytes(transcript.run_id), content_hash)
    else:
        parts = (b"content", last_prefix)
    return _digest(_bytes(transcript.format), *parts)


def prefix_identity(format_name: str, prefix_hash: bytes) -> bytes:
    """Give the identity that a run without an id has if it ends at this turn."""
    return _digest(_bytes(format_name), b"content", prefix_hash)


def merged(old: Transcript, new: Transcript) -> Transcript:
    """Join two versions of one run; the order of the two makes no difference.

    The longer version of each thread stands. Threads of both are kept, so that a
    sub-agent's file adds to its run whichever comes first.
    """
    first, second = sorted((old, new), key=_standing, reverse=True)
    threads = {thread.id: thread for thread in first.threads}
    for thread in second.threads:
        known = threads.get(thread.id)
        if known is None or _length(thread) > _length(known):
            threads[thread.id] = thread
    outcome, by = _outcome(first, second)
    main_first = sorted(threads.values(), key=lambda t: (t.kind != "main", _began(t)))
    return msgspec.structs.replace(
        first,
        threads=main_first,
        is_part=first.is_part and second.is_part,
        title=first.title or second.title,
        task_id=first.task_id or second.task_id,
        model=first.model or second.model,
        ending=first.ending or second.ending,
        outcome=outcome,
        outcome_by=by,
        started_at=min(_known(first.started_at, second.started_at), default=None),
        ended_at=max(_known(first.ended_at, second.ended_at), default=None),
        tools=first.tools or second.tools,
        scores=first.scores or second.scores,
    )


def _standing(transcript: Transcript) -> tuple[bool, int, float, bool, bytes]:
    """What makes one version stand before another; total, so order cannot matter."""
    length = sum(_length(thread)[0] for thread in transcript.threads)
    known = transcript.outcome != "unknown"
    encoded = msgspec.msgpack.encode(transcript)
    return (
        not transcript.is_part,
        length,
        transcript.ended_at or 0.0,
        known,
        blake2b(encoded, digest_size=SIZE).digest(),
    )


def _length(thread: Thread) -> tuple[int, int]:
    answered = sum(call.result is not None for t in thread.turns for call in t.calls)
    return len(thread.turns), answered


def _began(thread: Thread) -> tuple[float, str]:
    times = [turn.at for turn in thread.turns if turn.at is not None]
    return min(times, default=0.0), thread.id


def _outcome(first: Transcript, second: Transcript) -> tuple[Outcome, str]:
    if first.outcome != "unknown":
        return first.outcome, first.outcome_by
    return second.outcome, second.outcome_by


def _known(*times: float | None) -> list[float]:
    return [time for time in times if time is not None]


def _digest(*parts: bytes) -> bytes:
    running = blake2b(digest_size=SIZE)
    for part in parts:
        running.update(len(part).to_bytes(8, "big"))
        running.update(part)
    return running.digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
