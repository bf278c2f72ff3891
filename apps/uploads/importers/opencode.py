"""OpenCode sessions: `opencode export` (JSON), and the older storage tree of files.

Export: `opencode export <session> > session.json`; or pack the folder `storage` with
its folders `session`, `message` and `part` and upload it as one archive.
Read: prompts, answers by step, thoughts, calls with their results, tokens; a summary
after compaction; a session with a parent adds threads to the parent's run.
Not read: snapshots, patches, files; the database of newer versions (export instead).
Errors: `status` error with its text. A shell command that failed stays completed, with
its exit code in `metadata.exit`. A call of a tool that does not exist is kept under the
name that was wanted. A person's refusal has a fixed text.
Outcomes: not in the file. A run whose last message was aborted ended cancelled, one
whose last message holds an error crashed.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from ._documents import unreadable
from ._objects import id_text, objects, parts
from ._opencode_run import transcript
from .head import peek
from .values import Json, mapping, sequence

LABEL = "OpenCode"
companions: tuple[str, ...] = ()

_PIECE = re.compile(
    r"(?P<root>(?:.*/)?)(?:session/(?P<project>[^/]+)|message/(?P<session>[^/]+)"
    r"|part/(?P<message>[^/]+))/[^/]+\.json"
)
_ADVICE = "one piece of a session: upload the whole folder as an archive"


def detect(head: bytes) -> float:
    """See `info` and `messages[].parts`, or a session, message or part of the tree."""
    seen = peek(head)
    info = mapping(seen.first.get("info"))
    if {"info", "messages"} <= seen.keys or (seen.cut and seen.keys == {"info"}):
        is_session = id_text(info.get("id")).startswith("ses_") or b'"ses_' in seen.cut
        return 0.95 if is_session or "projectID" in info else 0.0
    return 0.85 if _piece_kind(seen.first) else 0.0


def _piece_kind(record: dict[str, Json]) -> str:
    """Name what this small file of the storage tree is; "" if it is none."""
    if {"id", "sessionID", "messageID", "type"} <= record.keys():
        return "part"
    if {"id", "sessionID", "role", "time"} <= record.keys():
        return "message"
    return "session" if {"id", "projectID", "time"} <= record.keys() else ""


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield each exported session as a run."""
    info: dict[str, Json] = {}
    messages: list[Json] = []
    lost: list[Unreadable] = []
    line, offset = 1, 0
    for document, record in parts(stream, "messages", has=("info", "parts")):
        if isinstance(record, Unreadable):
            lost.append(record)
            continue
        if "info" in record and info:
            yield from transcript(info, messages, lost, line=line, offset=offset)
            info, messages, lost = {}, [], []
            line, offset = document.line, document.offset
        if "info" in record or "messages" in record:
            info = mapping(record.get("info")) or info
            messages += sequence(record.get("messages"))
        elif record:
            reason = _ADVICE if _piece_kind(record) else "no session with `messages`"
            lost.append(unreadable(document, reason))
    yield from transcript(info, messages, lost, line=line, offset=offset)


def claims(names: Collection[str]) -> list[list[str]]:
    """Group the files under each folder that has `session`, `message` and `part`."""
    roots: dict[str, list[list[str]]] = {}
    for name in sorted(names):
        match = _PIECE.fullmatch(name)
        if match:
            kinds = roots.setdefault(match["root"], [[], [], []])
            kinds[0 if match["project"] else 1 if match["session"] else 2].append(name)
    return [[*s, *m, *p] for s, m, p in roots.values() if s and m]


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield each session of a storage tree as a run."""
    sessions: list[str] = []
    messages: dict[str, list[str]] = {}
    pieces: dict[str, list[str]] = {}
    for name in sorted(files):
        match = _PIECE.fullmatch(name)
        if match and match["project"]:
            sessions.append(name)
        elif match and match["session"]:
            messages.setdefault(match["session"], []).append(name)
        elif match:
            pieces.setdefault(match["message"], []).append(name)
    tree = _Tree(files)
    infos = [tree.object(name) for name in sessions]
    yield from tree.lost
    tree.lost.clear()
    parents = {id_text(info.get("id")): id_text(info.get("parentID")) for info in infos}
    unheard = messages.keys() - parents.keys()
    for info in [*infos, *({"id": session} for session in sorted(unheard))]:
        found: list[Json] = []
        for name in messages.get(id_text(info.get("id")), []):
            message = tree.object(name)
            own = [tree.object(n) for n in pieces.get(id_text(message.get("id")), [])]
            found.append({"info": message, "parts": own})
        lost, tree.lost = tree.lost, []
        root = _root(id_text(info.get("id")), parents)
        yield from transcript(info, found, lost, root=root)


def _root(session: str, parents: Mapping[str, str]) -> str:
    """Follow the parents up to the session that none began; "" if this is it."""
    above, seen = parents.get(session, ""), {session}
    while above and parents.get(above) and above not in seen:
        seen.add(above)
        above = parents[above]
    return above


class _Tree:
    """Opens the small files and keeps what could not be read of them."""

    def __init__(self, files: Mapping[str, Callable[[], BinaryIO]]) -> None:
        self.lost: list[Unreadable] = []
        self._files = files

    def object(self, name: str) -> dict[str, Json]:
        with self._files[name]() as stream:
            for _, record in objects(stream):
                if not isinstance(record, Unreadable):
                    return record
                record.reason = f"{name}: {record.reason}"
                self.lost.append(record)
        return {}
