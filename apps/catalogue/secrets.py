"""What a secret looks like, and how it is taken out of a text.

Used by redaction (on raw JSON documents, before they are parsed) and by the check
`leaks-secret`. The scan must cost little where there is nothing to find: instead of
one big alternation at every character it looks for

- runs of 20 or more token characters, on a copy in which these are all one byte
  (nearly every provider's token has such a run), and only there tries the table of
  `secret_shapes.py`;
- a dozen literal words (`pass`, `secret`, `authoriz` …), and reads name, assignment
  and value around each;
- `@`, for e-mail addresses and passwords in URLs;
- digits, for card numbers and IBANs, which must also pass their own check sums.

A replacement is `[kind]`: no quote, no backslash, so a JSON string stays one, and no
shape matches it, so redacting twice changes nothing.
"""

import re
import string
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from apps.catalogue import secret_fields, secret_shapes

_WORD = (string.ascii_letters + string.digits + "_-").encode()
_RUN_LENGTH = 20  # an AWS key id, the shortest token found by its run alone
_RUN = b"a" * _RUN_LENGTH
_BEFORE_RUN = 16  # what a shape may need to see before its run: `Bearer `, `/B123/`
_TO_RUNS = bytes(97 if c in _WORD else 46 for c in range(256))
_BLANKED = (b"\\n", b"\\t", b"\\r", b"\\u003d", b"\\u0026", b"%3D", b"%3A", b"%20")
# Lower case for the words, one byte for all digits, one for what parts a card number.
_TO_PLAIN = bytes(
    48 if 48 <= c <= 57 else 32 if c == 45 else ord(chr(c).lower()) if c < 128 else c
    for c in range(256)
)
_DIGITS = (b"0" * 14, b"0000 0000 0000 00", b"0000 000000 0000")
_NUMBER = re.compile(
    rb"(?:[0-9]{14,16}|[0-9]{4}(?P<gap>[ -])(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}"
    rb"|[0-9]{6}(?P=gap)[0-9]{4,5}))(?![A-Za-z0-9_])(?![.-][0-9])"
)
_GROUP = re.compile(rb"[0-9]+")
_IBAN = re.compile(
    rb"(?<![A-Za-z0-9_-])[A-Z]{2}[0-9]{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}"
    rb"(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])"
)
_KEY_BLOCK = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----", re.IGNORECASE
)
_KEY_LINE = re.compile(
    rb"(?:\s|\\+[nrt])*(?:[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}(?:==?|(?=[\"\\]|\Z)))"
)
_DOMAIN = re.compile(
    rb"(?!v?[0-9]+\.[0-9])(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}"
    rb"([A-Za-z]{2,24})(?![A-Za-z0-9])"
)
_LOCAL = (string.ascii_letters + string.digits + "._%+-").encode()
_NO_TLD = frozenset(
    b"png jpg jpeg gif svg webp js mjs cjs jsx ts tsx css scss json map tgz gz zip html"
    b" service socket timer mount target txt py yaml yml toml lock".split()
)
_MARKER = re.compile(rb"\[([a-z][a-z0-9_]*)\]")


class Secret(NamedTuple):
    """A stretch of a text that must not be stored or shown."""

    kind: str  # "email", "openai_key", "password" …
    start: int
    end: int


@dataclass(frozen=True)
class ExtraShape:
    """A shape that a workspace adds: its own customer numbers, host names.

    Raises ValueError if the kind is no plain word, or the pattern would match
    nothing or a replacement (redacting twice would then change the text).
    """

    kind: str
    pattern: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", self.kind):
            raise ValueError("Name the kind in lower case: letters, digits and _.")
        try:
            compiled = re.compile(self.pattern.encode())
        except re.error as exc:
            raise ValueError(f"Write a pattern that compiles: {exc}.") from exc
        if compiled.search(b"") or compiled.search(f"[{self.kind}]".encode()):
            raise ValueError("Write a pattern that matches neither nothing nor [kind].")


def find_secrets(text: str, extra: Sequence[ExtraShape] = ()) -> list[Secret]:
    """Say where secrets are, in order; no two overlap."""
    data = text.encode("utf-8", "surrogatepass")
    found = _find(data, extra)
    if len(data) == len(text):
        return found
    shifted, at, chars = [], 0, 0
    for kind, start, end in found:  # byte offsets to character offsets
        chars += len(data[at:start].decode("utf-8", "surrogatepass"))
        width = len(data[start:end].decode("utf-8", "surrogatepass"))
        shifted.append(Secret(kind, chars, chars + width))
        at, chars = end, chars + width
    return shifted


def redact(text: str, extra: Sequence[ExtraShape] = ()) -> tuple[str, dict[str, int]]:
    """Replace each secret by `[kind]`; return the text and how many of each kind."""
    data, counts = redact_bytes(text.encode("utf-8", "surrogatepass"), extra)
    return (data.decode("utf-8", "surrogatepass") if counts else text), counts


