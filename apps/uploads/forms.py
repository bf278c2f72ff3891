"""The upload form."""

from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from .importers import readers


class ManyFilesInput(forms.ClearableFileInput):
    """A file field that takes several files."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Cleans each of several files."""

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[Any]]:
        """Give every file; an empty one is let through, its row says what is wrong."""
        files = data if isinstance(data, (list, tuple)) else [data]
        if not any(files):
            raise forms.ValidationError("Choose at least one file.")
        cleaned = [super(ManyFilesField, self).clean(file, initial) for file in files]
        return [file for file in cleaned if file]


def format_choices() -> list[tuple[str, str]]:
    """List the formats by the names people use."""
    known = sorted(
        ((name, reader.LABEL) for name, reader in readers().items()), key=lambda c: c[1]
    )
    return [("", "find out by itself"), *known]


class UploadForm(forms.Form):
    """Files and, where it cannot be found out, their format."""

    files = ManyFilesField(  # type: ignore[assignment] # the form's own `files`
        widget=ManyFilesInput(attrs={"multiple": True}),
        allow_empty_file=True,
        max_length=None,
    )
    format = forms.ChoiceField(required=False, choices=format_choices)
