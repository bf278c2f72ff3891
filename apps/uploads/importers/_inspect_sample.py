"""Makes a run of one Inspect sample: messages, with times and tools from events."""

from typing import NamedTuple

from apps.runs.transcript import (
    Call,
    Cause,
    Ending,
    Outcome,
    Result,
    Score,
    Thread,
    ToolDefinition,
    Transcript,
)

from ._wrapper import tool_definitions
from .records import Document
from .thread import ThreadBuilder
from .values import (
    Json,
    blocks_text,
    integer,
    mapping,
    number,
    sequence,
    text,
    timestamp,
)

_CAUSES: dict[str, Cause] = {"parsing": "rejected", "approval": "denied"}
_LIMITS: dict[str, Ending] = {
    "time": "timed_out",
    "working": "timed_out",
    "operator": "cancelled",
}
_ATTACHMENTS = ("attachment://", "tc://")
_MAX_DEPTH = 40


def transcript(
    sample: dict[str, Json], header: dict[str, Json], document: Document
) -> Transcript:
    """Build the run of a sample; `header` is the log without its samples."""
    evaluation = mapping(header.get("eval"))
    events = _Events(sample)
    epoch, sample_id = text(sample.get("epoch")), text(sample.get("id"))
    batch = text(evaluation.get("run_id")) or text(evaluation.get("eval_id"))
    uuid = text(sample.get("uuid"))
    scores = _scores(sample, header)
    ending = _ending(sample, text(header.get("status")))
    outcome, outcome_by = _outcome([] if sample.get("error") else scores)
    started = timestamp(sample.get("started_at")) or events.first_at
    ended = timestamp(sample.get("completed_at")) or events.last_at
    return Transcript(
        format="inspect_ai",
        threads=[_thread(sample, events)],
        run_id=uuid or f"{batch}/{sample_id}/{epoch}",
        is_global_id=bool(uuid) or any(sign.isalnum() for sign in batch),
        task_id=sample_id,
        title=text(evaluation.get("task")),
        model=text(evaluation.get("model")),
        agent=text(evaluation.get("solver")),
        source=text(mapping(evaluation.get("dataset")).get("name")),
        tags=[text(tag) for tag in sequence(evaluation.get("tags"))],
        started_at=started or timestamp(evaluation.get("created")),
        ended_at=ended,
        ending=ending,
        outcome=outcome,
        outcome_by=outcome_by,
        scores=[score for score, _ in scores],
        tools=list(events.tools.values()),
        line=document.line,
        offset=document.offset,
    )


class _Timed(NamedTuple):
    at: float | None
    completed: float | None
    usage: dict[str, Json]


