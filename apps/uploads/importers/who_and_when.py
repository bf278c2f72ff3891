"""Who&When: failed runs of multi-agent systems, with the step that went wrong.

Export: the files of the data set, one JSON object a run, or lines of them.
Read: the history as one thread; code that the terminal ran, as a call with its output.
Not read: system prompts, the ground truth, who made the mistake and why.
Errors: no flag; the output of a run begins with `exitcode: N`, which the rules on texts
read.
Outcomes: `is_correct` or `is_corrected`. All published runs are wrong: they show error
texts and say nothing of a recovery rate.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Turn, Unreadable

from ._documents import odd_item, unreadable, values
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, blocks_text, boolean, mapping, text

LABEL = "Who&When"

_OWN = ("mistake_agent", "mistake_step", "mistake_reason")
_TERMINALS = ("Computer_terminal", "ComputerTerminal")
_RAN = ("exitcode:", "The script ran")
_CODE = re.compile(r"```[^\n]*\n(.*?)```", re.DOTALL)


def detect(head: bytes) -> float:
    """See objects with a `history` and the step that was a mistake."""
    seen = peek(head)
    if any("history" in r and "mistake_agent" in r for r in seen.objects):
        return 0.95
    cut = seen.keys | {key for key in _OWN if f'"{key}"'.encode() in seen.cut}
    return 0.9 if "history" in cut and cut & set(_OWN) and not seen.records else 0.0


def _is_run(value: Json) -> bool:
    return isinstance(mapping(value).get("history"), list)


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each object with a history."""
    for value in values(stream, _is_run):
        record = mapping(value.json)
        if _is_run(record):
            run = _run(record, value.document)
            run.unreadable += [value.fault] if value.fault is not None else []
            yield run
        else:
            reason = "no list `history`: not a run of Who&When"
            yield value.fault or unreadable(value.document, reason)


def _run(record: dict[str, Json], document: Document) -> Transcript:
    builder = ThreadBuilder()
    faults: list[Unreadable] = []
    for item in record["history"]:
        message = mapping(item)
        if message:
            _add(builder, message)
        else:
            faults.append(odd_item(item, document, "a message"))
    run = Transcript(
        format="who_and_when",
        threads=[builder.thread],
        run_id=text(record.get("question_ID")),
        task_id=text(record.get("question_ID")),
        title=text(record.get("question"))[:200],
        unreadable=faults,
        line=document.line,
        offset=document.offset,
    )
    for key in ("is_correct", "is_corrected"):
        flag = boolean(record.get(key))
        if flag is not None:
            run.outcome, run.outcome_by = ("correct" if flag else "incorrect"), key
    return run


def _add(builder: ThreadBuilder, message: dict[str, Json]) -> None:
    said = blocks_text(message.get("content"))
    speaker = text(message.get("name")) or text(message.get("role"))
    if not builder.turns or speaker == "human":
        builder.add("user", said)
    elif speaker in _TERMINALS:
        _terminal(builder, speaker, said)
    elif speaker.endswith("(termination condition)"):
        builder.add("user", said).kind = "notice"
    else:
        builder.add("assistant", said)


def _terminal(builder: ThreadBuilder, tool: str, said: str) -> None:
    """Add what the terminal said: the output of the last message's code, or a nudge."""
    last = builder.turns[-1]
    if not said.startswith(_RAN):
        builder.add("user", said).kind = "notice"
        return
    turn: Turn = last if last.role == "assistant" else builder.add("assistant")
    code = _CODE.findall(last.text)
    builder.call(turn, Call(tool, "\n".join(code)))
    builder.result(Result(text=said), tool=tool)
