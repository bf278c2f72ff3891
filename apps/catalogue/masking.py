"""Mask what varies in an error text, so that one failure reads the same each time.

`mask("Order ORD-000417 was not found")` is `"Order ORD-<id> was not found"`.

Three steps. What only its surroundings give away comes first: quoted values, dates in
words, numbers that name the failure (`HTTP 404`) and are kept. Then the text is cut
into tokens, which is what stands between spaces, brackets, quotes and commas, and each
is judged by its own shape (`mask_token`): alone, so that a value is masked alike
wherever it stands; and remembered, since most words have been seen before. Last, what
reads better together is put together: `<num> ms` is a `<duration>`.

Costs grow with the length of a text only: tokens are matched whole against one
alternation, no pattern can match one stretch in two ways, and each pattern that walks
over a text starts with a plain set of signs, which `re` looks for without trying more.

Part of fingerprint v1: frozen with it. Any change here moves codes; make it a v2.
"""

import re
from functools import lru_cache

from apps.catalogue.word_sets import word_set

# --- a token's shape: the first that fits the whole token wins --------------------

_FILE_TYPES = (
    "avi|bash|bat|bin|bmp|c|cc|cfg|class|conf|config|cpp|cs|css|csv|db|dll|doc|docx|env|"
    "exe|gif|go|gz|h|hpp|html?|ini|ipynb|jar|java|jpe?g|js|json|jsonl|jsx|kt|lock|log|lua|"
    "md|mjs|mk|mov|mp3|mp4|o|parquet|patch|pdf|php|pickle|pkl|plist|png|pptx?|proto|"
    "properties|ps1|py|pyc|pyi|r|rb|rs|rst|scala|sh|so|sql|sqlite3?|svg|swift|tar|tex|"
    "tgz|toml|tsv|tsx?|txt|vue|wav|webp|whl|xlsx?|xml|xz|ya?ml|zip|zst"
)
# Names of domains that errors name; a bare "a.b.c" is more often a class or a module.
_DOMAINS = (
    "ai|app|br|ca|cc|ch|cloud|cn|co|com|de|dev|edu|eu|example|fr|gov|internal|invalid|"
    "io|it|jp|lan|local|localdomain|mil|mx|net|nl|org|pl|ru|se|svc|test|uk|us"
)
_AMOUNT = r"\d[\d,.]*\d|\d"
_SHAPES = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            ("url", r"[A-Za-z][A-Za-z0-9+.\-]*:(?:[a-z]+:)?//.*|data:[a-z]+/.*"),
            ("email", r"[\w.+%\-]+@[\w\-]+(?:\.[\w\-]+)+"),
            ("uuid", r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
            (
                "time",
                r"\d{4}-\d\d-\d\d[Tt_]\d\d:?\d\d(?::?\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
                r"|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?:[AaPp][Mm]|Z|[+-]\d\d:?\d\d)?"
                r"|\d{1,2}:\d\d[AaPp][Mm]",
            ),
            ("date", r"\d{4}(?:[\-/.]\d{1,2}){2}|(?:\d{1,2}[\-/.]){2}\d{4}"),
            ("mac", r"[0-9A-Fa-f]{2}(?:[:\-][0-9A-Fa-f]{2}){5,}"),
            (
                "ip",
                r"/?\d{1,3}(?:\.\d{1,3}){3}(?::\d+|/\d+)?"
                r"|(?=[^:]*:[^:]*:)(?=\D*\d)(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}",
            ),
            ("hex", r"0[xX][0-9a-fA-F]+"),
            ("amount", rf"[$€£¥₹]-?(?:{_AMOUNT})[kKmMbB]?"),
            (
                "duration",
                r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|msecs?|s|secs?|mins?|m|hrs?|h|days?|d))+",
            ),
            ("size", r"\d+(?:\.\d+)?(?:[kKMGTP]i?[Bb]?|[Bb]|bytes)"),
            ("num", rf"[+\-−~#]?(?:{_AMOUNT})(?:[eE][+\-]?\d+)?(?:%|st|nd|rd|th|x)?"),
            (
                "path",
                r"(?:~|\.{1,2})?/(?=.*\w).*"  # /a, ./a, ../a, ~/a
                r"|[A-Za-z]:[\\/].*|\\\\\w.*"  # C:\a, \\server
                rf"|[\w.@+\-]+/.*\.(?:{_FILE_TYPES})(?::.*)?"  # src/a.py:12
                r"|[\w.@+\-]+(?:/[\w.@+\-*]+){2,}/?"  # a/b/c
                rf"|(?!(?:Node|Next|Vue|React|Nuxt|Express|D3)\.js)"
                rf"[\w.@+\-]*\.(?:{_FILE_TYPES})(?::[\d:]+|::.*)?",
            ),
            (
                "host",
                rf"(?:[A-Za-z0-9_\-]+\.)+(?:{_DOMAINS})(?::\d+)?(?:/.*)?"
                r"|localhost(?::\d+)?"
                # a first label with a digit: 61-220-159-99.some-isp.tw
                r"|(?=[a-z\-]*\d)[a-z0-9\-]+(?:\.[a-z0-9\-]+)*\.[a-z\-]{3,}\.[a-z]{2,6}",
            ),
            ("version", r"[vV]?\d+(?:\.\d+)+(?:[\-+][\w.\-+]*)?"),
        )
    )
)
_PLACEHOLDER = {"mac": "<id>"}

