"""From a transcript to the facts that are stored as rows. Pure."""

from hashlib import blake2b

import msgspec

from apps.catalogue.fingerprints import v1

from .evidence import Evidence, judge
from .next_moves import NextMove, canonical, classify, next_turn, tool_key
from .rules import DEFAULT_RULES, Rules
from .transcript import Call, Cause, Thread, Transcript, Turn


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
    prefix_hashes: list[bytes]  # of the main thread up to each of its turns

    @property
    def counted(self) -> list[ErrorFact]:
        """Give the tool errors that count."""
        return [error for error in self.errors if error.is_counted]


def analyse(transcript: Transcript, rules: Rules = DEFAULT_RULES) -> Facts:
    """Find errors, causes, next moves and loops in every thread of a run."""
    errors: list[ErrorFact] = []
    calls_by_tool: dict[str, int] = {}
    calls = turns = 0
    tokens_in: int | None = None
    tokens_out: int | None = None
    for index, thread in enumerate(transcript.threads):
        turns += len(thread.turns)
        for turn in thread.turns:
            for call in turn.calls:
                calls += 1
                calls_by_tool[call.tool] = calls_by_tool.get(call.tool, 0) + 1
            if turn.input_tokens is not None:
                tokens_in = (tokens_in or 0) + turn.input_tokens
            if turn.output_tokens is not None:
                tokens_out = (tokens_out or 0) + turn.output_tokens
        errors.extend(_thread_errors(index, thread, rules))
    hashes = _prefix_hashes(transcript)
    return Facts(
        errors=errors,
        calls=calls,
        calls_by_tool=calls_by_tool,
        turns=turns,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        content_hash=_content_hash(transcript, hashes),
        prefix_hashes=hashes,
    )


def _thread_errors(index: int, thread: Thread, rules: Rules) -> list[ErrorFact]:
    turns = thread.turns
    last_move = _last_move(turns)
    facts: list[ErrorFact] = []
    loops: dict[tuple[str, str, str], int] = {}
    for number, turn in enumerate(turns):
        if not turn.calls:
            continue
        found: list[tuple[int, Call, ErrorFact]] = []
        for position, call in enumerate(turn.calls):
            verdict = judge(call, rules)
            if verdict is None:
                continue
            text = call.result.text if call.result else ""
            counted = verdict.is_tool_error
            fact = ErrorFact(
                thread=index,
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
                at=(call.result.at if call.result else None) or call.at or turn.at,
            )
            found.append((position, call, fact))
        counted_here = [(call, fact) for _, call, fact in found if fact.is_counted]
        if counted_here:
            _set_moves(counted_here, turns, number, last_move, rules)
        if any(call.tool not in rules.thinking_tools for call in turn.calls):
            loops = _count_loops(counted_here, loops, rules)
        facts.extend(fact for _, _, fact in found)
    return facts


def _set_moves(
    errors: list[tuple[Call, ErrorFact]],
    turns: list[Turn],
    number: int,
    last_move: int,
    rules: Rules,
) -> None:
    """The next move is the first after all results of the group have come back."""
    start = number + 1
    for call in turns[number].calls:
        if call.result is not None and call.result.turns_before is not None:
            start = max(start, call.result.turns_before)
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
        if turn.role == "assistant" and not turn.kind and (turn.text or turn.calls):
            return index
    return -1


def _count_loops(
    errors: list[tuple[Call, ErrorFact]],
    loops: dict[tuple[str, str, str], int],
    rules: Rules,
) -> dict[tuple[str, str, str], int]:
    """Carry on the loops that this turn's errors repeat; the others have ended."""
    running = {}
    for call, fact in errors:
        key = fact.fingerprint.key if fact.fingerprint else ""
        same = (tool_key(call, rules), canonical(call.arguments), key)
        fact.loop_length = running[same] = loops.get(same, 0) + 1
    return running


def _prefix_hashes(transcript: Transcript) -> list[bytes]:
    """Hash of the main thread up to and with each turn."""
    running = blake2b(transcript.format.encode(), digest_size=16)
    hashes = []
    for turn in transcript.threads[0].turns if transcript.threads else []:
        running.update(_turn_bytes(turn))
        hashes.append(running.digest())
    return hashes


def _turn_bytes(turn: Turn) -> bytes:
    return msgspec.msgpack.encode(
        (turn.role, turn.text, [_call_key(call) for call in turn.calls])
    )


def _call_key(call: Call) -> tuple[str, str, str | None]:
    return call.tool, call.arguments, call.result.text if call.result else None


def _content_hash(transcript: Transcript, main: list[bytes]) -> bytes:
    running = blake2b(main[-1] if main else b"", digest_size=16)
    for thread in transcript.threads[1:]:
        running.update(thread.id.encode("utf-8", "replace"))
        for turn in thread.turns:
            running.update(_turn_bytes(turn))
    return running.digest()
