"""The form of a masked text: its tokens, with one sign for values of every kind.

Texts of one form are one failure: they differ only in what kind of value stands
somewhere (`<hex>` here, `<num>` there), or in whether one stands between brackets.
"""

import re
from typing import Final

from apps.catalogue.masking import PLACEHOLDER
from apps.catalogue.varying_words import VALUE

Form = tuple[str, ...]
Token = tuple[str, int, int]  # and where it starts and ends in the text

MAX_TOKENS: Final = 120  # of a text, compared one by one; what follows, as a whole

_TOKEN = re.compile(r"[()\[\]{}]|[,;=:|\"]|[^\s()\[\]{},;=:|\"]+")
_NUMBERED = re.compile(r"[A-Za-z]+<num>")  # eth<num>: more a name than a value
_CLOSES: Final = {")": "(", "]": "[", "}": "{"}


def form_of(masked: str) -> Form:
    """The form of a masked text."""
    return tuple(token for token, _, _ in _tokens(masked))


def common_form(forms: list[Form]) -> Form:
    """One form for several of the same length, with a value where they differ."""
    if len(forms) == 1:
        return forms[0]
    return tuple(
        tokens[0] if len(set(tokens)) == 1 else VALUE
        for tokens in zip(*forms, strict=True)
    )


def template_of(texts: list[str]) -> str:
    """The first of several masked texts, with <*> for tokens in which others differ.

    Their forms have the same length.
    """
    first = texts[0]
    if len(texts) == 1:
        return first
    tokens = [_tokens(text) for text in texts]
    parts, end = [], 0
    for at, (_, start, stop) in enumerate(tokens[0]):
        said = {
            text[row[at][1] : row[at][2]]
            for text, row in zip(texts, tokens, strict=True)
        }
        parts.append(first[end:start])
        parts.append(first[start:stop] if len(said) == 1 else VALUE)
        end = stop
    return "".join((*parts, first[end:]))


def _tokens(masked: str) -> list[Token]:
    """Tokens that count; values side by side are one."""
    kept: list[Token] = []
    for found in _TOKEN.finditer(masked):
        if len(kept) >= MAX_TOKENS:
            kept.append((masked[found.start() :], found.start(), len(masked)))
            break
        token, start, end = found[0], found.start(), found.end()
        if _is_value(token):
            if not kept or kept[-1][0] != VALUE:
                kept.append((VALUE, start, end))
            continue
        if token in _CLOSES:
            _drop_values_in_brackets(kept, _CLOSES[token])
        core = token.rstrip(".!?")
        if core and core != token:
            kept.append((core, start, start + len(core)))
            start += len(core)
            token = token[len(core) :]
        kept.append((token, start, end))
    return kept


def _is_value(token: str) -> bool:
    return (
        "<" in token
        and PLACEHOLDER.search(token) is not None
        and _NUMBERED.fullmatch(token) is None
    )


def _drop_values_in_brackets(kept: list[Token], opener: str) -> None:
    """Forget what stands since the opener if it is values and commas alone."""
    at = len(kept) - 1
    while at >= 0 and kept[at][0] in (VALUE, ","):
        at -= 1
    if at >= 0 and kept[at][0] == opener:
        del kept[at + 1 :]
