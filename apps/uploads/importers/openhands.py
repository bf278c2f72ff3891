"""OpenHands runs: evaluation files (`output.jsonl`) and saved trajectories.

Export: `output.jsonl` in the folder of an evaluation, the resolver's `output.jsonl`, or
“Export trajectory” on the page of a conversation.
Read: four dialects: a list of events; pairs of action and observation; the resolver's
flattened events; a bare list of events. Calls by the name that the model used, their
results with exit codes and times, thoughts as the turn's text, tool schemas.
Not read: the patch, the instance, condensed and recalled context, provider answers.
Errors: `success: false`, an exit code other than 0 (−1 means that it still runs), an
observation `error`; one whose action is not there was refused before it ran. Failures
of the editor have no flag: their text begins with “ERROR:”.
Outcomes: `report.resolved` (also under `test_result`), `test_result.result`, `correct`,
the resolver's `success`; absent until the evaluation ran, and then unknown.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Ending, Outcome, Record, Transcript, Unreadable

from ._documents import unreadable
from ._openhands_events import Events, flat
from ._outcomes import outcome_of
from ._runs import Found, joined, runs
from .head import peek
from .records import documents
from .values import Json, boolean, decode_all, mapping, sequence, text

LABEL = "OpenHands"

_IDS = ("instance_id", "id", "question_id", "issue")


def detect(head: bytes) -> float:
    """See `history` of events beside an instance's id, or bare events with a source."""
    seen = peek(head)
    if "history" in seen.keys and any(key in seen.keys for key in _IDS):
        events = list(flat(sequence(seen.first.get("history"))[:8]))
        if any("action" in event or "observation" in event for event in events):
            return 0.95
        if seen.first and not events and seen.keys & {"git_patch", "test_result"}:
            return 0.8  # it ended before its first event
        cut = b'"action"' in seen.cut and seen.keys & {"instruction", "metadata"}
        return 0.95 if cut else 0.0
    events = [
        event
        for event in seen.objects
        if ("action" in event or "observation" in event) and "source" in event
    ]
    if events and len(events) * 2 > len(seen.objects) and "timestamp" in events[0]:
        return 0.95
    return 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run a line; bare events of a file are one run."""
    head = peek(stream.read(256 << 10))
    stream.seek(0)
    if "history" not in head.keys and head.is_array:
        yield from _bare_events(stream)
        return
    for item in runs(stream, _is_run, "an OpenHands run with a list `history`"):
        yield item if isinstance(item, Unreadable) else _transcript(item)


def _is_run(record: dict[str, Json]) -> bool:
    return isinstance(record.get("history"), list)


def _bare_events(stream: BinaryIO) -> Iterator[Record]:
    events = Events()
    broken: list[Unreadable] = []
    for document in documents(stream):
        try:
            values = decode_all(document.raw)
        except ValueError as exc:
            broken.append(unreadable(document, str(exc)))
            continue
        for event in flat(values):
            events.add(event)
    if not events.builder.turns:
        yield from joined(broken)
        return
    yield Transcript(
        format="openhands",
        threads=[events.builder.thread],
        agent="OpenHands",
        agent_version=events.version,
        started_at=min(events.times, default=None),
        ended_at=max(events.times, default=None),
        ending=events.ending,
        tools=events.tools,
        unreadable=joined(broken),
        line=1,
        offset=0,
    )


def _transcript(found: Found) -> Transcript:
    record = found.value
    metadata = mapping(record.get("metadata"))
    model = text(mapping(metadata.get("llm_config")).get("model"))
    model = model or text(metadata.get("model_name"))
    events = Events(model)
    for event in flat(sequence(record.get("history"))):
        events.add(event)
    error = text(record.get("error"))
    ending = _ending(error) if error else events.ending
    outcome, outcome_by = _outcome(record)
    if ending == "crashed" and outcome == "incorrect":
        outcome, outcome_by = "unknown", ""
    issue = mapping(record.get("issue"))
    own_id = _run_id(record)
    return Transcript(
        format="openhands",
        threads=[events.builder.thread],
        run_id=own_id,
        task_id=own_id,
        title=text(issue.get("title")),
        model=model,
        agent=text(metadata.get("agent_class")) or "OpenHands",
        agent_version=events.version,
        source=text(metadata.get("dataset")),
        started_at=min(events.times, default=None),
        ended_at=max(events.times, default=None),
        ending=ending,
        outcome=outcome,
        outcome_by=outcome_by,
        tools=events.tools,
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _run_id(record: dict[str, Json]) -> str:
    issue = mapping(record.get("issue"))
    if issue:
        owner, repository = text(issue.get("owner")), text(issue.get("repo"))
        return f"{owner}/{repository}#{text(issue.get('number'))}"
    found = (text(record.get(key)) for key in _IDS[:3] if record.get(key) is not None)
    return next(found, "")


def _outcome(record: dict[str, Json]) -> tuple[Outcome, str]:
    """Read what the evaluation found; a failure of the evaluation itself is unknown."""
    result = record.get("test_result")
    inner = mapping(result)
    for report, path in (
        (mapping(record.get("report")), "report"),
        (mapping(inner.get("report")), "test_result.report"),
    ):
        resolved = boolean(report.get("resolved"))
        if resolved is None or (report.get("error_eval") is True and not resolved):
            continue
        return ("correct" if resolved else "incorrect"), f"{path}.resolved"
    for value, path in (
        (inner.get("result"), "test_result.result"),
        (inner.get("resolved"), "test_result.resolved"),
        (result if isinstance(result, bool) else None, "test_result"),
        (record.get("correct"), "correct"),
        (record.get("success"), "success"),
    ):
        outcome = outcome_of(value)
        if outcome is not None and outcome != "unknown":
            return outcome, path
    return "unknown", ""


def _ending(error: str) -> Ending:
    """Read the harness's word on why it stopped the run."""
    lowered = error.lower()
    if "maximum iteration" in lowered or "max_iterations" in lowered:
        return "budget_spent"
    if "budget" in lowered:
        return "budget_spent"
    if "timeout" in lowered or "timed out" in lowered:
        return "timed_out"
    if "stuck" in lowered:
        return "cancelled"
    return "crashed"
