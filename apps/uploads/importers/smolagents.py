"""smolagents: the steps of an agent's memory.

Export: `json.dump(agent.memory.get_full_steps(), file, default=str)`, one file a run,
or a list or `{"steps": […]}` a line.
Read: tool calls with their results, code steps (one call of `python_interpreter`),
plans, errors, usage, times. On a tool error the step's own list of calls is empty: the
calls are taken from the model's message. A step keeps one text for all its calls: each
gets it.
Not read: the model's input messages, which repeat the history; pictures.
Errors: the step's `error`, with its type as the code. `AgentToolCallError` and a
parsing error of a code agent were refused before they ran (rejected).
`AgentGenerationError` is a failure of the provider: it becomes a notice.
Outcomes: not in the file. A final answer ends the run as submitted,
`AgentMaxStepsError` as budget spent.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Call, Record, Result, Transcript, Turn, Unreadable

from ._documents import odd_item, unreadable, values
from ._said import call_in
from ._wrapper import wrapped
from .head import peek
from .records import Document
from .thread import ThreadBuilder
from .values import Json, blocks_text, integer, mapping, sequence, text, timestamp

LABEL = "smolagents"

_CODE = "python_interpreter"
_MARKS = ("model_output_message", "model_output", "observations", "is_final_answer")
_OTHER = ("task", "system_prompt", "plan", "final_answer")


def detect(head: bytes) -> float:
    """See steps with a `step_number` and a model's output."""
    seen = peek(head)
    steps: list[dict[str, Json]] = []
    for record in seen.records:
        steps += [mapping(step) for step in _steps(record) or [record]]
    if any(_is_step(step) for step in steps):
        return 0.9
    is_cut = b'"step_number"' in head and b'"model_output' in head
    other = [step for step in steps if any(key in step for key in _OTHER)]
    return 0.8 if is_cut and len(other) == len(steps) else 0.0


def _is_run(value: Json) -> bool:
    return bool(_steps(value))


def _is_step(value: Json) -> bool:
    step = mapping(value)
    return "step_number" in step and sum(mark in step for mark in _MARKS) > 1


