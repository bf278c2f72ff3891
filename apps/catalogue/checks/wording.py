"""Words and parts of a text that more than one check looks for."""

import re
from itertools import islice

from apps.catalogue.checks.subject import Subject
from apps.catalogue.envelope import Category

PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_ABBREVIATION = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|no|approx|incl|max|min)\.$", re.IGNORECASE
)
_END = re.compile(r"[.!?]+[\"')\]]*(?=\s|$)")
_AUTHORIZATION = re.compile(
    r"(?i)\b(?:HTTP |status |Error )?(?:401|403)\b|unauthori[sz]ed|unauthenticated"
    r"|forbidden|permission(?: was)? denied|access denied|not (?:allowed|permitted|"
    r"authori[sz]ed) (?:to|for)|(?:no|lacks?|missing|without) (?:the )?permission"
    r"|not visible"
)
# Signs that a text names what is allowed, or which part of the call is at fault.
CONSTRAINT = re.compile(
    r"(?i)`[^`]+`|\{[a-z_]\w*\}|\b[a-z]+_[a-z_]+\b|\b(?:must|may only|only|at (?:most|"
    r"least)|between|above|below|before|after|valid|allowed|accepted|supported|expected"
    r"|required|read-only|past|limit|maximum|minimum|does not exist|has expired)\b"
)


def sentences(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text are; each line begins a new one."""
    found, start = [], 0
    for line in re.finditer(r"[^\n]+", text):
        start = line.start()
        for end in _END.finditer(text, start, line.end()):
            if not _ABBREVIATION.search(text, start, end.end()):
                found.append((start, end.end()))
                start = end.end()
        if text[start : line.end()].strip():
            found.append((start, line.end()))
    return [(a, b) for a, b in found if re.search(r"\w", text[a:b])]


def is_about_authorization(subject: Subject) -> bool:
    """Whether a code is about a missing right, by its envelope or its words."""
    category = subject.envelope.category if subject.envelope else None
    if category is not None:
        return category is Category.AUTHORIZATION
    over_a_rate = re.search(r"(?i)rate.?limit|quota", subject.text)  # 403 of some APIs
    return bool(_AUTHORIZATION.search(subject.text)) and not over_a_rate


def spans(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int], ...]:
    """Where a pattern matches; not more than ten, which is enough to see it."""
    return tuple(match.span() for match in islice(pattern.finditer(text), 10))
