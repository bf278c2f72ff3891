"""One Aider chat: its lines, sorted by who wrote them, and the edits in them."""

import re
from collections.abc import Iterator

import msgspec

from apps.runs.transcript import Call, Ending, Record, Result, Transcript, Turn

from .thread import ThreadBuilder
from .values import text, timestamp

_PERSON, _PROGRAM, _MODEL = "person", "program", "model"
_TALKS = ("/ask", "/code", "/architect", "/help", "/context")
# commands whose words go to the model; what else begins with / or ! does not
_OWN_PROMPTS = ("# Fix any errors below", "# Fix any linting errors")
_TOKENS = re.compile(
    r"Tokens: ([\d.,]+)(k|M)? sent, (?:.*?, )?([\d.,]+)(k|M)? received"
)
_MODELS = re.compile(r"(?:Main )?[Mm]odels?: (\S+) with (\S+)")
_VERSION = re.compile(r"Aider v(\S+)")
_APPLIED = re.compile(r"Applied edit to (.+)")
_SKIPPED = re.compile(r"Skipping edits to (.+)")
_UNMATCHED = re.compile(
    r"^## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match"
    r" lines in (.+)$",
    re.MULTILINE,
)
_OTHERS_APPLIED = re.compile(r"^# The other \d+ SEARCH/REPLACE blocks?", re.MULTILINE)
_NOT_CONFORMING = "The LLM did not conform to the edit format."
_EXHAUSTED = re.compile(r"Only \d+ reflections allowed, stopping\.")
_RUNNING = re.compile(r"Running (\S.*)")
_ADDED = re.compile(r"Added \d+ lines? of output to the chat\.?")
_ASKS = re.compile(r"Add (?:the |command )?output to the chat\?")
_FAILURE = re.compile(r"(?:Unexpected error: |\w*Error: )?litellm\.|Unexpected error: ")
_LEFT = ("^C", "Tokens: ", "Commit ", "Committing ", "You can use /undo")


