r"""Secrets that are known by the name before them: fields, headers, URLs.

Works on bytes of a plain text or of raw JSON, where a quote may be escaped once or
more (`\"password\": \"x\"`): a value ends at the quote of its own depth.
"""

import base64
import binascii
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache

from apps.catalogue.secret_shapes import FIELD_NAMES, NO_SECRET, PROSE

Hit = tuple[str, int, int]

_NAME = (string.ascii_letters + string.digits + "_.-").encode()
_SIGN = (
    rb"(?:(?P<close>\\{0,15}[\"'])\]?)?[ \t]{0,8}(?P<sign>=>|:=|[=:])(?!=)[ \t]{0,8}"
    rb"(?:[bruf]{0,2}(?P<open>\\{0,15}[\"'`]))?"
)
# `--password x`: a blank is the sign. The name must then be an option's.
_BLANK = rb"(?P<blank>[ \t]{1,4})(?P<quote>\\{0,15}[\"'])?(?!-)"
# A bare value ends at a blank, a quote, a bracket, a separator, or an escape that
# stands for one of these. Other escapes are part of it.
_BARE = re.compile(
    rb"(?:[^\s\"'`\\,;&<>(){}\[\]|]|\\u(?!00(?:[01]|2[0267cC]|3[bBcCeE]|5[bBcCdD]"
    rb"|7[bBcCdD]))[0-9A-Fa-f]{4}|\\(?![nrtbfu\"'\\/]))+"
)
_DEPTHS = (0, 1, 3, 7, 15)  # backslashes before a quote, by how often it was escaped
_AFTER_CLOSING = re.compile(
    rb"[ \t]*(?:\Z|[,:][ \t]*(?:\\*[\"{\[0-9-]|true|false|null)|[}\]](?:[\s,}\]]|\Z))"
)
_LONGEST = 4096  # of a quoted value; what is longer is no password
_UNICODE = re.compile(rb"\\u[0-9A-Fa-f]{4}")
_IDENTIFIER = re.compile(rb"[A-Za-z_][A-Za-z_.]*")
_AUTH = re.compile(
    rb"(?i)authorization(?:\\{0,15}[\"']\]?)?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}\[?"
    rb"(?:\\{0,15}[\"'])? {0,4}(?:(?P<scheme>[a-z][a-z0-9-]{1,30}) {1,4})?"
    rb"(?P<value>[A-Za-z0-9._~+/=:%-]{4,})"
)
_REST_OF_HEADER = re.compile(rb"[^\"'\\\r\n]*")
_COOKIE = re.compile(
    rb"(?i)cookies?(?:\\{0,15}[\"']\]?)?[ \t]{0,4}(?:=>|[:=])[ \t]{0,4}\[?"
    rb"(?:\\{0,15}[\"'])?(?P<value>[!#$%&*+.^_|~0-9A-Za-z-]{1,64}=[^\"'\\\r\n]{4,})"
)
_URL_LOGIN = re.compile(rb"[^\s\"'<>/\\:@]{0,80}:([^\s\"'<>/\\]{1,160})")


def find_fields(data: bytes, plain: bytes) -> Iterator[Hit]:
    """Yield secrets by their field's name; `plain` is `data` in lower case."""
    for word, assign in _WORDS:
        at, past = plain.find(word), 0
        while at >= 0:
            match = assign.match(data, at)
            if match and at >= past:
                hit = _READERS.get(word, _read_field)(data, match)
                if hit:
                    past = hit[2]
                    yield hit
            at = plain.find(word, max(at + len(word), past))


def after_escape(data: bytes, start: int, end: int) -> int:
    r"""Move a start that lies inside an escape (`\n`, `\u003d`) behind it.

    `\\n` counts as an escape too: in JSON within JSON it is one.
    """
    if data[start - 1 : start] == b"\\" and data[start : start + 1] in b"nrtbf":
        return min(start + 1, end)
    unicode = data.rfind(b"\\u", max(start - 5, 0), start + 1)
    if unicode >= 0 and _UNICODE.match(data, unicode):
        return min(unicode + 6, end)
    return start


def url_password(data: bytes, at: int) -> tuple[int, int] | None:
    """The password before this `@`, if it ends the login of a URL."""
    before = data[max(at - 260, 0) : at]
    scheme = before.rfind(b"://")
    if scheme < 0:
        return None
    login = _URL_LOGIN.fullmatch(before, scheme + 3)
    if login is None or NO_SECRET.fullmatch(login[1]):
        return None
    offset = at - len(before)
    return offset + login.start(1), offset + login.end(1)


def _read_field(data: bytes, assign: re.Match[bytes]) -> Hit | None:
    at = assign.start()
    before = data[max(at - 48, 0) : at]
    start = at - (len(before) - len(before.rstrip(_NAME)))
    if assign["blank"] and data[start : start + 2] != b"--":
        return None
    name = data[after_escape(data, start, at) : assign.end("name")].lower()
    kind = _kind_of(name.strip(b"-."))
    span = _value(data, assign) if kind else None
    if kind and span and _is_plausible(kind, name.strip(b"-."), data, span, assign):
        return kind, *span
    return None


@lru_cache(maxsize=4096)
def _kind_of(name: bytes) -> str | None:
    """What a field of this name holds; None: no secret."""
    return next((k for k, pattern in FIELD_NAMES if pattern.fullmatch(name)), None)


