"""Pi and OpenClaw session files (JSONL): a tree of entries, each with its parent.

Export: the files in the tool's `sessions` folder, one a session.
Read: turns, thoughts, calls and results, tokens. The line from the last entry back to
the first is the main thread; lines that were left are branches. A compaction is a
summary turn. A session that was forked names its parent session.
Not read: commands that the person ran, model and thinking changes, custom entries.
Errors: the flag `isError`; the tool writes a command's exit code at the end of its
text. Failures of the provider (`stopReason` error) are notices, not tool errors.
Outcomes: not in the file. A run that ends in such a failure crashed; one that ends in
an abort was cancelled.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import (
    Call,
    Ending,
    Record,
    Result,
    Thread,
    Transcript,
    Unreadable,
)

from ._documents import unreadable
from ._objects import id_text, objects, project, word
from .head import peek
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    boolean,
    integer,
    mapping,
    sequence,
    text,
    timestamp,
)

LABEL = "Pi and OpenClaw"

_EXIT_CODE = re.compile(r"Command exited with code (-?\d+)\s*\Z")
_TAIL_CHARS = 80
_ROLES = frozenset({"user", "assistant", "toolResult", "bashExecution", "custom"})


def detect(head: bytes) -> float:
    """See a first line of type `session`, or messages with Pi's roles."""
    seen = peek(head)
    if seen.is_array:
        return 0.0
    first = seen.first
    if first.get("type") == "session" and "id" in first and "cwd" in first:
        return 0.95
    messages = [
        mapping(record.get("message"))
        for record in seen.objects
        if record.get("type") == "message" and "uuid" not in record
    ]
    known = [m for m in messages if word(m.get("role")) in _ROLES and "content" in m]
    is_pi = any("toolCallId" in m or "stopReason" in m for m in known)
    return 0.8 if is_pi and len(known) >= len(seen.objects) / 2 else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the session; several one after another as so many runs."""
    session = _Session()
    for document, record in objects(stream):
        if isinstance(record, Unreadable):
            session.unreadable.append(record)
            continue
        if record.get("type") == "session" and session.has_entries:
            yield from session.records()
            session = _Session(document.line, document.offset)
        if not session.add(record):
            reason = "neither a header nor an entry with a `type`"
            session.unreadable.append(unreadable(document, reason))
    yield from session.records()


class _Session:
    """Collects entries, then follows their parents."""

    def __init__(self, line: int = 1, offset: int = 0) -> None:
        self.unreadable: list[Unreadable] = []
        self._line, self._offset = line, offset
        self._header: dict[str, Json] = {}
        self._entries: list[dict[str, Json]] = []

    @property
    def has_entries(self) -> bool:
        """Whether anything but a header was read."""
        return bool(self._entries)

    def add(self, record: dict[str, Json]) -> bool:
        """Add one line; False if it is none of this format."""
        kind = record.get("type")
        if kind == "session":
            self._header = record
        elif kind == "message" and not isinstance(record.get("message"), dict):
            return False
        elif isinstance(kind, str):
            self._entries.append(record)
        return isinstance(kind, str)

    def _lines(self) -> list[list[dict[str, Json]]]:
        """Give the main line of entries, then the lines that were left.

        Each entry is in one line. Without parents (older files) all are the main line.
        """
        place = {id_text(e.get("id")): i for i, e in enumerate(self._entries)}
        place.pop("", None)
        above: list[int] = []
        for index, entry in enumerate(self._entries):
            parent = place.get(id_text(entry.get("parentId")), index)
            is_root = "id" in entry and entry.get("parentId", "") is None
            if parent < index:
                above.append(parent)
            elif is_root and entry.get("type") == "message":
                above.append(-1)
            else:  # the parent is unknown, perhaps an unreadable line
                above.append(index - 1)
        has_child = set(above)
        leaves = [i for i in range(len(self._entries)) if i not in has_child]
        taken: set[int] = set()
        lines = []
        for leaf in reversed(leaves):  # the last leaf's line is the main one
            line, at = [], leaf
            while at >= 0 and at not in taken:
                taken.add(at)
                line.append(self._entries[at])
                at = above[at]
            lines.append(line[::-1])
        return lines[:1] + lines[:0:-1]

    def records(self) -> Iterator[Record]:
        """Yield the session, if anything was said."""
        threads = [_thread(line) for line in self._lines()]
        threads = [thread for thread in threads if thread.turns]
        if not threads:
            yield from self.unreadable
            return
        for number, branch in enumerate(threads[1:], 1):
            branch.id, branch.kind = f"branch-{number}", "branch"
        run_id = id_text(self._header.get("id"))
        parent = text(self._header.get("parentSession"))
        moments = (timestamp(entry.get("timestamp")) for entry in self._entries)
        times = [at for at in moments if at is not None]
        models = (turn.model for thread in threads for turn in thread.turns)
        yield Transcript(
            format="pi",
            threads=threads,
            run_id=run_id,
            is_global_id=bool(run_id),
            forked_from=_session_id(parent),
            model=next(filter(None, models), text(self._header.get("modelId"))),
            agent="Pi",
            source=project(self._header.get("cwd")),
            started_at=timestamp(self._header.get("timestamp"))
            or min(times, default=None),
            ended_at=max(times, default=None),
            ending=self._ending(),
            unreadable=self.unreadable,
            line=self._line,
            offset=self._offset,
        )

    def _ending(self) -> Ending:
        messages = (mapping(entry.get("message")) for entry in reversed(self._entries))
        last = next((m for m in messages if m.get("role") in ("user", "assistant")), {})
        reasons: dict[str, Ending] = {"error": "crashed", "aborted": "cancelled"}
        return reasons.get(word(last.get("stopReason")), "")


def _session_id(path: str) -> str:
    """Give the session's id out of its file's name, `<time>_<id>.jsonl`."""
    return project(path).removesuffix(".jsonl").rpartition("_")[2]


def _thread(entries: list[dict[str, Json]]) -> Thread:
    builder = ThreadBuilder()
    for entry in entries:
        at = timestamp(entry.get("timestamp"))
        kind = entry.get("type")
        message = mapping(entry.get("message"))
        if kind in ("compaction", "branch_summary"):
            builder.add("user", text(entry.get("summary")), at=at).kind = "summary"
        elif message.get("role") == "assistant":
            _assistant(builder, message, at)
        elif message.get("role") == "toolResult":
            _result(builder, message, at)
        elif message.get("role") == "user":
            builder.add("user", blocks_text(message.get("content")), at=at)
        elif message.get("role") in ("compactionSummary", "branchSummary"):
            builder.add("user", text(message.get("summary")), at=at).kind = "summary"
    return builder.thread


def _assistant(
    builder: ThreadBuilder, message: dict[str, Json], at: float | None
) -> None:
    blocks = [mapping(item) for item in sequence(message.get("content"))]
    failure = text(message.get("errorMessage"))
    if not blocks and failure:  # the request failed: nothing was said
        builder.add("system", failure, at=at).kind = "notice"
        return
    turn = builder.add("assistant", at=at, model=text(message.get("model")))
    usage = mapping(message.get("usage"))
    kinds = ("input", "cacheRead", "cacheWrite")
    counts = [n for key in kinds if (n := integer(usage.get(key))) is not None]
    turn.input_tokens = sum(counts) if counts else None
    turn.output_tokens = integer(usage.get("output"))
    said = [text(b.get("text")) for b in blocks if b.get("type") == "text"]
    if isinstance(message.get("content"), str):
        said = [text(message["content"])]
    turn.text = "\n".join(said).strip()
    for block in blocks:
        if block.get("type") == "thinking":
            turn.reasoning += text(block.get("thinking"))
        elif block.get("type") == "toolCall":
            call_id, tool = id_text(block.get("id")), text(block.get("name"))
            arguments = text(block.get("arguments"))
            builder.call(turn, Call(tool=tool, arguments=arguments, id=call_id, at=at))
    if failure:
        builder.add("system", failure, at=at).kind = "notice"


def _result(builder: ThreadBuilder, message: dict[str, Json], at: float | None) -> None:
    flag = boolean(message.get("isError"))
    result = Result(blocks_text(message.get("content")), is_error=flag, at=at)
    result.flag = "isError" if flag is not None else ""
    found = _EXIT_CODE.search(result.text, max(0, len(result.text) - _TAIL_CHARS))
    result.exit_code = integer(found[1]) if found else None
    call_id = id_text(message.get("toolCallId"))
    builder.result(result, id=call_id, tool=text(message.get("toolName")))
