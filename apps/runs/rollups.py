"""Day rollups: the one place where rows become counts.

Rollup rows are signed. What is added to the database is added here in the same
transaction, and what is changed or deleted is first taken out with sign −1; a count is
the sum of the rows. So no page recounts runs, two workers never wait for one row, and a
batch costs what it holds. `compact` folds the rows of a day into one now and then.

Runs that a rule excludes are in none of these counts but in that of the runs left out.
"""

from collections.abc import Sequence

from django.db import connection, transaction

_RUNS = """
    INSERT INTO runs_dayruns
        (workspace_id, day, model, agent, source, outcome, has_error, runs, calls,
         errors)
    SELECT workspace_id, day, model, agent, source, outcome, errors > 0,
           %(sign)s * count(*), %(sign)s * sum(calls), %(sign)s * sum(errors)
    FROM runs_run WHERE id = ANY(%(runs)s) AND NOT is_excluded
    GROUP BY 1, 2, 3, 4, 5, 6, 7
"""
_CODES = """
    INSERT INTO runs_daycode (workspace_id, day, code_id, text_id, model, outcome, runs)
    SELECT hit.workspace_id, run.day, hit.code_id, hit.text_id, run.model, run.outcome,
           %(sign)s * count(*)
    FROM runs_runcode hit JOIN runs_run run ON run.id = hit.run_id
    WHERE hit.run_id = ANY(%(runs)s) AND NOT run.is_excluded
    GROUP BY 1, 2, 3, 4, 5, 6
"""
_ERRORS = """
    INSERT INTO runs_dayerrors
        (workspace_id, day, code_id, text_id, cause, evidence, is_delivered, is_counted,
         next_move, errors, loops)
    SELECT error.workspace_id, error.day, code_id, text_id, cause, evidence,
           is_delivered, is_counted, next_move, %(sign)s * count(*),
           %(sign)s * count(*) FILTER (WHERE loop_length = 2)
    FROM runs_toolerror error JOIN runs_run run ON run.id = error.run_id
    WHERE error.run_id = ANY(%(runs)s) AND NOT run.is_excluded
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
"""
_LEFT_OUT = """
    INSERT INTO runs_dayleftout (workspace_id, day, rule, runs)
    SELECT workspace_id, day, excluded_by, %(sign)s * count(*)
    FROM runs_run WHERE id = ANY(%(runs)s) AND is_excluded
    GROUP BY 1, 2, 3
"""


def add_runs(run_ids: Sequence[int]) -> None:
    """Count these runs; call it once they and their rows are written."""
    _fold(run_ids, 1)


def remove_runs(run_ids: Sequence[int]) -> None:
    """Take these runs out; call it before they are changed or deleted."""
    _fold(run_ids, -1)


def _fold(run_ids: Sequence[int], sign: int) -> None:
    if not run_ids:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in (_RUNS, _CODES, _ERRORS, _LEFT_OUT):
            cursor.execute(statement, {"sign": sign, "runs": list(run_ids)})


_HITS = """
    INSERT INTO runs_runcode (workspace_id, run_id, code_id, text_id, errors)
    SELECT workspace_id, run_id, code_id,
           (array_agg(text_id ORDER BY thread, turn, call))[1], count(*)
    FROM runs_toolerror WHERE run_id = ANY(%s) AND is_counted
    GROUP BY workspace_id, run_id, code_id
"""


def rebuild_hits(run_ids: Sequence[int]) -> None:
    """Write anew which codes these runs hit, after their errors moved to other codes.

    Stands between `remove_runs` and `add_runs`.
    """
    if not run_ids:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM runs_runcode WHERE run_id = ANY(%s)", [list(run_ids)]
        )
        cursor.execute(_HITS, [list(run_ids)])


_TABLES = (
    (
        "runs_dayruns",
        "workspace_id, day, model, agent, source, outcome, has_error",
        ("runs", "calls", "errors"),
    ),
    (
        "runs_daycode",
        "workspace_id, day, code_id, text_id, model, outcome",
        ("runs",),
    ),
    (
        "runs_dayerrors",
        "workspace_id, day, code_id, text_id, cause, evidence, is_delivered,"
        " is_counted, next_move",
        ("errors", "loops"),
    ),
    ("runs_dayleftout", "workspace_id, day, rule", ("runs",)),
)


def compact(workspace_id: int) -> None:
    """Fold rows of equal keys into one; no sum changes. Safe beside running uploads."""
    for table, keys, sums in _TABLES:
        added = ", ".join(f"sum({column})" for column in sums)
        columns = ", ".join(sums)
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"""
                WITH gone AS (
                    DELETE FROM {table} WHERE workspace_id = %s RETURNING *
                )
                INSERT INTO {table} ({keys}, {columns})
                SELECT {keys}, {added} FROM gone GROUP BY {keys}
                HAVING {" OR ".join(f"sum({column}) <> 0" for column in sums)}
                """,  # noqa: S608 (names from the table above)
                [workspace_id],
            )
