"""Which runs the rules leave out of every figure. Pure."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from .rules import Rules
from .transcript import Transcript

KINDS = {
    "source": "the submitter or project that the log names",
    "agent": "the agent's name",
    "tag": "a tag of the run",
    "format": "the format that the run was read as",
    "file": "the name of the uploaded file",
}


def excluding_rule(transcript: Transcript, file_name: str, rules: Rules) -> str:
    """Give the first pattern that leaves this run out; "": none does.

    A pattern is `kind: words`, where * stands for anything; case does not matter.
    """
    for pattern in rules.excluded:
        kind, _, words = pattern.partition(":")
        wanted = words.strip().lower()
        for value in _values(transcript, file_name, kind.strip()):
            if fnmatchcase(value.lower(), wanted):
                return pattern
    return ""


def _values(transcript: Transcript, file_name: str, kind: str) -> Iterable[str]:
    if kind == "tag":
        return transcript.tags
    if kind == "file":
        return (file_name,)
    return (getattr(transcript, kind),) if kind in KINDS else ()
