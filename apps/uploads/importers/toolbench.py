"""ToolBench answers: one JSON object a run, with the tree of its search.

Export: the files that ToolBench's inference writes, one a query, named after it.
Read: the final branch (the last of `train_messages`) as the main thread; every other
branch of the tree, which was really executed, as a thread of its own; function schemas.
Not read: the ranking of candidates, Elo scores. The file has no times and no model.
Errors: the node's `observation_code` (but for 0, 3 and 4; 1 and 2 were refused before
they ran). It is not complete: a result `{"error": …}` is told by its text, and so is a
failed body inside a success.
Outcomes: `win`: the run reached an answer; nobody judged whether it is right.
"""

from collections.abc import Iterator
from typing import BinaryIO

from apps.runs.transcript import Outcome, Record, Thread, Transcript, Unreadable

from ._names import stem
from ._runs import Found, runs
from ._toolbench_tree import branches, kept_path, steps
from ._wrapper import tool_definitions
from .chat_messages import thread_from_messages
from .head import peek
from .values import Json, boolean, mapping, sequence, text

LABEL = "ToolBench answer"


def detect(head: bytes) -> float:
    """See `win` and `answer_generation` beside the tree."""
    seen = peek(head)
    if "win" not in seen.keys:
        return 0.0
    if "answer_generation" in seen.keys and seen.keys & {"tree", "forward_args"}:
        return 0.95
    return 0.95 if "tree" in seen.keys and b'"node_type"' in seen.cut else 0.0


def read(stream: BinaryIO, name: str) -> Iterator[Record]:
    """Yield the run of the file."""
    for item in runs(stream, _is_run, "a ToolBench answer with its tree"):
        yield item if isinstance(item, Unreadable) else _transcript(item, name)


def _is_run(record: dict[str, Json]) -> bool:
    return "win" in record and bool(record.keys() & {"tree", "answer_generation"})


def _transcript(found: Found, name: str) -> Transcript:
    record = found.value
    answer = mapping(record.get("answer_generation"))
    win = boolean(record.get("win"))
    outcome: Outcome = "unknown"
    if win is not None:
        outcome = "correct" if win else "incorrect"
    id_ = stem(name)
    return Transcript(
        format="toolbench",
        threads=_threads(record, answer),
        run_id=id_,
        task_id=id_.partition("_")[0],
        title=text(answer.get("query"))[:200],
        ending="submitted" if answer.get("finish_type") == "give_answer" else "",
        outcome=outcome,
        outcome_by="win (not judged)" if outcome != "unknown" else "",
        tools=tool_definitions(answer.get("function")),
        unreadable=found.faults,
        line=found.document.line,
        offset=found.document.offset,
    )


def _threads(record: dict[str, Json], answer: dict[str, Json]) -> list[Thread]:
    chains = sequence(answer.get("train_messages"))
    last = next((chain for chain in reversed(chains) if chain), None)
    main = thread_from_messages(sequence(last))
    if not main.turns:
        main = thread_from_messages([{"role": "user", "content": answer.get("query")}])
    calls = [call for turn in main.turns for call in turn.calls]
    roots = steps(mapping(record.get("tree")).get("tree"))
    path = kept_path(roots, calls)
    for call, step in zip(calls, path, strict=False):
        if call.result is None:
            call.result = step.call.result
        elif step.call.result is not None:
            node = step.call.result
            call.result.is_error, call.result.flag = node.is_error, node.flag
            call.result.error_code, call.result.cause = node.error_code, node.cause
    return [main, *branches(roots, path)]
