"""The minutes of a meeting as Markdown. Pure.

Names of codes and notes come from logs and people: what Markdown would read as markup
is escaped, so that a code cannot become a link or a heading.
"""

import re

from apps.runs.rates import Rate

from .queries import Agenda, Watched

LIST_RULE = (
    "Words stand after Benjamini–Hochberg over this list: of those called, about one"
    " in ten may be chance. Intervals hold however often one looks."
)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")


def escaped(text: str) -> str:
    """Escape Markdown and fold white space."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code_span(text: str) -> str:
    """Put a name into a code span, in which nothing is markup."""
    return "`" + " ".join(text.replace("`", "'").split()) + "`"


def share(rate: Rate) -> str:
    """Show a rate with its interval and counts."""
    if rate.rate is None:
        return "no known outcome"
    interval = f"{rate.low:.0%}–{rate.high:.0%}"
    return f"{rate.rate:.0%} ({interval}, {rate.good} of {rate.n} runs)"


def _watched(item: Watched) -> list[str]:
    """Write one rewrite: its figures and word, then what stands beside them."""
    name = code_span(str(item.rewrite.code))
    if item.found is None or not item.found.says.difference:
        return [f"- {name}: not enough seen yet"]
    says = item.found.says
    missing = f" ({escaped(says.missing)})" if says.missing else ""
    held = " (held back: many rewrites are watched)" if item.is_held_back else ""
    notes = (says.baseline, says.controls, *says.rivals)
    return [
        f"- {name}: {share(item.found.before)} → {share(item.found.after)},"
        f" {says.difference} like for like, over all runs {says.crude}:"
        f" **{item.word}**{missing}{held}",
        *(f"  - {escaped(note)}" for note in notes),
    ]


def minutes(agenda: Agenda, workspace_name: str) -> str:
    """Write the minutes of a week."""
    o = agenda.headline.with_error
    rate = o.rate
    lines = [
        f"# Triage, week of {agenda.week:%-d %B %Y} · {escaped(workspace_name)}",
        "",
        "Runs with an error that still ended correctly, last four full weeks:"
        f" {share(rate)}. {o.unknown} unknown, left out.",
        "",
        "## Rewrites under watch",
        "",
    ]
    for item in agenda.watched:
        lines += _watched(item)
    lines += ["", LIST_RULE] if agenda.watched else ["None."]
    lines += ["", "## New codes", ""]
    lines += [
        f"- {code_span(item.row.counts.name)} of {code_span(item.row.counts.tool)},"
        f" first seen {item.first_day:%-d %B}: {item.row.counts.outcomes.runs} runs,"
        f" {share(item.row.rate)}"
        for item in agenda.new
    ] or ["None."]
    lines += ["", "## Decisions", ""]
    for decision in agenda.decisions:
        owner = f", {escaped(str(decision.owner))}" if decision.owner else ", no owner"
        note = f": {escaped(decision.note)}" if decision.note else ""
        kind = f"**{decision.get_kind_display()}**"
        lines.append(f"- {code_span(str(decision.code))}: {kind}{owner}{note}")
    if not agenda.decisions:
        lines.append("Nothing to decide." if agenda.is_empty else "None recorded.")
    return "\n".join(line for line in lines) + "\n"
