"""What texts told agents to do, what agents did, and what the contract forbids.

All counts come from the day rollups: what a page costs follows the number of texts.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final, NamedTuple

from django.db.models import Sum

from apps.accounts.models import Workspace
from apps.catalogue.branches import read_branches
from apps.catalogue.envelope import Branch, NextAction, branch_of
from apps.catalogue.models import Code, Text
from apps.catalogue.wrappers import peel
from apps.rewrites.checking import tool_hints
from apps.runs.models import DayCode, DayErrors, NextMoveChoice
from apps.runs.rates import Rate

# A move says which branch was taken; a log that ends says nothing.
TAKEN: Final[Mapping[str, Collection[Branch]]] = {
    "retried_unchanged": (Branch.RETRY_UNCHANGED,),
    "retried_changed": (Branch.RETRY_CHANGED,),
    "switched_tool": (Branch.SWITCH_TOOL,),
    "verified": (Branch.VERIFY,),
    "escalated": (Branch.ASK_APPROVAL, Branch.STOP),
    "asked_user": (Branch.ASK_USER, Branch.STOP),
    "answered": (Branch.STOP,),
    "apologised": (Branch.STOP,),
}
MOVES: Final = tuple(NextMoveChoice.values)
_RETRIES: Final = frozenset({"retried_unchanged", "retried_changed"})


class Cell(NamedTuple):
    """Errors with one move, out of a row's."""

    move: str
    errors: int
    share: float
    is_obedient: bool = False


@dataclass(slots=True)
class CodeRow:
    """The moves after one code."""

    code: Code
    errors: int
    cells: list[Cell]


@dataclass(slots=True)
class ToldRow:
    """The moves after all texts that tell one branch."""

    branch: str
    errors: int
    cells: list[Cell]
    obeyed: Rate | None  # None: no single branch is told
    ended: Rate  # runs that met such a text
    texts: list[tuple[Text, int]] = field(default_factory=list)


@dataclass(slots=True)
class Breach:
    """A move that the confirmed contract of a code forbids."""

    code: Code
    rule: str
    moves: list[str]
    errors: int
    of: int


@dataclass(frozen=True, slots=True)
class MovesPage:
    """The page of moves."""

    codes: list[CodeRow]
    told: list[ToldRow]
    breaches: list[Breach]
    contracts: int  # codes whose contract says anything


def moves_page(
    workspace: Workspace, since: date | None, until: date | None
) -> MovesPage:
    """Count moves by code, by branch told, and against contracts."""
    by_text = _moves_by_text(workspace.pk, since, until)
    texts = {
        text.pk: text
        for text in Text.objects.filter(pk__in=by_text).select_related(
            "code", "version_of"
        )
    }
    by_code: dict[int, Counter[str]] = defaultdict(Counter)
    for text_id, moves in by_text.items():
        by_code[texts[text_id].code_id] += moves
    codes = {text.code_id: text.code for text in texts.values()}
    rows = [
        CodeRow(codes[pk], moves.total(), _cells(moves, ()))
        for pk, moves in by_code.items()
    ]
    rows.sort(key=lambda row: (-row.errors, row.code.key, row.code.pk))
    return MovesPage(
        rows,
        _told_rows(workspace, texts, by_text, since, until),
        breaches(codes, by_code),
        sum(bool(code.next_action or code.retry_directive) for code in codes.values()),
    )


def _cells(moves: Counter[str], obedient: Collection[str]) -> list[Cell]:
    total = moves.total()
    return [
        Cell(move, moves[move], moves[move] / total, move in obedient) for move in MOVES
    ]


def _moves_by_text(
    workspace_id: int, since: date | None, until: date | None
) -> dict[int, Counter[str]]:
    days = DayErrors.objects.filter(workspace_id=workspace_id, is_counted=True)
    if since is not None:
        days = days.filter(day__gte=since)
    if until is not None:
        days = days.filter(day__lt=until)
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for text, move, n in days.values_list("text", "next_move").annotate(
        n=Sum("errors")
    ):
        if n:
            found[text][move] = n
    return found


