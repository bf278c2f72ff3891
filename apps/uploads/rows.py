"""The rows of a batch: what of a transcript becomes which column."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from django.db import connection

from apps.catalogue.resolve import Place, Places, storable
from apps.runs import rollups
from apps.runs.analysis import ErrorFact, Facts
from apps.runs.blob import pack
from apps.runs.exclusion import excluding_rule
from apps.runs.rules import Rules

from .candidates import Candidate
from .copying import copy_rows, next_ids
from .models import Upload
from .outcomes import said_outcomes

DELIVERED_CHARS = 4000  # of an error's text in its row; the transcript has all of it

_RUN_COLUMNS = (
    ("id", "int8"), ("workspace_id", "int8"), ("upload_id", "int8"),
    ("identity", "bytea"),
    ("content_hash", "bytea"), ("format", "text"), ("log_id", "text"),
    ("forked_from", "text"), ("task_id", "text"), ("title", "text"), ("model", "text"),
    ("agent", "text"), ("agent_version", "text"), ("source", "text"),
    ("started_at", "timestamptz"), ("ended_at", "timestamptz"), ("day", "date"),
    ("ending", "text"), ("outcome", "text"), ("outcome_by", "text"), ("turns", "int4"),
    ("calls", "int4"), ("errors", "int4"), ("other_failures", "int4"),
    ("longest_loop", "int4"), ("input_tokens", "int8"), ("output_tokens", "int8"),
    ("rules_version", "int4"), ("is_excluded", "bool"), ("excluded_by", "text"),
    ("created_at", "timestamptz"),
)  # fmt: skip
_ERROR_COLUMNS = (
    ("id", "int8"), ("workspace_id", "int8"), ("run_id", "int8"), ("thread", "int2"),
    ("turn", "int4"), ("call", "int2"), ("tool", "text"), ("code_id", "int8"),
    ("text_id", "int8"), ("delivered", "text"), ("evidence", "text"), ("rule", "text"),
    ("cause", "text"), ("is_delivered", "bool"), ("is_counted", "bool"),
    ("next_move", "text"), ("next_turn", "int4"), ("loop_length", "int4"),
    ("at", "timestamptz"), ("day", "date"),
)  # fmt: skip
_HIT_COLUMNS = (
    ("workspace_id", "int8"), ("run_id", "int8"), ("code_id", "int8"),
    ("text_id", "int8"), ("errors", "int4"),
)  # fmt: skip


def copy_runs(
    upload: Upload, runs: Sequence[tuple[int, Candidate]], zone: ZoneInfo, rules: Rules
) -> None:
    """Write runs, their transcripts, and the prefixes of those without an id."""
    now = datetime.now(UTC)
    said = said_outcomes(upload.workspace_id, [run for _, run in runs], rules)
    rows = []
    for (run_id, run), (outcome, by) in zip(runs, said, strict=True):
        t, facts = run.transcript, run.facts
        left_out = storable(excluding_rule(t, upload.name, rules))
        rows.append((
            run_id, upload.workspace_id, upload.pk, run.identity, facts.content_hash,
            t.format, storable(t.run_id), storable(t.forked_from), storable(t.task_id),
            storable(t.title[:500]), storable(t.model), storable(t.agent),
            storable(t.agent_version), storable(t.source), moment(t.started_at),
            moment(t.ended_at), day(t.started_at, zone), t.ending, outcome,
            storable(by), facts.turns, facts.calls, *failure_counts(facts),
            facts.input_tokens, facts.output_tokens, rules.version, bool(left_out),
            left_out, now,
        ))  # fmt: skip
    copy_rows("runs_run", _RUN_COLUMNS, rows)
    copy_rows(
        "runs_runtranscript",
        (("run_id", "int8"), ("data", "bytea")),
        ((run_id, pack(run.transcript)) for run_id, run in runs),
    )
    prefixes = [
        (upload.workspace_id, run_id, prefix)
        for run_id, run in runs
        if not run.transcript.run_id
        for prefix in dict.fromkeys(run.facts.prefix_hashes)
    ]
    if prefixes:
        columns = (
            ("workspace_id", "int8"),
            ("run_id", "int8"),
            ("prefix_hash", "bytea"),
        )
        copy_rows("runs_runprefix", columns, prefixes)


def failure_counts(facts: Facts) -> tuple[int, int, int]:
    """Count what follows from the rules: errors, other failures, the longest loop."""
    errors = len(facts.counted)
    longest = max((error.loop_length for error in facts.errors), default=0)
    return errors, len(facts.errors) - errors, longest


def take_out_errors(run_ids: Sequence[int]) -> dict[tuple[int, int, int, int], int]:
    """Take runs out of every count, and their errors away; give these ids by place.

    The same ids are written again for errors that are still there, so that labels and
    links to them stay.
    """
    rollups.remove_runs(run_ids)
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM runs_toolerror WHERE run_id = ANY(%s)"
            " RETURNING run_id, thread, turn, call, id",
            [list(run_ids)],
        )
        kept = {(run, thread, turn, call): pk for run, thread, turn, call, pk in cursor}
        cursor.execute(
            "DELETE FROM runs_runcode WHERE run_id = ANY(%s)", [list(run_ids)]
        )
    return kept


def copy_errors(
    workspace_id: int,
    runs: Sequence[tuple[int, Candidate]],
    places: Places,
    zone: ZoneInfo,
    kept_ids: dict[tuple[int, int, int, int], int],
) -> None:
    """Write every failed call, and which codes each run hit."""
    errors = [
        (run_id, run, error) for run_id, run in runs for error in run.facts.errors
    ]
    spots = [
        (run_id, error.thread, error.turn, error.call) for run_id, _, error in errors
    ]
    fresh = iter(
        next_ids("runs_toolerror", sum(spot not in kept_ids for spot in spots))
    )
    rows = []
    hits: dict[tuple[int, int], list[int]] = {}
    for spot, (run_id, run, error) in zip(spots, errors, strict=True):
        place = (
            places.of(error.fingerprint.text_key, error.text)
            if error.fingerprint
            else None
        )
        error_id = kept_ids[spot] if spot in kept_ids else next(fresh)
        rows.append(_error_row(error_id, workspace_id, run_id, run, error, place, zone))
        if place is not None:
            hit = hits.setdefault((run_id, place.code_id), [place.text_id, 0])
            hit[1] += 1
    copy_rows("runs_toolerror", _ERROR_COLUMNS, rows)
    copy_rows(
        "runs_runcode",
        _HIT_COLUMNS,
        [(workspace_id, run, code, text, n) for (run, code), (text, n) in hits.items()],
    )


def _error_row(
    error_id: int,
    workspace_id: int,
    run_id: int,
    run: Candidate,
    error: ErrorFact,
    place: Place | None,
    zone: ZoneInfo,
) -> tuple[object, ...]:
    at = error.at if error.at is not None else run.transcript.started_at
    return (
        error_id, workspace_id, run_id, error.thread, error.turn, error.call,
        storable(error.tool), place.code_id if place else None,
        place.text_id if place else None, storable(error.text[:DELIVERED_CHARS]),
        error.evidence, error.rule, error.cause, error.is_delivered, error.is_counted,
        error.next_move or "", error.next_turn, error.loop_length, moment(error.at),
        day(at, zone),
    )  # fmt: skip


def moment(seconds: float | None) -> datetime | None:
    """Give epoch seconds as a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def day(seconds: float | None, zone: ZoneInfo) -> date | None:
    """Give the day of epoch seconds in a zone; None for the undated."""
    return None if seconds is None else datetime.fromtimestamp(seconds, zone).date()
