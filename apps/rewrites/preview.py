"""What the editor shows beside a text as it is typed: difference, envelope, checks."""

import json
from dataclasses import dataclass

from apps.catalogue.checks import Finding, all_checks
from apps.catalogue.models import Code, Text

from .checking import check_draft
from .diff import Piece, word_difference


@dataclass(frozen=True, slots=True)
class Preview:
    """What `rewrites/_preview.html` needs."""

    pieces: list[Piece]
    model_reads: str
    customer_reads: str
    trace_keeps: str
    findings: list[Finding]
    passed: int | None  # checks without a finding; None while there is no text


def preview(code: Code, present: Text | None, values: dict[str, str]) -> Preview:
    """Put together how each of the three readers sees the text."""
    new = values.get("agent_message", "").strip()
    old = present.sample if present else ""
    envelope = {
        "ok": False,
        "code": code.key,
        "category": values.get("category") or None,
        "commit_state": values.get("commit_state") or None,
        "retry": values.get("retry_directive") or None,
        "next_action": values.get("next_action") or None,
        "alternative_tool": values.get("alternative_tool") or None,
        "message": new,
    }
    shown = {name: value for name, value in envelope.items() if value is not None}
    findings = check_draft(code, values)
    failed = {finding.id for finding in findings}
    return Preview(
        pieces=word_difference(old, new) if new else [],
        model_reads=json.dumps(shown, indent=2, ensure_ascii=False),
        customer_reads=values.get("user_message", "").strip(),
        trace_keeps=old,
        findings=findings,
        passed=len(all_checks()) - len(failed) if new else None,
    )
