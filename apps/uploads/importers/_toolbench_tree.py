"""Walks ToolBench's search tree: the branch that was kept, and those that were left."""

from dataclasses import dataclass, field

from apps.runs.transcript import Call, Result, Thread, Turn

from .values import Json, integer, mapping, sequence, text

_FINISHED = frozenset({3, 4})  # the run's own `Finish`, not a failure of a tool
_REFUSED = frozenset({1, 2})  # no such function; arguments that do not fit
MAX_NODES = 200_000


@dataclass(slots=True)
class Step:
    """A node that called a function, with the thought before it."""

    call: Call
    thought: str
    depth: int  # calls before it in its branch
    children: list["Step"] = field(default_factory=list)
    parent: "Step | None" = None

    @property
    def signature(self) -> tuple[str, str]:
        """Give what tells one call from another."""
        return self.call.tool, self.call.arguments.strip()


def steps(tree: Json) -> list[Step]:
    """Give the calls that begin the search; each holds those that followed it.

    A call is an `Action` node with its `Action Input` below it; thoughts stand above.
    """
    roots: list[Step] = []
    stack: list[tuple[dict[str, Json], Step | None, str, str]] = [
        (mapping(tree), None, "", "")
    ]
    count = 0
    while stack and count < MAX_NODES:
        node, parent, thought, tool = stack.pop()
        count += 1
        kind = text(node.get("node_type"))
        said = text(node.get("description"))
        if kind == "Thought":
            thought = f"{thought}\n{said}" if thought else said
        elif kind == "Action":
            tool = said
        elif kind == "Action Input" and tool:
            depth = parent.depth + 1 if parent else 0
            step = Step(_call(node, tool, said), thought, depth, parent=parent)
            (parent.children if parent else roots).append(step)
            parent, thought, tool = step, "", ""
        children = reversed(sequence(node.get("children")))
        stack.extend((mapping(child), parent, thought, tool) for child in children)
    return roots


def _call(node: dict[str, Json], tool: str, arguments: str) -> Call:
    if "observation" not in node:
        return Call(tool=tool, arguments=arguments)
    code = integer(node.get("observation_code"))
    result = Result(text=text(node.get("observation")))
    if code in _FINISHED:
        result.delivered = False
    elif code:
        result.is_error, result.flag = True, "observation_code"
        result.error_code = str(code)
        result.cause = "rejected" if code in _REFUSED else "failed"
    return Call(tool=tool, arguments=arguments, result=result)


def kept_path(roots: list[Step], kept: list[Call]) -> list[Step]:
    """Give the steps that the calls of the final branch are."""
    wanted = [(call.tool, call.arguments.strip()) for call in kept]
    best: Step | None = None
    stack = list(reversed(roots))
    while stack:
        step = stack.pop()
        if step.depth >= len(wanted) or step.signature != wanted[step.depth]:
            continue
        if best is None or step.depth > best.depth:
            best = step
        stack.extend(reversed(step.children))
    path: list[Step] = []
    while best is not None:
        path.append(best)
        best = best.parent
    return path[::-1]


def branches(roots: list[Step], kept: list[Step]) -> list[Thread]:
    """Give each line of calls that was left, from where it leaves another."""
    passed = {id(step) for step in kept}
    threads: list[Thread] = []
    starts = list(reversed(roots))
    while starts:
        step: Step | None = starts.pop()
        turns: list[Turn] = []
        while step is not None and id(step) not in passed:
            turns.append(Turn("assistant", step.thought, [step.call]))
            starts.extend(reversed(step.children[1:]))
            step = step.children[0] if step.children else None
        if step is not None:
            starts.extend(reversed(step.children))
        if turns:
            threads.append(Thread(turns, f"branch-{len(threads) + 1}", "branch"))
    return threads
