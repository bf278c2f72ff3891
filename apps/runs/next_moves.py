"""What the agent did after an error: the machine's guess of its next move. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from .rules import DEFAULT_RULES, Rules
from .transcript import Call, Turn

NextMove = Literal[
    "cut_off",
    "retried_unchanged",
    "retried_changed",
    "escalated",
    "verified",
    "switched_tool",
    "asked_user",
    "apologised",
    "answered",
]

_LOOKUP_NAME = re.compile(
    r"(?i)(?:^|[_.\-/])(?:get|list|read|search|find|lookup|look_up|check|fetch|query|show"
    r"|describe|status|view|inspect|verify)(?:[_.\-/]|$)|^(?:get|list|find|search|read)[A-Z]"
)
_HANDOFF_TEXT = re.compile(
    r"(?i)\bhand(?:ing|ed)? (?:this |it |you |the case )?(?:over|off) to\b"
    r"|\btransferr?(?:ing|ed)? (?:you|this|the case) to\b|\bescalat(?:e|ed|ing) (?:this|it|to)\b"
    r"|\b(?:need|require|await)\w* (?:your |a person's |human |manager |explicit )*approval\b"
    r"|\bplease approve\b"
)
_FAILURE_TEXT = re.compile(
    r"(?i)\b(?:sorry|apolog\w+|unfortunately|unable|not able|can(?:no|')t|could(?: not|n't)"
    r"|couldn't|did(?: not|n't) (?:work|succeed)|went wrong|fail\w*|error\w*|stop here)\b"
)
_QUESTION_END = re.compile(r"\?[\s\"'”’)*_`\]]*$")


def same_arguments(first: str, second: str) -> bool:
    """Compare arguments as parsed JSON; text that is not JSON without outer space."""
    if first == second:
        return True
    if len(first) != len(second) and first.strip()[:1] != "{":
        return first.strip() == second.strip()
    return canonical(first) == canonical(second)


def canonical(arguments: str) -> str:
    """Give arguments with sorted keys and no space, so that equal ones are equal text."""
    try:
        value = msgspec.json.decode(arguments.encode("utf-8", "replace"))
        return msgspec.json.encode(value, order="sorted").decode()
    except (msgspec.DecodeError, RecursionError):
        return arguments.strip()


def next_turn(
    turns: Sequence[Turn], start: int, rules: Rules = DEFAULT_RULES
) -> int | None:
    """Index of the first turn from `start` that is a move of the agent.

    Turns without a word or a call, notices, and turns that only call a thinking tool
    are looked through. None: the thread ends before such a turn.
    """
    for index in range(start, len(turns)):
        turn = turns[index]
        if turn.role != "assistant" or turn.kind:
            continue
        if any(call.tool not in rules.thinking_tools for call in turn.calls):
            return index
        if not turn.calls and turn.text.strip():
            return index
    return None


def classify(
    errors: Sequence[Call],
    turn: Turn | None,
    is_last: bool,
    rules: Rules = DEFAULT_RULES,
) -> list[NextMove]:
    """Classify the next move of each error of one group of parallel calls.

    `turn` is the agent's next turn (None: the log ends), `is_last` says that the agent
    says and does nothing after it. Of two errors of one tool, equal arguments are
    matched to a call first, then order.
    """
    if turn is None:
        return ["cut_off"] * len(errors)
    calls = [call for call in turn.calls if call.tool not in rules.thinking_tools]
    if not calls:
        move = _text_move(turn.text, is_last)
        return [move] * len(errors)
    if len(errors) == 1:
        return [_call_move(errors[0], calls, rules)]
    return _matched_moves(errors, calls, rules)


def _matched_moves(
    errors: Sequence[Call], calls: list[Call], rules: Rules
) -> list[NextMove]:
    moves: dict[int, NextMove] = {}
    free = list(calls)
    for index, error in enumerate(errors):
        twin = next(
            (c for c in free if _same_tool(c, error, rules) and _equal(c, error)), None
        )
        if twin is not None:
            free.remove(twin)
            moves[index] = "retried_unchanged"
    for index, error in enumerate(errors):
        if index not in moves:
            other = next((c for c in free if _same_tool(c, error, rules)), None)
            if other is not None:
                free.remove(other)
                moves[index] = "retried_changed"
    return [
        moves[index] if index in moves else _call_move(error, free or calls, rules)
        for index, error in enumerate(errors)
    ]


def _equal(call: Call, error: Call) -> bool:
    return same_arguments(call.arguments, error.arguments)


def _same_tool(call: Call, error: Call, rules: Rules) -> bool:
    return tool_key(call, rules) == tool_key(error, rules)


def tool_key(call: Call, rules: Rules = DEFAULT_RULES) -> str:
    """Name of the tool; of a shell-like one with the first word of its command."""
    argument = rules.sub_tool_of.get(call.tool)
    if argument is None:
        return call.tool
    command = call.arguments
    try:
        decoded = json.loads(call.arguments)
        if isinstance(decoded, dict):
            command = str(decoded.get(argument, ""))
    except (ValueError, RecursionError):
        pass
    command = re.sub(r"^(?:\s*cd\s+[^;&\n]+(?:&&|;|\n))+", "", command).strip()
    word = command.split(None, 1)[0] if command else ""
    return f"{call.tool} {word}".strip()


def _call_move(error: Call, calls: Iterable[Call], rules: Rules) -> NextMove:
    """First match wins: same tool, hand-off, look-up of the same operation, other."""
    calls = list(calls)
    same = [call for call in calls if _same_tool(call, error, rules)]
    if same:
        unchanged = any(_equal(call, error) for call in same)
        return "retried_unchanged" if unchanged else "retried_changed"
    if any(call.tool in rules.handoff_tools for call in calls):
        return "escalated"
    if any(_is_lookup(call, error, rules) for call in calls):
        return "verified"
    return "switched_tool"


def _is_lookup(call: Call, error: Call, rules: Rules) -> bool:
    """Whether a call looks up what the failed call was about.

    It does where the tool only reads and a telling value (text of four characters or
    more, a number above 9) stands in the arguments of both; the failed call must be
    one that does not itself only read, else there is nothing to verify.
    """
    reads = call.tool in rules.lookup_tools or bool(_LOOKUP_NAME.search(call.tool))
    if not reads or _LOOKUP_NAME.search(error.tool):
        return False
    return bool(_telling_values(call.arguments) & _telling_values(error.arguments))


def _telling_values(arguments: str) -> set[str]:
    try:
        stack = [msgspec.json.decode(arguments.encode("utf-8", "replace"))]
    except (msgspec.DecodeError, RecursionError):
        return set()
    values: set[str] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str) and len(value) >= 4:
            values.add(value)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 9:
            values.add(str(value))
    return values


def _text_move(text: str, is_last: bool) -> NextMove:
    if _HANDOFF_TEXT.search(text):
        return "escalated"
    if _QUESTION_END.search(text[-200:]):
        return "asked_user"
    if is_last and _FAILURE_TEXT.search(text):
        return "apologised"
    return "answered"
