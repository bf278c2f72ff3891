"""From a transcript to the facts that are stored as rows. Pure."""

from hashlib import blake2b

import msgspec

from apps.catalogue.fingerprints import v1

from .command_lines import is_shell
from .evidence import Evidence, Verdict, assess
from .next_moves import NextMove, classify, next_turn, same_arguments, tool_key
from .rules import DEFAULT_RULES, Rules
from .transcript import Call, Cause, Thread, Transcript, Turn


Place = tuple[int, int, int]  # thread, turn, call
NOTHING_CHARS = 24
_encode = msgspec.msgpack.Encoder().encode


class ErrorFact(msgspec.Struct):
    """One call that failed, was refused or has no result, and the move after it."""

    thread: int  # index of the thread in the transcript
    turn: int  # index of the turn in the thread
    call: int  # index of the call in the turn
    tool: str
    text: str  # as delivered
    cause: Cause
    evidence: Evidence
    rule: str
    is_delivered: bool
    is_counted: bool  # a tool error that the model saw
    next_move: NextMove | None  # None: not delivered, so there is none to judge
    next_turn: int | None
    loop_length: int  # identical (tool, arguments, code) in a row up to here
    fingerprint: v1.Fingerprint | None  # None where it is not counted
    at: float | None


class Facts(msgspec.Struct):
    """What one transcript says."""

    errors: list[ErrorFact]
    calls: int
    calls_by_tool: dict[str, int]
    turns: int
    input_tokens: int | None
    output_tokens: int | None
    content_hash: bytes  # 16 bytes over all turns
    prefix_hashes: list[bytes]
    # of a run without an id: its main thread up to each turn, and up to each call
    # before its result came; the last one is of the whole thread. Empty for others
    masked: list[ErrorFact] = []
    # calls that seem to have gone well and may hide a failure: suggestions for a
    # person, in no count

    @property
    def counted(self) -> list[ErrorFact]:
        """Give the tool errors that count."""
        return [error for error in self.errors if error.is_counted]


def analyse(transcript: Transcript, rules: Rules = DEFAULT_RULES) -> Facts:
    """Find errors, causes, next moves and loops in every thread of a run."""
    rules = _with_read_only_tools(rules, transcript)
    facts = Facts([], 0, {}, 0, None, None, b"", [])
    content: list[str | int | None] = [transcript.format]
    empty: list[Place] = []
    for index, thread in enumerate(transcript.threads):
        _read_thread(facts, index, thread, rules, content, empty)
    facts.content_hash = blake2b(_encode(content), digest_size=16).digest()
    if empty:
        facts.masked.extend(_empty_results(transcript, empty, rules))
    if not transcript.run_id:
        facts.prefix_hashes = _prefix_hashes(transcript)
    return facts


def _with_read_only_tools(rules: Rules, transcript: Transcript) -> Rules:
    """Add the tools that the log itself declares read-only to the look-up tools."""
    declared = {tool.name for tool in transcript.tools if tool.read_only}
    if declared <= rules.lookup_tools:
        return rules
    lookup_tools = rules.lookup_tools | declared
    return msgspec.structs.replace(rules, lookup_tools=lookup_tools)


def _read_thread(
    facts: Facts,
    index: int,
    thread: Thread,
    rules: Rules,
    content: list[str | int | None],
    empty: list[Place],
) -> None:
    """Add a thread's facts; besides, what it says, and where nothing came back."""
    turns = thread.turns
    facts.turns += len(turns)
    by_tool = facts.calls_by_tool
    last_move: int | None = None
    loops: dict[str, _Loop] = {}
    content += (thread.id, len(turns))
    for number, turn in enumerate(turns):
        calls = turn.calls
        content += (turn.role, turn.text, len(calls))
        if turn.input_tokens is not None:
            facts.input_tokens = (facts.input_tokens or 0) + turn.input_tokens
        if turn.output_tokens is not None:
            facts.output_tokens = (facts.output_tokens or 0) + turn.output_tokens
        if not calls:
            continue
        facts.calls += len(calls)
        counted: list[tuple[Call, ErrorFact]] = []
        for position, call in enumerate(calls):
            text = call.result.text if call.result else None
            content += (call.tool, call.arguments, text)
            by_tool[call.tool] = by_tool.get(call.tool, 0) + 1
            verdict = assess(call, rules)
            if verdict is None:
                if text is not None and len(text) <= NOTHING_CHARS:
                    empty.append((index, number, position))
                continue
            fact = _fact((index, number, position), turn, call, verdict)
            if verdict.evidence == "masked":
                facts.masked.append(fact)
                continue
            facts.errors.append(fact)
            if fact.is_counted:
                counted.append((call, fact))
        if counted:
            if last_move is None:
                last_move = _last_move(turns)
            _set_moves(counted, turns, number, last_move, rules)
        if counted or loops:
            loops = _count_loops(turn, counted, loops, rules)


def _fact(place: Place, turn: Turn, call: Call, verdict: Verdict) -> ErrorFact:
    thread, number, position = place
    result = call.result
    text = result.text if result else ""
    at = result.at if result else None
    if at is None:
        at = call.at if call.at is not None else turn.at
    counted = verdict.is_tool_error
    return ErrorFact(
        thread=thread,
        turn=number,
        call=position,
        tool=call.tool,
        text=text,
        cause=verdict.cause,
        evidence=verdict.evidence,
        rule=verdict.rule,
        is_delivered=verdict.is_delivered,
        is_counted=counted,
        next_move=None,
        next_turn=None,
        loop_length=0,
        fingerprint=v1.fingerprint(call.tool, text) if counted else None,
        at=at,
    )


