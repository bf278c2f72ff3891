"""Failures that look like successes, and the reverse: suggestions for a person. Pure.

Nothing here is counted. A person may count a suggestion; its error then has the
evidence `masked` and the rule “a person's word”.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .analysis import Facts, Place, analyse, gave_nothing
from .command_lines import is_shell
from .rules import Rules
from .transcript import Transcript

ELSEWHERE = "empty-elsewhere"  # nothing came back from a tool that elsewhere tells more


class Hidden(NamedTuple):
    """A call that seems to have gone well and may have failed."""

    run_id: int
    place: Place
    tool: str
    arguments: str
    text: str
    rule: str


@dataclass(slots=True)
class Suggestions:
    """What was found in some runs."""

    hidden: list[Hidden] = field(default_factory=list)  # the surer ones first
    flagged_empty: list[Hidden] = field(default_factory=list)
    # results that say nothing and are flagged as errors: the text helps nobody


class _Tool:
    """What calls of a tool gave, over all runs."""

    def __init__(self) -> None:
        self.tells = False  # some call failed, or gave something
        self.empty: list[Hidden] = []


def suggestions(
    runs: Mapping[int, Transcript],
    rules: Rules,
    words: Mapping[int, frozenset[Place]],
) -> Suggestions:
    """Find suggestions in runs by their ids; `words` are places already spoken of."""
    found = Suggestions()
    tools: dict[str, _Tool] = {}
    for run_id, transcript in runs.items():
        facts = analyse(transcript, rules)
        spoken = words.get(run_id, frozenset())
        sure = {(e.thread, e.turn, e.call): e.rule for e in facts.masked}
        failed = {(e.thread, e.turn, e.call) for e in facts.errors}
        for hidden, gave in _calls(run_id, transcript):
            tool = tools.setdefault(hidden.tool, _Tool())
            if hidden.place in sure:
                if hidden.place not in spoken:
                    found.hidden.append(hidden._replace(rule=sure[hidden.place]))
            elif not gave and hidden.place not in failed:
                tool.empty.append(hidden)
            else:
                tool.tells = True
        found.flagged_empty += _flagged_empty(run_id, transcript, facts)
    for name, tool in sorted(tools.items()):
        if tool.tells and _is_asked(name, rules):
            said = words.get
            found.hidden += [h for h in tool.empty if h.place not in said(h.run_id, ())]
    return found


def _is_asked(tool: str, rules: Rules) -> bool:
    """Whether a tool is asked for something, so that nothing is a strange answer."""
    if is_shell(tool) or tool in rules.thinking_tools:
        return False
    return rules.is_enabled("empty-result", tool)


def _calls(run_id: int, transcript: Transcript) -> Iterable[tuple[Hidden, bool]]:
    """Give each answered call, and whether its answer says anything."""
    for index, thread in enumerate(transcript.threads):
        for number, turn in enumerate(thread.turns):
            for position, call in enumerate(turn.calls):
                if call.result is None or call.result.pending:
                    continue
                place = (index, number, position)
                values = call.tool, call.arguments, call.result.text, ELSEWHERE
                yield Hidden(run_id, place, *values), not gave_nothing(call)


def _flagged_empty(
    run_id: int, transcript: Transcript, facts: Facts
) -> Iterable[Hidden]:
    for error in facts.errors:
        if error.evidence != "flagged" or not error.is_counted or error.text.strip():
            continue
        call = transcript.threads[error.thread].turns[error.turn].calls[error.call]
        place = (error.thread, error.turn, error.call)
        yield Hidden(run_id, place, error.tool, call.arguments, error.text, error.rule)
