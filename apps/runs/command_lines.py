"""Reads the command line that a shell-like tool was given. Pure."""

import re
from functools import lru_cache

import msgspec

_COMMAND_KEYS = ("command", "cmd", "script", "commands")
_TOKEN = re.compile(
    r"[^\\'\"$`|&;\n]+|\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\([^()]*\)|`[^`]*`"
    r"|(?P<operator>\|\||&&|\|&|[;\n|]|(?<![<>&])&(?![>&\d]))|.",
    re.DOTALL,
)
_LEAD = re.compile(
    r"(?:[({!]\s+|/(?:[\w.]+/)+|\w+=(?:'[^']*'|\"[^\"]*\"|\S*)\s+"
    r"|(?:sudo|time|command|nohup|exec)\s+(?!-)|timeout\s+(?:-\S+\s+|[\d.]+\w?\s+)+)*"
)
_CHANGE_FOLDER = re.compile(r"(?:cd|pushd|popd)\b")
# Commands that say “no”, “differs” or “nothing found” by ending with 1.
_ASKS = re.compile(
    r"(?:git\s+(?:-\S+\s+\S+\s+)*(?:grep|diff|merge-base|check-ignore|config|show-ref)"
    r"|(?:[efz]|bz|xz|p)?grep|rg|ag|ack|diff|cmp|test|which|command\s+-v|type|\[\[?)"
    r"(?:\s|$)"
)
_QUIET = re.compile(r"(?:cd|pushd|popd|export|set|source|\.|echo|printf|mkdir)(?:\s|$)")
_SHELL_NAME = re.compile(
    r"(?i)(?:^|[_.\-/])(?:bash|shell|terminal|zsh|sh|powershell|console)(?:[_.\-/]|$)"
    r"|^(?:exec|run|execute)_?(?:command|cmd|bash|shell)|^exec$"
)


@lru_cache(maxsize=4096)
def is_shell(tool: str) -> bool:
    """Whether a tool runs command lines, by its name."""
    return bool(_SHELL_NAME.search(tool))


def command_of(arguments: str, key: str = "") -> str:
    """Give the command line in a call's arguments; text that is not JSON as it is.

    `key` names the argument that holds it; without one the usual names are tried.
    """
    if not arguments.lstrip().startswith("{"):
        return arguments
    try:
        decoded = msgspec.json.decode(arguments.encode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError):
        return arguments
    for name in (key,) if key else _COMMAND_KEYS:
        value = decoded.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return _of_list([str(part) for part in value])
    return ""


def _of_list(parts: list[str]) -> str:
    """Join an argument list; of `bash -lc "…"` the inner command."""
    if len(parts) == 3 and parts[1].startswith("-") and parts[1].endswith("c"):
        return parts[2]
    return " ".join(parts)


def steps(command: str) -> list[tuple[str, str]]:
    """Split a command line into its simple commands, each with the operator before it.

    Quotes, escapes and substitutions are respected, here-documents are not.
    """
    found: list[tuple[str, str]] = []
    operator, begin = "", 0
    for token in _TOKEN.finditer(command):
        if token["operator"] is not None:
            found.append((operator, command[begin : token.start()].strip()))
            operator, begin = token["operator"], token.end()
    found.append((operator, command[begin:].strip()))
    return [(before, step) for before, step in found if step]


def first_word(command: str) -> str:
    """Give a command's first word without its path; `cd …` and `VAR=…` are skipped."""
    plain = [step[_end_of_lead(step) :] for _, step in steps(command)]
    telling = [step for step in plain if step and not _CHANGE_FOLDER.match(step)]
    first = next(iter(telling or plain), "")
    word = first.split(None, 1)[0].strip("'\"") if first else ""
    return word.rsplit("/", 1)[-1] or word


def asks_by_exit_code(command: str) -> bool:
    """Whether exit code 1 of a command is an answer, as of `grep` and `diff`.

    It may be one if every command of the last `&&` chain asks or can hardly fail.
    """
    asked = False
    for operator, step in reversed(steps(command)):
        start = _end_of_lead(step)
        if _ASKS.match(step, start):
            asked = True
        elif not _QUIET.match(step, start):
            return False
        if operator != "&&":
            break
    return asked


def _end_of_lead(step: str) -> int:
    match = _LEAD.match(step)
    return match.end() if match else 0
