"""What was handed in, how far it has been read, and what was set aside."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts.models import Workspace


class UploadState(models.TextChoices):
    """How far an upload is."""

    RECEIVED = "received", "waiting"
    READING = "reading", "reading"
    DONE = "done", "done"
    REFUSED = "refused", "refused"
    CANCELLED = "cancelled", "cancelled"


def stored_path(upload: "Upload", filename: str) -> str:
    """Keep a raw file under its workspace; the name people gave is only a column."""
    return f"{upload.workspace_id}/{timezone.now():%Y/%m}/{upload.token}"


class Upload(models.Model):
    """One file or archive that a person, the API or the command line handed in.

    Its counts are the sums of its batches: there is no second copy of them here.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    token = models.CharField(max_length=32, unique=True)
    name = models.TextField()
    file = models.FileField(upload_to=stored_path, max_length=300)
    size = models.BigIntegerField()  # bytes, as kept
    redacted = models.JSONField(default=dict)  # secrets replaced, by kind
    format = models.CharField(max_length=40, blank=True)  # chosen by hand, or detected
    state = models.CharField(
        max_length=10, choices=UploadState, default=UploadState.RECEIVED
    )
    reason = models.TextField(blank=True)  # why it was refused: one clear sentence
    bytes_read = models.BigIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)  # last sign of a worker

    class Meta:
        """Newest first; a refused one says why."""

        indexes: ClassVar = [
            models.Index(fields=["workspace", "-id"], name="upload_newest"),
            models.Index(
                fields=["touched_at"],
                name="upload_open",
                condition=Q(state__in=["received", "reading"]),
            ),
        ]
        constraints: ClassVar = [
            models.CheckConstraint(
                name="upload_state_is_known", condition=Q(state__in=UploadState.values)
            ),
            models.CheckConstraint(
                name="upload_refused_says_why", condition=~Q(state="refused", reason="")
            ),
        ]

    def __str__(self) -> str:
        """Give the name people gave it."""
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether a worker still has to do with it."""
        return self.state in (UploadState.RECEIVED, UploadState.READING)

    @property
    def share_read(self) -> float:
        """How much of the file has been read, 0..1."""
        if self.state == UploadState.DONE:
            return 1.0
        return min(1.0, self.bytes_read / self.size) if self.size else 0.0


class Part(models.Model):
    """A stretch of an upload that one worker reads: of lines, some megabytes; else all.

    It is claimed by an advisory lock on its id, which falls with the worker.
    """

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="parts")
    number = models.IntegerField()
    start = models.BigIntegerField()  # bytes; the lines that begin in start..end
    end = models.BigIntegerField()
    is_done = models.BooleanField(default=False)
    formats = models.TextField(blank=True)  # of the readers that read it

    class Meta:
        """Each part once."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="part_number_once", fields=["upload", "number"]
            ),
        ]

    def __str__(self) -> str:
        """Name upload and number."""
        return f"part {self.number} of upload {self.upload_id}"


class Batch(models.Model):
    """The ledger: records of an upload whose rows were written in one transaction."""

    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="batches")
    part = models.IntegerField(default=0)  # number of the part
    number = models.IntegerField()  # in the part
    records = models.IntegerField()
    runs_new = models.IntegerField(default=0)
    runs_updated = models.IntegerField(default=0)
    duplicates = models.IntegerField(default=0)
    outcomes = models.IntegerField(default=0)
    set_aside = models.IntegerField(default=0)
    tool_calls = models.IntegerField(default=0)
    tool_errors = models.IntegerField(default=0)
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """A batch once, and every record of it accounted for."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="batch_number_once", fields=["upload", "part", "number"]
            ),
            models.CheckConstraint(
                name="batch_sums",
                condition=Q(
                    records=F("runs_new")
                    + F("runs_updated")
                    + F("duplicates")
                    + F("outcomes")
                    + F("set_aside")
                ),
            ),
        ]

    def __str__(self) -> str:
        """Name upload and number."""
        return f"batch {self.number} of upload {self.upload_id}"


class SetAside(models.Model):
    """A stretch that could not be read; kept with place, reason and a preview."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    upload = models.ForeignKey(
        Upload, on_delete=models.CASCADE, related_name="left_out"
    )
    member = models.TextField(blank=True)  # file inside the archive
    line = models.BigIntegerField(null=True)
    offset = models.BigIntegerField(null=True)
    reason = models.TextField()
    preview = models.TextField(blank=True)

    def __str__(self) -> str:
        """Give place and reason."""
        return f"line {self.line}: {self.reason}"


class PendingOutcome(models.Model):
    """An outcome from a list; it is joined with its run whichever comes first."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE)
    log_id = models.TextField(blank=True)
    task_id = models.TextField(blank=True)
    outcome = models.CharField(max_length=10)
    outcome_by = models.TextField()
    ending = models.CharField(max_length=14, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        """One row a target and upload; looked up by the ids a run has."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="pendingoutcome_once", fields=["upload", "log_id", "task_id"]
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["workspace", "log_id"], name="pendingoutcome_log"),
            models.Index(fields=["workspace", "task_id"], name="pendingoutcome_task"),
        ]

    def __str__(self) -> str:
        """Name target and outcome."""
        return f"{self.log_id or self.task_id}: {self.outcome}"


class Deletion(models.Model):
    """A deletion with its receipt: what went, counted table by table."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    upload_id = models.BigIntegerField()
    name = models.TextField()  # what the upload was called
    gone = models.JSONField(default=dict)  # rows by table, and bytes of the raw file
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    requested_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """One an upload."""

        constraints: ClassVar = [
            models.UniqueConstraint(name="deletion_upload_once", fields=["upload_id"]),
        ]

    def __str__(self) -> str:
        """Name what goes."""
        return f"deletion of {self.name}"
