"""Forms of the code pages."""

from django import forms

from apps.catalogue.models import Code, RuleKind
from apps.catalogue.placement import MAX_PATTERN, PatternError, fitting

from .placements import Plan, PlacementRefusedError

MAX_CHOICES = 500


class PlaceForm(forms.Form):
    """Merge a code, split it, or move it to another tool."""

    kind = forms.ChoiceField(
        choices=[(k.value, k.label) for k in (RuleKind.MERGE, RuleKind.SPLIT, RuleKind.MOVE)]
    )
    into = forms.ModelChoiceField(
        queryset=Code.objects.none(), required=False, label="Into the code"
    )
    pattern = forms.CharField(required=False, max_length=MAX_PATTERN, label="Texts with")
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


class TesterForm(forms.Form):
    """A tool and a text as an agent would receive it."""

    tool = forms.CharField(max_length=200)
    text = forms.CharField(
        strip=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 8}),
        label="Text, as the model receives it",
    )
