"""Counts over runs and errors: one definition each, for pages, charts, report and API.

All of them are sums over the day rollups, so what they cost follows the number of days
and codes and never the number of runs.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import connection

from .rates import Rate

OUTCOMES = ("correct", "incorrect", "unknown")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Runs by how they ended."""

    correct: int = 0
    incorrect: int = 0
    unknown: int = 0

    @property
    def runs(self) -> int:
        """Give all of them."""
        return self.correct + self.incorrect + self.unknown

    @property
    def known(self) -> int:
        """Give those whose outcome is known."""
        return self.correct + self.incorrect

    @property
    def rate(self) -> Rate:
        """Give the share that ended correctly, with its interval and bounds."""
        return Rate.of(self.correct, self.incorrect, self.unknown)

    def __add__(self, other: "Outcomes") -> "Outcomes":
        """Add up two groups of runs."""
        return Outcomes(
            self.correct + other.correct,
            self.incorrect + other.incorrect,
            self.unknown + other.unknown,
        )

    def as_dict(self) -> dict[str, int]:
        """Give the three counts by name."""
        return {name: getattr(self, name) for name in OUTCOMES}


@dataclass(frozen=True, slots=True)
class Week:
    """One week's runs; `start` None holds the undated."""

    start: date | None
    with_error: Outcomes
    without_error: Outcomes

    @property
    def runs(self) -> int:
        """Give all runs that began in it."""
        return self.with_error.runs + self.without_error.runs


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a stretch of days."""

    with_error: Outcomes
    without_error: Outcomes
    tool_calls: int
    tool_errors: int

    @property
    def runs(self) -> int:
        """Give all runs."""
        return self.with_error.runs + self.without_error.runs


@dataclass(slots=True)
class CodeCounts:
    """What happened with one code in a stretch of days."""

    code_id: int
    key: str
    title: str
    tool: str
    errors: int = 0
    loops: int = 0
    outcomes: Outcomes = field(default_factory=Outcomes)
    next_moves: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Give what people call it."""
        return self.title or self.key


def weekly(workspace_id: int) -> list[Week]:
    """Give every week that has runs, in order; the undated last."""
    rows = _rows(
        "SELECT date_trunc('week', day)::date AS start, has_error, outcome,"
        " sum(runs) AS n FROM runs_dayruns WHERE workspace_id = %(workspace)s"
        " GROUP BY 1, 2, 3",
        {"workspace": workspace_id},
    )
    found: dict[date | None, dict[bool, dict[str, int]]] = {}
    for row in rows:
        sides = found.setdefault(row["start"], {True: {}, False: {}})
        sides[row["has_error"]][row["outcome"]] = row["n"]
    weeks = [
        Week(start, Outcomes(**sides[True]), Outcomes(**sides[False]))
        for start, sides in found.items()
    ]
    weeks = [week for week in weeks if week.runs]
    return sorted(weeks, key=lambda week: (week.start is None, week.start or date.min))


def last_week(weeks: Iterable[Week], until: date | None = None) -> date | None:
    """Give the Monday of the last week that has runs; not after `until`, if given."""
    starts = (week.start for week in weeks if week.start is not None)
    return max((s for s in starts if until is None or s <= until), default=None)


def totals(
    workspace_id: int, since: date | None = None, until: date | None = None
) -> Totals:
    """Sum runs that began from `since` up to but not on `until`; all without bounds."""
    rows = _rows(
        # What is put together here and below are constants; values are parameters.
        "SELECT has_error, outcome, sum(runs) AS runs, sum(calls) AS calls,"  # noqa: S608
        f" sum(errors) AS errors FROM runs_dayruns WHERE {_DAYS} GROUP BY 1, 2",
        _bounds(workspace_id, since, until),
    )
    sides: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for row in rows:
        sides[row["has_error"]][row["outcome"]] = row["runs"]
    return Totals(
        with_error=Outcomes(**sides[True]),
        without_error=Outcomes(**sides[False]),
        tool_calls=sum(int(row["calls"]) for row in rows),
        tool_errors=sum(int(row["errors"]) for row in rows),
    )


