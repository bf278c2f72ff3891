"""From a transcript to the facts that are stored as rows. Pure."""

import msgspec

from apps.catalogue.fingerprints import v1

from .command_lines import is_shell
from .content_hashes import Content, content_hash, prefix_hashes
from .evidence import PERSONS_WORD, Evidence, Verdict, assess
from .loops import Loops, Step, follow
from .next_moves import NextMove, canonical, classify, next_turn, tool_key
from .rules import DEFAULT_RULES, Rules
from .transcript import Call, Cause, Thread, Transcript, Turn

Place = tuple[int, int, int]  # thread, turn, call
NOTHING_CHARS = 24  # no longer than this is a result that says “nothing”


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


def analyse(
    transcript: Transcript,
    rules: Rules = DEFAULT_RULES,
    words: frozenset[Place] = frozenset(),
) -> Facts:
    """Find errors, causes, next moves and loops in every thread of a run.

    `words` are calls that seem to have gone well and failed by a person's word.
    """
    rules = _with_read_only_tools(rules, transcript)
    facts = Facts([], 0, {}, 0, None, None, b"", [])
    content: Content = [transcript.format]
    empty: list[Place] = []
    for index, thread in enumerate(transcript.threads):
        said = {place[1:] for place in words if place[0] == index}
        _read_thread(facts, index, thread, rules, content, empty, said)
    facts.content_hash = content_hash(content)
    if empty:
        facts.masked.extend(_empty_results(transcript, empty, rules))
    if not transcript.run_id:
        facts.prefix_hashes = prefix_hashes(transcript)
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
    content: Content,
    empty: list[Place],
    words: set[tuple[int, int]],
) -> None:
    """Add a thread's facts; besides, what it says, and where nothing came back."""
    turns = thread.turns
    facts.turns += len(turns)
    facts.input_tokens = _sum(facts.input_tokens, [t.input_tokens for t in turns])
    facts.output_tokens = _sum(facts.output_tokens, [t.output_tokens for t in turns])
    by_tool = facts.calls_by_tool
    last_move: int | None = None
    loops: Loops = {}
    content += (thread.id, len(turns))
    for number, turn in enumerate(turns):
        calls = turn.calls
        content += (turn.role, turn.text, len(calls))
        if not calls:
            continue
        facts.calls += len(calls)
        counted: list[tuple[Call, ErrorFact]] = []
        for position, call in enumerate(calls):
            text = call.result.text if call.result else None
            content += (call.tool, call.arguments, text)
            by_tool[call.tool] = by_tool.get(call.tool, 0) + 1
            verdict = assess(call, rules)
            if (number, position) in words:
                verdict = _by_word(call, verdict)
            if verdict is None:
                if text is not None and len(text) <= NOTHING_CHARS:
                    empty.append((index, number, position))
                continue
            fact = _fact((index, number, position), turn, call, verdict)
            if verdict.is_guess:
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
            loops = _set_loops(turn, counted, loops, rules)


def _by_word(call: Call, verdict: Verdict | None) -> Verdict | None:
    """Count a call as failed by a person's word, unless the log itself says so."""
    if call.result is None or not (verdict is None or verdict.is_guess):
        return verdict
    return Verdict("failed", "masked", PERSONS_WORD, call.result.delivered)


def _sum(total: int | None, parts: list[int | None]) -> int | None:
    """Add up what is known; None where nothing is."""
    known = [part for part in parts if part is not None]
    return (total or 0) + sum(known) if known else total


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
        is_agents = turn.role == "assistant" and not turn.kind
        if is_agents and (turn.calls or turn.text.strip()):
            return index
    return -1


def _set_loops(
    turn: Turn, errors: list[tuple[Call, ErrorFact]], loops: Loops, rules: Rules
) -> Loops:
    """Set how often in a row each error has come back; give the loops that go on."""
    thinks = all(call.tool in rules.thinking_tools for call in turn.calls)
    if not errors and not thinks:
        return {}
    failed = {id(call): fact for call, fact in errors}
    steps = []
    for call in turn.calls:
        fact = failed.get(id(call))
        code = fact.fingerprint.key if fact and fact.fingerprint else None
        steps.append(Step(tool_key(call, rules), call.arguments, code))
    running, lengths = follow(steps, loops, goes_on=thinks)
    for call, length in zip(turn.calls, lengths, strict=True):
        if id(call) in failed:
            failed[id(call)].loop_length = length
    return running


_NOTHING = frozenset(
    {"", "[]", "{}", "null", "none", '""', "no results", "no results found", "no data"}
)


def _empty_results(
    transcript: Transcript, places: list[Place], rules: Rules
) -> list[ErrorFact]:
    """Suggest calls that gave nothing, where the same call elsewhere fails or finds.

    A command line may well print nothing, and now something: shells are left out.
    """
    empty: list[tuple[Place, Turn, Call]] = []
    for place in places:
        turn = transcript.threads[place[0]].turns[place[1]]
        call = turn.calls[place[2]]
        is_left_out = is_shell(call.tool) or call.tool in rules.thinking_tools
        if is_left_out or not rules.is_enabled("empty-result", call.tool):
            continue
        if gave_nothing(call):
            empty.append((place, turn, call))
    if not empty:
        return []
    telling = _telling_calls(transcript, {call.tool for _, _, call in empty}, rules)
    return [
        _fact(place, turn, call, Verdict("failed", "masked", "empty-result"))
        for place, turn, call in empty
        if (call.tool, canonical(call.arguments)) in telling
    ]


def _telling_calls(
    transcript: Transcript, tools: set[str], rules: Rules
) -> set[tuple[str, str]]:
    """Give tool and arguments of each call that found something, or failed at it."""
    telling = set()
    for thread in transcript.threads:
        for turn in thread.turns:
            for call in turn.calls:
                if call.tool not in tools or gave_nothing(call):
                    continue
                verdict = assess(call, rules)
                if verdict is None or verdict.cause in ("failed", "rejected"):
                    telling.add((call.tool, canonical(call.arguments)))
    return telling


def gave_nothing(call: Call) -> bool:
    """Whether a call came back with nothing, and nothing says that it failed."""
    result = call.result
    if result is None or len(result.text) > NOTHING_CHARS:
        return False
    if result.is_error or result.cause or result.exit_code or result.pending:
        return False
    return result.text.strip().strip(".").lower() in _NOTHING