# Technical words with a digit that name a thing and never an occurrence of one.
_TERMS = word_set(
    "utf-8 utf-16 utf-32 utf8 utf16 latin-1 iso-8859-1 iso-8601 rfc3339 ascii "
    "base64 base32 base58 sha1 sha-1 sha256 sha-256 sha512 sha-512 md5 crc32 ipv4 "
    "ipv6 http2 http/1.0 http/1.1 http/2 http/3 tls1.2 tls1.3 oauth oauth2 s3 ec2 "
    "k8s h264 mp3 mp4 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 "
    "float32 float64 complex64 complex128 x86 x86_64 psycopg2 boto3 urllib3 sqlite3 "
    "neo4j bs4 amd64 arm64 win32 win64 python2 python3 pip3 pep8 es6 es2015 log4j "
    "i18n l10n a11y e2e p2p b2b 2fa 3d 2d"
)
# Published error codes: the number is the failure's name. Others (E0308, CS1061) look
# like anybody's ids, and are kept only after the word "error", in `_NUMBERED_KIND`.
_PUBLISHED = re.compile(
    r"(?:ORA|PLS|TNS)-\d{5}|SP2-\d{4}|AADSTS\d{4,7}|PGRST\d{3}|TS\d{4,5}|MSB\d{4}|NU\d{4}"
    r"|CVE-\d{4}-\d{4,7}|SQLSTATE"
)
_JSON_RPC = re.compile(r"-32[67]\d\d")
_HEXADECIMAL = re.compile(r"[0-9a-f]{8,}|[0-9A-F]{8,}")
_KEYED = re.compile(r"([A-Za-z_][\w\-]*)[:@#]([^:@#].*)")
_MAX_KEYED = 128  # characters: a key of a key of a key … goes one call deeper each
_PIECES = re.compile(r"[^\w.\-]+")
_PREFIXED = re.compile(r"((?:[A-Za-z]+[_\-.])*[A-Za-z]+[_\-])[\w\-]*\d[\w\-]*")
_SHORT_HASH = re.compile(r"(?=[0-9]*[a-f])[0-9a-f]{6,7}")
_NUMBERED = re.compile(r"([a-z]{2,}|[A-Z][a-z]+[A-Za-z]*)\d+")
_KEEP = "\ue000"  # of the private area: marks a number that is to stay
_BOOLEANS = frozenset(("true", "false", "True", "False", "TRUE", "FALSE"))
_TRAILING = ".,:;!?…"


