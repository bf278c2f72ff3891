"""Turns OpenHands events into a thread; they come flat, paired or flattened."""

from collections.abc import Iterator

from apps.runs.transcript import Call, Ending, Result, ToolDefinition, Turn

from ._wrapper import tool_definitions
from .thread import ThreadBuilder
from .values import Json, boolean, integer, mapping, sequence, text, timestamp

_NO_CALLS = frozenset(
    {
        "message",
        "system",
        "recall",
        "null",
        "change_agent_state",
        "agent_state_changed",
        "condensation",
        "condensation_request",
        "start",
        "pause",
        "resume",
        "stop",
        "push",
        "send_pr",
    }
)
_NO_RESULTS = frozenset({"null", "agent_state_changed", "recall", "condense", "chat"})
_NO_ARGUMENTS = frozenset(
    {"thought", "confirmation_state", "hidden", "kernel_init_code"}
)
_FLAT = frozenset(
    {
        "action",
        "thought",
        "is_confirmed",
        "action_risk",
        "kernel_init_code",
        "keep_prompt",
    }
)
_STATES: dict[str, Ending] = {
    "finished": "submitted",
    "error": "crashed",
    "stopped": "cancelled",
    "rejected": "cancelled",
}


def flat(history: list[Json]) -> Iterator[dict[str, Json]]:
    """Yield the events of a history, also where they stand in pairs."""
    for item in history:
        for event in item if isinstance(item, list) else [item]:
            if isinstance(event, dict):
                yield event


