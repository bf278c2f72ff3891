"""What a reader hands on: one run as its log tells it. Pure; knows no Django.

A `Transcript` holds threads, a thread its turns in order, a turn its calls, and a
call its result. Times are epoch seconds (UTC). Text is kept as the model read it.
"""

from typing import Literal

import msgspec

Role = Literal["system", "user", "assistant"]
Outcome = Literal["correct", "incorrect", "unknown"]
Ending = Literal[
    "", "submitted", "budget_spent", "timed_out", "crashed", "cancelled"
]  # how the run ended, which is not its outcome; "": the log does not say
Cause = Literal["failed", "rejected", "denied", "cancelled", "no_result"]


class Result(msgspec.Struct, omit_defaults=True):
    """The answer to a call."""

    text: str = ""  # as delivered; "" is an empty answer, not a failed one
    is_error: bool | None = None  # the log's own flag; None: there is none
    flag: str = ""  # the field that flags it: "is_error", "status", "success" …
    exit_code: int | None = None  # of the process behind the call, where a field has it
    error_code: str = ""  # a code or type that a field of the log carries
    cause: Cause | Literal[""] = ""  # where the log itself says it; else ""
    pending: bool = False  # still running: neither success nor failure
    delivered: bool = True  # False: the model never saw the text
    at: float | None = None
    turns_before: int | None = None
    # how many turns of the thread stood before this arrived; None: it came right
    # after its own turn


class Call(msgspec.Struct, omit_defaults=True):
    """A call of a tool by the agent."""

    tool: str
    arguments: str = ""  # JSON text where the log has JSON, else the text as it is
    id: str = ""  # the log's own id; may repeat inside a run
    result: Result | None = None  # None: no result in the log (cause `no_result`)
    at: float | None = None


class Turn(msgspec.Struct, omit_defaults=True):
    """A message; an assistant's turn joins what one model response said and called."""

    role: Role
    text: str = ""
    calls: list[Call] = []
    reasoning: str = ""
    kind: Literal["", "summary", "notice"] = ""
    # "summary": stands for earlier turns (compaction); "notice": the program's own
    # words (a nudge, a hook, a provider's failure): no prompt and no move of the agent
    at: float | None = None
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Thread(msgspec.Struct, omit_defaults=True):
    """Turns of one agent in one line of history; next moves are found inside it."""

    turns: list[Turn]
    id: str = ""  # "": the main thread
    kind: Literal["main", "sub_agent", "branch"] = "main"
    agent: str = ""


class Score(msgspec.Struct, omit_defaults=True):
    """A score as the log has it; it becomes an outcome only by a rule."""

    name: str
    value: float | str | bool | None
    higher_is_better: bool | None = None  # None: the log does not say


class ToolDefinition(msgspec.Struct, omit_defaults=True):
    """What the log says of a tool that was offered to the agent."""

    name: str
    description: str = ""
    input_schema: str = ""  # JSON text
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None


class Unreadable(msgspec.Struct, omit_defaults=True):
    """A stretch that no record could be made of; it is set aside, never dropped."""

    reason: str  # one sentence
    line: int | None = None  # from 1
    offset: int | None = None  # byte offset in the (unpacked) file
    preview: str = ""  # at most 500 characters; redacted before it is stored


class OutcomeRecord(msgspec.Struct, omit_defaults=True):
    """One row of an outcome list: how a run held elsewhere ended."""

    outcome: Outcome
    by: str  # who or what said so: "swe-bench results: resolved"
    run_id: str = ""  # the log's own run id, or …
    task_id: str = ""  # … the instance it was an attempt at
    ending: Ending = ""
    note: str = ""
    line: int | None = None
    offset: int | None = None


class Transcript(msgspec.Struct, omit_defaults=True):
    """One run. Its threads are in the order in which they began; the first is main."""

    format: str  # name of the reader's module
    threads: list[Thread]
    run_id: str = ""  # the log's own id; "": it has none
    is_global_id: bool = False  # False: `run_id` is unique only inside its file
    is_part: bool = False
    # True: only some threads of run `run_id` (a sub-agent's file); it adds to the run
    forked_from: str = ""  # run id whose history this one repeats
    task_id: str = ""  # the instance that the run is an attempt at
    title: str = ""
    model: str = ""
    agent: str = ""
    agent_version: str = ""
    source: str = ""  # submitter or project, where the log names one
    tags: list[str] = []
    started_at: float | None = None
    ended_at: float | None = None
    ending: Ending = ""
    outcome: Outcome = "unknown"
    outcome_by: str = ""  # the field that said so: "reward", "outcome.success" …
    scores: list[Score] = []
    tools: list[ToolDefinition] = []
    unreadable: list[Unreadable] = []  # stretches of a run that otherwise reads
    line: int | None = None  # where it begins in its file
    offset: int | None = None


Record = Transcript | OutcomeRecord | Unreadable


def count_calls(transcript: Transcript) -> int:
    """Count the agent's calls in all threads."""
    return sum(len(turn.calls) for t in transcript.threads for turn in t.turns)
