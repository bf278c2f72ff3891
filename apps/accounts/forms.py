"""Forms of accounts."""

from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.contrib.auth.password_validation import validate_password

from .models import User


class SignInForm(forms.Form):
    """E-mail address and password."""

    email = forms.EmailField(
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True})
    )
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
    user: User | None = None

    def clean(self) -> dict[str, Any]:
        """Find the person; one sentence for every way in which it can fail."""
        data = super().clean() or {}
        if data.get("email") and data.get("password"):
            found = authenticate(
                username=data["email"].lower(), password=data["password"]
            )
            if not isinstance(found, User):
                raise forms.ValidationError(
                    "The address or the password is wrong. Try again, or ask an owner"
                    " for a sign-in link."
                )
            self.user = found
        return data


class AccountForm(forms.ModelForm[User]):
    """Name, address and password of the person signed in."""

    new_password = forms.CharField(
        required=False,
        label="New password",
        help_text="Empty: it stays as it is.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    class Meta:
        """Fields of a person that the person may change."""

        model = User
        fields = ("first_name", "email")

    def clean_email(self) -> str:
        """Addresses are compared in lower case."""
        return str(self.cleaned_data["email"]).lower()

    def clean_new_password(self) -> str:
        """Hold a password against the validators."""
        password = str(self.cleaned_data["new_password"])
        if password:
            validate_password(password, self.instance)
        return password
