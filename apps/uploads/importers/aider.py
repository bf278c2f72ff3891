"""Aider chat histories (Markdown): many chats in one file.

Export: the file `.aider.chat.history.md` in the project's folder.
Read: a run for each chat that has a prompt or an answer: prompts, answers, models. Edit
blocks become calls of a pseudo tool `edit`, suggested commands that ran become calls of
`shell`; what the program says of them is their result. Tokens from its own line.
Not read: the output of commands that the person ran and other words of the program are
notices. Two programs that wrote to the file at once cannot be told apart. The start of
a chat has no zone and is taken as UTC.
Errors: blocks that failed to match, answers that did not conform to the edit format (as
the text that the model then read). After the last reflection allowed the model does not
see it. Failures of the provider are notices.
Outcomes: not in the file. A chat that ends in a provider's failure crashed; one that
ran out of reflections had spent its budget.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Record

from ._aider_chat import Chat
from ._text_lines import text_lines, text_of

LABEL = "Aider chat history"

HEADER = re.compile(r"# aider chat started at (.{0,40}?)\s*")
_FIRST = re.compile(r"^# aider chat started at \d", re.MULTILINE)


def detect(head: bytes) -> float:
    """See the line with which each chat begins."""
    return 0.95 if _FIRST.search(text_of(head)) else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield each chat as a run; its id is its start, and a number if that repeats."""
    starts: dict[str, int] = {}
    chat = Chat("", 1, 0)  # what stands before the first header: a cut chat
    for line in text_lines(stream):
        header = HEADER.fullmatch(line.text)
        if header is None:
            chat.add(line.text)
            continue
        yield from chat.records()
        starts[header[1]] = starts.get(header[1], 0) + 1
        number = starts[header[1]]
        run_id = header[1] if number == 1 else f"{header[1]} ({number})"
        chat = Chat(run_id, line.number, line.offset, started=header[1])
    yield from chat.records()