class Events:
    """Collects the events of one run."""

    def __init__(self, model: str = "") -> None:
        """Begin an empty run; `model` is what the file says of all its turns."""
        self.builder = ThreadBuilder()
        self.tools: list[ToolDefinition] = []
        self.version = ""
        self.ending: Ending = ""
        self.times: list[float] = []
        self._model = model
        self._calls: dict[str, Call] = {}  # by event id
        self._passed: set[str] = set()  # ids of events that are no calls of the agent
        self._turn: tuple[str, Turn] | None = None  # response id and its turn
        self._last: Call | None = None  # for events without ids

    def add(self, event: dict[str, Json]) -> None:
        """Add one event."""
        at = timestamp(event.get("timestamp"))
        if at is not None:
            self.times.append(at)
        if "observation" in event:
            self._observation(event, at)
        elif "action" in event:
            self._action(event, at)

    def _action(self, event: dict[str, Json], at: float | None) -> None:
        kind = text(event.get("action"))
        source = event.get("source")
        arguments = mapping(event.get("args")) if "args" in event else event
        own_id = text(event.get("id"))
        is_agents = source == "agent" or (source is None and kind not in _NO_CALLS)
        if kind == "message":
            self._message(event, arguments, source, at)
        elif kind == "system":
            self.builder.add("system", text(arguments.get("content")), at=at)
            self.tools = tool_definitions(arguments.get("tools"))
            self.version = text(arguments.get("openhands_version"))
        elif kind == "condensation" and arguments.get("summary"):
            turn = self.builder.add("user", text(arguments["summary"]), at=at)
            turn.kind = "summary"
        elif kind not in _NO_CALLS and is_agents:
            self._call(event, kind, arguments, at)
            return
        self._passed.add(own_id)
        if kind not in ("recall", "system"):
            self._last = None

    def _message(
        self,
        event: dict[str, Json],
        arguments: dict[str, Json],
        source: Json,
        at: float | None,
    ) -> None:
        said = text(arguments.get("content")) or text(event.get("message"))
        begun = any(turn.role == "assistant" for turn in self.builder.turns)
        if source == "agent" or (source is None and begun):
            self._assistant(event, said, at)
        else:
            self._turn = None
            self.builder.add("user", said, at=at)

    def _assistant(self, event: dict[str, Json], said: str, at: float | None) -> Turn:
        """Give the turn of the response that the event belongs to."""
        made = mapping(event.get("tool_call_metadata")).get("model_response")
        response = text(mapping(made).get("id"))
        if response and self._turn is not None and self._turn[0] == response:
            turn = self._turn[1]
            if said and said != turn.text:
                turn.text = f"{turn.text}\n{said}" if turn.text else said
            return turn
        turn = self.builder.add("assistant", said, at=at, model=self._model)
        self._turn = (response, turn) if response else None
        usages = sequence(mapping(event.get("llm_metrics")).get("token_usages"))
        usage = mapping(usages[-1]) if usages else {}
        turn.input_tokens = integer(usage.get("prompt_tokens"))
        turn.output_tokens = integer(usage.get("completion_tokens"))
        return turn

    def _call(
        self,
        event: dict[str, Json],
        kind: str,
        arguments: dict[str, Json],
        at: float | None,
    ) -> None:
        made = mapping(event.get("tool_call_metadata"))
        thought = text(arguments.get("thought"))
        if kind == "finish":
            final = arguments.get("final_thought", arguments.get("message"))
            thought = thought or text(final)
            self.ending = "submitted"
        turn = self._assistant(event, thought, at)
        dropped = _FLAT if arguments is event else _NO_ARGUMENTS
        kept = {k: v for k, v in arguments.items() if k not in dropped}
        call = Call(
            tool=text(made.get("function_name")) or kind,
            arguments=_as_sent(made) or text(kept),
            id=text(made.get("tool_call_id")),
            at=at,
        )
        self.builder.call(turn, call)
        self._calls[text(event.get("id"))] = call
        self._last = call

    def _observation(self, event: dict[str, Json], at: float | None) -> None:
        kind = text(event.get("observation"))
        extras = mapping(event.get("extras"))
        if kind == "agent_state_changed":
            self.ending = _STATES.get(text(extras.get("agent_state")), self.ending)
        if kind in _NO_RESULTS:
            return
        cause = text(event.get("cause"))
        result = _result(event, kind, extras, at)
        # events with ids name their cause; only those without follow their action
        follows = None if "id" in event else self._last
        call = self._calls.get(cause) if cause else follows
        if call is not None and call.result is None:
            result.turns_before = len(self.builder.turns)
            call.result = result
        elif call is None and not (cause and cause in self._passed):
            self._without_call(event, result)
        if not cause:
            self._last = None

    def _without_call(self, event: dict[str, Json], result: Result) -> None:
        """Keep a result whose action is not there: the harness refused the call."""
        if event.get("source") in ("user", "environment"):
            return
        made = mapping(event.get("tool_call_metadata"))
        turn = self.builder.add("assistant", at=result.at, model=self._model)
        self._turn = None
        if result.flag == "observation":
            result.cause = "rejected"
        turn.calls = [
            Call(
                tool=text(made.get("function_name")) or "unknown",
                id=text(made.get("tool_call_id")),
                result=result,
            )
        ]


def _as_sent(made: dict[str, Json]) -> str:
    """Give the arguments as the model wrote them, where the response is kept."""
    sent_id = made.get("tool_call_id")
    choices = sequence(mapping(made.get("model_response")).get("choices"))
    message = mapping(mapping(choices[0] if choices else None).get("message"))
    for item in sequence(message.get("tool_calls")):
        if sent_id and mapping(item).get("id") == sent_id:
            return text(mapping(mapping(item).get("function")).get("arguments"))
    return ""


def _result(
    event: dict[str, Json], kind: str, extras: dict[str, Json], at: float | None
) -> Result:
    metadata = mapping(extras.get("metadata"))
    code = metadata.get("exit_code", extras.get("exit_code", event.get("exit_code")))
    exit_code = integer(code)
    result = Result(text=text(event.get("content")), exit_code=exit_code, at=at)
    success = boolean(event.get("success", extras.get("success")))
    if exit_code == -1:  # it still runs, or the wait for it ended
        result.pending, result.exit_code = True, None
    elif kind == "error":
        result.is_error, result.flag = True, "observation"
        result.error_code = text(extras.get("error_id"))
    elif success is not None:
        result.is_error, result.flag = not success, "success"
    if kind == "user_rejected":
        result.cause = "denied"
    return result
