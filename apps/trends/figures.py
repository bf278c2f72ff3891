"""Plotly figures: rows in, `go.Figure` out. Pure.

Colours are the names of the style sheet's variables; the page fills them in, so that a
chart is right in the light and in the dark. No text from logs gets into a figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import plotly.graph_objects as go

from .series import Point


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line: something that happened on a day."""

    day: date
    label: str


def weekly_rate_figure(
    points: Sequence[Point],
    marks: Sequence[Mark] = (),
    target: float | None = None,
    beside: Sequence[Point] = (),
) -> go.Figure:
    """Draw a weekly rate with its 95 % band and counts; empty weeks are gaps.

    `beside` is drawn thin and dashed (runs without an error). A week that is not over
    has a hollow marker.
    """
    figure = go.Figure()
    for stretch in _stretches(points):
        days = [p.start for p in stretch]
        figure.add_trace(
            go.Scatter(
                x=days + days[::-1],
                y=[p.rate.high for p in stretch]
                + [p.rate.low for p in reversed(stretch)],
                fill="toself",
                mode="lines" if len(stretch) > 1 else "lines+markers",
                line={
                    "width": 0 if len(stretch) > 1 else 6,
                    "color": "var(--good-soft)",
                },
                fillcolor="var(--good-soft)",
                hoverinfo="skip",
                showlegend=False,
            )
        )
    if beside:
        figure.add_trace(
            go.Scatter(
                x=[p.start for p in beside],
                y=[p.rate.rate for p in beside],
                mode="lines",
                name="runs without an error",
                line={"color": "var(--ink-3)", "width": 1.5, "dash": "dot"},
                hovertemplate="%{y:.0%} without an error<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[p.start for p in points],
            y=[p.rate.rate for p in points],
            mode="lines+markers",
            connectgaps=False,
            name="runs with an error",
            line={"color": "var(--good)", "width": 2.5},
            marker={
                "size": 7,
                "color": [
                    "var(--paper)" if p.is_current else "var(--good)" for p in points
                ],
                "line": {"color": "var(--good)", "width": 2},
            },
            customdata=[
                [p.name, p.rate.good, p.rate.n, p.rate.unknown, p.rate.low, p.rate.high]
                for p in points
            ],
            hovertemplate=(
                "%{customdata[0]}: %{y:.0%}"
                " (%{customdata[4]:.0%}–%{customdata[5]:.0%})<br>"
                "%{customdata[1]} of %{customdata[2]} runs, %{customdata[3]} unknown"
                "<extra></extra>"
            ),
        )
    )
    _add_target(figure, points, target)
    for place, mark in enumerate(marks):
        figure.add_vline(
            x=mark.day.isoformat(), line={"color": "var(--accent)", "width": 1.5}
        )
        figure.add_annotation(
            x=mark.day.isoformat(),
            y=1.0,
            yref="paper",
            yanchor="bottom",
            xanchor="left",
            yshift=-4 - 13 * (place % 3),  # neighbours would cover each other
            text=f" {mark.label}",
            showarrow=False,
            font={"color": "var(--accent)", "size": 11},
        )
    figure.update_layout(**_layout(points))
    return figure


def _stretches(points: Sequence[Point]) -> list[list[Point]]:
    """Weeks in a row that have a rate; the band is drawn over each alone."""
    stretches: list[list[Point]] = []
    in_row = False
    for point in points:
        if point.rate.rate is None:
            in_row = False
            continue
        if not in_row:
            stretches.append([])
        stretches[-1].append(point)
        in_row = True
    return stretches


def _add_target(
    figure: go.Figure, points: Sequence[Point], target: float | None
) -> None:
    if target is None or not points:
        return
    figure.add_hline(
        y=target,
        line={"color": "var(--ink-3)", "width": 1, "dash": "dash"},
        annotation={
            "text": f"team target {target:.0%}",
            "font": {"color": "var(--ink-2)", "size": 11},
        },
        annotation_position="top left",
    )


def _layout(points: Sequence[Point]) -> dict[str, object]:
    every = max(1, len(points) // 7)
    axis = {"gridcolor": "var(--line)", "zeroline": False, "color": "var(--ink-2)"}
    return {
        "height": 290,
        "margin": {"l": 44, "r": 16, "t": 26, "b": 36},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {
            "family": "system-ui, sans-serif",
            "size": 11,
            "color": "var(--ink-2)",
        },
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": "var(--paper)", "font": {"color": "var(--ink)"}},
        "showlegend": False,
        "dragmode": False,
        "yaxis": {**axis, "range": [0, 1.02], "tickformat": ".0%", "fixedrange": True},
        "xaxis": {
            **axis,
            "showgrid": False,
            "fixedrange": True,
            "tickvals": [point.start for point in points[::every]],
            "ticktext": [f"{p.start.day} {p.start:%b}" for p in points[::every]],
        },
    }
