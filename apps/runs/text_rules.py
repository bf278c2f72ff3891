"""Named rules that tell by the head of a tool's result that the call failed. Pure.

A rule looks at the first lines only: the word “error” inside a file that the agent has
read is no error. Rules are written for what programs and frameworks say about
themselves, and the weak ones, which read plain words, want a short text besides.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .transcript import Cause

HEAD_CHARS = 600
_PHRASE_CHARS = 500  # of a whole text that the weak rules may judge
_PHRASE_LINES = 8
_LEADS = " \t\r\n\"'“‘❌✗✖🚫⚠️"
_GATE = re.compile(
    r"[^\W\d]|[`/(]|\[(?:[EeFf]|Operation C|Request i|No exact|Your prop)"
    r"|<(?:tool_use_error|error|exception)>|#|-{20}|[45]\d\d\b|\d+ v"
)


class _CauseRule(NamedTuple):
    """Fixed words of a known program that tell why the call failed."""

    name: str
    cause: Cause
    pattern: re.Pattern[str]


_WRAPPER = r"(?:<tool_use_error>|Error: |Error executing tool [^:\n]{1,60}: )*"
CAUSES: tuple[_CauseRule, ...] = (
    _CauseRule(
        "denied",
        "denied",
        re.compile(
            r"The user doesn't want to (?:proceed|take this action)|The user denied"
            r"|The user (?:rejected|declined|dismissed|cancelled) (?:permission|this)"
            r"|\[Request interrupted by user|aborted by user|Interrupted by user"
            r"|\[Operation Cancelled\]|Permission to use .{1,80} has been "
            r"(?:denied|rejected)|(?:User|Tool execution) (?:denied|rejected|declined)"
            r"|(?:Command|Operation|Tool execution) aborted\.?\s*\Z"
        ),
    ),
    _CauseRule(
        "sibling",
        "cancelled",
        re.compile(
            r"(?:<tool_use_error>)?(?:Sibling tool call errored"
            r"|Cancelled: parallel tool call)"
        ),
    ),
    _CauseRule(
        "unknown-tool",
        "rejected",
        re.compile(
            _WRAPPER
            + r"(?:[Nn]o such tool\b|[Uu]nsupported (?:custom )?(?:tool )?call:"
            r"|[Uu]n(?:known|supported) (?:tool|function)(?: name)?:?\s"
            r"|(?:The arguments provided to the tool are invalid: )?"
            r"Model tried to call unavailable tool|Unknown skill:"
            r"|[Tt]ool [\"'`]?[\w.-]{1,80}[\"'`]? (?:is )?"
            r"(?:not found|does not exist|not available|unknown)\b"
            r"|[\w.-]{1,80} is not a valid tool|Agent type '[^']{1,80}' not found)"
        ),
    ),
    _CauseRule(
        "bad-args",
        "rejected",
        re.compile(
            _WRAPPER + r"(?:failed to parse function arguments|InputValidationError"
            r"|Invalid input for tool|params must have required property"
            r"|Missing value for required parameter|Invalid arguments\b"
            r"|Invoking `[^`]{1,80}` failed as the following mandatory input"
            r"|(?:Found )?\d+ validation errors? (?:for|parsing)\b"
            r"|The \S{1,80} tool was called with invalid arguments"
            r"|An error occurred while parsing tool arguments)"
        ),
    ),
)


def cause_of(text: str) -> Cause:
    """Tell from the fixed texts of known programs why an error came about."""
    head = text[:HEAD_CHARS].lstrip(_LEADS)
    for rule in CAUSES:
        if rule.pattern.match(head):
            return rule.cause
    return "failed"


_NOT_NONE = r"(?!\s*\(?(?:none|null|nil|0|no|n/a)\)?\s*(?:\n|\Z))"
_ERROR_WORD = r"(?:error|failure|exception|fatal)"
_ERROR_DOING = (
    r"(?:executing|invoking|calling|running|reading|writing|parsing|fetching|loading"
    r"|creating|updating|deleting|opening|processing|getting|sending|connecting"
    r"|performing|validating|accessing|searching|editing|applying|finding|retrieving"
    r"|saving|making|occurred|while|during|when|in|at|from|code)"
)
_ERROR_CODE = r"(?: \([^)\n]{1,40}\)| -?\d{1,6}| [A-Z]+\d*| -)?"
# “Last error: …” and “Mean squared error: …” report, they do not fail.
_STATE_WORDS = (
    r"(?:last|previous|latest|recent|known|common|mean|standard|no|any|test|training)"
)
_ERRNO = (
    r"E(?:NOENT|ACCES|PERM|EXIST|NOTDIR|ISDIR|NOTEMPTY|INVAL|MFILE|NOSPC|ROFS|BUSY"
    r"|CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|PIPE|NOTFOUND|AI_AGAIN|HOSTUNREACH"
    r"|NETUNREACH|ADDRINUSE|LOOP|NAMETOOLONG|BADF|AGAIN|NOMEM|SRCH)\b"
)
_SYSTEM_WORDS = (
    r"(?:No such file or directory|Permission denied|Is a directory|Not a directory"
    r"|File exists|Operation not permitted|Directory not empty|Read-only file system"
    r"|Argument list too long|Device or resource busy|No space left on device"
    r"|Connection (?:refused|timed out|reset by peer)|Name or service not known"
    r"|Temporary failure in name resolution|Bad file descriptor|Exec format error"
    r"|Text file busy|Cannot allocate memory)"
)
_PROGRAMS = (
    r"(?:ls|cat|cp|mv|rm|mkdir|rmdir|touch|find|[efz]?grep|rg|sed|g?awk|cut|sort|uniq"
    r"|head|tail|tar|gzip|gunzip|unzip|zip|df|du|chmod|chown|ln|tr|wc|od|diff|patch"
    r"|curl|wget|git|python[\d.]*|pip[\d.]*|node|npm|npx|yarn|pnpm|make|gmake|cmake"
    r"|gcc|g\+\+|cc|clang|ld|go|cargo|rustc|javac?|mvn|docker|kubectl|ssh|scp|rsync"
    r"|apt|apt-get|dpkg|brew|sudo|su|env|xargs|tee|date|expr|bc|jq|sqlite3|psql|mysql"
    r"|file|stat|ping|nc|dig|ps|kill|mount|which|dirname|basename|readlink|realpath)"
)
_PROGRAM_WORDS = (
    r"(?:no such|cannot|can't|could not|couldn't|unable|failed|fatal|error|invalid"
    r"|illegal|unknown|unrecogni[sz]ed|unexpected|unsupported|missing|syntax error"
    r"|ambiguous|extra operand|option requires|command not found|permission denied"
    r"|too many arguments|'[^'\n]{1,60}' is not a )"
)
STRONG: tuple[tuple[str, re.Pattern[str]], ...] = (
    *((rule.name, rule.pattern) for rule in CAUSES),
    (
        "masked-cause",
        re.compile(
            r"An error occurred while running the tool|An error occurred\.\s*\Z"
            r"|Error executing tool [\w.-]{1,80}\s*\Z"
        ),
    ),
    (
        "known-text",
        re.compile(
            r"\[?Your proposed edit has introduced new syntax error|\[?No exact match "
            r"found in |No replacement was (?:performed|made)|String to replace not fo"
            r"|# \d+ SEARCH/REPLACE blocks? failed to match|Malformed command\s*\Z"
            r"|Error executing query: |EXECUTION TIMED OUT|Tool execution failed\b"
            r"|The tool execution failed with the following error|<exception>"
        ),
    ),
    (
        "traceback",
        re.compile(
            r"Traceback \(most recent call last\):|Exception in thread \""
            r"|thread '[^'\n]{1,80}' panicked at |panic: |Unhandled exception\b"
            r"|Uncaught (?:\w+Error|Exception)\b|-{20,}\s*\n\w+\s+Traceback \(most"
            r"|Cell In\s?\[\d+\], line \d+\n(?:.*\n){1,20}\w*Error: "
            r"|File \"[^\"\n]{1,200}\", line \d+\n(?:.*\n){1,4}\s*"
            r"(?:Syntax|Indentation|Tab)Error: [^\n]*\s*\Z"
        ),
    ),
    (
        "error-prefix",
        re.compile(
            r"<tool_use_error>|<error>"
            rf"|\[(?i:{_ERROR_WORD})\]:?\s*\S"
            rf"|(?:[\w.-]{{1,40}}: )?(?i:{_ERROR_WORD}){_ERROR_CODE}(?::|(?<= -))"
            rf"{_NOT_NONE}\s*\S"
            rf"|(?!(?i:{_STATE_WORDS})\b)(?:[A-Za-z][\w-]{{0,20}} ){{1,2}}"
            rf"(?i:{_ERROR_WORD}){_ERROR_CODE}:{_NOT_NONE}(?!\s*[\d.]+\s?%?\s*(?:\n|\Z))"
            rf"\s*\S|ERROR\b{_NOT_NONE}(?! handling)"
            rf"|Error {_ERROR_DOING}\b|Failed to \w|(?:FAILED|Failed): "
            rf"|Exception (?:occurred|while|during|in)\b"
            r"|An? (?:\w{1,20} ){0,2}error (?:occurred|has occurred|was encountered)"
            r"|There was an error|Something went wrong|CMake Error|npm (?:ERR!|error)"
            r"|(?:错误|エラー|오류|Fehler|Erreur|Ошибка)\s?[:：]"
        ),
    ),
    (
        "exception-name",
        re.compile(
            r"(?:[A-Za-z_][\w$]{0,60}(?:\.|::)){0,8}[A-Za-z_]\w{0,80}"
            r"(?:Error|Exception|Fault|TimeoutExpired)(?::|\(|\s*\Z| \[)"
            r"|(?:[A-Za-z_]\w{0,60}\.){1,6}(?:errors?|exceptions?)\.[A-Z]\w{1,80}:"
        ),
    ),
    (
        "status-line",
        re.compile(
            r"(?:HTTP(?:/\d(?:\.\d)?)?\s*(?:status\s*)?|Error\s"
            r"|[Ss]tatus(?: code)?:?\s*|Received status(?: code)? )[45]\d\d\b"
            r"|[45]\d\d:? (?:Bad Request|Unauthorized|Forbidden|Not Found|Conflict|"
            r"Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|"
            r"Gateway Time-?out|Unprocessable|Client Error|Server Error)"
            r"|SMTP [45]\d\d\b"
        ),
    ),
    (
        "errno",
        re.compile(
            rf"(?:[\w.-]{{1,30}} ){{0,2}}{_ERRNO}|\[Errno -?\d+\]"
            r"|[^\s:][^:\n]{0,60}: (?:(?:[^\n]{0,200}[: (])?"
            rf"{_SYSTEM_WORDS}\)?|(?:[^\n]{{0,120}}: )?(?:command )?not found)"
            r"[\"'.]?\s*(?:\n|\Z)"
        ),
    ),
    (
        "program-message",
        re.compile(
            r"(?:/\S{0,40}/)?(?:ba|z|da|k|fi)?sh: |\(eval\):\d+: "
            rf"|(?:/\S{{0,60}}/)?{_PROGRAMS}: (?:line \d+: |\S{{1,60}}: )?"
            rf"(?i:{_PROGRAM_WORDS})|make(?:\[\d+\])?: \*\*\* "
            r"|Segmentation fault\b|(?:E: )(?:Unable|Could not|Package)"
        ),
    ),
)
_SHORT = frozenset({"errno", "program-message"})  # a search may warn, then find things
WEAK: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "failure-phrase",
        re.compile(
            r"(?i)(?!(?:no|none|nothing|zero)\b)"
            r"(?:(?:[\w`'\"#./@-]|:(?=\w)){1,60} ){0,6}(?:"
            r"timed out\b|timeout (?:after|exceeded|expired|reached|error)"
            r"|failed(?!:? 0\s*(?:[,;.\n]|\Z))(?=\s*[:.;,!(\n-]|\s*\Z|\s(?:to|with"
            r"|because|due|after|at|during|while|as|since|validation)\b)"
            r"|(?:was|is|were|are) not (?:found|allowed|permitted|available|valid"
            r"|supported|recogni[sz]ed|authori[sz]ed|defined|installed)\b"
            r"|(?<!pattern )(?<!match )(?<!matches )(?<!text )not found\b"
            r"|(?:does|did) not (?:exist|match|support|allow)\b"
            r"|(?:could|can)(?:\s?not|n't) be \w+"
            r"|already exists?\b(?!,? (?:and|so|skip))"
            r"|(?:is|was) (?:unavailable|denied|refused|forbidden)\b|unavailable:"
            r"|permission denied|access denied|connection (?:refused|reset|closed)"
            r"|refused the connection|rate limit(?: (?:reached|exceeded|hit))"
            r"|too many requests|unauthorized\b|(?:authentication|login) required"
            r"|(?:token|session|credentials?) (?:has |have |is )?expired)"
        ),
    ),
    (
        "argument-phrase",
        re.compile(
            r"(?:(?:[Pp]arameter|[Aa]rgument|[Ff]ield|[Pp]roperty) )?[`'\"]?"
            r"(?:[a-z]+(?:_[a-z0-9]+)+|(?<=[`'\"])\w+)[`'\"]? "
            r"(?:must|should be|cannot|can't|is (?:required|missing|invalid|above|below"
            r"|out of|too|not an?\b|expected))"
        ),
    ),
    (
        "refusal-phrase",
        re.compile(
            r"(?i)(?:sorry, |unable to |cannot |can't |could not |couldn't |invalid "
            r"|unknown |unsupported |unrecognized |malformed |missing required"
            r"|bad request|internal (?:server )?error|server error|no space left"
            r"|no such |permission denied|access denied|not (?:found|allowed|permitted"
            r"|authori[sz]ed)\b|quota exceeded|duplicate key|syntax error"
            r"|insufficient (?:permission|privilege|scope|fund|balance)"
            r"|(?:conflict|forbidden|unauthorized|timeout|aborted|failed|failure|error"
            r"|denied|rejected|unavailable)[.!]?\s*\Z)"
        ),
    ),
)
_TRACEBACK = "Traceback (most recent call last):"
_END_CHARS = 2_000
_TRACEBACK_END = re.compile(
    r"Traceback \(most recent call last\):\s*\n(?:[ \t].*\n){1,80}"
    r"[A-Za-z_][\w.]{0,80}(?::[^\n]*)?\s*\Z"
)
PHRASE_RULES = frozenset(name for name, _ in WEAK)
FRAMEWORK_RULES = frozenset(
    {"masked-cause", "known-text", *(rule.name for rule in CAUSES)}
)  # words that no program's output has: they count whatever else the log says


def matching_rules(text: str) -> Iterator[str]:
    """Yield the names of the rules that a result meets, in their order."""
    head = text[:HEAD_CHARS].lstrip(_LEADS)
    if _GATE.match(head):
        is_short = len(text) <= _PHRASE_CHARS and text.count("\n") <= _PHRASE_LINES
        for name, pattern in STRONG:
            if (is_short or name not in _SHORT) and pattern.match(head):
                yield name
        if is_short:
            for name, pattern in WEAK:
                if pattern.match(head):
                    yield name
    place = text.rfind(_TRACEBACK, max(0, len(text) - _END_CHARS))
    if place > 0 and _TRACEBACK_END.match(text, place):
        yield "traceback-end"
