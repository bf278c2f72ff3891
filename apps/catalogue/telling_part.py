"""Choose the part of an error text that tells what failed.

A text of one line is that part. Of a longer one, what a program printed, how deep a
stack was, and which lines of the input are quoted back say nothing of the kind of
failure, and would make every error a code of its own:

- *Exit codes*: the line with the code, and the first line of the output that names a
  failure. The code alone would be a junk group: "Exit code 1" is a missing command,
  a failed test, a bad flag. Where no line names one, the code has to do.
- *Tracebacks*: the last line, exception and message. Frames of Java, .NET, Go, Rust and
  JavaScript are left out; of Java's causes the last one is kept.
- *Echoes*: the line above a caret, `LINE 1: …` of a database, labelled arguments.
- *Validation*: what pydantic found, each finding once, whichever field it was in.
- *Pages*: the title of an HTML page.

Part of fingerprint v1: frozen with it.
"""

import re
from typing import Final

KEPT_START: Final = 1600  # characters of a long text that are masked: its beginning …
KEPT_END: Final = 400  # … and its end, where programs sum up
_LOOKED_AT: Final = 1 << 16  # characters of a program's output that are searched

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")

# --- exit codes -------------------------------------------------------------------

_EXIT = re.compile(
    r"(?:(?:Error: )?(?:The )?(?:Shell )?"
    r"(?:[Cc]ommand|[Pp]rocess|[Ss]cript|[Pp]rogram)\b[^\n]{0,60}?"
    r"(?:exited|failed|terminated|returned|finished)\b[^\n]{0,24}?"
    r"(?:code|status|value)"
    r"|\[?[Ee]xit(?:ed)?(?: with)?(?: [Cc]ode| status)?"
    r"|exitcode|exit_code|return ?code)"
    r"\W{0,3}?[ :=]{1,3}(?P<code>-?\d{1,10})\b(?P<rest>[^\n]*)"
)
_COMMAND_FAILED = re.compile(r"(?P<head>(?:Error: )?Command failed): [^\n]*")
_HEADER_LINES: Final = 6
# How sure a line of output names the failure: at its start, after a place, anywhere.
_NAMES_FAILURE: Final = (
    re.compile(
        r"^\W{0,4}(?:\w+: )?(?:error|fatal|panic|failed|failure|exception|traceback"
        r"|err!|npm err!|abort|[\w.]+(?:Error|Exception))\b(?!\W{0,3}0\b)[^\n]*"
        r"|^[^\n]{0,160}?: (?:fatal |internal |syntax |type )?error\b[^\n]*"
        r"|^[^\n]{0,120}?(?:command not found|: not found|No such file or directory"
        r"|Permission denied|not recognized as)[^\n]*"
        r"|^[^\n]{0,120}?\bE(?:RROR|rror)\b[: ][^\n]*",
        re.IGNORECASE | re.MULTILINE,
    ),
    re.compile(
        r"^[^\n]{0,200}?\b(?:cannot|can't|could not|couldn't|unable to|not found"
        r"|no such|denied|refused|invalid|illegal|unknown|unrecognized|unexpected"
        r"|undefined|unsupported|missing|conflict|not permitted|timed out|no matches"
        r"|must be|is required|does not exist|usage:|: \*\*\* )[^\n]*",
        re.IGNORECASE | re.MULTILINE,
    ),
)
_TEST_SUMMARY = re.compile(
    r"^=+ [^\n]{0,120}?\b\d+ (?:failed|errors?)\b[^\n]{0,120} in [\d.]+s"  # pytest
    r"|^=+ FAILURES =+$|^FAILED (?:\S+::|\(|\S+\.py)[^\n]*$"  # pytest, unittest
    r"|^Tests?:? +\d+ failed\b[^\n]*$|^ +\d+ failing$"  # jest, vitest, mocha
    r"|^test result: FAILED\.|^--- FAIL: |^FAIL\t"  # cargo, go
    r"|^Tests run: \d+, Failures: [^\n]*$",  # JUnit
    re.MULTILINE,
)
TESTS_FAILED: Final = "tests failed"

# --- stacks -----------------------------------------------------------------------

_TRACEBACK: Final = "Traceback (most recent call last)"
_RAISED = re.compile(r"^(?:[A-Za-z_][\w.]*)(?::[^\n]*)?$", re.MULTILINE)
_FRAME = re.compile(
    r"^\s*(?:at [\w$.<>\[\]/@\\:-]+[ (:\d]|at async |\.\.\. \d+ (?:more|common frames)"
    r"|File \"[^\"\n]*\", line \d+|from \S+:\d+:in |\S+\.go:\d+ \+0x|goroutine \d+"
    r"|\d+: (?:0x[0-9a-f]+|\w+::)|note: run with `RUST_BACKTRACE|stack backtrace:"
    r"|--- End of)[^\n]*\n?",
    re.MULTILINE,
)
_CAUSE = re.compile(r"^Caused by: [^\n]*\n?", re.MULTILINE)

# --- echoes -----------------------------------------------------------------------

