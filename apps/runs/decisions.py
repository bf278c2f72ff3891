"""What people decide about runs: rules, outcomes, hidden failures. Append-only tables.

A decision about a run is keyed by the run's identity, not by its row: it stands when a
longer version replaces the run, and when rules change.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Workspace

from .choices import OutcomeChoice


class RuleSet(models.Model):
    """One version of a workspace's rules; the one with the highest number holds."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    version = models.IntegerField()  # from 2: version 1 is what Errata starts with
    rules = models.JSONField()  # apps.runs.rules.Rules
    note = models.TextField(blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """A version once."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="ruleset_version_once", fields=["workspace", "version"]
            ),
            models.CheckConstraint(
                name="ruleset_version_from_two", condition=Q(version__gte=2)
            ),
        ]

    def __str__(self) -> str:
        """Name the version."""
        return f"rules {self.version} of workspace {self.workspace_id}"


class RederivationState(models.TextChoices):
    """How far a pass over the stored runs is."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    SUPERSEDED = "superseded", "overtaken by newer rules"


class Rederivation(models.Model):
    """One pass over the stored runs of a workspace, to read them by new rules."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    rules_version = models.IntegerField()
    total = models.IntegerField(default=0)  # runs to read when it was asked for
    done = models.IntegerField(default=0)
    state = models.CharField(
        max_length=10, choices=RederivationState, default=RederivationState.WAITING
    )
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    touched_at = models.DateTimeField(default=timezone.now)  # last sign of a worker

    class Meta:
        """One a version."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rederivation_version_once", fields=["workspace", "rules_version"]
            ),
            models.CheckConstraint(
                name="rederivation_state_is_known",
                condition=Q(state__in=RederivationState.values),
            ),
        ]

    def __str__(self) -> str:
        """Name version and progress."""
        return f"rules {self.rules_version}: {self.done} of {self.total} runs"

    @property
    def is_open(self) -> bool:
        """Whether a worker still has to do with it."""
        return self.state in (RederivationState.WAITING, RederivationState.RUNNING)

    @property
    def share_done(self) -> float:
        """How much of it is done, 0..1."""
        if not self.is_open:
            return 1.0
        return min(1.0, self.done / self.total) if self.total else 0.0


class PersonOutcome(models.Model):
    """A word on how a run ended; the newest counts, `unknown` takes it back."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    run_identity = models.BinaryField()
    outcome = models.CharField(max_length=10, choices=OutcomeChoice)
    note = models.TextField(blank=True)
    said_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    said_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """Looked up by run."""

        constraints: ClassVar = [
            models.CheckConstraint(
                name="personoutcome_is_known",
                condition=Q(outcome__in=OutcomeChoice.values),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "run_identity"], name="personoutcome_run")
        ]

    def __str__(self) -> str:
        """Give the word."""
        return self.outcome


class CountedFailure(models.Model):
    """A person's word on a call that seems to have gone well; the newest counts."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    run_identity = models.BinaryField()
    thread = models.SmallIntegerField()
    turn = models.IntegerField()
    call = models.SmallIntegerField()
    is_failure = models.BooleanField()  # True: count it; False: it did go well
    said_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    said_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """Looked up by run."""

        indexes: ClassVar = [
            models.Index(
                fields=["workspace", "run_identity"], name="countedfailure_run"
            )
        ]

    def __str__(self) -> str:
        """Name place and word."""
        return f"turn {self.turn}, call {self.call}: {self.is_failure}"
