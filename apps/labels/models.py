"""What people say of an error and the move after it."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.runs.models import NextMoveChoice, ToolError


class BranchChoice(models.TextChoices):
    """What a text tells the agent to do."""

    RETRY_UNCHANGED = "retry_unchanged", "Retry unchanged"
    RETRY_CHANGED = "retry_changed", "Retry with a change"
    SWITCH_TOOL = "switch_tool", "Use another tool"
    VERIFY = "verify", "Verify first"
    ASK_USER = "ask_user", "Ask the user"
    ASK_APPROVAL = "ask_approval", "Ask for approval"
    STOP = "stop", "Stop and say so"
    SEVERAL = "several", "Several at once"
    NONE = "none", "Nothing"


class LabelledMove(models.TextChoices):
    """What the agent did, as a person sees it; one choice more than the machine has."""

    RETRIED_UNCHANGED = "retried_unchanged", "Retried unchanged"
    RETRIED_CHANGED = "retried_changed", "Retried with a change"
    SWITCHED_TOOL = "switched_tool", "Used another tool"
    VERIFIED = "verified", "Verified"
    ESCALATED = "escalated", "Escalated"
    ASKED_USER = "asked_user", "Asked the user"
    ANSWERED = "answered", "Went on to an answer"
    APOLOGISED = "apologised", "Apologised, took no action"
    CLAIMED_SUCCESS = "claimed_success", "Claimed success"
    CUT_OFF = "cut_off", "The log ends"


class RightMove(models.TextChoices):
    """Whether the move was right."""

    YES = "yes", "Yes"
    NO = "no", "No"
    CANNOT_TELL = "cannot_tell", "Cannot tell"


class SampleBatch(models.Model):
    """One week's sample of pairs, drawn once, with what it was drawn from."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    week = models.DateField()  # first day of the week the errors are of
    seed = models.BigIntegerField()
    frame_runs = models.IntegerField()  # runs with errors it was drawn from
    frame_errors = models.IntegerField()
    drawn_at = models.DateTimeField(default=timezone.now)
    drawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )

    class Meta:
        """One a week."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="samplebatch_week_once", fields=["workspace", "week"]
            ),
        ]

    def __str__(self) -> str:
        """Name the week."""
        return f"batch of {self.week}"


class Pair(models.Model):
    """An error with its next move, drawn into a batch with a known chance."""

    batch = models.ForeignKey(
        SampleBatch, on_delete=models.CASCADE, related_name="pairs"
    )
    error = models.ForeignKey(
        ToolError, on_delete=models.CASCADE, related_name="pairs", db_constraint=False
    )  # without a constraint: a longer version of the run may take the error away
    position = models.IntegerField()
    stratum = models.TextField()
    stratum_number = models.IntegerField(
        db_default=0, default=0
    )  # two may share a name
    stratum_size = models.IntegerField(db_default=0, default=0)  # N_h; 0: not kept
    stratum_drawn = models.IntegerField(db_default=0, default=0)  # n_h
    errors_in_run = models.IntegerField(db_default=0, default=0)  # m
    chance = models.FloatField()  # of being drawn: (1/m) · n_h/N_h
    reviews_wanted = models.SmallIntegerField(default=1)

    class Meta:
        """An error once a batch; a chance is a chance."""

        constraints: ClassVar = [
            models.UniqueConstraint(name="pair_error_once", fields=["batch", "error"]),
            models.UniqueConstraint(
                name="pair_position_once", fields=["batch", "position"]
            ),
            models.CheckConstraint(
                name="pair_chance_is_a_chance", condition=Q(chance__gt=0, chance__lte=1)
            ),
            models.CheckConstraint(
                name="pair_stratum_is_no_smaller_than_drawn",
                condition=Q(
                    errors_in_run__gte=0,
                    stratum_drawn__gte=0,
                    stratum_drawn__lte=F("stratum_size"),
                ),
            ),
        ]

    def __str__(self) -> str:
        """Name batch and place."""
        return f"pair {self.position} of {self.batch_id}"


class Label(models.Model):
    """What a reviewer says of a pair. A later word is a new row; none is changed."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    pair = models.ForeignKey(Pair, on_delete=models.CASCADE, related_name="labels")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    branch = models.CharField(max_length=20, choices=BranchChoice)
    move = models.CharField(max_length=20, choices=LabelledMove)
    was_right = models.CharField(max_length=12, choices=RightMove)
    machine_move = models.CharField(max_length=20, choices=NextMoveChoice)
    note = models.TextField(blank=True)
    is_current = models.BooleanField(default=True)  # the reviewer's latest word
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """One current word a reviewer and pair; only known choices."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="label_current_once",
                fields=["pair", "reviewer"],
                condition=Q(is_current=True),
            ),
            models.CheckConstraint(
                name="label_choices_are_known",
                condition=Q(
                    branch__in=BranchChoice.values,
                    move__in=LabelledMove.values,
                    was_right__in=RightMove.values,
                ),
            ),
        ]

    def __str__(self) -> str:
        """Name reviewer and pair."""
        return f"{self.reviewer} on pair {self.pair_id}"
