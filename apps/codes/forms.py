"""Forms of the code pages."""

from enum import StrEnum

from django import forms

from apps.accounts.models import Workspace
from apps.catalogue.envelope import Category, CommitState, NextAction, RetryDirective
from apps.catalogue.models import Code, RuleKind, Tool
from apps.catalogue.placement import MAX_PATTERN, PatternError, fitting

from .placements import PlacementRefusedError, Plan

MAX_CHOICES = 500


class PlaceForm(forms.Form):
    """Merge a code, split it, or move it to another tool."""

    kind = forms.ChoiceField(
        choices=[
            (k.value, k.label) for k in (RuleKind.MERGE, RuleKind.SPLIT, RuleKind.MOVE)
        ]
    )
    into = forms.ModelChoiceField(
        queryset=Code.objects.none(), required=False, label="Into the code"
    )
    pattern = forms.CharField(
        required=False, max_length=MAX_PATTERN, label="Texts with"
    )
    how = forms.ChoiceField(
        required=False,
        choices=[("words", "these words"), ("regex", "this regular expression")],
        label="Read as",
    )
    where = forms.ChoiceField(
        required=False,
        choices=[("masked", "the normalised text"), ("raw", "the raw text")],
        label="Looked for in",
    )
    name = forms.CharField(required=False, max_length=200, label="Name of the new code")
    tool = forms.CharField(required=False, max_length=200, label="Tool")

    def __init__(self, code: Code, *args: object, **kwargs: object) -> None:
        """Offer the other codes of the code's tool."""
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.code = code
        into = self.fields["into"]
        assert isinstance(into, forms.ModelChoiceField)
        into.queryset = (
            Code.objects.filter(workspace_id=code.workspace_id, tool=code.tool)
            .exclude(pk=code.pk)
            .order_by("title", "key")
        )

    def clean(self) -> dict[str, object]:
        """Each kind needs its own values."""
        values = super().clean() or {}
        kind = values.get("kind")
        if kind == RuleKind.MERGE and not values.get("into"):
            self.add_error("into", "Choose the code that stands.")
        if kind == RuleKind.SPLIT:
            if not values.get("name"):
                self.add_error("name", "Name the failure that is split off.")
            try:
                fitting(
                    str(values.get("pattern") or ""),
                    is_regex=values.get("how") == "regex",
                )
            except PatternError as exc:
                self.add_error("pattern", str(exc))
        if kind == RuleKind.MOVE and not values.get("tool"):
            self.add_error("tool", "Name the tool that it belongs to.")
        if not self.errors:
            try:
                self.plan().check()
            except PlacementRefusedError as exc:
                self.add_error(None, str(exc))
        return values

    def plan(self) -> Plan:
        """Give the rule that was asked for."""
        values, code = self.cleaned_data, self.code
        if values["kind"] == RuleKind.MERGE:
            into = values["into"]
            return Plan(code, RuleKind.MERGE, into.key, into.tool)
        if values["kind"] == RuleKind.MOVE:
            return Plan(code, RuleKind.MOVE, code.key, values["tool"].strip())
        return Plan(
            code,
            RuleKind.SPLIT,
            _new_key(code.tool, values["name"]),
            code.tool,
            pattern=values["pattern"],
            is_regex=values["how"] == "regex",
            is_on_raw=values["where"] == "raw",
        )


def _new_key(tool: str, name: str) -> str:
    """Give `tool.what_failed` for a name in words; a whole key stays."""
    name = name.strip()
    if name.startswith(f"{tool}."):
        return name
    return f"{tool[:90]}.{'_'.join(name.split())}"


def _choices(kind: type[StrEnum]) -> list[tuple[str, str]]:
    return [("", "not said"), *((c.value, c.value.replace("_", " ")) for c in kind)]


class ContractForm(forms.Form):
    """The envelope that a person confirms."""

    category = forms.ChoiceField(required=False, choices=_choices(Category))
    commit_state = forms.ChoiceField(required=False, choices=_choices(CommitState))
    retry_directive = forms.ChoiceField(
        required=False, choices=_choices(RetryDirective)
    )
    next_action = forms.ChoiceField(required=False, choices=_choices(NextAction))
    alternative_tool = forms.CharField(required=False, max_length=200)


class TesterForm(forms.Form):
    """A tool and a text as an agent would receive it."""

    tool = forms.CharField(max_length=200)
    text = forms.CharField(
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 8}),
        label="Text, as the model receives it",
    )


class ToolListForm(forms.Form):
    """A pasted list of tools."""

    tools = forms.CharField(
        max_length=2_000_000,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Result of tools/list, or an array of tools",
    )


def _said(value: bool | None) -> str:
    return {True: "yes", False: "no"}.get(value, "") if value is not None else ""


def _hint(label: str, words: str) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        required=False,
        label=label,
        help_text=words,
        choices=[("", "not said"), ("yes", "yes"), ("no", "no")],
        coerce=lambda value: value == "yes",
        empty_value=None,
    )


class ToolForm(forms.Form):
    """What a person says of a tool."""

    name = forms.CharField(max_length=200)
    description = forms.CharField(
        required=False, max_length=20_000, widget=forms.Textarea(attrs={"rows": 4})
    )
    is_read_only = _hint("Read-only", "It changes nothing.")
    is_destructive = _hint("Destructive", "It may delete or overwrite.")
    is_idempotent = _hint("Idempotent", "The same call twice does what it does once.")
    verification_tool = forms.ModelChoiceField(
        queryset=Tool.objects.none(),
        required=False,
        label="Verification tool",
        help_text="Looks up whether a call of this one took effect.",
    )
    owner = forms.CharField(required=False, max_length=120)
    input_schema = forms.JSONField(
        required=False, widget=forms.Textarea(attrs={"rows": 8, "class": "mono"})
    )

    def __init__(
        self, workspace: Workspace, tool: Tool | None, *args: object, **kwargs: object
    ) -> None:
        """Begin with what is known; offer the other tools for verification."""
        if tool is not None:
            known = {name: getattr(tool, name) for name in self.base_fields}
            hints = ("is_read_only", "is_destructive", "is_idempotent")
            kwargs["initial"] = known | {hint: _said(known[hint]) for hint in hints}
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.workspace, self.tool = workspace, tool
        others = Tool.objects.filter(workspace=workspace).order_by("name")
        field = self.fields["verification_tool"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = others.exclude(pk=tool.pk) if tool else others

    def clean_name(self) -> str:
        """A name once a workspace."""
        name = str(self.cleaned_data["name"]).strip()
        others = Tool.objects.filter(workspace=self.workspace, name=name)
        if others.exclude(pk=self.tool.pk if self.tool else 0).exists():
            raise forms.ValidationError("There is a tool of this name; edit that one.")
        return name
