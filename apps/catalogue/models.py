"""Tools, codes, and every text ever delivered for a code."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from apps.accounts.models import User, Workspace


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
    owner = models.CharField(max_length=120, blank=True)  # a person or a team
    is_edited = models.BooleanField(default=False)  # by hand: logs change it no more

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
    is_muted = models.BooleanField(default=False)  # left out of lists, never of sums
    contract_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    contract_at = models.DateTimeField(null=True, blank=True)  # confirmed by a person
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

    `home` is the code that the fingerprint alone gives, `code` the one where the rules
    of the workspace then place it (`placement.py`). Where a rule splits by the raw
    text, a text has a row for each side, since one masked form may hold both.

    A shipped rewrite is a text too. Delivered texts that a shipped one produced (its
    placeholders filled in) point to it by `version_of`; a rewrite's figures count both.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="texts")
    home = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="home_texts")
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
    is_coded = models.BooleanField(default=False)  # a code in the result named it
    side_of = models.ForeignKey(
        "self", null=True, on_delete=models.CASCADE, related_name="sides"
    )
    matched_rules = models.JSONField(default=list)  # splits on raw text it matched

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


class RuleKind(models.TextChoices):
    """What a placement rule does with the texts of a code."""

    FOLD = "fold", "folded"
    MERGE = "merge", "merged"
    SPLIT = "split", "split"
    MOVE = "move", "moved to another tool"
    APART = "apart", "kept apart"


class PlacementRule(models.Model):
    """Where texts of a code belong instead; holds for all that is still to come.

    Rows are never edited or deleted: a rule is undone, and stays in the log.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    kind = models.CharField(max_length=10, choices=RuleKind)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="rules_away")
    into = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="rules_here")
    pattern = models.CharField(max_length=200, blank=True)  # of a split
    is_regex = models.BooleanField(default=False)  # else plain words
    is_on_raw = models.BooleanField(default=False)  # else on the masked text
    why = models.TextField(blank=True)
    made_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    undone_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    undone_at = models.DateTimeField(null=True)

    class Meta:
        """A code is folded into one other; only a split has a pattern."""

        constraints: ClassVar = [
            models.UniqueConstraint(
                name="fold_once",
                fields=["code"],
                condition=models.Q(kind="fold", undone_at=None),
            ),
            models.CheckConstraint(
                name="rule_kind_is_known",
                condition=models.Q(kind__in=RuleKind.values),
            ),
            models.CheckConstraint(
                name="rule_has_pattern_if_split",
                condition=models.Q(kind="split") & ~models.Q(pattern="")
                | ~models.Q(kind="split") & models.Q(pattern=""),
            ),
            models.CheckConstraint(
                name="rule_leads_elsewhere",
                condition=~models.Q(code=models.F("into")),
            ),
        ]

    def __str__(self) -> str:
        """Say what it does."""
        return f"{self.code} {self.kind} {self.into}"


class JobState(models.TextChoices):
    """How far a job has come."""

    WAITING = "waiting", "waiting"
    MOVING = "moving", "moving errors"
    DONE = "done", "done"


class PlacementJob(models.Model):
    """One run of the rules over what is stored: visible, safe to run twice."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    rule = models.ForeignKey(
        PlacementRule, null=True, on_delete=models.SET_NULL, related_name="jobs"
    )
    title = models.CharField(max_length=300)
    state = models.CharField(max_length=10, choices=JobState, default=JobState.WAITING)
    codes = models.JSONField(default=list)  # ids of codes that texts are taken from
    raw_texts = models.JSONField(default=list)  # ids of texts that a raw split divides
    errors_expected = models.IntegerField(default=0)
    errors_moved = models.IntegerField(default=0)
    runs_moved = models.IntegerField(default=0)
    made_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        """States are known."""

        constraints: ClassVar = [
            models.CheckConstraint(
                name="job_state_is_known",
                condition=models.Q(state__in=JobState.values),
            ),
        ]

    def __str__(self) -> str:
        """Give the title."""
        return self.title


class FoldSuggestion(models.Model):
    """Two codes that may be one failure; a person decides."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="+")
    into = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="+")
    reason = models.TextField()

    class Meta:
        """A pair once."""

        constraints: ClassVar = [
            models.UniqueConstraint(name="suggested_once", fields=["code", "into"]),
        ]

    def __str__(self) -> str:
        """Name both."""
        return f"{self.code} and {self.into}"


class CodeChange(models.Model):
    """The log of what people change on a code itself."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE)
    code = models.ForeignKey(Code, on_delete=models.CASCADE, related_name="changes")
    what = models.CharField(max_length=20)  # name, mute, contract
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    made_by = models.ForeignKey(
        User, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        """Say what was changed."""
        return f"{self.what} of {self.code}"
