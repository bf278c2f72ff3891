"""Codex CLI rollouts (JSONL), of the current generation and of the one before.

Export: the files `rollout-….jsonl` in the tool's `sessions` folder.
Read: what the model saw (`response_item`): messages, reasoning summaries, calls and
their outputs; tokens of each response; from the UI's events only exit codes and flags,
joined by the call's id. A fork with the history that it repeats, and which run that
was; a sub-agent's file as threads of its parent; turns taken back as a branch; a
compacted history as a summary turn. Also the bare items of older files.
Not read: the UI's copies of messages, world state, rate limits, encrypted reasoning.
Errors: no flag on an output. A process's exit code comes from its event or from the
JSON text of older outputs; MCP calls and patches carry a flag in their events. Refusals
have fixed texts. A process that goes on running is pending.
Outcomes: not in the file. A run whose last turn was interrupted ended cancelled, one
whose last turn ended in an error crashed.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from ._codex_run import CodexRun
from ._documents import unreadable
from ._objects import id_text, objects, word
from .head import peek
from .values import Json, mapping

LABEL = "Codex CLI"

_WRAPPED = frozenset(
    {
        *("session_meta", "turn_context", "response_item", "event_msg", "compacted"),
        *("world_state", "token_usage_record"),
    }
)
_OLD_META = ("instructions", "git", "cwd")


def detect(head: bytes) -> float:
    """See lines `{timestamp, type, payload}`, or the older header and bare items."""
    seen = peek(head)
    if seen.is_array:
        return 0.0
    if _is_old_meta(seen.first) and all(
        "type" in record or "record_type" in record for record in seen.objects[1:]
    ):
        return 0.9 if len(seen.objects) > 1 else 0.6
    wrapped = [
        r for r in seen.objects if word(r.get("type")) in _WRAPPED and "payload" in r
    ]
    if not seen.records and {"timestamp", "type", "payload"} <= seen.keys:
        return 0.9 if b'"session_meta"' in seen.cut[:400] else 0.0
    if not wrapped:
        return 0.0
    return 0.95 if len(wrapped) >= len(seen.objects) / 2 else 0.6


def _is_old_meta(record: dict[str, Json]) -> bool:
    return (
        isinstance(record.get("id"), str)
        and isinstance(record.get("timestamp"), str)
        and any(key in record for key in _OLD_META)
        and not {"type", "role", "payload", "messages"} & record.keys()
    )


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file; several rollouts one after another as so many runs."""
    run = CodexRun()
    for document, record in objects(stream):
        if isinstance(record, Unreadable):
            run.unreadable.append(record)
            continue
        meta: dict[str, Json] = {}
        if record.get("type") == "session_meta":
            meta = mapping(record.get("payload"))
        elif _is_old_meta(record):
            meta = record
        if meta and run.is_other(id_text(meta.get("id"))):
            yield from run.records()
            run = CodexRun(document.line, document.offset)
        if meta is record:
            run.add_meta(record)
        elif not run.add(record):
            run.unreadable.append(unreadable(document, "not a record of a rollout"))
    yield from run.records()
