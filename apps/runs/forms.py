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
    errors = forms.ChoiceField(
        required=False,
        choices=[
            ("", "with or without"),
            ("with", "with errors"),
            ("without", "without errors"),
        ],
    )
    model = forms.CharField(required=False)
    agent = forms.CharField(required=False)
    code = forms.IntegerField(required=False, widget=forms.HiddenInput)
    text = forms.IntegerField(required=False, widget=forms.HiddenInput)
    upload = forms.IntegerField(required=False, widget=forms.HiddenInput)
    week = forms.DateField(required=False, widget=forms.HiddenInput)
