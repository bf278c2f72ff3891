"""A call as SpecStory renders it: a tag with a summary, fenced input and output."""

import re

import msgspec

from apps.runs.transcript import Call, Result

from .values import text

_OPEN = re.compile(r'<tool-use data-tool-type="([^"]*)" data-tool-name="([^"]*)">(.*)')
_CLOSE = re.compile(r"(.*?)(?:</details>\s*)?</tool-use>\s*")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>")
_NAMED = re.compile(r"Tool use: \*\*.*?\*\*\s*(.*)", re.DOTALL)
_FENCE = re.compile(r"(`{3,})(\S*)\s*")
_QUOTED = re.compile(r"^`(.+)`\Z", re.DOTALL | re.MULTILINE)
_INPUTS = frozenset({"bash", "sh", "shell", "zsh", "diff", "powershell", "sql"})
# languages of a fence that holds what was given to the tool
_RESULT_HEADS = frozenset({"**Result:**", "**Output:**", "**Error:**"})


class Rendered:
    """One `<tool-use>` tag, line by line."""

    def __init__(self, tool: str, *, is_shell: bool) -> None:
        """Begin the tag of a call."""
        self.tool = tool
        self._is_shell = is_shell
        self.is_closed = False
        self._lines: list[str] = []

    @classmethod
    def opened_by(cls, line: str) -> "Rendered | None":
        """Give the tag that a line opens."""
        match = _OPEN.fullmatch(line)
        if match is None:
            return None
        tag = cls(match[2] or match[1], is_shell=match[1] == "shell")
        tag.add(match[3])
        return tag

    def add(self, line: str) -> bool:
        """Add a line of the tag; True if it closes it."""
        match = _CLOSE.fullmatch(line)
        self._lines.append(match[1] if match else line)
        self.is_closed = match is not None
        return self.is_closed

    def _parts(self) -> tuple[str, str]:
        """Give what the summary says beyond the tool's name, and the body."""
        body = "\n".join(self._lines).replace("<details>", "", 1).strip()
        body = body.removesuffix("</details>")
        match = _SUMMARY.search(body)
        if match is None:
            return "", body.strip()
        named = _NAMED.fullmatch(match[1])
        said = named[1] if named else match[1]
        return said.strip(), body.replace(match.group(), "", 1).strip()

    def repeats(self, other: "Rendered") -> bool:
        """Whether this bare tag stands for the same call as the full one before it."""
        return (
            self.tool == other.tool and not any(self._parts()) and any(other._parts())
        )

    def read(self, at: float | None) -> tuple[Call, Result | None]:
        """Give the call, and its result if one was rendered."""
        said, body = self._parts()
        before, _, output = _split(body)
        given = "\n".join(filter(None, (_unquoted(said), before.strip())))
        given = given.replace("&#96;", "`")
        key = "rendered"
        if self._is_shell:
            quoted = _QUOTED.search(given)  # below a line that describes the command
            key, given = "command", quoted[1] if quoted else given
        arguments = msgspec.json.encode({key: given}).decode() if given else ""
        call = Call(tool=self.tool, arguments=text(arguments), at=at)
        if output is None:
            return call, None
        return call, Result(text(output.replace("&#96;", "`")), at=at)


def _unquoted(said: str) -> str:
    return said.removeprefix("• ").strip().strip("`")


def _split(body: str) -> tuple[str, str, str | None]:
    """Cut a body into what was given, the fence's language, and the output."""
    lines = body.split("\n")
    start = next((i + 1 for i, x in enumerate(lines) if x.strip() in _RESULT_HEADS), 0)
    headed = start > 0
    for index in range(start, len(lines)):
        fence = _FENCE.fullmatch(lines[index])
        if fence is None:
            continue
        end = next(
            (i for i in range(index + 1, len(lines)) if lines[i].strip() == fence[1]),
            -1,
        )
        if fence[2] in _INPUTS and not headed:
            if end < 0:
                break
            given, language, output = _split("\n".join(lines[end + 1 :]))
            inside = lines[index + 1 : end]
            return "\n".join([*lines[:index], *inside, given]), language, output
        # the output may hold fences of its own: it goes to the last one
        last = max(
            (i for i, x in enumerate(lines) if x.strip() == fence[1]), default=-1
        )
        inside = lines[index + 1 : last if last > index else len(lines)]
        before = lines[: start - 1] if headed else lines[:index]
        return "\n".join(before), fence[2], "\n".join(inside)
    if headed:
        return "\n".join(lines[: start - 1]), "", "\n".join(lines[start:]).strip()
    return body, "", None
