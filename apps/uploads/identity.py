"""When two records are one run, and which of two versions of a run stands. Pure."""

from hashlib import blake2b

import msgspec

from apps.runs.transcript import Thread, Transcript

SIZE = 16  # bytes
MAIN = ""  # id of a run's main thread
_Length = tuple[int, int, bytes]


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
    """Join two versions of one run; neither order nor grouping of versions matters.

    Threads of both are kept, the longer version of each, so that a sub-agent's file
    adds to its run whichever comes first. What is said of the run as a whole (its
    title, outcome, tools …) is that of the version whose main thread stands, and never
    a sub-agent's. Merging a version with itself, or with a part of it, changes nothing.
    """
    if old == new:
        return old
    head = max(old, new, key=_standing)
    threads: dict[str, Thread] = {}
    for version in (old, new):
        for thread in version.threads:
            if version.is_part and thread.id == MAIN and not head.is_part:
                continue  # a part's main thread is not the run's
            known = threads.get(thread.id)
            if known is None or _length(thread) > _length(known):
                threads[thread.id] = thread
    starts = [t for t in (old.started_at, new.started_at) if t is not None]
    ends = [t for t in (old.ended_at, new.ended_at) if t is not None]
    return msgspec.structs.replace(
        head,
        threads=sorted(threads.values(), key=_place),
        started_at=min(starts, default=None),
        ended_at=max(ends, default=None),
    )


def _standing(transcript: Transcript) -> tuple[bool, _Length, bool, bool, bytes]:
    """What makes one version stand before another.

    It looks only at what the merged run takes over whole, else three versions would
    give different runs in different orders.
    """
    main = [t for t in transcript.threads if t.id == MAIN]
    rest = msgspec.structs.replace(
        transcript, threads=[], started_at=None, ended_at=None
    )
    return (
        not transcript.is_part,
        max(map(_length, main), default=(0, 0, b"")),
        transcript.outcome != "unknown",
        transcript.ending != "",
        _hash(rest),
    )


def _length(thread: Thread) -> _Length:
    """How far a version of a thread goes; a hash decides between two that are level."""
    answered = sum(call.result is not None for t in thread.turns for call in t.calls)
    return len(thread.turns), answered, _hash(thread)


def _place(thread: Thread) -> tuple[bool, float, int, str]:
    """Where a thread stands in a run: main first, then as they began, then by name."""
    times = [turn.at for turn in thread.turns if turn.at is not None]
    return thread.kind != "main", min(times, default=0.0), len(thread.id), thread.id


def _hash(value: Transcript | Thread) -> bytes:
    return blake2b(msgspec.msgpack.encode(value), digest_size=SIZE).digest()


def _digest(*parts: bytes) -> bytes:
    running = blake2b(digest_size=SIZE)
    for part in parts:
        running.update(len(part).to_bytes(8, "big"))
        running.update(part)
    return running.digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