def _told_rows(
    workspace: Workspace,
    texts: Mapping[int, Text],
    by_text: Mapping[int, Counter[str]],
    since: date | None,
    until: date | None,
) -> list[ToldRow]:
    known = list(tool_hints(workspace.pk))
    ended = _endings(workspace.pk, since, until)
    moves: dict[Branch, Counter[str]] = defaultdict(Counter)
    outcomes: dict[Branch, Counter[str]] = defaultdict(Counter)
    members: dict[Branch, list[tuple[Text, int]]] = defaultdict(list)
    for text_id, counted in by_text.items():
        text = texts[text_id]
        branch = told_by(text, known)
        moves[branch] += counted
        outcomes[branch] += ended.get(text_id, Counter())
        members[branch].append((text, counted.total()))
    rows = []
    for branch in Branch:
        counted = moves[branch]
        if not counted:
            continue
        obedient = [move for move, taken in TAKEN.items() if branch in taken]
        obeyed = sum(counted[move] for move in obedient)
        known_moves = counted.total() - counted["cut_off"]
        o = outcomes[branch]
        is_one = branch not in (Branch.NONE, Branch.SEVERAL)
        rows.append(
            ToldRow(
                branch,
                counted.total(),
                _cells(counted, obedient),
                Rate.of(obeyed, known_moves - obeyed, counted["cut_off"])
                if is_one
                else None,
                Rate.of(o["correct"], o["incorrect"], o["unknown"]),
                sorted(members[branch], key=lambda item: (-item[1], item[0].pk))[:20],
            )
        )
    return rows


def told_by(text: Text, tools: Collection[str] = ()) -> Branch:
    """Give the branch that a text tells: its words, else its code's contract.

    A contract that a person confirmed speaks only where the words are silent: the
    agent reads words.
    """
    told = read_branches(peel(text.sample).message, text.code.tool, tools).branch
    action = text.code.next_action
    if told is Branch.NONE and text.version_of_id and action in set(NextAction):
        return branch_of(NextAction(action))
    return told


def _endings(
    workspace_id: int, since: date | None, until: date | None
) -> dict[int, Counter[str]]:
    days = DayCode.objects.filter(workspace_id=workspace_id)
    if since is not None:
        days = days.filter(day__gte=since)
    if until is not None:
        days = days.filter(day__lt=until)
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for text, outcome, n in days.values_list("text", "outcome").annotate(n=Sum("runs")):
        found[text][outcome] = n
    return found


def breaches(
    codes: Mapping[int, Code], by_code: Mapping[int, Counter[str]]
) -> list[Breach]:
    """Say which moves the contracts forbid, the most first. Pure."""
    found = []
    for pk, moves in by_code.items():
        for rule, forbidden in _forbidden(codes[pk]):
            errors = sum(moves[move] for move in forbidden)
            if errors:
                hit = [move for move in MOVES if move in forbidden and moves[move]]
                found.append(Breach(codes[pk], rule, hit, errors, moves.total()))
    return sorted(found, key=lambda b: (-b.errors, b.code.key, b.rule))


def _forbidden(code: Code) -> Iterable[tuple[str, Collection[str]]]:
    if code.next_action == "correct_input":
        yield "retried unchanged though the input must be corrected", {MOVES[0]}
    if code.retry_directive == "never" and code.next_action != "correct_input":
        yield "retried though the contract says never", _RETRIES
    if code.commit_state == "unknown":
        yield "called again before a look-up though the state is unknown", _RETRIES
    if code.next_action == "request_approval":
        yield "went on without the approval", _RETRIES | {"switched_tool"}
    if code.next_action in ("stop", "escalate"):
        yield "went on though it should stop", _RETRIES | {"switched_tool"}
