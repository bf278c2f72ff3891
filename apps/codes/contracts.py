"""The contract of a code: proposed by its errors, confirmed by a person; findings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.models import User
from apps.catalogue import checks
from apps.catalogue.checks import Finding, Severity
from apps.catalogue.checks.subject import Events, Subject
from apps.catalogue.contradictions import Contract, contradictions
from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    ToolHints,
)
from apps.catalogue.models import Code, CodeChange, Text, TextOrigin
from apps.catalogue.proposals import Proposal, Seen, propose
from apps.catalogue.wrappers import peel
from apps.rewrites.checking import tool_hints

FIELDS = {
    "category": Category,
    "commit_state": CommitState,
    "retry_directive": RetryDirective,
    "next_action": NextAction,
}
MAX_TEXTS = 50  # of a code, those in most runs, that are looked at
Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding with where it was found."""

    finding: Finding
    runs: int  # that met a text with it; 0 where it is about the contract
    texts: int


@dataclass(frozen=True, slots=True)
class ContractPage:
    """What the contract panel of a code shows."""

    rows: list[tuple[str, str, str, list[str]]]  # field, confirmed, proposed, choices
    reasons: tuple[str, ...]
    alternative_tool: str
    findings: list[Found]


def contract_page(code: Code) -> ContractPage:
    """Put together contract, proposal and findings of a code."""
    hints = tool_hints(code.workspace_id)
    events = _events(code)
    texts = list(Text.objects.filter(code=code))
    texts.sort(key=lambda text: (-_of(events, text).runs, text.pk))
    texts = texts[:MAX_TEXTS]
    proposal = proposed(code, texts, hints)
    said = {
        "category": proposal.category,
        "commit_state": proposal.commit_state,
        "retry_directive": proposal.directive,
        "next_action": proposal.next_action,
    }
    rows = [
        (name, getattr(code, name), said[name] or "", [c.value for c in kind])
        for name, kind in FIELDS.items()
    ]
    return ContractPage(
        [(n, a, str(b), c) for n, a, b, c in rows],
        proposal.reasons,
        code.alternative_tool or proposal.alternative_tool,
        findings_of(code, texts, events, hints, proposal),
    )


def proposed(
    code: Code, texts: Iterable[Text], hints: Mapping[str, ToolHints]
) -> Proposal:
    """Propose an envelope from the first text that says anything of it."""
    best = Proposal()
    for text in texts:
        peeled = peel(text.sample)
        fields = peeled.fields
        status = fields.get("http_status", "")
        found = propose(
            Seen(
                text=peeled.message,
                http_status=int(status) if status.isdigit() else None,
                rpc_code=peeled.broad_code or peeled.structured_code,
                tool=hints.get(code.tool),
                retryable=_flag(fields),
                next_hint=fields.get("next_action", fields.get("next", "")),
                retry_after=fields.get("retry_after", fields.get("retryAfter", "")),
                known_tools=tuple(hints),
            )
        )
        if found.category is not None:
            return found
        if found.reasons and not best.reasons:
            best = found
    return best


def _flag(fields: Mapping[str, str]) -> bool | None:
    for name in ("retryable", "isRetryable", "is_retryable"):
        if name in fields:
            return fields[name].lower() in ("true", "yes", "1")
    return None


def contract_of(code: Code) -> Contract:
    """Give what a person confirmed of a code as a contract."""
    return Contract(
        category=_choice(Category, code.category),
        commit_state=_choice(CommitState, code.commit_state),
        directive=_choice(RetryDirective, code.retry_directive),
        next_action=_choice(NextAction, code.next_action),
        alternative_tool=code.alternative_tool,
    )


def _choice(kind: type[Choice], value: str) -> Choice | None:
    return kind(value) if value in {choice.value for choice in kind} else None


def findings_of(
    code: Code,
    texts: Iterable[Text],
    events: Mapping[int, Events],
    hints: Mapping[str, ToolHints],
    proposal: Proposal,
) -> list[Found]:
    """Run every check on a code's texts, those that most runs met first."""
    contract = contract_of(code)
    is_said = contract != Contract()
    found: dict[tuple[str, str], list[Any]] = {}
    for text in texts:
        about = _of(events, text)
        subject = Subject(
            text=peel(text.sample).message,
            envelope=contract if is_said else None,
            tool=code.tool,
            tools=hints,
            placeholders=(
                frozenset(code.safe_details)
                if text.origin == TextOrigin.SHIPPED
                else None
            ),
            wrappers=tuple(filter(None, text.wrapper.split("+"))),
            events=about,
        )
        for finding in checks.run(subject):
            known = found.setdefault((finding.id, finding.message), [finding, 0, 0])
            known[1] += about.runs
            known[2] += 1
    rows = [Found(*values) for values in found.values()]
    collisions = [*contradictions(contract, hints.get(code.tool)), *proposal.findings]
    rows += [
        Found(Finding(c.id, Severity.WARNING, c.message, ""), 0, 0) for c in collisions
    ]
    order = list(Severity)
    rows.sort(key=lambda f: (-f.runs, order.index(f.finding.severity), f.finding.id))
    return rows


def _of(events: Mapping[int, Events], text: Text) -> Events:
    return events.get(text.pk, Events())


def _events(code: Code) -> dict[int, Events]:
    """Count what the checks want to know of each text."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT text_id, count(*), count(DISTINCT run_id),"
            " count(*) FILTER (WHERE loop_length = 3),"
            " count(*) FILTER (WHERE delivered = '' AND evidence = 'flagged')"
            " FROM runs_toolerror e JOIN runs_run r ON r.id = e.run_id"
            " WHERE e.code_id = %s AND e.is_counted AND NOT r.is_excluded"
            " GROUP BY text_id",
            [code.pk],
        )
        return {row[0]: Events(*row[1:]) for row in cursor.fetchall()}


@transaction.atomic
def confirm(code: Code, values: Mapping[str, str], *, by: User | None) -> None:
    """Write the contract that a person confirms, and log what changed."""
    locked = Code.objects.select_for_update().get(pk=code.pk)
    names = [*FIELDS, "alternative_tool"]
    before = {name: getattr(locked, name) for name in names}
    after = {name: values.get(name, "") for name in names}
    Code.objects.filter(pk=code.pk).update(
        **after, contract_by=by, contract_at=timezone.now()
    )
    CodeChange.objects.create(
        workspace_id=code.workspace_id,
        code=code,
        what="contract",
        before=_words(before),
        after=_words(after),
        made_by=by,
    )


def _words(values: Mapping[str, str]) -> str:
    said = [value.replace("_", " ") for value in values.values() if value]
    return ", ".join(said) or "nothing said"
