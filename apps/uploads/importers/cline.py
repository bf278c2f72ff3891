"""Cline and Roo tasks: `api_conversation_history.json` and `ui_messages.json`.

Export: the task's folder in the editor's global storage, as an archive; or its file
`api_conversation_history.json` alone.
Read: prompts, answers, calls as blocks or as XML in the text, results matched by id or
by their header and order, tokens. With both files, calls come from the first, missing
times and tokens from the second. Without the first, the second gives the calls and what
the person saw of their results.
Not read: details of the environment, checkpoints, the todo list, task metadata. The
run's id is the name of the folder.
Errors: the flag `is_error` of native results; else the text, without its header. A
denial has a fixed text. A nudge to use a tool is a notice.
Outcomes: not in the files.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO

from apps.runs.transcript import Record, Thread, Transcript, Unreadable

from ._cline_history import HEADER, History
from ._cline_ui import Screen, responses
from ._documents import unreadable
from ._objects import objects
from .head import peek
from .values import Json, mapping, sequence, text

LABEL = "Cline and Roo"
companions = ("task_metadata.json",)

_HISTORY, _UI = "api_conversation_history.json", "ui_messages.json"
_TASK = re.compile(r"\d{10,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MARKS = ("<task>", "<environment_details>", "[TASK RESUMPTION]")


def detect(head: bytes) -> float:
    """See a list of says and asks, or messages with the program's fixed texts."""
    seen = peek(head)
    if "files_in_context" in seen.keys:
        return 0.8
    if not seen.is_array:
        return 0.0
    if any(_is_ui(record) for record in seen.objects):
        return 0.95
    if not seen.records:
        is_cut = b'"role"' in seen.cut[:200]
        is_task = b"<task>" in seen.cut[:2000] or b"<environment_details>" in seen.cut
        return 0.8 if is_cut and is_task else 0.0
    for record in seen.objects:
        if record.get("role") in ("user", "assistant") and _is_marked(record):
            return 0.9
    return 0.0


def _is_ui(record: dict[str, Json]) -> bool:
    return "ts" in record and record.get("type") in ("say", "ask")


def _is_marked(record: dict[str, Json]) -> bool:
    for item in sequence(record.get("content")):
        said = item if isinstance(item, str) else text(mapping(item).get("text"))
        if said.lstrip().startswith(_MARKS) or HEADER.match(said):
            return True
    return False


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the task as a run, from the one file that there is."""
    items, lost = _items(stream)
    ui = [item for item in items if _is_ui(item)]
    messages = [item for item in items if "role" in item]
    if messages:
        yield from _run(History().read(messages), name, lost)
    elif ui:
        yield from _run(Screen().read(ui), name, lost)
    else:
        yield from lost


def _items(stream: BinaryIO) -> tuple[list[dict[str, Json]], list[Unreadable]]:
    items: list[dict[str, Json]] = []
    lost: list[Unreadable] = []
    for document, record in objects(stream):
        if isinstance(record, Unreadable):
            lost.append(record)
        elif "files_in_context" in record:
            continue  # the companion
        elif _is_ui(record) or "role" in record:
            items.append(record)
        else:
            lost.append(unreadable(document, "neither a message nor a say or ask"))
    return items, lost


def _run(
    made: "History | Screen", name: str, lost: list[Unreadable]
) -> Iterator[Record]:
    thread: Thread = made.builder.thread
    if not thread.turns:
        yield from lost
        return
    folder = PurePosixPath(name).parent.name
    run_id = folder if _TASK.fullmatch(folder) else ""
    times = [turn.at for turn in thread.turns if turn.at is not None]
    models = (turn.model for turn in thread.turns if turn.model)
    yield Transcript(
        format="cline",
        threads=[thread],
        run_id=run_id,
        is_global_id=bool(run_id),
        model=next(models, ""),
        agent="Cline",
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        ending=made.ending,
        unreadable=lost,
        line=1,
        offset=0,
    )


def claims(names: Collection[str]) -> list[list[str]]:
    """Group the files of each task's folder."""
    there = set(names)
    groups = []
    for name in sorted(there):
        path = PurePosixPath(name)
        if path.name != _HISTORY:
            continue
        beside = (str(path.with_name(other)) for other in (_UI, *companions))
        group = [name, *(other for other in beside if other in there)]
        if len(group) > 1:
            groups.append(group)
    return groups


def read_folder(files: Mapping[str, Callable[[], BinaryIO]]) -> Iterator[Record]:
    """Yield the task as a run from both of its files."""
    by_kind = {PurePosixPath(name).name: name for name in files}
    ui: list[dict[str, Json]] = []
    lost: list[Unreadable] = []
    if _UI in by_kind:
        with files[by_kind[_UI]]() as stream:
            ui, lost = _items(stream)
    history = History(responses(ui))
    if _HISTORY in by_kind:
        with files[by_kind[_HISTORY]]() as stream:
            items, lost_there = _items(stream)
        messages = [item for item in items if "role" in item]
        name = by_kind[_HISTORY]
        yield from _run(history.read(messages), name, [*lost_there, *lost])
    elif _UI in by_kind:
        yield from _run(Screen().read(ui), by_kind[_UI], lost)
