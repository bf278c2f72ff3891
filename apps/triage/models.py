"""What the team decided, week by week."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from apps.accounts.models import Workspace
from apps.catalogue.models import Code


class DecisionKind(models.TextChoices):
    """What is to be done about a code."""

    REWRITE = "rewrite", "Rewrite"
    FIX_TOOL = "fix_tool", "Fix the tool"
    BREAK_LOOP = "break_loop", "Break it in the dispatcher"
    WATCH = "watch", "Watch"
    MUTE = "mute", "Mute"
    KEEP = "keep", "Keep the rewrite"
    ROLL_BACK = "roll_back", "Roll back"


class Decision(models.Model):
    """One decision on one code in one week's meeting."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="decisions")
    week = models.DateField()  # first day of the week of the meeting
    kind = models.CharField(max_length=12, choices=DecisionKind)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    note = models.TextField(blank=True)
    is_closed = models.BooleanField(default=False)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """One decision a code and week; a later one replaces it."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="decision_once_a_week", fields=["code", "week"]
            ),
            models.CheckConstraint(
                name="decision_kind_is_known", condition=Q(kind__in=DecisionKind.values)
            ),
        ]

    def __str__(self) -> str:
        """Name kind and code."""
        return f"{self.kind}: {self.code_id}"
