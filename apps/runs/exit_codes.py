"""Finds the exit code that a harness wrote around a program's output. Pure.

It is looked for in the lines before the output and in the last line after it, as
the harnesses write them; what stands inside the output was said by a program.
"""

import re

HEAD_CHARS = 400
_TAIL_CHARS = 320

_LEAD_LINE = r"(?:(?!Output|Code output)[A-Z][\w /-]{0,30}: [^\n]{0,120}\n|[ \t]*\n)"
_HEADER = re.compile(
    rf"{_LEAD_LINE}{{0,8}}\W{{0,2}}(?:"
    r"Process exited with code|Exit [Cc]ode:?|exitcode:|<returncode>"
    r"|(?:Command |Process )?exited with (?:exit )?(?:code|status)"
    r"|Command failed with (?:exit )?(?:code|status):?"
    r"|Command '[^\n]{1,300}' returned non-zero exit status"
    r")\s?(-?\d{1,10})\b"
)
_TRAILER = re.compile(
    r"(?:^|(?<=\n))(?:"
    r"\[Command finished with exit code|\[The command completed with exit code"
    r"|Command exited with code|Exit Code:"
    r"|<[^<>\n]{0,80}(?:completed|exited) with exit code"
    r")\s(-?\d{1,10})[\].>]{0,2}"
    r"(?:\n(?:\[[^\n]*\]|(?:Signal|Background PIDs|Process Group PGID): [^\n]*))*\s*\Z"
)


def exit_code_of(text: str) -> int | None:
    """Give the exit code that stands around a program's output; None: there is none."""
    head = text[:HEAD_CHARS]
    if "xit" in head or "<returncode>" in head or "failed with" in head:
        found = _HEADER.match(head)
        if found:
            return int(found[1])
    tail = text[-_TAIL_CHARS:]
    if "xit" in tail:
        found = _TRAILER.search(tail)
        if found:
            return int(found[1])
    return None