def redact_bytes(
    data: bytes, extra: Sequence[ExtraShape] = ()
) -> tuple[bytes, dict[str, int]]:
    """Redact UTF-8 text or a raw JSON document, which stays valid JSON.

    A secret that is a bare JSON number becomes `0`: `[kind]` is no number.
    """
    found = _find(data, extra)
    if not found:
        return data, {}
    parts, at = [], 0
    for kind, start, end in found:
        parts.append(data[at:start])
        bare = _is_bare_number(data, start, end)
        parts.append(b"0" if bare else b"[%s]" % kind.encode())
        at = end
    parts.append(data[at:])
    return b"".join(parts), dict(Counter(secret.kind for secret in found))


def _find(data: bytes, extra: Sequence[ExtraShape]) -> list[Secret]:
    plain = data.translate(_TO_PLAIN)
    hits = [
        *_tokens(data),
        *secret_fields.find_fields(data, plain),
        *_key_blocks(data, plain),
        *_addresses(data),
        *_numbers(data, plain),
    ]
    for shape in extra:
        pattern = re.compile(shape.pattern.encode())
        hits += ((shape.kind, *match.span()) for match in pattern.finditer(data))
    if not hits:
        return []
    whole = (_within_string(data, kind, start, end) for kind, start, end in hits)
    kinds = {shape.kind for shape in extra}
    return _merged(
        hit
        for hit in whole
        if hit.end > hit.start and not _holds_marker(data, hit, kinds)
    )


