"""What other rules would change, on the latest runs, before they are saved."""

import time
from collections import Counter
from dataclasses import dataclass, field

from apps.accounts.models import Workspace
from apps.runs.blob import unpack
from apps.runs.exclusion import excluding_rule
from apps.runs.models import RunTranscript
from apps.runs.outcomes import Said
from apps.runs.rules import Rules

from .candidates import Candidate, candidate
from .models import Upload
from .outcomes import said_outcomes

MOST_RUNS = 500
MOST_SECONDS = 8.0
_STEP = 50


@dataclass(slots=True)
class Change:
    """One count by the rules that hold and by those that are thought of."""

    label: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        """Give what would be more; below 0: less."""
        return self.after - self.before


@dataclass(slots=True)
class Preview:
    """Counts over the latest runs, one a line."""

    runs: int = 0
    changes: list[Change] = field(default_factory=list)

    @property
    def changes_nothing(self) -> bool:
        """Whether every count stays as it is."""
        return all(not change.difference for change in self.changes)


def preview(
    workspace: Workspace, before: Rules, after: Rules, most: int = MOST_RUNS
) -> Preview:
    """Read the latest runs by both rules; stops after some seconds at fewer."""
    kept = RunTranscript.objects.filter(run__workspace=workspace).order_by("-run_id")
    ids = list(kept.values_list("run_id", flat=True)[:most])
    counts = (Counter[str](), Counter[str]())
    until = time.monotonic() + MOST_SECONDS
    read = 0
    for start in range(0, len(ids), _STEP):
        step = ids[start : start + _STEP]
        _count(workspace, step, (before, after), counts)
        read += len(step)
        if time.monotonic() >= until:
            break
    labels = [*_LABELS, *sorted({*counts[0], *counts[1]} - set(_LABELS))]
    return Preview(
        read, [Change(name, counts[0][name], counts[1][name]) for name in labels]
    )


_LABELS = (
    "Runs that count",
    "Runs left out",
    "Tool errors",
    "Runs with an error",
    "… that ended correctly",
    "… that ended incorrectly",
    "Runs that ended correctly",
    "Runs that ended incorrectly",
    "Runs with an unknown outcome",
)


def _count(
    workspace: Workspace,
    run_ids: list[int],
    rules: tuple[Rules, Rules],
    counts: tuple[Counter[str], Counter[str]],
) -> None:
    rows = RunTranscript.objects.filter(run_id__in=run_ids).values_list(
        "data", "run__identity", "run__upload_id"
    )
    stored = [(unpack(d), bytes(identity), upload) for d, identity, upload in rows]
    uploads = [upload for _, _, upload in stored]
    names = dict(Upload.objects.filter(pk__in=uploads).values_list("pk", "name"))
    for by_rules, total in zip(rules, counts, strict=True):
        runs = []
        for transcript, identity, _ in stored:
            run = candidate(transcript, by_rules)
            run.identity = identity
            runs.append(run)
        said = said_outcomes(workspace.pk, runs, by_rules, uploads)
        for run, of_run, upload in zip(runs, said, uploads, strict=True):
            file_name = names.get(upload, "")
            if excluding_rule(run.transcript, file_name, by_rules):
                total["Runs left out"] += 1
            else:
                _add(total, run, of_run)


def _add(total: Counter[str], run: Candidate, said: Said) -> None:
    errors = run.facts.counted
    total["Runs that count"] += 1
    total["Tool errors"] += len(errors)
    total["Runs with an error"] += bool(errors)
    if said.outcome == "unknown":
        total["Runs with an unknown outcome"] += 1
    else:
        ended = "correctly" if said.outcome == "correct" else "incorrectly"
        total[f"Runs that ended {ended}"] += 1
        total[f"… that ended {ended}"] += bool(errors)
    for error in errors:
        if error.next_move:
            total[f"Next move: {error.next_move.replace('_', ' ')}"] += 1