@lru_cache(maxsize=1 << 14)
def mask_token(token: str) -> str:
    """Judge one token by its shape; what is no value comes back as it is."""
    core = token.rstrip(_TRAILING)
    if not core or core.isalpha() or core[-1] == _KEEP:
        return "<hex>" + token[len(core) :] if _HEXADECIMAL.fullmatch(core) else token
    tail = token[len(core) :]
    if core.lower() in _TERMS or _JSON_RPC.fullmatch(core):
        return token
    shape = _SHAPES.fullmatch(core)
    if shape is not None:
        kind = shape.lastgroup or "id"
        return _PLACEHOLDER.get(kind, f"<{kind}>") + tail
    keyed = _KEYED.fullmatch(core) if len(core) <= _MAX_KEYED else None
    if keyed is not None and keyed[2] not in _BOOLEANS:  # path:/var/log, uid:1000
        return _mask_word(keyed[1]) + core[len(keyed[1])] + mask_token(keyed[2]) + tail
    parts = _PIECES.split(core)
    if len(parts) == 1:
        return _mask_word(core) + tail
    signs = _PIECES.findall(core)
    masked = [mask_token(part) if part else "" for part in parts]
    for at in range(1, len(parts)):  # open:true, but never retryable:true
        if parts[at] in _BOOLEANS and not _TELLING_KEY.search(parts[at - 1] + ":"):
            masked[at] = "<bool>"
    return "".join(a + b for a, b in zip(masked, [*signs, ""], strict=True)) + tail


def _mask_word(word: str) -> str:
    """Mask a word of letters, digits, `_`, `-` and `.` that has no shape of its own."""
    if _HEXADECIMAL.fullmatch(word):
        return "<hex>"
    if not any(map(str.isdigit, word)) or word.lower() in _TERMS:
        return word
    if _PUBLISHED.fullmatch(word):
        return word
    prefixed = _PREFIXED.fullmatch(word)
    if prefixed is not None:  # cus_9f3a, ORD-0417, gift_card_8887175: the kind stays
        return prefixed[1] + "<id>"
    if "." in word:
        return ".".join(mask_token(part) if part else "" for part in word.split("."))
    if _SHORT_HASH.fullmatch(word):
        return "<id>"
    numbered = _NUMBERED.fullmatch(word)
    if numbered is not None:  # column2, eth0
        return numbered[1] + "<num>"
    letters = sum(map(str.isalpha, word))
    digits = sum(map(str.isdigit, word))
    if 6 <= letters <= 40 and letters >= 3 * digits and not word[-1].isdigit():
        return word  # a name in code: nw_nat64_state, Log4jAdapter
    return "<id>"


# --- what only its surroundings give away ------------------------------------------