def error_counts(
    workspace_id: int, since: date | None = None, until: date | None = None
) -> dict[str, dict[str, int]]:
    """Count failed calls by next move and evidence (counted ones) and cause (all).

    `other` holds `not_delivered` and `loops`.
    """
    rows = _rows(
        "SELECT next_move, evidence, cause, is_delivered, is_counted,"  # noqa: S608
        f" sum(errors) AS n, sum(loops) AS loops FROM runs_dayerrors WHERE {_DAYS}"
        " GROUP BY 1, 2, 3, 4, 5",
        _bounds(workspace_id, since, until),
    )
    counts: dict[str, dict[str, int]] = {
        "next_moves": {},
        "evidence": {},
        "causes": {},
        "other": {"not_delivered": 0, "loops": 0},
    }
    for row in rows:
        n = int(row["n"])
        _add(counts["causes"], row["cause"], n)
        if row["is_counted"]:
            _add(counts["next_moves"], row["next_move"], n)
            _add(counts["evidence"], row["evidence"], n)
            counts["other"]["loops"] += int(row["loops"])
        elif not row["is_delivered"] and row["cause"] in ("failed", "rejected"):
            counts["other"]["not_delivered"] += n
    return {
        name: {key: n for key, n in sorted(group.items()) if n or name == "other"}
        for name, group in counts.items()
    }


def left_out(
    workspace_id: int, since: date | None = None, until: date | None = None
) -> list[tuple[str, int]]:
    """Give how many runs each rule leaves out of every figure, the most first."""
    rows = _rows(
        f"SELECT rule, sum(runs) AS n FROM runs_dayleftout WHERE {_DAYS}"  # noqa: S608
        " GROUP BY 1 HAVING sum(runs) <> 0 ORDER BY 2 DESC, 1",
        _bounds(workspace_id, since, until),
    )
    return [(row["rule"], int(row["n"])) for row in rows]


def by_code(
    workspace_id: int, since: date | None = None, until: date | None = None
) -> list[CodeCounts]:
    """Give each code met, the most runs first; ties by key and tool."""
    bounds = _bounds(workspace_id, since, until)
    counts: dict[int, CodeCounts] = {}
    hits = _rows(
        "SELECT d.code_id, c.key, c.title, c.tool, d.outcome, sum(d.runs) AS n"  # noqa: S608
        " FROM runs_daycode d JOIN catalogue_code c ON c.id = d.code_id"
        f" WHERE d.{_DAYS} GROUP BY 1, 2, 3, 4, 5 HAVING sum(d.runs) <> 0",
        bounds,
    )
    for row in hits:
        code = _code(counts, row)
        code.outcomes += Outcomes(**{row["outcome"]: int(row["n"])})
    moves = _rows(
        "SELECT d.code_id, c.key, c.title, c.tool, d.next_move, sum(d.errors) AS n,"  # noqa: S608
        " sum(d.loops) AS loops"
        " FROM runs_dayerrors d JOIN catalogue_code c ON c.id = d.code_id"
        f" WHERE d.{_DAYS} AND d.is_counted GROUP BY 1, 2, 3, 4, 5"
        " HAVING sum(d.errors) <> 0",
        bounds,
    )
    for row in moves:
        code = _code(counts, row)
        code.errors += int(row["n"])
        code.loops += int(row["loops"])
        _add(code.next_moves, row["next_move"], int(row["n"]))
    return sorted(counts.values(), key=lambda c: (-c.outcomes.runs, c.key, c.tool))


def _code(counts: dict[int, CodeCounts], row: Mapping[str, Any]) -> CodeCounts:
    return counts.setdefault(
        row["code_id"],
        CodeCounts(row["code_id"], row["key"], row["title"], row["tool"]),
    )


