"""Moves stored errors to the code of their text, after texts were placed elsewhere.

Runs leave the counts before a change and come back after it, in one transaction and
locked, so that every sum is the same before and after; see `rollups`.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db import connection, transaction

from . import rollups

RUNS_AT_ONCE = 500


class Moved(NamedTuple):
    """What one step moved."""

    errors: int
    runs: int


class StoredError(NamedTuple):
    """What of an error decides its side of a divided text."""

    pk: int
    run_id: int
    text_id: int
    delivered: str


def move_to_texts(code_ids: Sequence[int]) -> Moved:
    """Move errors that stand on these codes though their text does not.

    Takes up to 500 runs at once: call it until nothing moves. Safe to run twice.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT e.run_id FROM runs_toolerror e"
            " JOIN catalogue_text t ON t.id = e.text_id"
            " WHERE e.code_id = ANY(%s) AND e.code_id <> t.code_id"
            " ORDER BY e.run_id LIMIT %s",
            [list(code_ids), RUNS_AT_ONCE],
        )
        runs = _locked([row[0] for row in cursor.fetchall()])
        rollups.remove_runs(runs)
        cursor.execute(
            "UPDATE runs_toolerror e SET code_id = t.code_id FROM catalogue_text t"
            " WHERE t.id = e.text_id AND e.run_id = ANY(%s) AND e.code_id <> t.code_id",
            [runs],
        )
        moved = cursor.rowcount if runs else 0
        rollups.rebuild_hits(runs)
        rollups.add_runs(runs)
    return Moved(moved, len(runs))


def errors_of_texts(
    code_ids: Sequence[int], text_ids: Sequence[int], after: int, limit: int = 2000
) -> list[StoredError]:
    """Give errors of texts on these codes by their ids, a stretch at a time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, run_id, text_id, delivered FROM runs_toolerror"
            " WHERE code_id = ANY(%s) AND text_id = ANY(%s) AND id > %s"
            " ORDER BY id LIMIT %s",
            [list(code_ids), list(text_ids), after, limit],
        )
        return [StoredError(*row) for row in cursor.fetchall()]


def move_errors(texts: Mapping[int, int], run_ids: Sequence[int]) -> Moved:
    """Give errors of these runs another text (error -> text), and that text's code."""
    if not texts:
        return Moved(0, 0)
    with transaction.atomic(), connection.cursor() as cursor:
        runs = _locked(run_ids)
        rollups.remove_runs(runs)
        cursor.execute(
            "UPDATE runs_toolerror e SET text_id = t.id, code_id = t.code_id"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS wanted(error, text)"
            " JOIN catalogue_text t ON t.id = wanted.text"
            " WHERE e.id = wanted.error AND e.run_id = ANY(%s)"
            " AND e.text_id <> t.id",
            [list(texts), list(texts.values()), runs],
        )
        moved = cursor.rowcount
        rollups.rebuild_hits(runs)
        rollups.add_runs(runs)
    return Moved(moved, len(runs))


def count_errors(code_ids: Sequence[int], text_ids: Sequence[int]) -> Moved:
    """Count the errors of texts on these codes, and the runs that hold them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(DISTINCT run_id) FROM runs_toolerror"
            " WHERE code_id = ANY(%s) AND text_id = ANY(%s)",
            [list(code_ids), list(text_ids)],
        )
        errors, runs = cursor.fetchone()
    return Moved(errors, runs)


def _locked(run_ids: Sequence[int]) -> list[int]:
    """Lock runs in the order in which uploads lock them; those gone are left out."""
    if not run_ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM runs_run WHERE id = ANY(%s) ORDER BY identity FOR UPDATE",
            [list(run_ids)],
        )
        return [row[0] for row in cursor.fetchall()]
