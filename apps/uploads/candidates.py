"""A run as it is to stand after a batch."""

from collections.abc import Iterable
from dataclasses import dataclass

from apps.catalogue.resolve import Seen
from apps.runs.analysis import Facts, Place, analyse
from apps.runs.people import counted_failures
from apps.runs.rules import Rules
from apps.runs.transcript import Transcript

from .identity import prefix_identity, run_identity


@dataclass(slots=True)
class Candidate:
    """A transcript with its facts and the identity by which the run is known."""

    transcript: Transcript
    facts: Facts
    identity: bytes
    words: frozenset[Place] = frozenset()  # calls that a person counts as failed
    known_id: int | None = None  # id of the row that it replaces


def candidate(
    transcript: Transcript, rules: Rules, words: frozenset[Place] = frozenset()
) -> Candidate:
    """Analyse a transcript; `words` are calls that a person counts as failed."""
    facts = analyse(transcript, rules, words)
    last = facts.prefix_hashes[-1] if facts.prefix_hashes else facts.content_hash
    return Candidate(
        transcript, facts, run_identity(transcript, facts.content_hash, last), words
    )


def identities(run: Candidate) -> list[bytes]:
    """Give a run's identity and, of a run without an id, those of its beginnings."""
    if run.transcript.run_id:
        return [run.identity]
    name, hashes = run.transcript.format, run.facts.prefix_hashes
    return [run.identity, *(prefix_identity(name, h) for h in hashes)]


def with_words(
    workspace_id: int, runs: Iterable[Candidate], rules: Rules
) -> list[Candidate]:
    """Analyse anew those runs of which people have counted a call as failed."""
    runs = list(runs)
    said = counted_failures(workspace_id, [identities(run) for run in runs])
    found = []
    for run, words in zip(runs, said, strict=True):
        again = run
        if words and words != run.words:
            again = candidate(run.transcript, rules, words)
            again.identity, again.known_id = run.identity, run.known_id
        found.append(again)
    return found


def seen(runs: Iterable[Candidate]) -> list[Seen]:
    """List the fingerprints of what counts in these runs, with their texts."""
    return [
        Seen(error.fingerprint, error.tool, error.text)
        for run in runs
        for error in run.facts.errors
        if error.fingerprint is not None
    ]
