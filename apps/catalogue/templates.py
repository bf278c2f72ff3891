"""A shipped text with placeholders (`{field}`) against what a model received. Pure."""

import re
from functools import lru_cache

from .wrappers import peel

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,40})\}")
_SPACE = re.compile(r"\s+")


def placeholders(template: str) -> list[str]:
    """Names of the placeholders in a text, in order, each once."""
    return list(dict.fromkeys(_PLACEHOLDER.findall(template)))


@lru_cache(maxsize=2048)
def _pattern(template: str) -> re.Pattern[str]:
    parts, position = [], 0
    for match in _PLACEHOLDER.finditer(template):
        parts.append(_literal(template[position : match.start()]))
        parts.append(r".{0,400}?")
        position = match.end()
    parts.append(_literal(template[position:]))
    return re.compile("".join(parts), re.DOTALL)


def _literal(text: str) -> str:
    """Match text with any run of white space as one."""
    return r"\s+".join(re.escape(part) for part in _SPACE.split(text))


def matches(template: str, delivered: str) -> bool:
    """Whether a delivered text is this text with its placeholders filled in.

    Known wrappers around it are peeled; white space at the ends and between words
    makes no difference.
    """
    wanted = _pattern(template.strip())
    text = delivered[:8000]
    return any(
        wanted.fullmatch(candidate.strip()) is not None
        for candidate in (text, peel(text).message)
    )
