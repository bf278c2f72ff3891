"""What a workspace decides about reading its logs: one frozen, versioned value."""

import msgspec

THINKING_TOOLS = frozenset(
    {
        *("think", "thinking", "sequentialthinking", "sequential_thinking"),
        *("TodoWrite", "todowrite", "todo_write", "write_todos", "update_plan"),
        *("report_intent", "mcp__sequential-thinking__sequentialthinking"),
    }
)
HANDOFF_TOOLS = frozenset(
    {
        "transfer_to_human_agents",
        "transfer_to_human",
        "escalate_to_human",
        "request_approval",
        "handoff_to_human",
    }
)


class Rules(msgspec.Struct, frozen=True):
    """The choices behind every figure; stored with the facts they led to."""

    version: int = 1
    disabled_evidence: frozenset[str] = frozenset()
    # names of evidence rules that are off, bare ("exit-code") or for one tool
    # ("exit-code@bash")
    sub_tool_of: dict[str, str] = {}
    # shell-like tools whose calls are told apart by the first word of this argument
    thinking_tools: frozenset[str] = THINKING_TOOLS
    handoff_tools: frozenset[str] = HANDOFF_TOOLS
    lookup_tools: frozenset[str] = frozenset()
    # read-only tools beside those whose name says so (get_, list_, search_ …)
    excluded: tuple[str, ...] = ()
    # runs left out of every figure, as patterns “agent: claude-*”; see exclusion.py
    score_name: str = ""
    score_threshold: float | None = None
    score_higher_is_better: bool = True

    def is_enabled(self, rule: str, tool: str) -> bool:
        """Tell whether an evidence rule may judge results of a tool."""
        off = self.disabled_evidence
        return not off or (rule not in off and f"{rule}@{tool}" not in off)


DEFAULT_RULES = Rules()
