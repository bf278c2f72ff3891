"""Reads the stored runs again by new rules, in batches, exactly once.

A batch is one transaction: the errors and counts of its runs, their version of the
rules, and the progress on the job's row. So a worker may die anywhere, two may work at
once, and uploads may go on. Runs whose transcript is gone keep their facts and version.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue.placing import hold_places
from apps.catalogue.resolve import hold, resolve, storable
from apps.runs import rollups
from apps.runs.blob import unpack
from apps.runs.exclusion import excluding_rule
from apps.runs.models import Rederivation, RederivationState, Run, RunTranscript
from apps.runs.rule_sets import current_rules, hold_rules
from apps.runs.rules import Rules

from .candidates import Candidate, candidate, seen, with_words
from .forks import leave_out_copies
from .models import Upload
from .outcomes import said_outcomes
from .rows import copy_errors, failure_counts, take_out_errors

logger = logging.getLogger(__name__)

BATCH_RUNS = 200
BATCH_BYTES = 4 << 20  # of compressed transcripts: long runs make a smaller batch
_LOCK_SPACE = 0x5244  # first half of the advisory lock's key: passes over stored runs
_ATTEMPTS = 5
_CHANGED = (
    "outcome", "outcome_by", "errors", "other_failures", "longest_loop", "calls",
    "input_tokens", "output_tokens",
    "rules_version", "is_excluded", "excluded_by",
)  # fmt: skip


def rederive(job: Rederivation, seconds: float = float("inf")) -> bool:
    """Go on with a pass for some seconds; True while there is more to do.

    Safe to run twice, also at once: the second leaves the work to the first.
    """
    until = time.monotonic() + seconds
    with _only_here(job.pk) as is_mine:
        if not is_mine:
            return False
        job.refresh_from_db()
        if not job.is_open:
            return False
        if job.started_at is None:
            _set(job, state=RederivationState.RUNNING, started_at=timezone.now())
        rules = current_rules(job.workspace_id)
        while _write_batch_retrying(job, rules):
            if time.monotonic() >= until:
                return True
    return False


@contextmanager
def _only_here(job_id: int) -> Iterator[bool]:
    """Hold the job's lock; it falls with the connection if the worker dies."""
    values = [_LOCK_SPACE, job_id]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", values)
        is_mine = bool(cursor.fetchone()[0])
    try:
        yield is_mine
    finally:
        if is_mine:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", values)


def _write_batch_retrying(job: Rederivation, rules: Rules) -> bool:
    """Write a batch; where an upload was at the same runs, look again."""
    for attempt in range(1, _ATTEMPTS):
        try:
            return _write_batch(job, rules)
        except OperationalError as exc:
            if not connection.is_usable():
                raise
            logger.info("A batch of %s again: %s", job, exc)
            time.sleep(0.05 * attempt)
    return _write_batch(job, rules)


def _write_batch(job: Rederivation, rules: Rules) -> bool:
    """Read some runs again; False once no run is left, or newer rules hold."""
    if rules.version != job.rules_version:
        _set(job, state=RederivationState.SUPERSEDED, ended_at=timezone.now())
        return False
    ids = _next_runs(job)
    if not ids:
        _set(job, state=RederivationState.DONE, ended_at=timezone.now())
        return False
    analysed = analysed_again(job.workspace_id, ids, rules)
    resolve(job.workspace_id, seen(analysed.values()))
    with transaction.atomic():
        if hold_rules(job.workspace_id) != rules.version:
            _set(job, state=RederivationState.SUPERSEDED, ended_at=timezone.now())
            return False
        hold_places(job.workspace_id)  # before any row is locked
        runs = _locked(analysed, rules)
        replace_facts(job.workspace, runs, analysed, rules)
        _set(job, done=F("done") + len(runs))
    return True


def _next_runs(job: Rederivation) -> list[int]:
    """Give ids of runs that are still read by older rules: a batch of them."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run.id, octet_length(kept.data) FROM runs_run run"
            " JOIN runs_runtranscript kept ON kept.run_id = run.id"
            " WHERE run.workspace_id = %s AND run.rules_version < %s"
            " ORDER BY run.rules_version, run.id LIMIT %s",
            [job.workspace_id, job.rules_version, BATCH_RUNS],
        )
        rows = cursor.fetchall()
    ids: list[int] = []
    size = 0
    for run_id, length in rows:
        size += length
        if ids and size > BATCH_BYTES:
            break
        ids.append(run_id)
    return ids


def analysed_again(
    workspace_id: int, run_ids: Sequence[int], rules: Rules
) -> dict[int, Candidate]:
    """Read stored transcripts by rules and by what people counted; by id of the run."""
    kept = RunTranscript.objects.filter(run_id__in=run_ids)
    ids, runs = [], []
    for run_id, data, identity in kept.values_list("run_id", "data", "run__identity"):
        run = candidate(unpack(data), rules)
        run.identity = bytes(identity)
        ids.append(run_id)
        runs.append(run)
    runs = with_words(workspace_id, runs, rules)
    leave_out_copies(workspace_id, runs)
    return dict(zip(ids, runs, strict=True))


def _locked(analysed: dict[int, Candidate], rules: Rules) -> list[Run]:
    """Lock those runs that are still as they were analysed.

    A run that an upload has written meanwhile is read by the new rules already. Locks
    are taken by identity, as uploads take them: neither then waits in a circle.
    """
    runs = Run.objects.filter(pk__in=analysed, rules_version__lt=rules.version)
    return list(runs.order_by("identity").select_for_update())


def replace_facts(
    workspace: Workspace,
    runs: list[Run],
    analysed: dict[int, Candidate],
    rules: Rules,
) -> None:
    """Write what now follows from locked runs in place of what followed before."""
    with_ids = [(run.pk, analysed[run.pk]) for run in runs]
    places = hold(workspace.pk, seen(run for _, run in with_ids))
    kept_ids = take_out_errors([run.pk for run in runs])
    uploads = [run.upload_id for run in runs]
    names = dict(Upload.objects.filter(pk__in=uploads).values_list("pk", "name"))
    read_again = [run for _, run in with_ids]
    said = said_outcomes(workspace.pk, read_again, rules, uploads)
    for run, (_, read), (outcome, by) in zip(runs, with_ids, said, strict=True):
        file_name = names.get(run.upload_id, "")
        left_out = storable(excluding_rule(read.transcript, file_name, rules))
        run.outcome, run.outcome_by = outcome, storable(by)
        counts = failure_counts(read.facts)
        run.errors, run.other_failures, run.longest_loop = counts
        run.calls = read.facts.calls  # fewer once a fork's first run is known
        run.input_tokens = read.facts.input_tokens
        run.output_tokens = read.facts.output_tokens
        run.is_excluded, run.excluded_by = bool(left_out), left_out
        run.rules_version = rules.version
    Run.objects.bulk_update(runs, _CHANGED)
    zone = workspace.tz
    copy_errors(workspace.pk, with_ids, places, zone, kept_ids)
    rollups.add_runs([run.pk for run in runs])


def _set(job: Rederivation, **values: object) -> None:
    Rederivation.objects.filter(pk=job.pk).update(touched_at=timezone.now(), **values)
