"""The form of a decision."""

from django import forms

from apps.accounts.models import User, Workspace

from .models import DecisionKind


class DecisionForm(forms.Form):
    """What to do about a code, and who does it."""

    kind = forms.ChoiceField(choices=DecisionKind.choices)
    owner = forms.ModelChoiceField(queryset=User.objects.none(), required=False)
    note = forms.CharField(required=False, max_length=1000)

    def __init__(self, workspace: Workspace, *args: object, **kwargs: object) -> None:
        """Offer the members of a workspace as owners."""
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        owner = self.fields["owner"]
        assert isinstance(owner, forms.ModelChoiceField)
        owner.queryset = workspace.people.order_by("first_name", "email")
