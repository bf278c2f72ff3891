"""Fingerprint version 1: which failure of which tool a delivered text reports.

text -> wrappers off (`wrappers.peel`) -> the telling part (`telling_part`) -> what
varies masked (`masking.mask`) -> key. A code inside the result that names the failure
wins over the text. Pure: the same tool and text give the same key on every machine, in
every order. Frozen once released, with the modules that it calls: a better one is
`v2.py`, beside it. Never raises, whatever the text is.
"""

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Final

import msgspec

from apps.catalogue.masking import PLACEHOLDER, mask
from apps.catalogue.telling_part import telling_part
from apps.catalogue.word_sets import word_set
from apps.catalogue.wrappers import Peeled, peel

VERSION: Final = 1
MAX_MASKED: Final = 800  # characters of a masked text that count
MAX_SLUG_WORDS: Final = 6
# Texts repeat: an agent in a loop reads the same one again. Long ones are not
# remembered, so that the cache stays below some 30 MB whatever is sent.
CACHE_SIZE: Final = 1 << 14
CACHED_LENGTH: Final = 1 << 11

# No database stores NUL or a lone surrogate; other control characters mean nothing.
_STORABLE: Final = {
    **dict.fromkeys((*range(1, 32), *range(127, 160)), " "),
    **dict.fromkeys((0, *range(0xD800, 0xE000)), "\N{REPLACEMENT CHARACTER}"),
}


class Fingerprint(msgspec.Struct, frozen=True):
    """What identifies one failure of one tool, before regrouping."""

    key: str  # 32 hex characters; of version, tool, and code or masked text
    text_key: str  # likewise, of the masked text alone: tells a code's texts apart
    masked: str  # what varies replaced by <num>, <id>, <path> …
    wrapper: str  # names of the wrappers taken off, outermost first: "json+fastmcp"
    structured_code: str  # names the failure and decides the key; "" where text does
    slug: str  # "order_not_found": a proposal for the code's name after the tool's


def fingerprint(tool: str, text: str) -> Fingerprint:
    """Fingerprint of a text that a tool's call was answered with."""
    if len(text) > CACHED_LENGTH:
        return _fingerprint(tool, text)
    return _remembered(tool, text)


def _fingerprint(tool: str, text: str) -> Fingerprint:
    peeled = peel(text)
    masked = masked_text(peeled)
    code = peeled.structured_code
    text_key = _key(tool, "text", masked)
    return Fingerprint(
        key=_key(tool, "code", code) if code else text_key,
        text_key=text_key,
        masked=masked,
        wrapper="+".join(peeled.wrappers),
        structured_code=code,
        slug=slug_of(code or masked),
    )


_remembered = lru_cache(maxsize=CACHE_SIZE)(_fingerprint)


def clear_cache() -> None:
    """Forget what was seen: for measuring."""
    _remembered.cache_clear()
    slug_of.cache_clear()


def masked_text(peeled: Peeled) -> str:
    """What of a peeled text counts, with a broad code before it and values masked."""
    masked = mask(telling_part(peeled.message))
    broad = peeled.broad_code
    if broad and broad not in masked:
        masked = f"{broad}: {masked}"
    if len(masked) > MAX_MASKED:
        masked = masked[:MAX_MASKED]
    if not masked.isprintable():
        masked = masked.translate(_STORABLE)
    return masked


def _key(tool: str, decided_by: str, value: str) -> str:
    """Hash with the length of each part, so that no two triples read the same."""
    parts = f"errata/{VERSION}/{len(tool)}/{tool}/{decided_by}/{value}"
    return blake2b(parts.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# --- slug ---------------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SENTENCE_END = re.compile(r"[.;!?](?:\s|$)")
_LITTLE = word_set(
    "a an the is are was were be been has have had of to in on at by for from with "
    "and or it its this that your you please i s t"
)
UNNAMED: Final = "unnamed"


@lru_cache(maxsize=CACHE_SIZE)
def slug_of(masked: str) -> str:
    """Up to six words for a code's name: the first sentence without little words."""
    plain = PLACEHOLDER.sub(" ", masked)
    end = _SENTENCE_END.search(plain, 12)
    sentence = plain[: end.start()] if end else plain
    words = _slug_words(sentence) or _slug_words(plain)
    return "_".join(words[:MAX_SLUG_WORDS]) or UNNAMED


def says_all(slug: str, masked: str) -> bool:
    """Whether a slug has every word of its text, so that it alone tells it apart."""
    return "_".join(_slug_words(PLACEHOLDER.sub(" ", masked))) == slug


def _slug_words(text: str) -> list[str]:
    words = (w.lower() for part in _WORD.findall(text) for w in _CAMEL.split(part))
    return list(dict.fromkeys(word for word in words if word not in _LITTLE))