def first_days(workspace_id: int) -> dict[int, date]:
    """Give the earliest day of errors by the code of their fingerprint."""
    rows = _rows(
        "SELECT t.home_id, min(d.day) AS first FROM runs_dayerrors d"
        " JOIN catalogue_text t ON t.id = d.text_id"
        " WHERE d.workspace_id = %(workspace)s AND d.errors > 0 AND d.day IS NOT NULL"
        " GROUP BY 1",
        {"workspace": workspace_id},
    )
    return {row["home_id"]: row["first"] for row in rows}


def code_weeks(workspace_id: int, code_id: int) -> list[tuple[date | None, Outcomes]]:
    """Give a code's runs by week, the undated last."""
    rows = _rows(
        "SELECT date_trunc('week', day)::date AS start, outcome, sum(runs) AS n"
        " FROM runs_daycode WHERE workspace_id = %(workspace)s AND code_id = %(code)s"
        " GROUP BY 1, 2 HAVING sum(runs) <> 0",
        {"workspace": workspace_id, "code": code_id},
    )
    weeks: dict[date | None, Outcomes] = {}
    for row in rows:
        found = weeks.get(row["start"], Outcomes())
        weeks[row["start"]] = found + Outcomes(**{row["outcome"]: int(row["n"])})
    return sorted(
        weeks.items(), key=lambda item: (item[0] is None, item[0] or date.min)
    )


@dataclass(slots=True)
class TextCounts:
    """What happened with one text of a code."""

    text_id: int
    errors: int = 0
    outcomes: Outcomes = field(default_factory=Outcomes)
    next_moves: dict[str, int] = field(default_factory=dict)
    first_day: date | None = None
    last_day: date | None = None

    def joined(self, other: "TextCounts") -> "TextCounts":
        """Add up two texts under the id of this one."""
        moves = dict(self.next_moves)
        for move, n in other.next_moves.items():
            _add(moves, move, n)
        return TextCounts(
            self.text_id,
            self.errors + other.errors,
            self.outcomes + other.outcomes,
            moves,
            min(_days(self.first_day, other.first_day), default=None),
            max(_days(self.last_day, other.last_day), default=None),
        )


def by_text(workspace_id: int, code_id: int) -> list[TextCounts]:
    """Give each text delivered for a code, the first seen first."""
    values = {"workspace": workspace_id, "code": code_id}
    counts: dict[int, TextCounts] = {}
    for row in _rows(
        "SELECT text_id, next_move, sum(errors) AS n, min(day) AS first,"
        " max(day) AS last FROM runs_dayerrors"
        " WHERE workspace_id = %(workspace)s AND code_id = %(code)s"
        " AND is_counted GROUP BY 1, 2 HAVING sum(errors) <> 0",
        values,
    ):
        text = counts.setdefault(row["text_id"], TextCounts(row["text_id"]))
        text.errors += int(row["n"])
        _add(text.next_moves, row["next_move"], int(row["n"]))
        text.first_day = min(_days(text.first_day, row["first"]), default=None)
        text.last_day = max(_days(text.last_day, row["last"]), default=None)
    for row in _rows(
        "SELECT text_id, outcome, sum(runs) AS n FROM runs_daycode"
        " WHERE workspace_id = %(workspace)s AND code_id = %(code)s"
        " GROUP BY 1, 2 HAVING sum(runs) <> 0",
        values,
    ):
        text = counts.setdefault(row["text_id"], TextCounts(row["text_id"]))
        text.outcomes += Outcomes(**{row["outcome"]: int(row["n"])})
    return sorted(
        counts.values(),
        key=lambda t: (t.first_day is None, t.first_day or date.min, t.text_id),
    )


def _days(*days: date | None) -> list[date]:
    return [day for day in days if day is not None]


_DAYS = (
    "workspace_id = %(workspace)s"
    " AND (%(since)s::date IS NULL OR day >= %(since)s)"
    " AND (%(until)s::date IS NULL OR day < %(until)s)"
)


def _bounds(
    workspace_id: int, since: date | None, until: date | None
) -> dict[str, Any]:
    return {"workspace": workspace_id, "since": since, "until": until}


def _add(counts: dict[str, int], key: str, n: int) -> None:
    counts[key] = counts.get(key, 0) + n


def _rows(statement: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