_CARET = re.compile(r"^[^\n]*\n(?=[ \t]*[\^~][\^~ \t]*(?:[^\^~ \t]|$))", re.MULTILINE)
_CARET_ITSELF = re.compile(r"^[ \t]*[\^~]+[\^~ \t]*", re.MULTILINE)
_LABELLED = re.compile(
    r"^(?P<label>(?:LINE \d+|(?:Your |The )?(?:[Ii]nput|[Aa]rguments?|[Pp]arameters"
    r"|[Cc]ommand|[Qq]uery|[Cc]ontent|[Ss]tring|[Rr]eceived|[Gg]ot|[Kk]wargs|[Bb]ody"
    r"|[Ss]tatement|SQL|old_str|new_str|old_string|new_string)(?: was| were)?):)"
    r"[ \t]*(?P<echo>\S[^\n]*|\n[^\n]+)",
    re.MULTILINE,
)

# --- validation -------------------------------------------------------------------

_PYDANTIC = re.compile(r"\d+ validation errors? for (?P<model>[^\n]+)\n")
_FINDING = re.compile(
    r"^[ \t]+(?P<said>[^\n\[]*?)\s*\[type=(?P<kind>[\w.]+)[^\n]*$", re.MULTILINE
)
_PAGE = re.compile(r"\s*(?:<!doctype html|<html)", re.IGNORECASE)
_TITLE = re.compile(r"<(title|h1)[^>]{0,80}>([^<]{1,200})", re.IGNORECASE)


def telling_part(text: str) -> str:
    """The part of a text that tells what failed; all of it where it is short."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "<" in text and _PAGE.match(text):
        text = _page_title(text)
    if "\n" not in text:
        return _shortened(text)
    header = _exit_header(text)
    if header is not None:
        return header
    return _shortened(_without_noise(text))


def _shortened(text: str) -> str:
    if len(text) <= KEPT_START + KEPT_END:
        return text
    return f"{text[:KEPT_START]} {text[-KEPT_END:]}"


def _exit_header(text: str) -> str | None:
    """The line with the exit code, and the line of output that names the failure."""
    text = text[:_LOOKED_AT] + text[-KEPT_END:] if len(text) > _LOOKED_AT else text
    lines = text.strip().split("\n")
    for at, line in enumerate(lines[:_HEADER_LINES]):
        found = _EXIT.match(line.strip())
        if found is not None:
            output = lines[at + 1 :] or lines[:at]
            return _joined(found, "\n".join(output))
        if line.strip() in {"Output:", "Output", "stdout:"}:
            break
    command = _COMMAND_FAILED.match(lines[0])
    if command is not None:
        line = naming_line("\n".join(lines[1:]))
        return f"{command['head']}: {line}" if line else command["head"]
    closing = _EXIT.match(lines[-1].strip())
    if closing is not None:
        return _joined(closing, "\n".join(lines[:-1]))
    return None


def _head(found: re.Match[str]) -> str:
    """The header line without the command that it may repeat after the code."""
    rest = found["rest"].strip()
    if rest.startswith(":") and _NAMES_FAILURE[0].match(rest[1:].strip()) is None:
        return found[0][: len(found[0]) - len(found["rest"])]
    return found[0]


def _joined(found: re.Match[str], output: str) -> str:
    """Header and naming line. With a line that names the failure the code is any."""
    line = naming_line(output)
    if not line:
        return _head(found)
    before, after = found.span("code")
    head = found.string[found.start() : before] + "<num>"
    return f"{head}{_head(found)[after - found.start() :]} {line}"


def naming_line(output: str) -> str:
    """The line of a program's output that names its failure; "" where none does."""
    if _TRACEBACK in output:
        return _raised(output)
    if _TEST_SUMMARY.search(output):
        return TESTS_FAILED
    for pattern in _NAMES_FAILURE:
        found = pattern.search(output)
        if found is not None:
            return found[0].strip()[:KEPT_END]
    return ""


def _raised(text: str) -> str:
    """Exception and message of the last traceback."""
    stack = text[text.rindex(_TRACEBACK) + len(_TRACEBACK) :]
    found = _RAISED.search(stack, 2)
    if found is None:
        return _TRACEBACK
    message = stack[found.start() : found.start() + KEPT_START]
    if _PYDANTIC.search(message, 0, 400):
        return _findings(message)
    return found[0]


def _without_noise(text: str) -> str:
    """A text of several lines without frames, echoes and repeated findings."""
    if _TRACEBACK in text:
        lead = text[: text.index(_TRACEBACK)].strip().split("\n")[0]
        raised = _raised(text)
        return raised if not lead or lead in raised else f"{lead}\n{raised}"
    text = text[:_LOOKED_AT]
    if (
        "    at " in text
        or "\tat " in text
        or "goroutine " in text
        or "backtrace" in text
    ):
        causes = _CAUSE.findall(text)
        text = _FRAME.sub("", _CAUSE.sub("", text))
        if causes:
            text += "\n" + causes[-1]
    if "validation error" in text and _PYDANTIC.search(text):
        text = _findings(text)
    if "^" in text or "~~" in text:
        text = _CARET_ITSELF.sub("", _CARET.sub("<source>\n", text))
    return _LABELLED.sub(r"\g<label> <source>", text)


def _findings(text: str) -> str:
    """A pydantic report with each finding once, in order of the alphabet."""
    report = _PYDANTIC.search(text)
    if report is None:
        return text
    lead = text[: report.start()]
    found = sorted({f"{m['said']} [type={m['kind']}]" for m in _FINDING.finditer(text)})
    if not found:
        return text
    return f"{lead}validation error for {report['model']}: " + "; ".join(found)


def _page_title(text: str) -> str:
    """What an HTML page says at its top."""
    said = dict.fromkeys(words.strip() for _, words in _TITLE.findall(text[:20_000]))
    return "HTML page: " + ". ".join(said) if said else "HTML page"
