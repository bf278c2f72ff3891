"""The values that columns of runs and errors may have."""

from django.db import models


class OutcomeChoice(models.TextChoices):
    """How a run ended for the task; unknown is never counted as wrong."""

    CORRECT = "correct", "correct"
    INCORRECT = "incorrect", "incorrect"
    UNKNOWN = "unknown", "unknown"


class EvidenceChoice(models.TextChoices):
    """How it is known that a call failed; the strongest wins."""

    FLAGGED = "flagged", "flagged"
    STRUCTURED = "structured", "structured"
    TEXTUAL = "textual", "by its text"
    MASKED = "masked", "masked"


class CauseChoice(models.TextChoices):
    """Why a call failed; only the first two are tool errors."""

    FAILED = "failed", "failed"
    REJECTED = "rejected", "rejected"
    DENIED = "denied", "denied"
    CANCELLED = "cancelled", "cancelled"
    NO_RESULT = "no_result", "no result"


class NextMoveChoice(models.TextChoices):
    """What the agent did after an error, as the machine reads it."""

    RETRIED_UNCHANGED = "retried_unchanged", "retried unchanged"
    RETRIED_CHANGED = "retried_changed", "retried with a change"
    SWITCHED_TOOL = "switched_tool", "switched tool"
    VERIFIED = "verified", "verified"
    ESCALATED = "escalated", "escalated"
    ASKED_USER = "asked_user", "asked the user"
    ANSWERED = "answered", "answered"
    APOLOGISED = "apologised", "apologised"
    CUT_OFF = "cut_off", "log ends"
