"""Cursor agent transcripts (JSONL): roles and blocks, without ids and times.

Export: the files under `agent-transcripts` in Cursor's folder of the project; a
sub-agent's file lies in `subagents/` beside the transcript of its session.
Read: text, thoughts, calls, and results where there are any, matched by order. The
session's id is taken from the name of its file or folder. A folder of a session and its
sub-agents is read as one run.
Not read: the editor's own chats, which live in a database.
Errors: the flag `is_error` where a result has one. Results are often not stored: then
the call has none, which is no error.
Outcomes: not in the file.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Unreadable

from ._documents import unreadable
from ._objects import id_text, objects
from .head import peek
from .thread import ThreadBuilder
from .values import Json, blocks_text, boolean, mapping, sequence, text

LABEL = "Cursor agent transcripts"
companions: tuple[str, ...] = ()

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ENVELOPE = frozenset({"role", "message", "id"})


def detect(head: bytes) -> float:
    """See lines `{role, message: {content: […]}}` and nothing else in them."""
    seen = peek(head)
    if seen.is_array or not seen.objects:
        return 0.0
    lines = [record for record in seen.objects if _is_line(record)]
    return 0.85 if len(lines) > len(seen.objects) / 2 else 0.0


def _is_line(record: dict[str, Json]) -> bool:
    content = mapping(record.get("message")).get("content")
    has_role = record.get("role") in ("user", "assistant", "system")
    return has_role and isinstance(content, (list, str)) and record.keys() <= _ENVELOPE


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the transcript as a run, or as threads of the run that its folder names."""
    path = PurePosixPath(name)
    folder = path.parent
    if folder.name == "subagents" and _UUID.fullmatch(folder.parent.name):
        yield from _records(stream, folder.parent.name, path.stem, is_part=True)
        return
    named = (part for part in (path.stem, folder.name) if _UUID.fullmatch(part))
    yield from _records(stream, next(named, ""), "")


def _records(
    stream: BinaryIO, run_id: str, thread_id: str, *, is_part: bool = False
) -> Iterator[Record]:
    builder = ThreadBuilder(thread_id, "sub_agent" if thread_id else "main")
    lost: list[Unreadable] = []
    known: set[str] = set()  # ids of calls: results may name ids that no call has
    for document, record in objects(stream):
        if isinstance(record, Unreadable):
            lost.append(record)
        elif not isinstance(mapping(record.get("message")).get("content"), (list, str)):
            lost.append(unreadable(document, "a line without a message"))
        else:
            _add(builder, record, known)
    if not builder.turns:
        yield from lost
        return
    yield Transcript(
        format="cursor",
        threads=[builder.thread],
        run_id=run_id,
        is_global_id=bool(run_id),
        is_part=is_part,
        agent="Cursor",
        unreadable=lost,
        line=1,
        offset=0,
    )


def _add(builder: ThreadBuilder, record: dict[str, Json], known: set[str]) -> None:
    blocks = sequence(mapping(record["message"])["content"])
    if record.get("role") == "assistant":
        turn = builder.add("assistant")
        said = []
        for item in blocks:
            block = mapping(item)
            if block.get("type") == "tool_use":
                call_id, tool = id_text(block.get("id")), text(block.get("name"))
                known.add(call_id)
                arguments = text(block.get("input"))
                builder.call(turn, Call(tool=tool, arguments=arguments, id=call_id))
            elif block.get("type") == "thinking":
                turn.reasoning += text(block.get("thinking"))
            else:
                said.append(blocks_text([item]))
        turn.text = "\n".join(filter(None, said))
        return
    prompt = []
    for item in blocks:
        block = mapping(item)
        if block.get("type") == "tool_result":
            flag = boolean(block.get("is_error"))
            result = Result(blocks_text(block.get("content")), is_error=flag)
            result.flag = "is_error" if flag is not None else ""
            call_id = id_text(block.get("tool_use_id"))
            builder.result(result, id=call_id if call_id in known else "")
        else:
            prompt.append(blocks_text([item]))
    said_there = "\n".join(filter(None, prompt))
    if said_there:
        role = "system" if record.get("role") == "system" else "user"
        builder.add("system" if role == "system" else "user", said_there)


def claims(names: Collection[str]) -> list[list[str]]:
    """Group the one transcript of a folder with those in its `subagents/`."""
    folders: dict[PurePosixPath, list[str]] = {}
    for name in sorted(names):
        path = PurePosixPath(name)
        if path.suffix == ".jsonl" and not path.name.startswith("agent-"):
            folders.setdefault(path.parent, []).append(name)
    groups = []
    for folder, files in folders.items():
        children = folders.get(folder / "subagents", [])
        if len(files) == 1 and children:
            groups.append([*files, *children])
    return groups


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield the session with its sub-agents as threads of it."""
    run: Transcript | None = None
    for name in sorted(files, key=lambda name: "/subagents/" in f"/{name}"):
        path = PurePosixPath(name)
        thread_id = path.stem if path.parent.name == "subagents" else ""
        named = (
            part for part in (path.stem, path.parent.name) if _UUID.fullmatch(part)
        )
        with files[name]() as stream:
            for record in _records(stream, next(named, ""), thread_id):
                if run is None or not isinstance(record, Transcript):
                    if isinstance(record, Transcript):
                        run = record
                    else:
                        yield record
                    continue
                run.threads += record.threads
                run.unreadable += record.unreadable
    if run is not None:
        yield run