_SEPARATORS = re.compile(r"([\s\"'`,;(){}\[\]<>=|“”‘’«»「」]+)")
_CODE = re.compile(r"```.*?```|`[^`]{1,1500}`|`[^`'\n]{1,120}'", re.DOTALL)
_URL = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.\-]{1,15}://[^\s\"'`<>|“”‘’«»\]}]+(?<![.,;:!?)])"
)
_QUOTED = re.compile(
    r"[\"'“‘«「](?:"
    r"(?<=\")(?:[^\"\\\n]|\\.){0,600}\""
    r"|(?<=')(?<!\w')(?:[^'\\\n]|\\.|(?<=\w)'(?=\w)){0,600}'(?!\w)"
    r"|(?<=“)[^”\n]{0,600}”|(?<=‘)[^’\n]{0,600}’|(?<=«)[^»\n]{0,600}»"
    r"|(?<=「)[^」\n]{0,600}」)"
)
# A quoted stretch with one of these in it is a message of its own, not a value.
_SAYING = re.compile(
    r"\b(?:not|no|cannot|can't|is|are|was|were|has|have|must|should|failed|fail|fails|"
    r"failure|error|errors|invalid|denied|refused|expected|unexpected|unable|timed|"
    r"missing|required|unknown|unsupported|exceeded|already|forbidden|unauthorized)\b",
    re.IGNORECASE,
)
# The value of one of these decides what the agent should do, so it stays.
_TELLING_KEY = re.compile(
    r"(?:\b(?:code|status|reason|type|kind|severity|level|category|next|next_action|"
    r"retry\w*|ok|success|temporary|transient|permanent|fatal|recoverable)|"
    r"[a-z](?:Code|Status|Reason|Type))[\"']?\s*[:=]\s*$"
    r"|\b(?:state|status|reason|code) $"
)
_NAME = re.compile(r"[A-Za-z][A-Za-z_.\-]*")
_MONTHS = word_set("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
_MONTH = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    "|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = (
    "(?:Mon(?:day)?|Tue(?:s|sday)?|Wed(?:nesday)?|Thu(?:rs|rsday)?|Fri(?:day)?"
    "|Sat(?:urday)?|Sun(?:day)?)"
)
_IN_WORDS = re.compile(
    rf"(?<!\w)(?:{_DAY},? +)?"
    rf"(?:{_MONTH}\.? +\d{{1,2}}(?:st|nd|rd|th)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH})(?!\w)"
    r"(?:,? +\d{4}(?![\d:]))?(?:,? +\d\d?:\d\d(?::\d\d)?)?"
    r"(?: (?:[AP]M|[A-Z]{3,4}))?(?: \d{4})?(?!\w)"
)
# An HTTP status, and the exit codes that shells and signals give: 124 is out of time,
# 127 a missing command, 137 a kill. Other exit codes are whatever a program chose.
_SHELL_CODES = frozenset(("124", "126", "127", "130", "134", "137", "139", "143"))
_THREE_DIGITS = re.compile(r"[145]\d\d(?![\d.,]?\d|-)")
_STATUS = re.compile(
    r"(?:\b(?:HTTP(?:/\d(?:\.\d)?)?|SMTP|[Ss]tatus(?:[ _]?[Cc]ode)?"
    r"|[Ee]rror(?: [Cc]ode)?|[Cc]ode"
    r"|(?:failed|returned|responded|replied|response)(?: with)?)"
    r"|[a-z](?:Status|Code))[\"']?[ :=(]{1,3}$"
)
_EXIT = re.compile(r"\b[Ee]xit(?:ed)?(?: with)?(?: (?:code|status))?[ :=]{1,3}$")
_NUMBERED_KIND = re.compile(
    r"(?:Errno|WinError|SQLSTATE)[ \[:=]{1,2}[0-9A-Z]{1,5}(?!\w)"
    r"|[Ee]rror(?: code:?)?[ \[][A-Z]{1,6}\d{3,5}(?!\w)"
)


def _mask_quoted(match: re.Match[str]) -> str:
    """Mask a quoted value; leave a quoted message, a quoted key, a quoted code."""
    found = match[0]
    inner = found[1:-1]
    if " " in inner.strip() and _SAYING.search(inner):
        return found
    if _NAME.fullmatch(inner) and (
        _is_key(match)
        or _TELLING_KEY.search(match.string[max(0, match.start() - 24) : match.start()])
    ):
        return found
    return "<quoted>"


def _is_key(match: re.Match[str]) -> bool:
    """Whether a quoted name is the key of an object: `{"a": 1, "b": 2}`."""
    before = match.string[max(0, match.start() - 8) : match.start()].rstrip()
    return match.string[match.end() : match.end() + 1] == ":" and (
        before[-1:] in ("{", ",")
    )


def _keep_named(match: re.Match[str]) -> str:
    """Mark a number of three digits that names the failure."""
    start = match.start()
    before = match.string[max(0, start - 24) : start]
    found = match[0]
    if before[-1:].isalnum():
        return found
    if found[0] == "1":
        names = _EXIT.search(before) if found in _SHELL_CODES else None
    else:
        names = _STATUS.search(before)
    return found if names is None else found + _KEEP


def _in_context(text: str) -> str:
    """Mask or mark what only the signs around it tell apart."""
    if _KEEP in text:
        text = text.replace(_KEEP, "")
    if "`" in text:
        text = _CODE.sub("<quoted>", text)
    text = _QUOTED.sub(_mask_quoted, text)
    if "://" in text:
        text = _URL.sub("<url>", text)
    text = _THREE_DIGITS.sub(_keep_named, text)
    if "rr" in text or "SQLSTATE" in text:  # Errno, error, Error, WinError
        text = _NUMBERED_KIND.sub(rf"\g<0>{_KEEP}", text)
    if any(map(text.__contains__, _MONTHS)):
        text = _IN_WORDS.sub("<time>", text)
    return text


