"""What else changed beside a text: rival explanations of a verdict. Pure.

Section 5d of the project's statistics reference. Values only; the page has the words.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from apps.trends.comparison import StratifiedDifference

SHARE_MOVED = 0.05  # a share that moved by more than 5 points is named
MIX_MOVED = 0.10  # share of runs that changed model or version, to be named
FULL_ADOPTION = 0.90
SOFT_EVIDENCE = "textual"

Kind = Literal[
    "model",  # before, after: share of the runs that names[0] had
    "agent_version",  # same
    "tool_version",  # same
    "mix",  # before: crude difference; after: adjusted difference
    "soft_errors",  # share of runs whose error is known by its text alone
    "unknown_outcomes",  # share of runs
    "adoption",  # before: None; after: share of errors that carried the new text
]


class _Key(Protocol):
    @property
    def model(self) -> str: ...
    @property
    def tool_version(self) -> str: ...
    @property
    def evidence(self) -> str: ...


class _Outcomes(Protocol):
    @property
    def n(self) -> int: ...
    @property
    def unknown(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Rival:
    """One thing that moved with the text and might be the real cause."""

    kind: Kind
    before: float | None  # shares 0..1, differences -1..1; see `Kind`
    after: float | None
    names: tuple[str, ...] = ()  # models or versions by how far their share moved


def find_rivals(
    cells: Iterable[tuple[_Key, _Outcomes, _Outcomes]],
    pooled: StratifiedDifference,
    adoption: float | None,
    agents_before: Mapping[str, int],
    agents_after: Mapping[str, int],
) -> tuple[Rival, ...]:
    """List what moved between the sides, in the order of `Kind`.

    `cells` holds (key, before, after) and may repeat a key. A side without runs
    gives no rival: there is nothing to compare with.
    """
    before: dict[str, dict[str, int]] = {}
    after: dict[str, dict[str, int]] = {}
    for key, old, new in cells:
        for side, outcomes in ((before, old), (after, new)):
            runs = outcomes.n + outcomes.unknown
            _add(side, "model", key.model, runs)
            _add(side, "tool_version", key.tool_version, runs)
            _add(side, "evidence", key.evidence, runs)
            _add(side, "outcome", "known", outcomes.n)
            _add(side, "outcome", "unknown", outcomes.unknown)

    def sides(what: str) -> tuple[dict[str, float], dict[str, float]]:
        return _shares(before.get(what, {})), _shares(after.get(what, {}))

    agents = _shares(agents_before), _shares(agents_after)
    found = [
        _renamed("model", *sides("model")),
        _renamed("agent_version", *agents),
        _renamed("tool_version", *sides("tool_version")),
        _mix(pooled),
        _share("soft_errors", SOFT_EVIDENCE, *sides("evidence")),
        _share("unknown_outcomes", "unknown", *sides("outcome")),
    ]
    if adoption is not None and adoption < FULL_ADOPTION:
        found.append(Rival("adoption", None, adoption))
    return tuple(rival for rival in found if rival is not None)


def _add(side: dict[str, dict[str, int]], what: str, name: str, runs: int) -> None:
    tally = side.setdefault(what, {})
    tally[name] = tally.get(name, 0) + runs


def _shares(tally: Mapping[str, int]) -> dict[str, float]:
    total = sum(tally.values())
    return {name: runs / total for name, runs in tally.items()} if total else {}


def _renamed(
    kind: Kind, before: dict[str, float], after: dict[str, float]
) -> Rival | None:
    if not before or not after:
        return None
    moves = {
        name: after.get(name, 0.0) - before.get(name, 0.0)
        for name in sorted({*before, *after})
    }
    if sum(abs(move) for move in moves.values()) / 2 <= MIX_MOVED:
        return None
    names = sorted(moves, key=lambda name: -round(abs(moves[name]), 9))  # ties: a to z
    first = names[0]
    moved = tuple(name for name in names if abs(moves[name]) > SHARE_MOVED)
    return Rival(kind, before.get(first, 0.0), after.get(first, 0.0), moved or (first,))


def _share(
    kind: Kind, name: str, before: dict[str, float], after: dict[str, float]
) -> Rival | None:
    if not before or not after:
        return None
    old, new = before.get(name, 0.0), after.get(name, 0.0)
    return Rival(kind, old, new) if abs(new - old) > SHARE_MOVED else None


def _mix(pooled: StratifiedDifference) -> Rival | None:
    if not pooled.mix_moved or pooled.crude is None:
        return None
    return Rival("mix", pooled.crude.value, pooled.adjusted)