class _Events:
    """What the events add to the messages: times by id, tokens, the tools offered."""

    def __init__(self, sample: dict[str, Json]) -> None:
        old = mapping(sample.get("transcript"))
        self.attachments = mapping(sample.get("attachments")) or mapping(
            old.get("content")
        )
        self.calls: dict[str, _Timed] = {}
        self.turns: dict[str, _Timed] = {}
        self.tools: dict[str, ToolDefinition] = {}
        self.first_at: float | None = None
        self.last_at: float | None = None
        for item in sequence(sample.get("events")) or sequence(old.get("events")):
            self._add(mapping(item))

    def _add(self, event: dict[str, Json]) -> None:
        at = timestamp(event.get("timestamp"))
        if at is not None:
            self.first_at = min(at, self.first_at or at)
            self.last_at = max(at, self.last_at or at)
        completed = timestamp(event.get("completed")) or at
        if event.get("event") == "tool":
            self.calls.setdefault(text(event.get("id")), _Timed(at, completed, {}))
        elif event.get("event") == "model":
            output = mapping(event.get("output"))
            choices = sequence(output.get("choices"))
            message = mapping(mapping(choices[0] if choices else None).get("message"))
            timed = _Timed(at, completed, mapping(output.get("usage")))
            self.turns.setdefault(text(message.get("id")), timed)
            for tool in tool_definitions(event.get("tools")):
                if tool.name not in self.tools:
                    tool.description = text(self.resolved(tool.description))
                    self.tools[tool.name] = tool

    def resolved(self, value: Json, depth: int = 0) -> Json:
        """Put attached texts back in the place of their references."""
        if isinstance(value, str):
            if value.startswith(_ATTACHMENTS):
                found = self.attachments.get(value.partition("//")[2])
                return found if isinstance(found, str) else value
            return value
        if depth > _MAX_DEPTH or not self.attachments:
            return value
        if isinstance(value, list):
            return [self.resolved(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        return value


def _thread(sample: dict[str, Json], events: _Events) -> Thread:
    builder = ThreadBuilder()
    own_model = text(mapping(sample.get("output")).get("model"))
    for item in sequence(sample.get("messages")):
        message = mapping(item)
        content = events.resolved(message.get("content"))
        role = message.get("role")
        if role == "tool":
            _add_result(builder, message, content, events)
        elif role == "assistant":
            _add_turn(builder, message, content, events, own_model)
        elif role in ("system", "user"):
            builder.add("system" if role == "system" else "user", blocks_text(content))
    return builder.thread


def _add_turn(
    builder: ThreadBuilder,
    message: dict[str, Json],
    content: Json,
    events: _Events,
    model: str,
) -> None:
    timed = events.turns.get(text(message.get("id")) or "?", _Timed(None, None, {}))
    turn = builder.add(
        "assistant", at=timed.completed, model=text(message.get("model")) or model
    )
    turn.input_tokens = integer(timed.usage.get("input_tokens"))
    turn.output_tokens = integer(timed.usage.get("output_tokens"))
    said: list[Json] = []
    for part in content if isinstance(content, list) else [content]:
        block = mapping(part)
        if block.get("type") == "reasoning":
            turn.reasoning += text(block.get("reasoning"))
        elif block.get("type") == "tool_use":  # a tool that the provider itself ran
            error = block.get("error")
            result = Result(
                text=text(error or block.get("result")),
                is_error=True if error else None,
                flag="error" if error else "",
            )
            call = Call(
                tool=text(block.get("name")),
                arguments=text(block.get("arguments")),
                id=text(block.get("id")),
                result=result,
            )
            turn.calls = [*turn.calls, call]
        else:
            said.append(part)
    turn.text = blocks_text(said)
    for item in sequence(message.get("tool_calls")):
        made = mapping(item)
        own_id = text(made.get("id"))
        call = Call(
            tool=text(made.get("function")),
            arguments=text(events.resolved(made.get("arguments"))),
            id=own_id,
            at=events.calls[own_id].at if own_id in events.calls else turn.at,
        )
        builder.call(turn, call)


def _add_result(
    builder: ThreadBuilder, message: dict[str, Json], content: Json, events: _Events
) -> None:
    error = message.get("error")
    flag = "error"
    if error is None and message.get("tool_error") is not None:
        error, flag = message["tool_error"], "tool_error"
    kind = text(mapping(error).get("type"))
    told = mapping(error).get("message") if isinstance(error, dict) else error
    own_id = text(message.get("tool_call_id"))
    builder.result(
        Result(
            text=blocks_text(content) or text(events.resolved(told)),
            is_error=True if error else None,
            flag=flag if error else "",
            error_code=kind,
            cause=_CAUSES.get(kind, "failed") if kind and kind != "unknown" else "",
            at=events.calls[own_id].completed if own_id in events.calls else None,
        ),
        id=own_id,
        tool=text(message.get("function")),
    )


def _scores(
    sample: dict[str, Json], header: dict[str, Json]
) -> list[tuple[Score, bool | None]]:
    """Give each score and, where its value says so by itself, whether it is correct."""
    named = mapping(sample.get("scores"))
    if not named and sample.get("score") is not None:
        named = {"score": sample["score"]}
    accurate = _accuracy_scorers(header)
    found: list[tuple[Score, bool | None]] = []
    for name, item in named.items():
        value = item.get("value") if isinstance(item, dict) else item
        if isinstance(value, dict):
            for key, part in value.items():
                found.append((_score(f"{name}.{key}", part, None), None))
            continue
        is_correct: bool | None = None
        if value in ("C", "I", "N") and isinstance(value, str):
            is_correct = value == "C"
        elif isinstance(value, bool):
            is_correct = value
        elif name in accurate and number(value) in (0.0, 1.0):
            is_correct = number(value) == 1.0
        higher = True if is_correct is not None or name in accurate else None
        found.append((_score(name, value, higher), is_correct))
    return found


def _score(name: str, value: Json, higher: bool | None) -> Score:
    plain = value if isinstance(value, (str, bool)) else number(value)
    return Score(name, plain, higher_is_better=higher)


def _accuracy_scorers(header: dict[str, Json]) -> set[str]:
    """Name the scorers whose metric is accuracy: there 1 is right and 0 is wrong."""
    found: set[str] = set()
    for item in sequence(mapping(header.get("results")).get("scores")):
        result = mapping(item)
        metrics = mapping(result.get("metrics"))
        if any(name.rpartition("/")[2] == "accuracy" for name in metrics):
            found |= {text(result.get("name")), text(result.get("scorer"))}
    return found


def _outcome(scores: list[tuple[Score, bool | None]]) -> tuple[Outcome, str]:
    """Read the outcome of the only score; of several the workspace has to choose."""
    if len(scores) != 1 or scores[0][1] is None:
        return "unknown", ""
    score, is_correct = scores[0]
    return ("correct" if is_correct else "incorrect"), f"scores.{score.name}"


def _ending(sample: dict[str, Json], status: str) -> Ending:
    if sample.get("error"):
        return "crashed"
    limit = sample.get("limit")
    if limit:
        kind = mapping(limit).get("type") if isinstance(limit, dict) else limit
        return _LIMITS.get(text(kind), "budget_spent")
    if sample.get("scores") or sample.get("score") or status == "success":
        return "submitted"
    return "cancelled" if status == "cancelled" else ""
