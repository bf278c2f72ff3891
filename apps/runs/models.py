"""What agents did: runs, their errors, and the day rollups of both.

Rows are written by COPY in `uploads.pipeline`; the whole transcript is one compressed
value a run, since pages read it whole and queries never look inside.

The tables below a run have one writer, which writes them with their run in one
transaction. Their keys are indexed but not checked row by row by the database
(`db_constraint=False`): that would cost more than the rows themselves, and would make
deleting a workspace crawl. A test counts orphans instead.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text

from .choices import CauseChoice, EvidenceChoice, NextMoveChoice, OutcomeChoice
from .decisions import (
    CountedFailure,
    PersonOutcome,
    Rederivation,
    RederivationState,
    RuleSet,
)

__all__ = [
    "CauseChoice",
    "CountedFailure",
    "DayCode",
    "DayErrors",
    "DayLeftOut",
    "DayRuns",
    "EvidenceChoice",
    "NextMoveChoice",
    "OutcomeChoice",
    "PersonOutcome",
    "Rederivation",
    "RederivationState",
    "RuleSet",
    "Run",
    "RunCode",
    "RunPrefix",
    "RunTranscript",
    "ToolError",
]


class Run(models.Model):
    """One attempt by an agent at one task."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    upload_id = models.BigIntegerField(db_index=True)
    identity = models.BinaryField()  # 16 bytes; see `identity.py`
    content_hash = models.BinaryField()
    format = models.CharField(max_length=40)
    log_id = models.TextField(blank=True)  # the log's own run id
    forked_from = models.TextField(blank=True)
    task_id = models.TextField(blank=True)
    title = models.TextField(blank=True)
    model = models.TextField(blank=True)
    agent = models.TextField(blank=True)
    agent_version = models.TextField(blank=True)
    source = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    day = models.DateField(null=True)  # of its start, in the workspace's zone
    ending = models.CharField(max_length=14, blank=True)
    outcome = models.CharField(
        max_length=10, choices=OutcomeChoice, default=OutcomeChoice.UNKNOWN
    )
    outcome_by = models.TextField(blank=True)
    turns = models.IntegerField()
    calls = models.IntegerField()
    errors = models.IntegerField()  # tool errors that count
    other_failures = (
        models.IntegerField()
    )  # denied, cancelled, not delivered, no result
    longest_loop = models.IntegerField()
    input_tokens = models.BigIntegerField(null=True)
    output_tokens = models.BigIntegerField(null=True)
    rules_version = models.IntegerField()
    is_excluded = models.BooleanField(db_default=False, default=False)
    # left out of every figure by a rule of the workspace, which excluded_by quotes
    excluded_by = models.TextField(blank=True, db_default="", default="")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """A run is known by its identity."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="run_identity_once", fields=["workspace", "identity"]
            ),
            models.CheckConstraint(
                name="run_outcome_is_known",
                condition=Q(outcome__in=OutcomeChoice.values),
            ),
            models.CheckConstraint(
                name="run_excluded_says_why",
                condition=Q(is_excluded=False, excluded_by="")
                | (Q(is_excluded=True) & ~Q(excluded_by="")),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-started_at", "-id"], name="run_newest"),
            models.Index(
                fields=["workspace", "-started_at", "-id"],
                name="run_left_out",
                condition=Q(is_excluded=True),
            ),
            models.Index(fields=["workspace", "rules_version"], name="run_rules"),
            models.Index(fields=["workspace", "day"], name="run_day"),
            models.Index(fields=["workspace", "task_id"], name="run_task"),
            models.Index(fields=["workspace", "log_id"], name="run_log_id"),
            models.Index(
                fields=["workspace", "forked_from"],
                name="run_forked_from",
                condition=~Q(forked_from=""),
            ),
        ]

    def __str__(self) -> str:
        """Give the id that the log has."""
        return self.log_id or f"run {self.pk}"


class RunTranscript(models.Model):
    """The whole transcript of a run: msgpack, compressed with zstd."""

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.CASCADE, db_constraint=False
    )
    data = models.BinaryField()

    def __str__(self) -> str:
        """Name the run."""
        return f"transcript of run {self.run_id}"


class RunPrefix(models.Model):
    """Hashes of every beginning of a run that has no id of its own.

    By them a longer version replaces a shorter one, whichever arrives first.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, db_constraint=False)
    prefix_hash = models.BinaryField()

    class Meta:
        """Looked up by hash."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "prefix_hash"], name="runprefix_hash"),
        ]

    def __str__(self) -> str:
        """Name the run."""
        return f"prefix of run {self.run_id}"


class ToolError(models.Model):
    """A call that failed, was refused, or has no result, with the move after it.

    Only rows with `is_counted` are tool errors: cause failed or rejected, and seen by
    the model. Only these have a code, a text and a next move.
    """

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="tool_errors", db_constraint=False
    )
    thread = models.SmallIntegerField()
    turn = models.IntegerField()
    call = models.SmallIntegerField()
    tool = models.TextField()
    code = models.ForeignKey(
        Code, null=True, on_delete=models.CASCADE, db_constraint=False
    )
    text = models.ForeignKey(
        Text, null=True, on_delete=models.CASCADE, db_constraint=False
    )
    delivered = models.TextField()  # as the model read it; the first 4,000 characters
    evidence = models.CharField(max_length=10, choices=EvidenceChoice)
    rule = models.TextField()
    cause = models.CharField(max_length=10, choices=CauseChoice)
    is_delivered = models.BooleanField()
    is_counted = models.BooleanField()
    next_move = models.CharField(max_length=20, choices=NextMoveChoice, blank=True)
    next_turn = models.IntegerField(null=True)
    loop_length = models.IntegerField()
    at = models.DateTimeField(null=True)
    day = models.DateField(null=True)  # its own, in the workspace's zone

    class Meta:
        """A place in a run once; what is counted has a code and a next move."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="toolerror_place_once", fields=["run", "thread", "turn", "call"]
            ),
            models.CheckConstraint(
                name="toolerror_counted_is_complete",
                condition=Q(is_counted=False)
                | Q(
                    code__isnull=False,
                    text__isnull=False,
                    next_move__in=NextMoveChoice.values,
                ),
            ),
            models.CheckConstraint(
                name="toolerror_cause_is_known",
                condition=Q(cause__in=CauseChoice.values),
            ),
            models.CheckConstraint(
                name="toolerror_evidence_is_known",
                condition=Q(evidence__in=EvidenceChoice.values),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["code", "-day", "-id"], name="toolerror_code"),
            models.Index(fields=["workspace", "day"], name="toolerror_day"),
        ]

    def __str__(self) -> str:
        """Name tool and place."""
        return f"{self.tool} in run {self.run_id}, turn {self.turn}"