def _tokens(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Provider tokens: the table of shapes, tried where a long run has a hint."""
    runs = data.translate(_TO_RUNS)
    find, limit = runs.find, len(runs)
    spans, at = [], find(_RUN)
    while at >= 0:
        end = find(b".", at)
        if end < 0:
            end = limit
        spans.append((at, end))
        at = find(_RUN, end)
    if not spans:
        return
    near = [data[max(s - _BEFORE_RUN, 0) : e + 1] for s, e in spans]
    text = b"\n" + b"\n".join(near)
    for escape in _BLANKED:  # the letter of an escape is no part of a token
        text = text.replace(escape, b" " * len(escape))
    hints = [match.start() for match in secret_shapes.HINTS.finditer(text)]
    hints += (match.start() - 1 for match in secret_shapes.AFTER_HINTS.finditer(text))
    if not hints:
        return
    ends = list(accumulate(len(piece) + 1 for piece in near))
    past = 0
    for hint in sorted(hints):
        number = bisect_right(ends, hint)
        offset = hint - (ends[number] - len(near[number]) - 1)
        place = max(spans[number][0] - _BEFORE_RUN, 0) + offset
        match = secret_shapes.TOKEN.match(data, place) if place >= past else None
        if match:
            kind, low, high = _token_span(match)
            yield kind, low, high
            # What a bearer carries may be a token with a name of its own.
            past = past if kind == "bearer_token" else high


def _token_span(match: re.Match[bytes]) -> tuple[str, int, int]:
    """The secret in a match: a group `v_…` where there is one, else all of it."""
    kind, span = "", match.span()
    for group, start_end in (
        (name, match.span(name)) for name, value in match.groupdict().items() if value
    ):
        if group.startswith("v_"):
            span = start_end
        else:
            kind = secret_shapes.KIND_BY_GROUP[group]
    return kind, *span


def _key_blocks(data: bytes, plain: bytes) -> Iterator[tuple[str, int, int]]:
    """Private keys in PEM form; a block that is cut off counts as far as it goes."""
    at = plain.find(b"     begin ")
    while at >= 0:
        head = _KEY_BLOCK.match(data, at)
        end = at + 1
        if head:
            end = head.end()
            foot = data.find(b"-----END ", end, end + 20_000)
            if foot >= 0 and b'"' not in data[end:foot]:
                close = data.find(b"-----", foot + 9, foot + 80)
                end = close + 5 if close >= 0 else foot + 9
            else:
                while line := _KEY_LINE.match(data, end):
                    end = line.end()
            yield "private_key", at, end
        at = plain.find(b"     begin ", end)


def _addresses(data: bytes) -> Iterator[tuple[str, int, int]]:
    """E-mail addresses, and passwords in URLs: both stand around an `@`."""
    at = data.find(b"@")
    while at >= 0:
        password = secret_fields.url_password(data, at)
        if password:
            yield "url_password", *password
        else:
            before = data[max(at - 65, 0) : at]
            start = at - (len(before) - len(before.rstrip(_LOCAL)))
            start = secret_fields.after_escape(data, start, at)
            domain = _DOMAIN.match(data, at + 1) if start < at else None
            if domain and _is_mail(data, start, at, domain):
                yield "email", start, domain.end(1)
        at = data.find(b"@", at + 1)


def _is_mail(data: bytes, start: int, at: int, domain: re.Match[bytes]) -> bool:
    """Tell an address from `git@host:repo`, `icon@2x.png`, `user@1000.service`."""
    if data[start:at].lower() == b"git" or data[max(start - 3, 0) : start] == b"://":
        return False
    return domain[1].lower() not in _NO_TLD and at - start <= 64


def _numbers(data: bytes, plain: bytes) -> Iterator[tuple[str, int, int]]:
    """Card numbers and IBANs; both carry a check sum, so few others pass."""
    for needle in _DIGITS:
        at = plain.find(needle)
        while at >= 0:
            for iban in _IBAN.finditer(data, max(at - 14, 0), at + 40):
                if iban.start() <= at and _is_iban(iban[0]):
                    yield "iban", *iban.span()
            group, number = _GROUP.match(data, at), _NUMBER.match(data, at)
            end = group.end() if group else at + 1
            if number and _stands_alone(data, at, number) and _is_card(number[0]):
                end = number.end()
                yield "card_number", at, end
            at = plain.find(needle, end)


def _stands_alone(data: bytes, at: int, number: re.Match[bytes]) -> bool:
    """Say whether a number begins here, and is no part of an id or a longer row."""
    before, after = data[max(at - 8, 0) : at], data[number.end() : number.end() + 2]
    if before[-1:] in (b"", b'"') or secret_fields.after_escape(data, at - 1, at) == at:
        return True
    if before[-1:] in b"._-" + _WORD:
        return False
    if number["gap"] is None:
        return True
    row = before[:-1].split(b" ")[-1] if before[-1:] == number["gap"] else b""
    return not row.isdigit() and not (
        after[:1] == number["gap"] and after[1:].isdigit()
    )


def _is_card(number: bytes) -> bool:
    """Check length, issuer and Luhn sum (ISO/IEC 7812)."""
    digits = [c - 48 for c in number if 48 <= c <= 57]
    text = "".join(map(str, digits))
    lengths = {14: r"3(?:0[0-5]|6|8)", 15: r"3[47]", 16: r"4|5[1-5]|2[2-7]|6[045]|35"}
    issuer = lengths.get(len(digits))
    if issuer is None or not re.match(issuer, text) or len(set(digits)) < 2:
        return False
    odd, even = digits[-1::-2], digits[-2::-2]
    return (sum(odd) + sum(sum(divmod(2 * d, 10)) for d in even)) % 10 == 0


def _is_iban(text: bytes) -> bool:
    """Check length and sum (ISO 13616: the rearranged number is 1 modulo 97)."""
    compact = text.replace(b" ", b"").decode()
    if not 15 <= len(compact) <= 34:
        return False
    return int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1


def _within_string(data: bytes, kind: str, start: int, end: int) -> Secret:
    """Cut a match so that it breaks no escape and crosses no closing quote."""
    start = secret_fields.after_escape(data, start, end)
    at = data.find(b'"', start, end)
    while at >= 0:
        first = at
        while first > start and data[first - 1 : first] == b"\\":
            first -= 1
        if (at - first) % 2 == 0 and kind != "password":
            end = at
            break
        at = data.find(b'"', at + 1, end)
    slashes = end
    while slashes > start and data[slashes - 1 : slashes] == b"\\":
        slashes -= 1
    return Secret(kind, start, end - (end - slashes) % 2)


def _holds_marker(data: bytes, hit: Secret, extra_kinds: set[str]) -> bool:
    """Say whether this was redacted before, in whole, in part or up to a marker."""
    return any(
        marker.start() <= hit.end and marker[1].decode() in KINDS | extra_kinds
        for marker in _MARKER.finditer(data, hit.start, hit.end + 48)
    )


def _merged(hits: Iterable[Secret]) -> list[Secret]:
    """Join what overlaps; the joint stretch has the kind of its most telling part."""
    merged: list[Secret] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        last = merged[-1] if merged else None
        if last is None or hit.start >= last.end:
            merged.append(hit)
            continue
        kind = last.kind if last.kind not in _VAGUE else hit.kind
        merged[-1] = Secret(kind, last.start, max(last.end, hit.end))
    return merged


def _is_bare_number(data: bytes, start: int, end: int) -> bool:
    """Say whether this is a number of a JSON document, or of JSON inside its strings.

    In such a document a list in prose is taken for one too ("a, 4111…, b"): a `0`
    there is a smaller harm than arguments that no longer parse.
    """
    if not data[start:end].isdigit() or data.lstrip()[:1] not in (b"{", b"["):
        return False
    before, after = data[max(start - 64, 0) : start].rstrip(), data[end : end + 64]
    if after.lstrip()[:1] not in (b",", b"}", b"]", b""):
        return False
    if before[-1:] == b":":
        return before[:-1].rstrip()[-1:] == b'"'
    return before[-1:] in (b",", b"[")


# fmt: off
KINDS: frozenset[str] = frozenset({
    *secret_shapes.KIND_BY_GROUP.values(), "api_key", "auth_header", "basic_auth",
    "card_number", "cookie", "email", "iban", "password", "private_key", "secret",
    "token", "url_password",
})
_VAGUE = frozenset({
    "api_key", "auth_header", "bearer_token", "cookie", "email", "password", "secret",
    "token",
})
# fmt: on
