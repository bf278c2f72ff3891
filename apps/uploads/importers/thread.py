"""Builds a thread turn by turn and gives each result to its call."""

from apps.runs.transcript import Call, Result, Role, Thread, Turn

UNKNOWN_TOOL = "unknown"  # of a result whose call is not in the log and names no tool


class ThreadBuilder:
    """Collects the turns of one thread in file order.

    A result goes to the nearest earlier call with its id that has none yet; without an
    id, to the first open call of its tool, else to the first open call. A result whose
    call is not in the log is kept with a call made for it, since it may be an error.
    """

    def __init__(
        self,
        id: str = "",  # noqa: A002 (named as the field of a thread)
        kind: str = "main",
        agent: str = "",
    ) -> None:
        """Begin an empty thread; `kind` is main, sub_agent or branch."""
        self.thread = Thread(turns=[], id=id, kind=kind, agent=agent)  # type: ignore[arg-type]
        self._open: dict[str, list[Call]] = {}
        self._by_id: dict[str, Call] = {}

    @property
    def turns(self) -> list[Turn]:
        """Give the turns so far."""
        return self.thread.turns

    def add(
        self, role: Role, text: str = "", *, at: float | None = None, model: str = ""
    ) -> Turn:
        """Begin a new turn and give it back, so that a reader can add to it."""
        turn = Turn(role=role, text=text, at=at, model=model)
        self.thread.turns.append(turn)
        return turn

    def call(self, turn: Turn, call: Call) -> Call:
        """Add a call to a turn of this thread; it is open until its result comes."""
        if not turn.calls:
            turn.calls = [call]  # the default list is shared: never append to it
        else:
            turn.calls.append(call)
        self._open.setdefault(call.id, []).append(call)
        if call.id:
            self._by_id[call.id] = call
        return call

    def find(self, call_id: str) -> Call | None:
        """Give the latest call with this id."""
        return self._by_id.get(call_id)

    def result(
        self,
        result: Result,
        *,
        id: str = "",  # noqa: A002 (named as the field of a call)
        tool: str = "",
    ) -> Call:
        """Give a result to its call; give back that call.

        A second result for a call that has one (history written again) is left out.
        """
        call = self._take(id, tool)
        if call is None and id and id in self._by_id:
            return self._by_id[id]
        if call is None:
            turn = self.turns[-1] if self.turns else None
            if turn is None or turn.role != "assistant":
                turn = self.add("assistant", at=result.at)
            call = self.call(turn, Call(tool=tool or UNKNOWN_TOOL, id=id))
            self._take(id, tool or UNKNOWN_TOOL)
        result.turns_before = len(self.turns)
        call.result = result
        return call

    def answer(self, call: Call, result: Result) -> None:
        """Give a result to this very call, where the log keeps the two together."""
        result.turns_before = len(self.turns)
        call.result = result
        waiting = self._open.get(call.id, [])
        self._open[call.id] = [other for other in waiting if other is not call]

    def branch_off(self, start: int, branch_id: str) -> Thread:
        """Move the turns from index `start` on, which were taken back, to a branch.

        The thread goes on from before them. Calls without an id that are still open
        there get no result from the log's later lines.
        """
        gone = self.thread.turns[start:]
        del self.thread.turns[start:]
        for call in (call for turn in gone for call in turn.calls):
            if call.result is not None and call.result.turns_before is not None:
                call.result.turns_before = max(0, call.result.turns_before - start)
            elif not call.id:
                self._open[""] = [c for c in self._open[""] if c is not call]
        agent = self.thread.agent
        return Thread(turns=gone, id=branch_id, kind="branch", agent=agent)

    def _take(self, call_id: str, tool: str) -> Call | None:
        """Take the open call that a result with this id and tool belongs to."""
        if call_id:
            waiting = self._open.get(call_id)
            return waiting.pop() if waiting else None
        waiting = [call for calls in self._open.values() for call in calls]
        for call in waiting:
            if not tool or call.tool == tool:
                self._open[call.id].remove(call)
                return call
        return None
