"""People, workspaces, and what each may do in each."""

from typing import ClassVar
from zoneinfo import ZoneInfo, available_timezones

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone


def validate_zone(name: str) -> None:
    """Refuse a name that is no time zone."""
    if name not in available_timezones():
        raise ValidationError(
            f"“{name}” is not a time zone; use a name like Europe/Berlin."
        )


class User(AbstractUser):
    """A person who signs in; the e-mail address is the name."""

    email = models.EmailField(unique=True)
    workspaces: "models.ManyToManyField[Workspace, Membership]" = (
        models.ManyToManyField("Workspace", through="Membership", related_name="people")
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["username"]

    def __str__(self) -> str:
        """Give the name that others see."""
        return self.get_full_name() or self.email.partition("@")[0]


class Workspace(models.Model):
    """One team's data; every row belongs to one."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    zone = models.CharField(max_length=64, default="UTC", validators=[validate_zone])
    target_rate = models.FloatField(null=True, blank=True)  # 0..1, set by the team
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        """A target is a share."""

        constraints: ClassVar = [
            models.CheckConstraint(
                name="workspace_target_is_a_share",
                condition=models.Q(target_rate__isnull=True)
                | models.Q(target_rate__gte=0, target_rate__lte=1),
            ),
        ]

    def __str__(self) -> str:
        """Give the name on screen."""
        return self.name

    @property
    def tz(self) -> ZoneInfo:
        """Give the zone in which days and weeks are cut."""
        return ZoneInfo(self.zone)


class Role(models.TextChoices):
    """What a member may do; each may all that those before it may."""

    VIEWER = "viewer", "Viewer"
    REVIEWER = "reviewer", "Reviewer"
    EDITOR = "editor", "Editor"
    OWNER = "owner", "Owner"


class Membership(models.Model):
    """A person in a workspace."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.EDITOR)

    class Meta:
        """One role a person and workspace."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="membership_once_a_workspace", fields=["user", "workspace"]
            ),
            models.CheckConstraint(
                name="membership_role_is_known",
                condition=models.Q(role__in=Role.values),
            ),
        ]

    def __str__(self) -> str:
        """Name both sides."""
        return f"{self.user} in {self.workspace}"

    def may(self, role: str) -> bool:
        """Tell whether this member's role includes another."""
        order = Role.values
        return order.index(self.role) >= order.index(role)


class SignInLink(models.Model):
    """A one-time link; only the hash of its token is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE)
    token_hash = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        """Name the person."""
        return f"link for {self.user}"
