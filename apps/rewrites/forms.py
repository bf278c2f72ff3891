"""The form of a draft."""

from django import forms

from apps.catalogue.envelope import Category, CommitState, NextAction, RetryDirective

from .models import Rewrite


def _choices(names: list[str]) -> list[tuple[str, str]]:
    return [("", "not said"), *((name, name.replace("_", " ")) for name in names)]


class RewriteForm(forms.ModelForm[Rewrite]):
    """The new text and the envelope it promises."""

    category = forms.ChoiceField(
        required=False, choices=_choices([c.value for c in Category])
    )
    commit_state = forms.ChoiceField(
        required=False,
        choices=_choices([c.value for c in CommitState]),
        label="Did state change?",
    )
    retry_directive = forms.ChoiceField(
        required=False,
        choices=_choices([c.value for c in RetryDirective]),
        label="May one retry?",
    )
    next_action = forms.ChoiceField(
        required=False,
        choices=_choices([c.value for c in NextAction]),
        label="What is next?",
    )

    class Meta:
        """Fields of a draft."""

        model = Rewrite
        fields = (
            "agent_message",
            "user_message",
            "category",
            "commit_state",
            "retry_directive",
            "next_action",
            "alternative_tool",
        )
        widgets = {
            "agent_message": forms.Textarea(attrs={"rows": 5, "maxlength": 2000}),
            "user_message": forms.Textarea(
                attrs={"rows": 2, "maxlength": 1000, "class": "low"}
            ),
        }
        labels = {
            "agent_message": "New text, as the model reads it",
            "user_message": "What the customer may be told",
            "alternative_tool": "Tool to switch to",
        }

    def clean_agent_message(self) -> str:
        """A text says something."""
        text = str(self.cleaned_data["agent_message"]).replace("\r\n", "\n").strip()
        if not text:
            raise forms.ValidationError("Write the text that the model is to read.")
        return text


class ShipForm(forms.Form):
    """The day from which tools send the new text."""

    shipped_on = forms.DateField(
        label="Shipped on",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
