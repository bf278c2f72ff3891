"""History that a resumed or forked session copied from another: counted once.

Such a session names the run it repeats (`forked_from`). The turns at the beginning of
its main thread that stand there too are left out of its calls, errors and tokens,
whichever of the two comes first; the whole transcript is kept and shown.
"""

from collections.abc import Iterable, Sequence

import msgspec
from django.db import connection

from apps.catalogue.resolve import storable
from apps.runs.analysis import Facts
from apps.runs.blob import unpack
from apps.runs.models import RunTranscript
from apps.runs.rules import Rules
from apps.runs.transcript import Transcript, Turn

from .candidates import Candidate, candidate, with_words

Key = tuple[str, str]  # format and the log's own id


def copied_turns(parent: Transcript, fork: Transcript) -> int:
    """Count the turns that both main threads begin with."""
    if not parent.threads or not fork.threads:
        return 0
    pairs = zip(parent.threads[0].turns, fork.threads[0].turns, strict=False)
    same = 0
    for one, other in pairs:
        if _said(one) != _said(other):
            break
        same += 1
    return same


def _said(turn: Turn) -> tuple[object, ...]:
    calls = [
        (call.tool, call.arguments, call.result.text if call.result else None)
        for call in turn.calls
    ]
    return turn.role, turn.text, calls


def without_copies(facts: Facts, transcript: Transcript, copied: int) -> Facts:
    """Give the facts of a fork without those of its copied turns."""
    turns = transcript.threads[0].turns[:copied]
    by_tool = dict(facts.calls_by_tool)
    for turn in turns:
        for call in turn.calls:
            by_tool[call.tool] -= 1
    return msgspec.structs.replace(
        facts,
        errors=[e for e in facts.errors if e.thread or e.turn >= copied],
        masked=[e for e in facts.masked if e.thread or e.turn >= copied],
        calls=facts.calls - sum(len(turn.calls) for turn in turns),
        calls_by_tool={tool: n for tool, n in by_tool.items() if n},
        input_tokens=_less(facts.input_tokens, [t.input_tokens for t in turns]),
        output_tokens=_less(facts.output_tokens, [t.output_tokens for t in turns]),
    )


def _less(total: int | None, parts: Iterable[int | None]) -> int | None:
    return None if total is None else total - sum(part or 0 for part in parts)


def leave_out_copies(workspace_id: int, runs: Sequence[Candidate]) -> None:
    """Take the copied turns out of the facts of each fork whose first run is known."""
    forks = [run for run in runs if run.transcript.forked_from]
    if not forks:
        return
    first = {_key(run): run.transcript for run in runs}
    wanted = {_parent_key(run) for run in forks} - set(first)
    first |= _stored(workspace_id, wanted)
    for run in forks:
        parent = first.get(_parent_key(run))
        copied = copied_turns(parent, run.transcript) if parent is not None else 0
        if copied:
            run.facts = without_copies(run.facts, run.transcript, copied)


def waiting_forks(
    workspace_id: int, runs: Sequence[Candidate], rules: Rules
) -> dict[int, Candidate]:
    """Give stored forks of runs just written, as they count now; by id of the run."""
    names = {storable(run.transcript.run_id) for run in runs if run.transcript.run_id}
    here = {run.identity for run in runs}
    if not names:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, identity FROM runs_run WHERE workspace_id = %s"
            " AND forked_from <> '' AND forked_from = ANY(%s)"
            " ORDER BY identity FOR UPDATE",
            [workspace_id, sorted(names)],
        )
        rows = [(pk, bytes(identity)) for pk, identity in cursor.fetchall()]
    identities = {pk: identity for pk, identity in rows if identity not in here}
    ids, forks = [], []
    kept = RunTranscript.objects.filter(run_id__in=identities)
    for run_id, data in kept.values_list("run_id", "data"):
        fork = candidate(unpack(data), rules)
        fork.identity, fork.known_id = identities[run_id], run_id
        ids.append(run_id)
        forks.append(fork)
    forks = with_words(workspace_id, forks, rules)
    leave_out_copies(workspace_id, forks)
    return dict(zip(ids, forks, strict=True))


def _key(run: Candidate) -> Key:
    return run.transcript.format, run.transcript.run_id


def _parent_key(run: Candidate) -> Key:
    return run.transcript.format, run.transcript.forked_from


def _stored(workspace_id: int, keys: set[Key]) -> dict[Key, Transcript]:
    if not keys:
        return {}
    names = {storable(run_id): (name, run_id) for name, run_id in keys}
    rows = RunTranscript.objects.filter(
        run__workspace_id=workspace_id, run__log_id__in=names
    ).values_list("run__format", "run__log_id", "data")
    return {
        names[log_id]: unpack(data)
        for name, log_id, data in rows
        if names[log_id][0] == name
    }
