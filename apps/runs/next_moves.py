"""What the agent did after an error: the machine's guess of its next move. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from .command_lines import command_of, first_word
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

_NAME_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_READS = frozenset(
    {
        *("get", "list", "read", "search", "find", "lookup", "look", "check", "fetch"),
        *("query", "show", "describe", "status", "view", "inspect", "verify", "count"),
        *("retrieve", "grep", "rg", "glob", "ls", "cat", "head", "tail", "tree"),
        *("webfetch",),
    }
)
_WRITES = frozenset(
    {
        *("create", "update", "set", "delete", "remove", "add", "send", "write"),
        *("edit", "replace", "post", "put", "patch", "cancel", "book", "issue"),
        *("submit", "move", "rename", "insert", "upload", "start", "stop", "run"),
        *("execute", "exec", "apply", "save", "append", "modify", "transfer"),
        *("refund", "pay", "charge", "checkout"),
    }
)

_HANDOFF_TEXT = re.compile(
    r"(?i)\bhand(?:ing|ed)? (?:this |it |you |the case )?(?:over|off) to\b"
    r"|\btransferr?(?:ing|ed)? (?:you|this|the case) to\b"
    r"|\bescalat(?:e|ed|ing) (?:this|it|to)\b"
)
_APPROVAL_TEXT = re.compile(
    r"(?i)\b(?:need|require|await)\w* "
    r"(?:your |a person's |human |manager |explicit )*approval\b"
    r"|\bplease approve\b|\bdo you approve\b"
)
_SENTENCE_BREAK = re.compile(r"(?<=[.!?？])\s|\n")
_QUESTION_END = re.compile(r"[?？][\s\"'”’)*_`\]]*$")
_GAVE_UP = re.compile(
    r"(?i)\b(?:sorry|apolog\w+|unfortunately|unable|not able|can(?:no|')t"
    r"|could(?: not|n't)|did(?: not|n't) (?:work|succeed)|went wrong|gave up|giving up"
    r"|stop here)\b"
)
_FAILURE_TEXT = re.compile(r"(?i)\b(?:fail\w*|errors?|timed out)\b")
_SUCCESS_TEXT = re.compile(
    r"(?i)\b(?:done|fixed|resolved|solved|complete[ds]?|success\w*|now works?"
    r"|passe[ds])\b"
)


def same_arguments(first: str, second: str) -> bool:
    """Compare arguments as parsed JSON; text that is not JSON without outer space."""
    return first == second or canonical(first) == canonical(second)


def canonical(arguments: str) -> str:
    """Give arguments with sorted keys and no space: equal ones are equal text."""
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
    are looked through; what was said beside such a call is the move only if no other
    follows. None: the thread ends before a move.
    """
    said: int | None = None
    for index in range(start, len(turns)):
        turn = turns[index]
        if turn.role != "assistant" or turn.kind:
            continue
        if any(call.tool not in rules.thinking_tools for call in turn.calls):
            return index
        if turn.text.strip():
            if not turn.calls:
                return index
            said = index if said is None else said
    return said


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
        return [_text_move(turn.text, is_last)] * len(errors)
    if len(errors) == 1:
        return [_call_move(errors[0], calls, rules)]
    return _matched_moves(errors, calls, rules)


def _matched_moves(
    errors: Sequence[Call], calls: Sequence[Call], rules: Rules
) -> list[NextMove]:
    """Give each call to one error, as long as there are enough."""
    moves: dict[int, NextMove] = {}
    free = list(range(len(calls)))
    for wants_equal in (True, False):
        for index, error in enumerate(errors):
            if index in moves:
                continue
            for number in free:
                call = calls[number]
                if not _same_tool(call, error, rules):
                    continue
                if wants_equal and not _equal(call, error):
                    continue
                free.remove(number)
                moves[index] = "retried_unchanged" if wants_equal else "retried_changed"
                break
    rest = [calls[number] for number in free] or calls
    return [
        moves[index] if index in moves else _call_move(error, rest, rules)
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
    word = first_word(command_of(call.arguments, argument))
    return f"{call.tool} {word}".strip()


def _call_move(error: Call, calls: Sequence[Call], rules: Rules) -> NextMove:
    """First match wins: same tool, hand-off, look-up of the same operation, other."""
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
    if not _only_reads(call.tool, rules) or _only_reads(error.tool, rules):
        return False
    return bool(_telling_values(call.arguments) & _telling_values(error.arguments))


def _only_reads(tool: str, rules: Rules) -> bool:
    return tool in rules.lookup_tools or _sounds_like_reading(tool)


@lru_cache(maxsize=4096)
def _sounds_like_reading(tool: str) -> bool:
    """Whether a tool's name says that it reads: its first verb decides.

    `get_or_create` and `search_replace` do more, `check_in` and `check_out` too.
    """
    words = [word.lower() for word in _NAME_WORD.findall(tool.rsplit("__", 1)[-1])]
    writes = _WRITES & set(words)
    if "replace" in writes or (writes and {"and", "or"} & set(words)):
        return False
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in _WRITES or (word == "check" and following in ("in", "out")):
            return False
        if word in _READS:
            return True
    return False


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
    """Read a turn without calls.

    Words of a hand-off count where they state it: “Shall I transfer you?” asks.
    """
    if _APPROVAL_TEXT.search(text) or _hands_off(text):
        return "escalated"
    if _QUESTION_END.search(text[-200:]):
        return "asked_user"
    if is_last and _names_failure(text):
        return "apologised"
    return "answered"


def _hands_off(text: str) -> bool:
    if not _HANDOFF_TEXT.search(text):
        return False
    sentences = _SENTENCE_BREAK.split(text)
    stated = [part for part in sentences if not part.endswith(("?", "？"))]
    return any(_HANDOFF_TEXT.search(part) for part in stated)


def _names_failure(text: str) -> bool:
    """Whether a last word gives up; one that tells of an error it mended does not."""
    if _GAVE_UP.search(text):
        return True
    return bool(_FAILURE_TEXT.search(text)) and not _SUCCESS_TEXT.search(text)