class RunCode(models.Model):
    """A run that hit a code, once whatever the number of its errors."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    run = models.ForeignKey(Run, on_delete=models.CASCADE, db_constraint=False)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, db_constraint=False)
    text = models.ForeignKey(Text, on_delete=models.CASCADE)  # of its first error
    errors = models.IntegerField()

    class Meta:
        """Once a run and code."""

        constraints: ClassVar = [
            models.UniqueConstraint(name="runcode_once", fields=["run", "code"]),
        ]
        indexes: ClassVar = [models.Index(fields=["code", "run"], name="runcode_code")]

    def __str__(self) -> str:
        """Name both."""
        return f"run {self.run_id} hit code {self.code_id}"


class DayRuns(models.Model):
    """Runs by the day they began. Rows are signed: a day's count is their sum."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    day = models.DateField(null=True)
    model = models.TextField()
    agent = models.TextField()
    source = models.TextField()
    outcome = models.CharField(max_length=10, choices=OutcomeChoice)
    has_error = models.BooleanField()
    runs = models.IntegerField()
    calls = models.BigIntegerField()
    errors = models.BigIntegerField()

    class Meta:
        """Read by workspace and days."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "day"], name="dayruns_day")
        ]

    def __str__(self) -> str:
        """Name the day."""
        return f"{self.runs} runs on {self.day}"


class DayLeftOut(models.Model):
    """Runs that a rule leaves out of every figure, by day begun. Signed rows."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    day = models.DateField(null=True)
    rule = models.TextField()
    runs = models.IntegerField()

    class Meta:
        """Read by workspace and days."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "day"], name="dayleftout_day")
        ]

    def __str__(self) -> str:
        """Name rule and day."""
        return f"{self.runs} runs left out by {self.rule} on {self.day}"


class DayCode(models.Model):
    """Runs that hit a code, by the day they began. Signed rows."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    day = models.DateField(null=True)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, db_constraint=False)
    text = models.ForeignKey(Text, on_delete=models.CASCADE, db_constraint=False)
    model = models.TextField()
    outcome = models.CharField(max_length=10, choices=OutcomeChoice)
    runs = models.IntegerField()

    class Meta:
        """Read by code, or by workspace and days."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "day"], name="daycode_day"),
            models.Index(fields=["code", "day"], name="daycode_code"),
        ]

    def __str__(self) -> str:
        """Name code and day."""
        return f"{self.runs} runs of code {self.code_id} on {self.day}"


class DayErrors(models.Model):
    """Failed calls of every cause, by their own day. Signed rows."""

    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, db_constraint=False
    )
    day = models.DateField(null=True)
    code = models.ForeignKey(
        Code, null=True, on_delete=models.CASCADE, db_constraint=False
    )
    text = models.ForeignKey(
        Text, null=True, on_delete=models.CASCADE, db_constraint=False
    )
    cause = models.CharField(max_length=10, choices=CauseChoice)
    evidence = models.CharField(max_length=10, choices=EvidenceChoice)
    is_delivered = models.BooleanField()
    is_counted = models.BooleanField()
    next_move = models.CharField(max_length=20, choices=NextMoveChoice, blank=True)
    errors = models.IntegerField()
    loops = models.IntegerField()  # loops that began: second identical call in a row

    class Meta:
        """Read by code, or by workspace and days."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "day"], name="dayerrors_day"),
            models.Index(fields=["code", "day"], name="dayerrors_code"),
        ]

    def __str__(self) -> str:
        """Name code and day."""
        return f"{self.errors} errors of code {self.code_id} on {self.day}"
