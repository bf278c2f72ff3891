"""A run as it is to stand after a batch."""

from dataclasses import dataclass

from apps.runs.analysis import Facts, analyse
from apps.runs.rules import Rules
from apps.runs.transcript import Transcript

from .identity import run_identity


@dataclass(slots=True)
class Candidate:
    """A transcript with its facts and the identity by which the run is known."""

    transcript: Transcript
    facts: Facts
    identity: bytes
    known_id: int | None = None  # id of the row that it replaces
    is_changed: bool = True


def candidate(transcript: Transcript, rules: Rules) -> Candidate:
    """Analyse a transcript."""
    facts = analyse(transcript, rules)
    last = facts.prefix_hashes[-1] if facts.prefix_hashes else facts.content_hash
    return Candidate(
        transcript, facts, run_identity(transcript, facts.content_hash, last)
    )
