"""What differs between two versions of the rules, in words. Pure."""

from collections.abc import Collection

from .rules import Rules

_LISTS = {
    "excluded": "runs left out",
    "thinking_tools": "thinking tools",
    "handoff_tools": "hand-off tools",
    "lookup_tools": "look-up tools",
    "disabled_evidence": "evidence switched off",
}


def changes(before: Rules, after: Rules) -> list[str]:
    """Say what is added to each choice and what is taken away; empty: nothing."""
    found = []
    for name, words in _LISTS.items():
        found += _of_list(words, getattr(before, name), getattr(after, name))
    found += _of_list("sub-tools", _pairs(before), _pairs(after))
    if _score(before) != _score(after):
        found.append(f"outcome by a score: {_score(before)} → {_score(after)}")
    return found


def _of_list(words: str, before: Collection[str], after: Collection[str]) -> list[str]:
    added = sorted(set(after) - set(before))
    gone = sorted(set(before) - set(after))
    found = [f"{words}: + {', '.join(added)}"] if added else []
    if gone:
        found.append(f"{words}: − {', '.join(gone)}")
    if not found and list(before) != list(after) and isinstance(before, tuple):
        found.append(f"{words}: another order")
    return found


def _pairs(rules: Rules) -> list[str]:
    return [f"{tool} by {key}" for tool, key in sorted(rules.sub_tool_of.items())]


def _score(rules: Rules) -> str:
    if not rules.score_name or rules.score_threshold is None:
        return "none"
    sign = "≥" if rules.score_higher_is_better else "≤"
    return f"{rules.score_name} {sign} {rules.score_threshold:g}"
