"""Hostile and messy files, each with what becomes of it."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from tests.factories import as_lines, failing, make_run, step

CONFLICT = failing("update_event", {"id": 7}, "Error: Conflict")
FOUND = step("get_event", {"id": 7}, "found")
RUN = make_run("a", [CONFLICT, FOUND])
OTHER = make_run("b", [FOUND])
LINE, OTHER_LINE = as_lines([RUN]), as_lines([OTHER])
DAY = "2026-11-24T10:00:00Z"


class Outcome(NamedTuple):
    """What is in the workspace after the file."""

    runs: int = 1
    calls: int = 2
    errors: int = 1
    set_aside: int = 0
    moves: tuple[str, ...] = ("switched_tool",)
    start: str | None = DAY


def own(*turns: dict[str, Any], **values: Any) -> bytes:
    """A run in Errata's own format, on one line."""
    run = {"errata": 1, "run_id": "a", "started_at": DAY, "turns": turns, **values}
    return json.dumps(run).encode() + b"\n"


def said(**values: Any) -> dict[str, Any]:
    return {"role": "assistant", **values}


def call(tool: str, text: str | None, is_error: bool | None = None, **more: Any) -> Any:
    """A call in Errata's own format; text None: no result."""
    values: dict[str, Any] = {"tool": tool, "arguments": {"id": 7}, **more}
    if text is not None:
        values["result"] = {"text": text, "is_error": is_error}
    return values


def messages(*items: dict[str, Any], **values: Any) -> bytes:
    """A run of chat messages, written as they are given."""
    return as_lines([{"run_id": "a", "started_at": DAY, "messages": items, **values}])


def asks(*ids: str) -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": i[0], "arguments": "{}"}}
        for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answers(call_id: str, text: str, is_error: bool = False) -> dict[str, Any]:
    return {
        "role": "tool", "tool_call_id": call_id, "content": text, "is_error": is_error
    }  # fmt: skip


USER = {"role": "user", "content": "Please do it."}
END = {"role": "assistant", "content": "Done."}