class Chat:
    """Collects the lines of one chat."""

    def __init__(self, run_id: str, line: int, offset: int, started: str = "") -> None:
        """Begin at this place; "" is the id of a chat whose beginning is cut off."""
        self._run_id = run_id
        self._line, self._offset = line, offset
        self._started = timestamp(started)
        self._builder = ThreadBuilder()
        self._writer = ""
        self._lines: list[str] = []
        self._is_marked: bool | None = (
            None  # whether line ends are marked by two blanks
        )
        self._goes_on = False  # the program's text goes on without a mark before it
        self._just_ended = False  # such a text seems to have ended on the line before
        self._open: list[_Edit] = []
        self._model = ""
        self._version = ""
        self._ending: Ending = ""

    def add(self, line: str) -> None:
        """Add one line of the file."""
        writer, said = self._writer_of(line)
        if writer == _MODEL and not said.strip() and self._writer != _MODEL:
            if self._writer == _PERSON:  # the next prompt may follow at once
                self._flush()
            return  # a blank line between the blocks
        if writer != self._writer:
            self._flush()
            self._writer = writer
        self._lines.append(said)

    def _writer_of(self, line: str) -> tuple[str, str]:
        """Tell who wrote a line by its mark; the end of the program's is marked too."""
        is_ended = line.endswith("  ")
        is_bare = bool(line.strip()) and not line.startswith((">", "####"))
        if self._goes_on or (self._just_ended and is_bare):
            self._goes_on, self._just_ended = not is_ended, is_ended
            return _PROGRAM, line.rstrip()
        self._just_ended = False
        if line.startswith(">") and (line[1:2] in (" ", "")):
            if self._is_marked is None:
                self._is_marked = is_ended
            if self._is_marked and not is_ended and self._writer == _MODEL:
                return _MODEL, line  # a quotation in the model's Markdown
            self._goes_on = self._is_marked and not is_ended
            return _PROGRAM, line[2:].rstrip()
        if line.startswith("#### ") and (is_ended or not self._is_marked):
            return _PERSON, line[5:].rstrip()
        return _MODEL, line

    def _flush(self) -> None:
        """Turn the block that has ended into turns, calls and results."""
        lines, self._lines = self._lines, []
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            return
        if self._writer == _PERSON:
            self._person("\n".join(lines))
        elif self._writer == _PROGRAM:
            self._program(lines)
        elif self._writer == _MODEL:
            self._answer("\n".join(lines).strip("\n"))

    def _person(self, said: str) -> None:
        self._open, self._ending = [], ""
        turn = self._builder.add("user", said)
        is_command = said.startswith(("/", "!")) and not said.startswith(_TALKS)
        if is_command or said.startswith(_OWN_PROMPTS):
            turn.kind = "notice"

    def _answer(self, said: str) -> None:
        if not self._run_id and not self._builder.turns and len(said) < 80:
            return  # a mode line of an editor before a cut chat
        self._ending = ""
        turn = self._builder.add("assistant", said, model=self._model)
        self._open = []
        for path, search, replace in _edit_blocks(said):
            arguments = {"path": path, "search": search, "replace": replace}
            encoded = msgspec.json.encode(arguments).decode()
            call = self._builder.call(turn, Call(tool="edit", arguments=text(encoded)))
            self._open.append(_Edit(call, path, search))

    def _program(self, lines: list[str]) -> None:
        rest: list[str] = []
        index = 0
        while index < len(lines):
            line = lines[index].strip()
            index += 1
            if line == _NOT_CONFORMING:
                end = next(
                    (i for i in range(index, len(lines)) if _ends_message(lines[i])),
                    len(lines),
                )
                was_seen = not any(_EXHAUSTED.match(x.strip()) for x in lines[index:])
                self._failed(_message(lines[index:end]), was_seen=was_seen)
                index = end
            elif match := _RUNNING.fullmatch(line):
                index = self._command(match[1], lines, index)
            elif not self._line_read(line):
                rest.append(lines[index - 1])
        said = "\n".join(rest).strip()
        is_heard = any(turn.role != "system" for turn in self._builder.turns)
        if said and is_heard:  # else it is the banner
            self._builder.add("system", said).kind = "notice"

    def _line_read(self, line: str) -> bool:
        """Read a line of the program that says one thing; False if it is none."""
        if match := _APPLIED.fullmatch(line):
            self._settle(match[1], Result(line, is_error=False, flag="edit"))
        elif match := _SKIPPED.fullmatch(line):
            skipped = Result(line, is_error=True, flag="edit", cause="denied")
            skipped.delivered = False
            self._settle(match[1], skipped)
        elif match := _TOKENS.match(line):
            turn = self._last_answer()
            if turn is not None:
                turn.input_tokens = _count(match[1], match[2])
                turn.output_tokens = _count(match[3], match[4])
        elif match := _MODELS.match(line):
            self._model = match[1]
        elif match := _VERSION.fullmatch(line):
            self._version = match[1]
        elif _EXHAUSTED.match(line):
            self._ending = "budget_spent"
        elif _FAILURE.match(line):
            self._ending = "crashed"
            return False
        else:
            return False
        return True

    def _last_answer(self) -> Turn | None:
        turns = reversed(self._builder.turns)
        return next((turn for turn in turns if turn.role == "assistant"), None)

    def _settle(self, path: str, result: Result) -> None:
        """Give a result to all open edits of a file; make one if there is none."""
        same = [edit for edit in self._open if edit.path == path]
        same = same or [edit for edit in self._open if edit.names(path)]
        if not same:
            arguments = msgspec.json.encode({"path": path}).decode()
            turn = self._last_answer() or self._builder.add("assistant")
            call = self._builder.call(turn, Call(tool="edit", arguments=arguments))
            same = [_Edit(call, path, "")]
        for edit in same:
            self._give(edit, result)

    def _give(self, edit: "_Edit", result: Result) -> None:
        self._builder.answer(edit.call, msgspec.structs.replace(result))
        self._open = [other for other in self._open if other is not edit]

    def _failed(self, message: str, *, was_seen: bool) -> None:
        """Give the message to the edits that failed; the others were applied."""
        failure = Result(message, is_error=True, flag="edit", delivered=was_seen)
        parts = _UNMATCHED.split(message)
        if len(parts) < 3:
            failure.cause = "rejected"
            if not self._open:
                turn = self._last_answer() or self._builder.add("assistant")
                call = self._builder.call(turn, Call(tool="edit"))
                self._open = [_Edit(call, "", "")]
            for edit in list(self._open):
                self._give(edit, failure)
            return
        for path, block in zip(parts[1::2], parts[2::2], strict=True):
            edits = [e for e in self._open if e.names(path.strip())] or self._open
            exact = [e for e in edits if e.is_in(block)] or edits
            if exact:
                self._give(exact[0], failure)
            else:
                self._settle(path.strip(), failure)
        if _OTHERS_APPLIED.search(message):
            for edit in list(self._open):
                applied = f"Applied edit to {edit.path}"
                self._give(edit, Result(applied, is_error=False, flag="edit"))

    def _command(self, command: str, lines: list[str], index: int) -> int:
        """Add a command that the model suggested, with its output; give its end."""
        end = next(
            (i for i in range(index, len(lines)) if _ends_output(lines[i])), len(lines)
        )
        output = "\n".join(lines[index:end]).strip()
        was_added = any(_ADDED.match(x.strip()) for x in lines[end : end + 2])
        turn = self._last_answer() or self._builder.add("assistant")
        arguments = msgspec.json.encode({"command": command}).decode()
        call = self._builder.call(turn, Call(tool="shell", arguments=arguments))
        self._give(_Edit(call, "", ""), Result(output, delivered=was_added))
        while end < len(lines) and _ends_output(lines[end]):
            end += 1
            if _RUNNING.fullmatch(lines[end - 1].strip()):
                return end - 1
        return end

    def records(self) -> Iterator[Record]:
        """Yield the chat, if anything was asked or answered in it."""
        self._flush()
        if all(turn.kind == "notice" for turn in self._builder.turns):
            return
        yield Transcript(
            format="aider",
            threads=[self._builder.thread],
            run_id=self._run_id,
            model=self._model,
            agent="Aider",
            agent_version=self._version,
            started_at=self._started,
            ending=self._ending,
            line=self._line,
            offset=self._offset,
        )


