"""Invented sessions of a support agent, for the workspace marked “Demo”. Pure, seeded.

Fourteen weeks, six tools. Two rewritten texts help, one harms, one changes nothing, and
one code appears only in the last week.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

WEEKS = 14
RUNS = 2000
SEED = 20_260_907
MODELS = ("model-a", "model-b", "model-c")
EXTRA_CODE_WEEK = WEEKS - 1


@dataclass(frozen=True)
class Habit:
    """How agents react to a text: weights of moves, and chances."""

    moves: tuple[int, int, int, int, int]  # same, changed, other tool, look-up, give up
    fails_again: float  # chance that a repeated call fails as before
    recovers: float  # chance that the run ends correctly all the same


LOST = Habit((64, 12, 7, 5, 12), 0.80, 0.44)
VAGUE = Habit((34, 28, 16, 8, 14), 0.50, 0.64)
CLEAR = Habit((4, 40, 44, 6, 6), 0.08, 0.88)
MISLED = Habit((50, 12, 9, 4, 25), 0.75, 0.42)


@dataclass(frozen=True)
class Failure:
    """One kind of failure: its tool, its text, and perhaps a rewrite of it."""

    tool: str
    text: str
    habit: Habit
    weight: int
    rewrite: str = ""
    rewritten_in: int = WEEKS  # week (from 0) from which tools send the new text
    new_habit: Habit = CLEAR
    first_week: int = 0


FAILURES = (
    Failure(
        "update_event",
        '{"error": "Conflict"}',
        LOST,
        22,
        "This event started at {start} and cannot be moved; nothing was changed."
        " Use create_event to schedule a new one.",
        9,
    ),
    Failure(
        "find_account",
        "ERROR 1054 (42S22): Unknown column 'acct_{n}' in 'where clause' at"
        " db-prod-{k}.internal",
        LOST,
        20,
        "No account matches this customer_ref. Ask the customer for the reference on"
        " the invoice, then call find_account again.",
        10,
    ),
    Failure(
        "search_articles",
        "Too many results ({n}). Add a product name to the query and search again.",
        CLEAR,
        18,
        "The search service reported an issue with result volume ({n}).",
        8,
        MISLED,
    ),
    Failure(
        "issue_refund",
        "Refund limit exceeded for order ORD-{n}.",
        VAGUE,
        14,
        "The refund for order ORD-{n} is over the limit that applies.",
        9,
        VAGUE,
    ),
    Failure("create_invoice", "Gateway timeout after {n} ms", VAGUE, 10),
    Failure("find_account", "Token expired", VAGUE, 7),
    Failure(
        "issue_refund",
        "Refunds above 200.00 need a manager. Nothing was paid. Ask for approval.",
        CLEAR,
        6,
    ),
    Failure("create_event", "Invalid value for 'minutes': {n}", VAGUE, 6),
    Failure(
        "create_invoice",
        "Export job is locked by worker-{k}",
        LOST,
        26,
        first_week=EXTRA_CODE_WEEK,
    ),
)


class Draw:
    """Draws from `Random.random` alone, whose stream Python promises to keep."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random  # noqa: S311 (invented logs)

    def whole(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def pick(self, items: tuple[Any, ...]) -> Any:
        """Draw one of the items."""
        return items[int(self.random() * len(items))]

    def weighted(self, weights: tuple[int, ...]) -> int:
        """Draw a place, each as likely as its weight is great."""
        left = self.random() * sum(weights)
        for index, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return index
        return len(weights) - 1


def arguments(tool: str, draw: Draw) -> dict[str, Any]:
    """Invent arguments for a call."""
    invented: dict[str, Callable[[], dict[str, Any]]] = {
        "find_account": lambda: {"customer_ref": f"C-{draw.whole(10000, 99999)}"},
        "update_event": lambda: {
            "event_id": f"evt_{draw.whole(1000, 9999)}",
            "start": f"2026-11-{draw.whole(10, 28)}T{draw.whole(8, 17):02}:00",
        },
        "create_event": lambda: {
            "title": draw.pick(("Review", "Handover", "Call", "Training")),
            "minutes": draw.pick((15, 30, 45, 60)),
        },
        "issue_refund": lambda: {
            "order": f"ORD-{draw.whole(1000, 9999)}",
            "amount": draw.whole(5, 400),
        },
        "search_articles": lambda: {
            "query": draw.pick(("reset", "invoice", "delivery", "login", "export"))
            + f" {draw.whole(1, 99)}"
        },
        "create_invoice": lambda: {
            "order": f"ORD-{draw.whole(1000, 9999)}",
            "due_days": draw.pick((14, 30)),
        },
    }
    return invented[tool]()


TOOLS = (
    "find_account",
    "update_event",
    "create_event",
    "issue_refund",
    "search_articles",
    "create_invoice",
)


def filled(text: str, draw: Draw) -> str:
    """Fill in what varies of a text."""
    return (
        text.replace("{n}", str(draw.whole(1000, 9999)))
        .replace("{k}", str(draw.whole(1, 9)))
        .replace("{start}", f"{draw.whole(8, 17):02}:{draw.pick((0, 15, 30)):02}")
    )


def demo_lines(first_week: datetime, now: datetime) -> Iterator[str]:
    """Yield a JSON line a run, over fourteen weeks from the Monday `first_week`.

    The last week is the one that `now` is in; its runs lie before `now`.
    """
    for index in range(RUNS):
        yield json.dumps(_run(index, first_week, now), ensure_ascii=False)


def _run(index: int, first_week: datetime, now: datetime) -> dict[str, Any]:
    draw = Draw(f"demo/{SEED}/{index}")
    week = index * WEEKS // RUNS
    monday = first_week + timedelta(weeks=week)
    length = min(timedelta(days=7), max(now - monday, timedelta(hours=1)))
    started = monday + length * draw.random()
    clock = _Clock(started)
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are the support desk's agent."},
        {
            "role": "user",
            "content": f"Please take care of case {draw.whole(100, 999)}.",
        },
    ]
    chance = 0.93
    gave_up = False
    for _ in range(draw.whole(3, 7)):
        tool = draw.pick(TOOLS)
        failure = _failure(tool, week, draw) if draw.random() < 0.12 else None
        if failure is None:
            _call(messages, clock, tool, arguments(tool, draw), '{"ok": true}', False)
            continue
        is_new = bool(failure.rewrite) and week >= failure.rewritten_in
        habit = failure.new_habit if is_new else failure.habit
        chance = min(chance, habit.recovers)
        text = failure.rewrite if is_new else failure.text
        gave_up = _fail(messages, clock, failure.tool, text, habit, draw)
        if gave_up:
            break
    correct = draw.random() < (chance * 0.4 if gave_up else chance)
    last = (
        "I am sorry, I could not finish this case."
        if gave_up
        else "Done. The case is taken care of."
    )
    messages.append(
        {"role": "assistant", "content": last, "timestamp": clock.tick(draw)}
    )
    known = draw.random() > 0.1
    return {
        "run_id": f"demo-{index:04}",
        "started_at": started.isoformat(),
        "ended_at": messages[-1]["timestamp"],
        "model": draw.pick(MODELS),
        "agent": {"name": "support-desk", "version": f"3.{week // 4}"},
        "messages": messages,
        "outcome": {"success": correct} if known else None,
    }


