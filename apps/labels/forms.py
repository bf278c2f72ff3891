"""The three questions."""

from typing import NamedTuple

from django import forms

from .models import BranchChoice, LabelledMove, RightMove


class Option(NamedTuple):
    """One answer with the key that picks it."""

    key: str
    value: str
    label: str


BRANCH_KEYS = "123456789"
MOVE_KEYS = "qwertasdfg"
RIGHT_KEYS = "ynx"


def options(choices: list[tuple[str, str]], keys: str) -> list[Option]:
    """Give each answer its key."""
    return [
        Option(k, value, label) for k, (value, label) in zip(keys, choices, strict=True)
    ]


class LabelForm(forms.Form):
    """What the text told the agent, what it did, and whether that was right."""

    branch = forms.ChoiceField(choices=BranchChoice.choices)
    move = forms.ChoiceField(choices=LabelledMove.choices)
    was_right = forms.ChoiceField(choices=RightMove.choices)
    note = forms.CharField(required=False, max_length=2000)

    QUESTIONS = (
        (
            "branch",
            "What did the text tell it to do?",
            options(BranchChoice.choices, BRANCH_KEYS),
        ),
        ("move", "What did it do?", options(LabelledMove.choices, MOVE_KEYS)),
        (
            "was_right",
            "Was that the right move?",
            options(RightMove.choices, RIGHT_KEYS),
        ),
    )
