"""Tools, codes, and every text ever delivered for a code."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from apps.accounts.models import Workspace


class Tool(models.Model):
    """A tool that agents call, as the workspace knows it."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    input_schema = models.JSONField(null=True, blank=True)
    is_read_only = models.BooleanField(null=True, blank=True)
    is_destructive = models.BooleanField(null=True, blank=True)
    is_idempotent = models.BooleanField(null=True, blank=True)
    verification_tool = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        """A name once a workspace."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="tool_name_once", fields=["workspace", "name"]
            ),
        ]

    def __str__(self) -> str:
        """Give the name."""
        return self.name


class Code(models.Model):
    """One kind of failure of one tool, with its contract (the envelope's fields).

    `key` is stable: a code seen in the log keeps its spelling, one that we make is
    `tool.what_failed`. `title` is what people call it, and may be given anew.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    tool = models.CharField(max_length=200)
    key = models.CharField(max_length=300)
    title = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=20, blank=True)
    commit_state = models.CharField(max_length=20, blank=True)
    retry_directive = models.CharField(max_length=20, blank=True)
    next_action = models.CharField(max_length=20, blank=True)
    alternative_tool = models.CharField(max_length=200, blank=True)
    safe_details = models.JSONField(default=list, blank=True)  # allowed field names
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """Two tools may use one key: each has a code of its own."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="code_key_once", fields=["workspace", "tool", "key"]
            ),
        ]

    def __str__(self) -> str:
        """Give what people call it."""
        return self.title or self.key


class TextOrigin(models.TextChoices):
    """Where a text came from."""

    SEEN = "seen", "seen in logs"
    SHIPPED = "shipped", "shipped as a rewrite"


class Text(models.Model):
    """One version of a code's message: delivered text with what varies masked.

    A shipped rewrite is a text too. Delivered texts that a shipped one produced (its
    placeholders filled in) point to it by `version_of`; figures of a rewrite count both.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="texts")
    key = models.CharField(max_length=64)  # fingerprint of tool and text
    fingerprint_version = models.PositiveSmallIntegerField(default=1)
    masked = models.TextField()
    sample = models.TextField()  # one delivered text, redacted; the body where shipped
    wrapper = models.CharField(max_length=120, blank=True)
    origin = models.CharField(
        max_length=10, choices=TextOrigin, default=TextOrigin.SEEN
    )
    version_of = models.ForeignKey(
        "self", null=True, on_delete=models.SET_NULL, related_name="renderings"
    )
    shipped_at = models.DateTimeField(null=True)

    class Meta:
        """A fingerprint leads to one code."""

        constraints: ClassVar = [
            models.UniqueConstraint(name="text_key_once", fields=["workspace", "key"]),
            models.CheckConstraint(
                name="text_origin_is_known",
                condition=models.Q(origin__in=TextOrigin.values),
            ),
        ]

    def __str__(self) -> str:
        """Give the beginning."""
        return self.masked[:60]
