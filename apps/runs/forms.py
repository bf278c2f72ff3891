"""Filters of the runs list."""

from django import forms

from .models import OutcomeChoice

SORTS = {
    "started": "started_at",
    "calls": "calls",
    "errors": "errors",
    "loop": "longest_loop",
}


class RunFilter(forms.Form):
    """What may stand in the address of the runs list; unknown values mean no filter."""

    q = forms.CharField(required=False, label="Run, task or title")
    outcome = forms.ChoiceField(
        required=False, choices=[("", "any outcome"), *OutcomeChoice.choices]
    )
    with_errors = forms.ChoiceField(
        required=False,
        choices=[
            ("", "with or without"),
            ("with", "with errors"),
            ("without", "without errors"),
        ],
    )
    left_out = forms.ChoiceField(
        required=False,
        choices=[
            ("", "in the figures"),
            ("only", "left out by a rule"),
            ("both", "both"),
        ],
    )
    model = forms.CharField(required=False)
    agent = forms.CharField(required=False)
    code = forms.IntegerField(required=False, widget=forms.HiddenInput)
    text = forms.IntegerField(required=False, widget=forms.HiddenInput)
    upload = forms.IntegerField(required=False, widget=forms.HiddenInput)
    week = forms.DateField(required=False, widget=forms.HiddenInput)

    def add_prefix(self, field_name: str) -> str:
        """Read `with_errors` from `errors`, a name that every form has for another."""
        return super().add_prefix(
            "errors" if field_name == "with_errors" else field_name
        )


class OutcomeForm(forms.Form):
    """A person's word on how a run ended."""

    outcome = forms.ChoiceField(choices=OutcomeChoice)
    note = forms.CharField(required=False, max_length=500)


class FailureForm(forms.Form):
    """A person's word on a call that seems to have gone well."""

    thread = forms.IntegerField(min_value=0, max_value=32_000)
    turn = forms.IntegerField(min_value=0, max_value=2_000_000_000)
    call = forms.IntegerField(min_value=0, max_value=32_000)
    is_failure = forms.ChoiceField(choices=[("yes", "failed"), ("no", "went well")])

    def place(self) -> tuple[int, int, int]:
        """Give the call's place in its run."""
        values = self.cleaned_data
        return values["thread"], values["turn"], values["call"]
