"""The page `docs/checks.md`, written from the checks themselves.

    python -m apps.catalogue.checks.docs > docs/checks.md

A test compares the two, so the page cannot fall behind.
"""

import sys
from dataclasses import fields

from apps.catalogue.checks import all_checks
from apps.catalogue.checks.subject import Check, Subject

_HEAD = """\
# Checks on error texts

What `catalogue/checks/` looks for in each text: in the editor of rewrites, on every
delivered text, and in `manage.py lint`. Errors first, then by id. This page is written
from the checks: `python -m apps.catalogue.checks.docs > docs/checks.md`.

| check | severity | finds |
| --- | --- | --- |
"""


def render() -> str:
    """The whole page."""
    checks = all_checks()
    rows = [f"| [`{c.ID}`](#{c.ID}) | {c.SEVERITY} | {c.MEANING} |\n" for c in checks]
    return _HEAD + "".join(rows) + "".join(_entry(check) for check in checks)


def _entry(check: Check) -> str:
    finding = check.check(check.CASES_FAIL[0])[0]
    return (
        f"\n## {check.ID}\n\n{check.MEANING}\n\n"
        f"- **Severity**: {check.SEVERITY}\n"
        f"- **Why**: {check.WHY}\n"
        f"- **How to fix**: {check.FIX}\n\n"
        f"Passes:\n\n{_example(check.CASES_PASS[0])}\n"
        f'Fails ("{finding.message}"):\n\n{_example(check.CASES_FAIL[0])}'
    )


def _example(subject: Subject) -> str:
    """The text, and what of its surroundings decides."""
    lines = [subject.text or "(an empty text)"]
    for name in ("tool", "wrappers", "arguments", "placeholders", "is_error"):
        value = getattr(subject, name)
        if value:
            shown = value if isinstance(value, str | bool) else ", ".join(sorted(value))
            lines.append(f"[{name.replace('_', ' ')}: {shown}]")
    if subject.envelope:
        lines += _said(subject)
    for hints in subject.tools.values():
        known = [f"{k}={v}" for k, v in hints._asdict().items() if v not in (None, "")]
        lines.append(f"[known: {', '.join(known)}]")
    counts = {k: v for k, v in subject.events._asdict().items() if v}
    if counts:
        lines.append(f"[logs: {counts}]")
    return "```text\n" + "\n".join(lines) + "\n```\n"


def _said(subject: Subject) -> list[str]:
    envelope = subject.envelope
    names = [field.name for field in fields(envelope)] if envelope else []
    values = {name: getattr(envelope, name) for name in names}
    return [f"[envelope: {name}={value}]" for name, value in values.items() if value]


if __name__ == "__main__":
    sys.stdout.write(render())