def _value(data: bytes, assign: re.Match[bytes]) -> tuple[int, int] | None:
    """Where the value lies: to the quote of its own depth, else to the next blank."""
    opening, start = assign["open"] or assign["quote"], assign.end()
    if opening:
        depth = len(opening) - 1
        if depth not in _DEPTHS or _AFTER_CLOSING.match(data, start):
            return None  # that quote closes a string, it opens none
        end = _closing_quote(data, start, opening[-1:], depth)
        if end is not None:
            return start, end
    bare = _BARE.match(data, start)
    return bare.span() if bare else None


def _closing_quote(data: bytes, start: int, quote: bytes, depth: int) -> int | None:
    """Find where a quoted value ends.

    A quote of depth d has d backslashes before it; those that belong to the value
    add 2d + 2 each. A quote of less depth closes the string around the value, which
    a value may not cross. None: no such quote in the line, or too far away.
    """
    line = data.find(b"\n", start, start + _LONGEST)
    limit = min(start + _LONGEST, len(data)) if line < 0 else line
    at = start
    while True:
        double = data.find(b'"', at, limit)
        own = double if quote == b'"' else data.find(quote, at, limit)
        place = min((p for p in (double, own) if p >= 0), default=None)
        if place is None:
            return None
        first = place
        while first > start and data[first - 1 : first] == b"\\":
            first -= 1
        for d in _DEPTHS:
            ends = (place - first - d) % (2 * d + 2) == 0 and place - first >= d
            if d <= depth and ends and (d < depth or place == own):
                return place - d
        at = place + 1


def _is_plausible(
    kind: str,
    name: bytes,
    data: bytes,
    span: tuple[int, int],
    assign: re.Match[bytes],
) -> bool:
    """Weigh a value: schemas, code and prose name the same fields as secrets do."""
    value, after = data[slice(*span)], data[span[1] : span[1] + 1]
    if NO_SECRET.fullmatch(value.strip()) or value.lower() == name:
        return False
    if name.endswith(b"pwd") and value[:1] in b"/~":
        return False  # the shell's working directory
    if name.endswith(b"pass") and (value[:1] in b"[{" or not _is_tight(assign)):
        return False  # "PASS: test_x", "FAIL_TO_PASS"
    has_digit = any(48 <= c <= 57 for c in value)
    if assign["open"] or assign["quote"]:
        return _is_quoted_secret(kind, name, value, has_digit)
    if len(value) < (4 if kind == "password" else 8) or after == b"(":
        return False
    if kind != "password":
        return has_digit and (name != b"token" or len(value) >= 12)
    if not _IDENTIFIER.fullmatch(value):
        return has_digit or len(value) >= 6
    # Letters alone: in code a variable, in a log line or a URL a password.
    return _is_tight(assign) and after not in (b",", b")", b"[") and not assign["close"]


def _is_tight(assign: re.Match[bytes]) -> bool:
    """Say whether the value follows `=` at once, a quoted name, or an option."""
    at_once = assign["sign"] == b"=" and assign.end("sign") == assign.end()
    return at_once or bool(assign["close"] or assign["blank"] or assign["open"])


def _is_quoted_secret(kind: str, name: bytes, value: bytes, has_digit: bool) -> bool:
    if b" " in value and (kind != "password" or PROSE.search(value)):
        return False
    if kind == "password":
        return len(value) >= 3
    if name == b"token":  # also what language models call a piece of text
        return len(value) >= 12 and has_digit and any(c > 64 for c in value)
    return len(value) >= 8


def _read_authorization(data: bytes, match: re.Match[bytes]) -> Hit | None:
    scheme, value = (match["scheme"] or b"").lower(), match["value"]
    start, end = match.span("value")
    has_digit = any(48 <= c <= 57 for c in value)
    if scheme == b"basic":
        return ("basic_auth", start, end) if _is_login(value) else None
    if scheme == b"bearer":
        return ("bearer_token", start, end) if has_digit or end - start > 19 else None
    if scheme in (b"digest", b"aws4-hmac-sha256", b"hmac", b"signature"):
        rest = _REST_OF_HEADER.match(data, start)
        return "auth_header", start, rest.end() if rest else end
    if has_digit and end - start >= 8:
        return "auth_header", start, end
    return None


def _is_login(value: bytes) -> bool:
    """Say whether this is base64 of `user:password`."""
    try:
        padded = value.rstrip(b"=") + b"=" * (-len(value.rstrip(b"=")) % 4)
        return b":" in base64.b64decode(padded, validate=True)
    except (binascii.Error, ValueError):
        return False


def _read_cookie(_: bytes, match: re.Match[bytes]) -> Hit | None:
    return ("cookie", *match.span("value"))


def _named(rest: bytes) -> re.Pattern[bytes]:
    """A pattern for a field, from its keyword to where its value begins."""
    return re.compile(
        rb"(?i)(?P<name>" + rest + rb")(?:" + _SIGN + rb"|" + _BLANK + rb")"
    )


# The words that the scan looks for. Each says how the name may go on, so that most
# places (`passed`, `tokens`, `keyboard`) are left after one look.
_WORDS: tuple[tuple[bytes, re.Pattern[bytes]], ...] = (
    (b"pass", _named(rb"pass(?:word|wd|phrase|code)?[0-9]?")),
    (b"pwd", _named(rb"pwd[0-9]?")),
    (b"secret", _named(rb"secret(?:[_-]?(?:access[_-]?)?(?:key|token|value))?")),
    (b"token", _named(rb"token")),
    (b"key", _named(rb"key")),
    (b"authoriz", _AUTH),
    (b"cook", _COOKIE),
)
_READERS: dict[bytes, Callable[[bytes, re.Match[bytes]], Hit | None]] = {
    b"authoriz": _read_authorization,
    b"cook": _read_cookie,
}
