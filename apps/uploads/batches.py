"""Writes one batch of records: its rows, its counts and its ledger entry, or nothing.

All of a batch stands in one transaction. A worker may die anywhere and run it again:
the ledger says what is written, and the identity of each run says what is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import connection, transaction

from apps.catalogue.placing import hold_places
from apps.catalogue.resolve import hold, resolve, storable
from apps.catalogue.tool_lists import Definition
from apps.catalogue.tools import from_log, note_tools
from apps.runs import rollups
from apps.runs.blob import unpack
from apps.runs.models import Run, RunTranscript
from apps.runs.rule_sets import hold_rules
from apps.runs.rules import Rules
from apps.runs.transcript import OutcomeRecord, Record, Transcript, Unreadable

from .candidates import Candidate, candidate, seen, with_words
from .copying import next_ids
from .forks import leave_out_copies, waiting_forks
from .identity import merged, prefix_identity
from .models import Batch, SetAside, Upload
from .outcomes import apply_outcomes, keep_outcomes
from .rederive import replace_facts
from .rows import copy_errors, copy_runs, take_out_errors

_PREFIX_LOCK = 0x5052  # first half of an advisory lock's key: runs without an id


@dataclass(slots=True)
class Counts:
    """What became of the records of a batch."""

    records: int = 0
    runs_new: int = 0
    runs_updated: int = 0
    duplicates: int = 0
    outcomes: int = 0
    set_aside: int = 0
    tool_calls: int = 0
    tool_errors: int = 0


@dataclass(slots=True)
class Work:
    """A batch that is analysed and waits to be written."""

    runs: list[Candidate] = field(default_factory=list)
    outcomes: list[OutcomeRecord] = field(default_factory=list)
    left_out: list[tuple[str, Unreadable]] = field(default_factory=list)


class RulesChangedError(Exception):
    """The workspace has saved other rules since the batch was analysed: do it again."""


def prepare(records: Iterable[tuple[str, Record]], rules: Rules) -> Work:
    """Analyse records (each with the name of its file); no database."""
    work = Work()
    for member, record in records:
        if isinstance(record, Transcript):
            work.runs.append(candidate(record, rules))
            work.left_out += [(member, gap) for gap in record.unreadable]
        elif isinstance(record, OutcomeRecord):
            work.outcomes.append(record)
        else:
            work.left_out.append((member, record))
    return work


def prepare_again(work: Work, rules: Rules) -> None:
    """Analyse the runs of a batch anew, by other rules."""
    work.runs = [candidate(run.transcript, rules) for run in work.runs]


def write(upload: Upload, part: int, number: int, work: Work, rules: Rules) -> Counts:
    """Write a batch; the counts are those of its ledger entry.

    Raises IntegrityError or OperationalError if another worker has written one of its
    runs meanwhile: call it again, it then finds them. Raises RulesChangedError if the
    rules are not those that hold.
    """
    resolve(upload.workspace_id, seen(work.runs))
    note_tools(upload.workspace_id, _tools(work.runs))
    with transaction.atomic():
        hold_places(upload.workspace_id)  # before any row is locked
        if hold_rules(upload.workspace_id) != rules.version:
            raise RulesChangedError
        counts = _write_runs(upload, work.runs, rules)
        counts.set_aside = _write_left_out(upload, work.left_out)
        new, repeated = keep_outcomes(upload, work.outcomes)
        counts.outcomes, counts.duplicates = new, counts.duplicates + repeated
        apply_outcomes(upload.workspace_id, work.outcomes)
        counts.records = len(work.runs) + len(work.outcomes) + len(work.left_out)
        Batch.objects.create(
            upload=upload, part=part, number=number, **_columns(counts)
        )
    return counts


def _tools(runs: Iterable[Candidate]) -> list[Definition]:
    """Give each tool definition once: the runs of an agent repeat them."""
    unique = {
        (
            t.name,
            t.description,
            t.input_schema,
            t.read_only,
            t.destructive,
            t.idempotent,
        )
        for run in runs
        for t in run.transcript.tools
    }
    return [from_log(*one) for one in unique]


def _columns(counts: Counts) -> dict[str, int]:
    return {name: getattr(counts, name) for name in Counts.__slots__}


def _write_runs(upload: Upload, runs: Sequence[Candidate], rules: Rules) -> Counts:
    counts = Counts()
    standing = _settle(upload.workspace_id, runs, counts, rules)
    if not standing:
        return counts
    leave_out_copies(upload.workspace_id, standing)
    replaced = [run.known_id for run in standing if run.known_id is not None]
    kept_ids = _take_out(replaced)
    new_ids = iter(next_ids("runs_run", sum(run.known_id is None for run in standing)))
    # rows go in by identity: two workers with the same runs then meet in one order
    standing.sort(key=lambda run: run.identity)
    with_ids = [
        (run.known_id if run.known_id is not None else next(new_ids), run)
        for run in standing
    ]
    zone = upload.workspace.tz
    copy_runs(upload, with_ids, zone, rules)
    places = hold(upload.workspace_id, seen(standing))
    copy_errors(upload.workspace_id, with_ids, places, zone, kept_ids)
    rollups.add_runs([run_id for run_id, _ in with_ids])
    counts.tool_calls = sum(run.facts.calls for run in standing)
    counts.tool_errors = sum(len(run.facts.counted) for run in standing)
    forks = waiting_forks(upload.workspace_id, standing, rules)
    if forks:
        kept = Run.objects.filter(pk__in=forks)
        replace_facts(upload.workspace, list(kept), forks, rules)
    return counts


def _settle(
    workspace_id: int, runs: Sequence[Candidate], counts: Counts, rules: Rules
) -> list[Candidate]:
    """Decide for each record: new, another version of a known run, or known already."""
    if any(not run.transcript.run_id for run in runs):
        # such a run may be the beginning of one that another worker writes just now
        with connection.cursor() as cursor:
            values = [_PREFIX_LOCK, workspace_id]
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", values)
    known = _known_runs(workspace_id, runs)
    runs = with_words(workspace_id, runs, rules)
    standing: dict[bytes, Candidate] = {}
    for run in runs:
        earlier = standing.get(run.identity)
        before = known.get(run.identity)
        if earlier is not None:
            old, known_id = earlier.transcript, earlier.known_id
        elif before is not None:
            old, known_id = _stored(before), before
        else:
            shorter, longer_id = _prefixes(workspace_id, run, standing)
            if longer_id:
                counts.duplicates += 1
                continue
            if shorter is not None:
                run.known_id = shorter
                counts.runs_updated += 1
            else:
                counts.runs_new += 1
            standing[run.identity] = run
            continue
        joined = merged(old, run.transcript)
        if joined == old:
            counts.duplicates += 1
            continue
        counts.runs_updated += 1
        again = candidate(joined, rules, run.words)
        again.identity, again.known_id = run.identity, known_id
        standing[run.identity] = again
    return list(standing.values())


def _known_runs(workspace_id: int, runs: Sequence[Candidate]) -> dict[bytes, int]:
    """Lock the stored runs among these; give their ids by identity."""
    identities = sorted({run.identity for run in runs})
    if not identities:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, identity FROM runs_run"
            " WHERE workspace_id = %s AND identity = ANY(%s)"
            " ORDER BY identity FOR UPDATE",
            [workspace_id, identities],
        )
        return {bytes(identity): run_id for run_id, identity in cursor.fetchall()}


def _prefixes(
    workspace_id: int,
    run: Candidate,
    standing: dict[bytes, Candidate],
) -> tuple[int | None, bool]:
    """For a run without an id: the run that it carries on, and if it is part of one.

    Gives (id of the shorter version, whether a longer version is known).
    """
    transcript = run.transcript
    if transcript.run_id or not run.facts.prefix_hashes:
        return None, False
    *beginnings, whole = run.facts.prefix_hashes
    for other in standing.values():
        if other.transcript.run_id or other.transcript.format != transcript.format:
            continue
        if whole in other.facts.prefix_hashes:
            return None, True
    shorter_identities = [prefix_identity(transcript.format, h) for h in beginnings]
    for identity in shorter_identities:
        if identity in standing:
            shorter = standing.pop(identity)
            return shorter.known_id, False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM runs_runprefix p JOIN runs_run r ON r.id = p.run_id"
            " WHERE p.workspace_id = %s AND p.prefix_hash = %s AND r.format = %s"
            " LIMIT 1",
            [workspace_id, whole, transcript.format],
        )
        if cursor.fetchone():
            return None, True
        cursor.execute(
            "SELECT id FROM runs_run WHERE workspace_id = %s AND identity = ANY(%s)"
            " ORDER BY turns DESC LIMIT 1 FOR UPDATE",
            [workspace_id, shorter_identities],
        )
        row = cursor.fetchone()
    return (row[0] if row else None), False


def _stored(run_id: int) -> Transcript:
    kept = RunTranscript.objects.values_list("data", flat=True)
    return unpack(kept.get(run_id=run_id))


def _take_out(run_ids: list[int]) -> dict[tuple[int, int, int, int], int]:
    """Take runs out of every table and count; give the ids of their errors by place."""
    if not run_ids:
        return {}
    kept = take_out_errors(run_ids)
    with connection.cursor() as cursor:
        for table in ("runs_runprefix", "runs_runtranscript"):
            cursor.execute(f"DELETE FROM {table} WHERE run_id = ANY(%s)", [run_ids])  # noqa: S608
        cursor.execute("DELETE FROM runs_run WHERE id = ANY(%s)", [run_ids])
    return kept


def _write_left_out(upload: Upload, left_out: list[tuple[str, Unreadable]]) -> int:
    SetAside.objects.bulk_create(
        [
            SetAside(
                workspace_id=upload.workspace_id,
                upload=upload,
                member=storable(member),
                line=gap.line,
                offset=gap.offset,
                reason=storable(gap.reason),
                preview=storable(gap.preview[:500]),
            )
            for member, gap in left_out
        ]
    )
    return len(left_out)
