"""A new text for a code, from draft to shipped to kept or rolled back."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue.models import Code, Text


class RewriteState(models.TextChoices):
    """How far a rewrite is."""

    DRAFT = "draft", "draft"
    IN_REVIEW = "in_review", "in review"
    SHIPPED = "shipped", "shipped"
    KEPT = "kept", "kept"
    ROLLED_BACK = "rolled_back", "rolled back"


LIVE_STATES = (RewriteState.SHIPPED, RewriteState.KEPT)


class Rewrite(models.Model):
    """One new text of a code, with the envelope it promises."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="rewrites")
    state = models.CharField(
        max_length=12, choices=RewriteState, default=RewriteState.DRAFT
    )
    agent_message = models.TextField()  # for the model: one or two sentences
    user_message = models.TextField(blank=True)  # for the customer
    category = models.CharField(max_length=20, blank=True)
    commit_state = models.CharField(max_length=20, blank=True)
    retry_directive = models.CharField(max_length=20, blank=True)
    next_action = models.CharField(max_length=20, blank=True)
    alternative_tool = models.CharField(max_length=200, blank=True)
    replaces = models.ForeignKey(
        Text, null=True, on_delete=models.SET_NULL, related_name="replaced_by"
    )
    text = models.OneToOneField(
        Text, null=True, on_delete=models.SET_NULL, related_name="rewrite"
    )  # once shipped
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    shipped_on = models.DateField(null=True)  # in the workspace's zone
    shipped_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_on = models.DateField(null=True)  # kept or rolled back

    class Meta:
        """One draft a code; what is shipped has a date."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="rewrite_one_draft",
                fields=["code"],
                condition=Q(state__in=["draft", "in_review"]),
            ),
            models.CheckConstraint(
                name="rewrite_shipped_has_a_date",
                condition=Q(state__in=["draft", "in_review"])
                | Q(shipped_on__isnull=False),
            ),
            models.CheckConstraint(
                name="rewrite_state_is_known",
                condition=Q(state__in=RewriteState.values),
            ),
        ]

    def __str__(self) -> str:
        """Give the beginning of the text."""
        return self.agent_message[:60]

    @property
    def is_live(self) -> bool:
        """Whether tools are meant to send it."""
        return self.state in LIVE_STATES


class RewriteEvent(models.Model):
    """One step of a rewrite: who did what, when. Steps are only added."""

    rewrite = models.ForeignKey(
        Rewrite, on_delete=models.CASCADE, related_name="events"
    )
    state = models.CharField(max_length=12, choices=RewriteState)
    note = models.TextField(blank=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        """Name state and rewrite."""
        return f"{self.state}: rewrite {self.rewrite_id}"