class _Edit:
    """An edit that the program has not spoken of yet."""

    def __init__(self, call: Call, path: str, search: str) -> None:
        self.call = call
        self.path = path
        self._search = search

    def names(self, path: str) -> bool:
        """Whether both name one file, one perhaps from another folder."""
        return not self.path or path.endswith(self.path) or self.path.endswith(path)

    def is_in(self, block: str) -> bool:
        """Whether a block of the program's message repeats what this edit sought."""
        repeated = block.partition("<<<<<<< SEARCH")[2].partition("\n=======")[0]
        return "".join(repeated.split()) == "".join(self._search.split())


def _edit_blocks(said: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, sought lines and new lines of each whole SEARCH/REPLACE block."""
    search: list[str] | None = None
    replace: list[str] | None = None
    path, before = "", [""]
    for line in said.split("\n"):
        if line.startswith("<<<<<<< ") and search is None:
            search, replace, path = [], None, _path(before) or path
        elif search is None:
            before = [*before[-2:], line]
        elif line.startswith("=======") and replace is None:
            replace = []
        elif line.startswith(">>>>>>> ") and replace is not None:
            yield path, "\n".join(search), "\n".join(replace)
            search, before = None, [""]
        else:
            (search if replace is None else replace).append(line)


def _path(before: list[str]) -> str:
    """Find the file's name in the lines above a block."""
    for line in reversed(before):
        name = line.strip().strip("*`#").rstrip(":").strip()
        if line.strip().startswith(("```", "<source>")):
            name = name.removeprefix("<source>")
            name = name if "." in name or "/" in name else ""
        if name and " " not in name:
            return name
    return ""


def _message(lines: list[str]) -> str:
    """Give what went back to the model: without the address for the person."""
    kept = [line for line in lines if not line.startswith("https://aider.chat/")]
    return "\n".join(kept).strip()


def _ends_message(line: str) -> bool:
    return bool(_EXHAUSTED.match(line.strip())) or line.startswith(_LEFT)


def _ends_output(line: str) -> bool:
    stripped = line.strip()
    patterns = (_ADDED, _ASKS, _RUNNING)
    return any(p.match(stripped) for p in patterns) or line.startswith(_LEFT)


def _count(digits: str, unit: str | None) -> int | None:
    try:
        number = float(digits.replace(",", ""))
    except ValueError:
        return None
    return int(number * {"k": 1e3, "M": 1e6}.get(unit or "", 1))
