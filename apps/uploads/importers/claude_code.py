"""Claude Code session files (JSONL), sub-agent files, and the web export.

Export: the files in the tool's `projects` folder, one a session; beside each a folder
of its name with `subagents/agent-….jsonl`; or the web session saved as JSON.
Read: turns joined by the model's message id, calls, results, tokens; sub-agents as
threads of their session, also from side-chain and progress lines of the main file; a
retried prompt as a branch; compaction as a summary turn; a resumed session with the
history that it copies, and which session that was; several sessions in one file as so
many runs.
Not read: hook and shell progress, file snapshots, queue operations, attachments.
Errors: the flag `is_error`. A person's refusal, an interruption, a cancelled sibling
and a call that was refused before it ran are told apart by the tool's fixed texts.
Failures of the model's provider are notices, not tool errors.
Outcomes: not in the file. A run whose last line is an interruption ended cancelled.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import BinaryIO

from apps.runs.transcript import Record, Unreadable

from ._claude_file import SessionFile
from ._objects import objects, parts
from .head import peek
from .values import mapping, sequence, text

LABEL = "Claude Code"
companions = ("agent-*.meta.json",)

_SUB_AGENT = re.compile(r"(.*/)?subagents/(?:.*/)?agent-[^/]+\.jsonl")
_MARKS = ("uuid", "sessionId", "leafUuid")
_MARKED = frozenset({"file-history-snapshot", "queue-operation"})
_KNOWN = frozenset(
    {
        *("user", "assistant", "summary", "system", "progress", "attachment"),
        *("file-history-snapshot", "queue-operation"),
    }
)


def detect(head: bytes) -> float:
    """See lines with a `type` and a record id, or one object with `loglines`."""
    seen = peek(head)
    if "loglines" in seen.keys:
        return 0.95
    if _is_companion(seen.first, len(seen.records)):
        return 0.7
    if not seen.records and {"parentUuid", "isSidechain", "sessionId"} <= seen.keys:
        return 0.9
    typed = [
        record
        for record in seen.objects
        if isinstance(record.get("type"), str)
        and (any(m in record for m in _MARKS) or record["type"] in _MARKED)
    ]
    if not typed or len(typed) < len(seen.objects) / 2:
        return 0.0
    sure = any("sessionId" in r and r["type"] in _KNOWN for r in typed)
    return 0.9 if sure else 0.5


def _is_companion(first: Mapping[str, object], records: int) -> bool:
    return (
        records == 1
        and isinstance(first.get("agentType"), str)
        and "type" not in first
        and "message" not in first
    )


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the sessions of the file (or its sub-agent) as runs."""
    yield from _read(stream, SessionFile(name)).records()


def _read(stream: BinaryIO, file: SessionFile) -> SessionFile:
    for document, record in parts(stream, "loglines", has=("type", "message")):
        if isinstance(record, Unreadable):
            file.unreadable.append(record)
        elif "loglines" in record:
            file.set_web_session(record)
            for item in sequence(record["loglines"]):
                file.add(mapping(item), document)
        elif _is_companion(record, 1):
            file.agent_type = text(record["agentType"])
        else:
            file.add(record, document)
    return file


def claims(names: Collection[str]) -> list[list[str]]:
    """Group each sub-agent's file with the small file that names its type."""
    there = set(names)
    groups = []
    for name in sorted(there):
        companion = name.removesuffix(".jsonl") + ".meta.json"
        if _SUB_AGENT.fullmatch(name) and companion in there:
            groups.append([name, companion])
    return groups


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield the sub-agent's threads; its companion names the agent."""
    names = [name for name in files if name.endswith(".jsonl")]
    for name in names:
        file = SessionFile(name)
        companion = name.removesuffix(".jsonl") + ".meta.json"
        if companion in files:
            with files[companion]() as stream:
                for _, record in objects(stream):
                    if not isinstance(record, Unreadable):
                        file.agent_type = text(record.get("agentType"))
        with files[name]() as stream:
            yield from _read(stream, file).records()
