"""Stacked bars of shares, as values for a template to draw. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

# Okabe–Ito colours by class name (`static/css/errata.css`), the order of drawing, and
# the words; a pattern of grouping that every bar and legend shares.
MOVE_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("m1", "retried unchanged", ("retried_unchanged",)),
    ("m2", "retried with a change", ("retried_changed",)),
    ("m3", "switched tool", ("switched_tool",)),
    ("m4", "verified", ("verified",)),
    ("m5", "escalated or asked", ("escalated", "asked_user")),
    ("m6", "apologised", ("apologised",)),
    ("m7", "answered", ("answered",)),
    ("m8", "log ends", ("cut_off",)),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of a bar, in per cent of its width."""

    css: str
    label: str
    count: int
    share: float  # 0..1
    x: float  # per cent
    width: float  # per cent


def move_bar(moves: Mapping[str, int]) -> list[Segment]:
    """Turn counts of next moves into the segments of a bar; [] where there are none."""
    total = sum(moves.values())
    segments, x = [], 0.0
    for css, label, kinds in MOVE_GROUPS:
        count = sum(moves.get(kind, 0) for kind in kinds)
        if count:
            width = 100 * count / total
            segments.append(
                Segment(css, label, count, count / total, round(x, 3), round(width, 3))
            )
            x += width
    return segments


def outcome_bar(correct: int, incorrect: int, unknown: int) -> list[Segment]:
    """Turn outcomes into the segments of a bar."""
    total = correct + incorrect + unknown
    segments, x = [], 0.0
    for css, label, count in (
        ("good", "correct", correct),
        ("bad", "incorrect", incorrect),
        ("unknown", "unknown", unknown),
    ):
        if count:
            width = 100 * count / total
            segments.append(
                Segment(css, label, count, count / total, round(x, 3), round(width, 3))
            )
            x += width
    return segments