# --- what reads better together ----------------------------------------------------

PLACEHOLDER = re.compile(
    r"<(?:amount|bool|command|date|duration|email|hex|host|id|ip|num|path|quoted|size"
    r"|source|time|url|uuid|version)>"
)
_BOOLEAN = re.compile(r"[=:] ?(?:true|false|True|False|TRUE|FALSE)\b")
_QUANTITY = re.compile(
    r"<num> ?(?:(?P<duration>(?:nano|micro|milli)?seconds?|msecs?|ms|s|secs?|minutes?"
    r"|mins?|hours?|hrs?|days?|weeks?)|(?P<size>bytes?|[KMGT]i?B|kB)"
    r"|(?P<amount>USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD))\b"
)
_CURRENCY = re.compile(r"\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD) ?<num>")
# What a shell did not find: "/bin/sh: 1: rg: not found", "command not found: rg".
_COMMAND = re.compile(
    r"((?:\b(?:ba|z|da|k|fi)?sh|<path>|\(eval\)):(?: line)?(?: ?<num>:)? )"
    r"[\w.+\-]+(?=: (?:command )?not found)|((?<=command not found: ))[\w.+\-]+"
)
# A list of values is one value: its length says nothing about the failure.
_LIST = re.compile(r"(<[a-z]+>)(?:(?:,? (?:and |or )?|,|\|)\1)+")
_LONGEST_CYCLE = 6


def _mask_boolean(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 24) : match.start() + 1]
    if _TELLING_KEY.search(before):
        return match[0]
    return match[0].rstrip("truefalsTRUEFALS") + "<bool>"


def _quantity(match: re.Match[str]) -> str:
    return f"<{match.lastgroup}>"


def _together(masked: str) -> str:
    """Join placeholders with their units, and lists of values to one value."""
    if "<num>" in masked:
        masked = _QUANTITY.sub(_quantity, masked)
        masked = _CURRENCY.sub("<amount>", masked) if "<num>" in masked else masked
    if "<date> <time>" in masked:
        masked = masked.replace("<date> <time>", "<time>")
    if masked.count("<") > 1:
        masked = _without_cycles(_LIST.sub(r"\1", masked))
    return masked


def _without_cycles(masked: str) -> str:
    """Say a repeated sequence once: `node-<id> ok node-<id> ok` is `node-<id> ok`."""
    words = masked.split(" ")
    if len(set(words)) == len(words):
        return masked
    kept: list[str] = []
    for word in words:
        kept.append(word)
        for length in range(1, min(_LONGEST_CYCLE, len(kept) // 2) + 1):
            if kept[-1] != kept[-1 - length]:
                continue
            cycle = kept[-length:]
            if cycle == kept[-2 * length : -length] and any("<" in w for w in cycle):
                del kept[-length:]
                break
    return " ".join(kept)


def mask(text: str) -> str:
    """Replace every varying value in a text by a placeholder such as `<id>`.

    Lines that read the same once masked are said once. Runs of white space become
    one space. Feed it a bounded text: the caller cuts.
    """
    masked = "".join(map(mask_token, _SEPARATORS.split(_in_context(text))))
    if _KEEP in masked:
        masked = masked.replace(_KEEP, "")
    if "\n" in masked:
        lines = dict.fromkeys(" ".join(line.split()) for line in masked.split("\n"))
        masked = " ".join(line for line in lines if line)
    else:
        masked = " ".join(masked.split())
    if "rue" in masked or "alse" in masked or "RUE" in masked or "ALSE" in masked:
        masked = _BOOLEAN.sub(_mask_boolean, masked)
    if "not found" in masked:
        masked = _COMMAND.sub(r"\1\2<command>", masked)
    return _together(masked) if "<" in masked else masked
