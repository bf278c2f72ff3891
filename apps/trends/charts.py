"""A chart as a page shows it: figure, table and words from the same points."""

from collections.abc import Sequence
from dataclasses import dataclass

from .figures import Mark, weekly_rate_figure
from .series import Point


@dataclass(frozen=True, slots=True)
class Chart:
    """What `trends/_chart.html` needs."""

    id: str
    title: str
    figure_json: str
    points: Sequence[Point]
    marks: Sequence[Mark]
    in_words: str


def weekly_chart(
    chart_id: str,
    title: str,
    points: Sequence[Point],
    marks: Sequence[Mark] = (),
    target: float | None = None,
    beside: Sequence[Point] = (),
) -> Chart:
    """Make the chart of a weekly rate."""
    figure = weekly_rate_figure(points, marks, target, beside)
    in_words = _words(points, marks)
    return Chart(chart_id, title, figure.to_json(), points, marks, in_words)


def _words(points: Sequence[Point], marks: Sequence[Mark]) -> str:
    """Describe a chart to somebody who does not see it."""
    known = [point for point in points if point.rate.rate is not None]
    if not known:
        return "No week has a known outcome yet."
    first, last = known[0], known[-1]
    text = (
        f"From {first.rate.rate:.0%} in {first.name} to {last.rate.rate:.0%}"
        f" in {last.name}, over {len(points)} weeks"
    )
    if gaps := len(points) - len(known):
        text += f", {gaps} without a known outcome"
    if marks:
        text += "; " + ", ".join(f"{mark.label} on {mark.day:%-d %B}" for mark in marks)
    return text + "."