def _steps(record: Json) -> list[Json]:
    if isinstance(record, list):
        return record
    found = mapping(record).get("steps")
    if isinstance(found, list) and any(_is_step(mapping(step)) for step in found):
        return found
    return []


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield a run for each list of steps; bare steps of a file are one run."""
    bare: _Steps | None = None
    faults: list[Unreadable] = []
    for value in values(stream, _is_run, _is_step):
        record = mapping(value.json)
        listed = _steps(value.json)
        if listed:
            steps = _Steps()
            for step in listed:
                steps.add(step, value.document)
            run = wrapped("smolagents", [steps.builder.thread], record, value.document)
            steps.describe(run)
            run.unreadable += [value.fault] if value.fault is not None else []
            yield run
        elif value.fault is not None:
            faults.append(value.fault)
        elif "step_number" in record or any(key in record for key in _OTHER):
            bare = bare or _Steps()
            bare.add(record, value.document)
        else:
            faults.append(unreadable(value.document, "not a step of an agent"))
    if bare is None:
        yield from faults
        return
    run = Transcript("smolagents", [bare.builder.thread], line=1, offset=0)
    bare.describe(run)
    run.unreadable += faults
    yield run


class _Steps:
    """Collects the steps of one run."""

    def __init__(self) -> None:
        self.builder = ThreadBuilder()
        self.unreadable: list[Unreadable] = []
        self.times: list[float] = []
        self.is_code_agent = False
        self.last: dict[str, Json] = {}

    def add(self, item: Json, document: Document) -> None:
        """Add one step of any kind."""
        step = mapping(item)
        if not step:
            self.unreadable.append(odd_item(item, document, "a step"))
            return
        timing = mapping(step.get("timing")) or step
        start = timestamp(timing.get("start_time"))
        end = timestamp(timing.get("end_time"))
        self.times += [time for time in (start, end) if time is not None]
        if "step_number" in step:
            self._action(step, start, end)
        elif "task" in step:
            self.builder.add("user", text(step["task"]), at=start)
        elif "system_prompt" in step:
            self.builder.add("system", blocks_text(step["system_prompt"]), at=start)
        elif "plan" in step:
            self.builder.add("assistant", text(step["plan"]), at=start)
        elif "final_answer" in step:
            self.builder.add("assistant", text(step["final_answer"]), at=start)
        self.last = step

    def _action(
        self, step: dict[str, Json], start: float | None, end: float | None
    ) -> None:
        message = mapping(step.get("model_output_message"))
        error = mapping(step.get("error"))
        kind = text(error.get("type"))
        if kind in ("AgentGenerationError", "AgentMaxStepsError"):
            said = text(error.get("message"))
            self.builder.add("system", said, at=end).kind = "notice"
            return
        said = blocks_text(step.get("model_output")) or blocks_text(
            message.get("content")
        )
        turn = self.builder.add("assistant", said, at=start)
        usage = mapping(step.get("token_usage"))
        turn.input_tokens = integer(usage.get("input_tokens"))
        turn.output_tokens = integer(usage.get("output_tokens"))
        calls = self._calls(step, message, kind)
        for call in calls:
            call.at = start
            self.builder.call(turn, call)
        if kind and not calls:
            said = text(error.get("message"))
            self.builder.add("user", said, at=end).kind = "notice"
        self._results(step, error, calls, end)
        if step.get("is_final_answer") is True:
            self._answer(turn, step, calls)

    def _calls(
        self, step: dict[str, Json], message: dict[str, Json], error: str
    ) -> list[Call]:
        listed = sequence(step.get("tool_calls")) or sequence(message.get("tool_calls"))
        calls = [call_in(mapping(item)) for item in listed]
        code = step.get("code_action")
        self.is_code_agent |= code is not None or any(c.tool == _CODE for c in calls)
        if not calls and (code is not None or (error and self.is_code_agent)):
            source = code if code is not None else step.get("model_output")
            calls = [Call(_CODE, text(source))]
        return calls

    def _results(
        self,
        step: dict[str, Json],
        error: dict[str, Json],
        calls: list[Call],
        end: float | None,
    ) -> None:
        """Give each call the step's observations, or its error.

        Of several calls an error names the one that failed; the others were dropped
        with it and get none.
        """
        seen = step.get("observations")
        message = text(error.get("message"))
        kind = text(error.get("type"))
        named = [call for call in calls if f"'{call.tool}'" in message]
        for call in named if error and named and len(calls) > 1 else calls:
            if not error and seen is None and step.get("action_output") is None:
                continue
            result = Result(text=text(seen), is_error=False, flag="error", at=end)
            if seen is None and not error:
                result.text = text(step.get("action_output"))
            if error:
                result.is_error, result.error_code = True, kind
                result.text = f"{message}\n{result.text}" if seen else message
                refused = ("AgentToolCallError", "AgentParsingError")
                result.cause = "rejected" if kind in refused else ""
            self.builder.result(result, id=call.id, tool=call.tool)

    def _answer(self, turn: Turn, step: dict[str, Json], calls: list[Call]) -> None:
        """Say the final answer in the turn, where a tool call alone gave it."""
        if not turn.text and any(call.tool == "final_answer" for call in calls):
            turn.text = text(step.get("action_output")) or text(
                step.get("observations")
            )

    def describe(self, run: Transcript) -> None:
        """Add to a run what its steps say of it."""
        kind = mapping(self.last.get("error")).get("type")
        if kind == "AgentMaxStepsError":
            run.ending = "budget_spent"
        elif self.last.get("is_final_answer") is True or "final_answer" in self.last:
            run.ending = "submitted"
        run.started_at = run.started_at or min(self.times, default=None)
        run.ended_at = run.ended_at or max(self.times, default=None)
        run.unreadable = [*run.unreadable, *self.unreadable]
