"""Hashes of what a run says: of all of it, and of every beginning. Pure.

What counts is who said and called what and what came back; not times, ids or tokens.
"""

from hashlib import blake2b

import msgspec

from .transcript import Transcript, Turn

SIZE = 16  # bytes
Content = list[str | int | None]  # everything said, in order, with how many follow

_encode = msgspec.msgpack.Encoder().encode


def content_hash(content: Content) -> bytes:
    """Hash what all threads say."""
    return blake2b(_encode(content), digest_size=SIZE).digest()


def prefix_hashes(transcript: Transcript) -> list[bytes]:
    """Hash the main thread up to each turn, and up to each call without its result.

    A log that was cut while calls were open is thus a beginning of the whole one.
    """
    running = blake2b(transcript.format.encode("utf-8", "replace"), digest_size=SIZE)
    hashes = []
    for turn in transcript.threads[0].turns if transcript.threads else []:
        if any(call.result is not None for call in turn.calls):
            cut = running.copy()
            cut.update(_turn_bytes(turn, with_results=False))
            hashes.append(cut.digest())
        running.update(_turn_bytes(turn, with_results=True))
        hashes.append(running.digest())
    return hashes


def _turn_bytes(turn: Turn, *, with_results: bool) -> bytes:
    calls = [
        (
            call.tool,
            call.arguments,
            call.result.text if call.result and with_results else None,
        )
        for call in turn.calls
    ]
    return _encode((turn.role, turn.text, calls))
