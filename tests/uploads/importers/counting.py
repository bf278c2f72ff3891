"""Counts what a reader gives of a sample, to be held against a count by hand."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from apps.runs.transcript import Call, Record, Transcript, Unreadable
from tests.uploads.importers.reading import read


class Figures(NamedTuple):
    """What is counted by hand in a sample."""

    runs: int = 1
    calls: int = 0
    missing: int = 0  # calls without a result
    flagged: int = 0  # results whose flag says error
    turns: int = 0  # of all threads, notices and summaries too
    threads: int = 1
    set_aside: int = 0


def json_lines(records: Iterable[Any]) -> bytes:
    """Write one JSON document a line."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read_bytes(reader: Any, raw: bytes, name: str = "session") -> list[Record]:
    """Read a sample to its end."""
    return read(reader, raw, name)


def runs_of(reader: Any, raw: bytes, name: str = "session") -> list[Transcript]:
    """Read a sample that holds nothing but runs."""
    records = read_bytes(reader, raw, name)
    assert [type(record) for record in records] == [Transcript] * len(records)
    return [record for record in records if isinstance(record, Transcript)]


def run_of(reader: Any, raw: bytes, name: str = "session") -> Transcript:
    """Read a sample that holds one run and nothing else."""
    (run,) = runs_of(reader, raw, name)
    return run


def calls_of(*runs: Transcript) -> list[Call]:
    """Give all calls in the order of threads and turns."""
    threads = [thread for run in runs for thread in run.threads]
    return [call for thread in threads for turn in thread.turns for call in turn.calls]


def figures(records: Iterable[Record]) -> Figures:
    """Count what was read."""
    found = list(records)
    runs = [record for record in found if isinstance(record, Transcript)]
    calls = calls_of(*runs)
    inside = sum(len(run.unreadable) for run in runs)
    return Figures(
        runs=len(runs),
        calls=len(calls),
        missing=sum(call.result is None for call in calls),
        flagged=sum(bool(call.result and call.result.is_error) for call in calls),
        turns=sum(len(thread.turns) for run in runs for thread in run.threads),
        threads=sum(len(run.threads) for run in runs),
        set_aside=inside + sum(isinstance(record, Unreadable) for record in found),
    )