def _set_moves(
    errors: list[tuple[Call, ErrorFact]],
    turns: list[Turn],
    number: int,
    last_move: int,
    rules: Rules,
) -> None:
    """The next move is the first after all results of the group have come back.

    A result that the model never saw holds nothing up.
    """
    start = number + 1
    for call in turns[number].calls:
        result = call.result
        if result is not None and result.delivered and result.turns_before is not None:
            start = max(start, result.turns_before)
    index = next_turn(turns, start, rules)
    turn = turns[index] if index is not None else None
    moves = classify([call for call, _ in errors], turn, index == last_move, rules)
    for (_, fact), move in zip(errors, moves, strict=True):
        fact.next_move = move
        fact.next_turn = index


def _last_move(turns: list[Turn]) -> int:
    """Index of the last turn in which the agent says or does something; -1: none."""
    for index in range(len(turns) - 1, -1, -1):
        turn = turns[index]
        if turn.role == "assistant" and not turn.kind:
            if turn.calls or turn.text.strip():
                return index
    return -1


class _Loop(msgspec.Struct):
    """The last call of a tool, if it failed, and how often in a row it did so."""

    arguments: str
    code: str
    length: int


def _count_loops(
    turn: Turn,
    errors: list[tuple[Call, ErrorFact]],
    loops: dict[str, _Loop],
    rules: Rules,
) -> dict[str, _Loop]:
    """Carry the loops on through a turn, tool by tool, in the order of its calls.

    A loop of a tool that the turn does not call has ended, unless the turn only calls
    a thinking tool; a call of the same tool that went well, differs or fails otherwise
    ends it too. Calls of other tools beside it do not.
    """
    failed = {id(call): fact for call, fact in errors}
    running: dict[str, _Loop] = {}
    only_thinks = True
    for call in turn.calls:
        thinks = call.tool in rules.thinking_tools
        only_thinks = only_thinks and thinks
        fact = failed.get(id(call))
        tool = tool_key(call, rules)
        if fact is None:
            running.pop(tool, None)
            loops.pop(tool, None)
            continue
        code = fact.fingerprint.key if fact.fingerprint else ""
        before = running.get(tool) or loops.get(tool)
        is_same = (
            before is not None
            and before.code == code
            and same_arguments(before.arguments, call.arguments)
        )
        fact.loop_length = before.length + 1 if before and is_same else 1
        running[tool] = _Loop(call.arguments, code, fact.loop_length)
    return {**loops, **running} if only_thinks else running


_NOTHING = frozenset(
    {"", "[]", "{}", "null", "none", '""', "no results", "no results found", "no data"}
)


def _empty_results(
    transcript: Transcript, places: list[Place], rules: Rules
) -> list[ErrorFact]:
    """Suggest calls that gave nothing, where the same call elsewhere fails or finds.

    A command line may well print nothing, and now something: shells are left out.
    """
    suggested = []
    for place in places:
        thread, number, position = place
        turn = transcript.threads[thread].turns[number]
        call = turn.calls[position]
        if not _gave_nothing(call) or not rules.is_enabled("empty-result", call.tool):
            continue
        if is_shell(call.tool) or call.tool in rules.thinking_tools:
            continue
        if _tells_elsewhere(call, transcript):
            delivered = call.result is not None and call.result.delivered
            verdict = Verdict("failed", "masked", "empty-result", delivered)
            suggested.append(_fact(place, turn, call, verdict))
    return suggested


def _tells_elsewhere(call: Call, transcript: Transcript) -> bool:
    return any(
        other.tool == call.tool
        and other.result is not None
        and not _gave_nothing(other)
        and same_arguments(other.arguments, call.arguments)
        for thread in transcript.threads
        for turn in thread.turns
        for other in turn.calls
    )


def _gave_nothing(call: Call) -> bool:
    """Whether a call came back with nothing, and nothing says that it failed."""
    result = call.result
    if result is None or len(result.text) > NOTHING_CHARS:
        return False
    if result.is_error or result.cause or result.exit_code or result.pending:
        return False
    return result.text.strip().strip(".").lower() in _NOTHING


def _prefix_hashes(transcript: Transcript) -> list[bytes]:
    """Hash the main thread up to each turn, and up to each call without its result.

    A log that was cut while a call was open is thus a prefix of the whole one.
    """
    running = blake2b(transcript.format.encode(), digest_size=16)
    hashes = []
    for turn in transcript.threads[0].turns if transcript.threads else []:
        if any(call.result is not None for call in turn.calls):
            cut = running.copy()
            unanswered = [(call.tool, call.arguments, None) for call in turn.calls]
            cut.update(_encode((turn.role, turn.text, unanswered)))
            hashes.append(cut.digest())
        running.update(_encode(_content(turn)))
        hashes.append(running.digest())
    return hashes


def _content(turn: Turn) -> tuple[str, str, list[tuple[str, str, str | None]]]:
    calls = [
        (call.tool, call.arguments, call.result.text if call.result else None)
        for call in turn.calls
    ]
    return turn.role, turn.text, calls