def claude(*entries: tuple[str, str, Any], session: str = "s1", **more: Any) -> bytes:
    """Lines of a Claude Code session: (kind, id of the message, content)."""
    lines: Iterable[dict[str, Any]] = (
        {
            "type": kind, "uuid": f"{session}-{n}", "sessionId": session,
            "timestamp": f"2026-11-24T10:00:{n:02}Z", "version": "2.0.1",
            "message": {"role": kind, "id": message_id, "content": content}, **more,
        }
        for n, (kind, message_id, content) in enumerate(entries)
    )  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def uses(call_id: str, tool: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": {"n": 1}}


def results(call_id: str, text: str, is_error: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result", "tool_use_id": call_id, "content": text,
        "is_error": is_error,
    }  # fmt: skip


HISTORY = (
    ("user", "m0", "Please."),
    ("assistant", "m1", [uses("c1")]),
    ("user", "m2", [results("c1", "Error: no file", True)]),
)
SESSION = claude(*HISTORY, ("assistant", "m3", [{"type": "text", "text": "Done."}]))

INPUTS: dict[str, tuple[bytes, Outcome]] = {
    "a half line at the end": (LINE + OTHER_LINE[:90], Outcome(set_aside=1)),
    "a half line at the start": (LINE[200:] + LINE, Outcome(set_aside=1)),
    "a half line in the middle": (
        LINE + OTHER_LINE[:90] + b"\n" + OTHER_LINE,
        Outcome(runs=2, calls=3, set_aside=1),
    ),
    "half a line of our own format": (
        own(said(calls=[call("pay", "no", True)]), said(text="Done."))[:-40],
        Outcome(calls=1, set_aside=1, moves=("cut_off",)),
    ),
    "lone surrogates": (
        LINE.replace(b"Conflict", b"\\ud800 Conflict \\udfff"),
        Outcome(),
    ),
    "NUL in a text": (LINE.replace(b"Conflict", b"\\u0000Conflict"), Outcome()),
    "NUL bytes between lines": (LINE + b"\0\0\n" + OTHER_LINE, Outcome(2, 3, 1, 1)),
    "duplicate keys: the last counts": (
        LINE.replace(b'{"run_id": "a"', b'{"run_id": "z", "run_id": "a"') + LINE,
        Outcome(),
    ),
    "two objects on one line": (
        LINE.strip() + b" " + OTHER_LINE,
        Outcome(runs=2, calls=3),
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + LINE, Outcome()),
    "UTF-16": (LINE.decode().encode("utf-16"), Outcome()),
    "UTF-16, big end first": (
        b"\xfe\xff" + LINE.decode().encode("utf-16-be"),
        Outcome(),
    ),
    "CRLF": ((LINE + OTHER_LINE).replace(b"\n", b"\r\n"), Outcome(2, 3)),
    "bytes that are no UTF-8": (
        LINE.replace(b"Conflict", b"Confl\xff\xfect"),
        Outcome(),
    ),
    "deep nesting": (
        LINE + b'{"messages":' + b"[" * 5000 + b"]" * 5000 + b"}\n",
        Outcome(set_aside=1),
    ),
    "a number too large": (
        LINE + b'{"messages": [], "run_id": "c", "started_at": 1e999}\n',
        Outcome(runs=2),
    ),
    "wrong types in every field of a wrapper": (
        LINE + as_lines([{key: [] for key in RUN} | {"messages": [5, None, "x", []]}]),
        Outcome(runs=2, set_aside=4, start=None),
    ),
    "wrong types in a message": (
        messages(
            USER, asks("update"), answers("update", "Error: no", True),
            {"role": 5, "content": {"x": []}, "tool_calls": "no"}, END,
        ),
        Outcome(calls=1, moves=("answered",)),
    ),
    "wrong types in our own format": (
        own(said(text="x")).replace(b'"x"', b"5") + own(said(text="Hi.")),
        Outcome(calls=0, errors=0, set_aside=1, moves=()),
    ),
    "a result without a call: kept with a call of an unknown tool": (
        messages(
            USER, answers("ghost", "Error: no", True), asks("g"), answers("g", "x")
        ),
        Outcome(),
    ),
    "a call without a result": (
        messages(USER, asks("g"), END),
        Outcome(calls=1, errors=0, moves=()),
    ),
    "a result before its call: both are kept, apart": (
        messages(USER, answers("g", "Error: no", True), asks("g"), END),
        Outcome(),
    ),
    "ids of calls that repeat": (
        messages(
            USER, asks("g"), answers("g", "Error: no", True),
            asks("g"), answers("g", "fine"), END,
        ),
        Outcome(calls=2, moves=("retried_unchanged",)),
    ),
    "a run's id that repeats in one file": (LINE + LINE, Outcome()),
    "parallel calls": (
        messages(
            USER, asks("a1", "b1"), answers("b1", "Error: b", True),
            answers("a1", "Error: a", True), asks("b2"), answers("b2", "fine"), END,
        ),
        Outcome(calls=3, errors=2, moves=("retried_unchanged", "switched_tool")),
    ),
    "a sub-agent": (
        own(
            said(calls=[call("task", "Done.")]), said(text="Done."),
            threads=[{"id": "s", "turns": [
                said(calls=[call("pay", "no", True)]), said(text="It cannot be done."),
            ]}],
        ),
        Outcome(moves=("apologised",)),
    ),
    "a streaming rewrite that repeats earlier messages": (
        claude(
            *HISTORY[:2],
            ("assistant", "m1", [uses("c1")]),
            ("assistant", "m1", [{"type": "text", "text": "Looking."}, uses("c1")]),
            *HISTORY[2:],
            ("assistant", "m3", [{"type": "text", "text": "Done."}]),
        ),
        Outcome(calls=1, moves=("answered",)),
    ),
    "a session that is written twice": (
        SESSION + claude(*HISTORY),
        Outcome(calls=1, moves=("answered",)),
    ),
    "clock skew: results before calls, the end before the start": (
        messages(
            USER | {"timestamp": "2026-11-24T12:00:00Z"},
            asks("g") | {"timestamp": "2026-11-24T11:00:00Z"},
            answers("g", "Error: no", True) | {"timestamp": "2026-11-24T10:00:00Z"},
            END, ended_at="2026-11-24T09:00:00Z",
        ),
        Outcome(calls=1, moves=("answered",)),
    ),
    "a time without a zone is UTC": (
        LINE.replace(DAY.encode(), b"2026-11-24T10:00:00"),
        Outcome(),
    ),
    "a time in another zone": (
        LINE.replace(DAY.encode(), b"2026-11-24T15:30:00+05:30"),
        Outcome(),
    ),
    "seconds": (LINE.replace(f'"{DAY}"'.encode(), b"1795514400"), Outcome()),
    "milliseconds": (LINE.replace(f'"{DAY}"'.encode(), b"1795514400000"), Outcome()),
    "nanoseconds": (
        LINE.replace(f'"{DAY}"'.encode(), b"1795514400000000000"),
        Outcome(),
    ),
    "seconds as text": (LINE.replace(DAY.encode(), b"1795514400"), Outcome()),
    "a date that is none": (
        LINE.replace(DAY.encode(), b"2026-13-99T99:00:00Z"),
        Outcome(start=None),
    ),
}  # fmt: skip