class _Clock:
    """Gives each message a time a few seconds after the one before."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def tick(self, draw: Draw | None = None) -> str:
        self.now += timedelta(seconds=draw.whole(1, 6) if draw else 2)
        return self.now.isoformat()


def _failure(tool: str, week: int, draw: Draw) -> Failure:
    live = tuple(f for f in FAILURES if f.first_week <= week)
    return live[draw.weighted(tuple(f.weight for f in live))]


def _call(
    messages: list[dict[str, Any]],
    clock: _Clock,
    tool: str,
    values: dict[str, Any],
    result: str,
    is_error: bool,
) -> None:
    call_id = f"call_{len(messages):03}"
    function = {"name": tool, "arguments": json.dumps(values)}
    call = {"id": call_id, "type": "function", "function": function}
    messages.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call],
            "timestamp": clock.tick(),
        }
    )
    answer: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": call_id,
        "name": tool,
        "content": result,
        "timestamp": clock.tick(),
    }
    if is_error:
        answer["is_error"] = True
    messages.append(answer)


def _fail(
    messages: list[dict[str, Any]],
    clock: _Clock,
    tool: str,
    text: str,
    habit: Habit,
    draw: Draw,
) -> bool:
    """Add a failing call and what the agent does after it; True if it gives up."""
    values = arguments(tool, draw)
    delivered = filled(text, draw)
    for _ in range(6):
        _call(messages, clock, tool, values, delivered, True)
        move = draw.weighted(habit.moves)
        if move == 4:
            return True
        if move == 2:
            other = draw.pick(tuple(t for t in TOOLS if t != tool))
            _call(messages, clock, other, arguments(other, draw), '{"ok": true}', False)
            return False
        if move == 3 and tool != "find_account":
            look = {"query": next(iter(values.values()))}
            _call(messages, clock, "search_articles", look, '{"rows": [1]}', False)
            return False
        if move == 1:
            values = {**arguments(tool, draw), "note": f"try {draw.whole(1, 99)}"}
        if draw.random() > habit.fails_again:
            _call(messages, clock, tool, values, '{"ok": true}', False)
            return False
    return True
