"""The rules of a workspace as a form in plain words."""

import math
from typing import Any

from django import forms

from .evidence import EVIDENCE_RULES
from .exclusion import KINDS
from .rules import Rules

MOST_LINES = 200


class LinesField(forms.CharField):
    """A text area with one item a line."""

    def __init__(self, **options: Any) -> None:
        """Make a field that may be empty."""
        rows = options.pop("rows", 4)
        widget = forms.Textarea(attrs={"rows": rows, "spellcheck": "false"})
        options = {"required": False, "widget": widget, "max_length": 20_000, **options}
        super().__init__(**options)

    def clean(self, value: Any) -> list[str]:
        """Give the lines that say something, each once, in their order."""
        text = super().clean(value)
        lines = list(dict.fromkeys(filter(None, map(str.strip, text.splitlines()))))
        if len(lines) > MOST_LINES:
            raise forms.ValidationError(f"These are more than {MOST_LINES} lines.")
        return lines


class RulesForm(forms.Form):
    """Every choice of `Rules`, and a note for those who read the history."""

    excluded = LinesField(
        label="Runs to leave out",
        help_text="“kind: words” a line, * stands for anything, for example"
        " “agent: load-test*”. Kinds: " + ", ".join(KINDS) + ".",
    )
    thinking_tools = LinesField(
        label="Thinking tools",
        help_text="Calls of these are looked through: the move after them counts.",
    )
    handoff_tools = LinesField(
        label="Hand-off tools",
        help_text="A call of these is “escalated”: a person takes over or approves.",
    )
    lookup_tools = LinesField(
        label="Look-up tools",
        help_text="Read-only tools beside those whose name says so (get_, list_, …).",
    )
    sub_tool_of = LinesField(
        label="Shell-like tools",
        help_text="“tool: argument” a line, for example “bash: command”: then grep and"
        " pytest, run by the same tool, are two tools.",
    )
    evidence = forms.MultipleChoiceField(
        label="Evidence that counts",
        required=False,
        choices=list(EVIDENCE_RULES.items()),
        widget=forms.CheckboxSelectMultiple,
    )
    disabled_for_tool = LinesField(
        label="Evidence switched off for one tool",
        help_text="“rule@tool” a line, for example “exit-code@bash”.",
    )
    score_name = forms.CharField(
        label="Score", required=False, max_length=200, help_text="As the log spells it."
    )
    score_threshold = forms.FloatField(label="Threshold", required=False)
    score_direction = forms.ChoiceField(
        label="A run is correct if its score is",
        choices=[("higher", "at least the threshold"), ("lower", "at most it")],
    )
    note = forms.CharField(
        label="Why this change", required=False, max_length=500, strip=True
    )

    def clean_excluded(self) -> list[str]:
        """Take patterns of known kinds only."""
        lines: list[str] = []
        for line in self.cleaned_data["excluded"]:
            kind, colon, words = (part.strip() for part in line.partition(":"))
            if not colon or not words or kind.lower() not in KINDS:
                raise forms.ValidationError(
                    f"“{line}” is no pattern. Write a kind ({', '.join(KINDS)}), a"
                    " colon and what to leave out."
                )
            lines.append(f"{kind.lower()}: {words}")
        return lines

    def clean_sub_tool_of(self) -> dict[str, str]:
        """Take pairs of a tool and the name of its argument."""
        pairs: dict[str, str] = {}
        for line in self.cleaned_data["sub_tool_of"]:
            tool, _, argument = (part.strip() for part in line.rpartition(":"))
            if not tool or not argument:
                raise forms.ValidationError(
                    f"“{line}” is no pair. Write the tool, a colon, and the argument"
                    " that holds the command."
                )
            pairs[tool] = argument
        return pairs

    def clean_disabled_for_tool(self) -> list[str]:
        """Take known rules only."""
        for line in self.cleaned_data["disabled_for_tool"]:
            rule, _, tool = line.partition("@")
            if rule not in EVIDENCE_RULES or not tool:
                raise forms.ValidationError(
                    f"“{line}” is not “rule@tool”. The rules are listed above."
                )
        return list(self.cleaned_data["disabled_for_tool"])

    def clean_score_threshold(self) -> float | None:
        """Refuse what is no number."""
        threshold: float | None = self.cleaned_data["score_threshold"]
        if threshold is not None and not math.isfinite(threshold):
            raise forms.ValidationError("The threshold must be a number.")
        return threshold

    def clean(self) -> dict[str, Any]:
        """A score needs its threshold, and the other way round."""
        values = super().clean() or self.cleaned_data
        named, threshold = values.get("score_name"), values.get("score_threshold")
        if "score_threshold" in values and bool(named) != (threshold is not None):
            self.add_error(
                "score_threshold" if named else "score_name",
                "A score needs a name and a threshold; leave both empty for none.",
            )
        return values

    def rules(self) -> Rules:
        """Give the rules that a valid form stands for; their version is not set."""
        values = self.cleaned_data
        off = set(EVIDENCE_RULES) - set(values["evidence"])
        return Rules(
            disabled_evidence=frozenset(off | set(values["disabled_for_tool"])),
            sub_tool_of=values["sub_tool_of"],
            thinking_tools=frozenset(values["thinking_tools"]),
            handoff_tools=frozenset(values["handoff_tools"]),
            lookup_tools=frozenset(values["lookup_tools"]),
            excluded=tuple(values["excluded"]),
            score_name=values["score_name"],
            score_threshold=values["score_threshold"],
            score_higher_is_better=values["score_direction"] == "higher",
        )


def initial_of(rules: Rules) -> dict[str, Any]:
    """Give the form's values for rules as they are."""
    off = rules.disabled_evidence
    return {
        "excluded": "\n".join(rules.excluded),
        "thinking_tools": "\n".join(sorted(rules.thinking_tools)),
        "handoff_tools": "\n".join(sorted(rules.handoff_tools)),
        "lookup_tools": "\n".join(sorted(rules.lookup_tools)),
        "sub_tool_of": "\n".join(f"{t}: {a}" for t, a in rules.sub_tool_of.items()),
        "evidence": [name for name in EVIDENCE_RULES if name not in off],
        "disabled_for_tool": "\n".join(sorted(name for name in off if "@" in name)),
        "score_name": rules.score_name,
        "score_threshold": rules.score_threshold,
        "score_direction": "higher" if rules.score_higher_is_better else "lower",
    }
