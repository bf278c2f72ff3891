"""Which branch a text tells the agent to take, read by rules, with the evidence.

A text is cut into sentences, and these into clauses at `and`, `then`, `or`. Each
clause that tells the reader to do something is a step. Of steps in sequence ("call
A, then B") the first is the branch: that is the next move. Steps side by side ("fix
it, or ask the user") are several branches. What a text forbids it does not select.

A text that states what is wrong, even the rule that was broken, selects nothing: the
agent is left to guess. The rules know English.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from apps.catalogue.envelope import Branch


class Role(StrEnum):
    """What a step is to the branch."""

    SELECTS = "selects"
    FOLLOWS = "follows"  # comes after the step that selects
    FALLBACK = "fallback"  # "if that fails, …"
    FORBIDS = "forbids"


class Step(NamedTuple):
    """A stretch of the text that tells the agent to do something, or not to."""

    branch: Branch
    start: int
    end: int
    role: Role
    rule: str  # the name of the rule that read it
    tool: str = ""  # the tool it names, if any


class Reading(NamedTuple):
    """What was read of a text: the branch, and why."""

    branch: Branch
    steps: tuple[Step, ...]

    @property
    def branches(self) -> tuple[Branch, ...]:
        """The branches it selects, in order, each once."""
        found = (s.branch for s in self.steps if s.role is Role.SELECTS)
        return tuple(dict.fromkeys(found))

    def tools_named(self) -> tuple[str, ...]:
        """The tools that it tells the agent to call."""
        told = (s.tool for s in self.steps if s.tool and s.role is not Role.FORBIDS)
        return tuple(dict.fromkeys(told))


def read_branches(text: str, tool: str = "", tools: Collection[str] = ()) -> Reading:
    """Read what a text tells the agent to do next.

    `tool` is the tool that failed: to call it again is a retry. `tools` are those
    known to the workspace; without them a tool is known by its spelling alone
    (`list_tables`, `` `grep` ``).
    """
    steps: list[Step] = []
    gap = len(text) - 2 * _END_LENGTH
    if gap > 0:  # a page of output: what instructs stands at its head or at its foot
        text = text[:_END_LENGTH] + "\n" * gap + text[-_END_LENGTH:]
    # The repr of an exception has its line breaks as two characters.
    for clauses in _sentences(text.replace("\\n", "\n\n")):
        steps += _steps_of(clauses, tool, frozenset(tools))
    steps = _settled(steps)
    chosen = dict.fromkeys(s.branch for s in steps if s.role is Role.SELECTS)
    if len(chosen) > 1:
        return Reading(Branch.SEVERAL, tuple(steps))
    if chosen:
        return Reading(next(iter(chosen)), tuple(steps))
    return Reading(Branch.NONE, tuple(steps))


_END_LENGTH = 10_000


class _Clause(NamedTuple):
    text: str
    start: int
    link: str  # how it hangs on the clause before: "", "and", "then", "or"


# A colon or a dash parts as a full stop does: "HTTP 422: correct the field".
_SENTENCE = re.compile(r"(?:[^.!?;:\n ]|[.!?:](?![\s\"')\]]|$)| (?![-–—] ))+[.!?;:]*")
_LINK = re.compile(
    r"(?i),?\s{1,8}(?:and\s{1,8})?(then|before|afterwards)\s|,?\s{1,8}(and)\s"
    r"|,?\s{1,8}(or|otherwise,?|else)\s|,\s{1,8}(?=(?:please|use|call|try|ask)\b)"
)


def _sentences(text: str) -> Iterator[list[_Clause]]:
    for sentence in _SENTENCE.finditer(text):
        clauses, at, link = [], sentence.start(), ""
        for part in _LINK.finditer(text, sentence.start(), sentence.end()):
            clauses.append(_Clause(text[at : part.start()], at, link))
            at = part.end()
            word = (part[1] or part[2] or part[3] or "and").lower().strip(",")
            link = "or" if word in ("or", "otherwise", "else") else word
        clauses.append(_Clause(text[at : sentence.end()], at, link))
        yield clauses


_POLITE = (
    r"(?:[\s\"'(*>\-]*(?:error|hint|tip|note|suggestion|fix|action|next|remedy|advice)"
    r"\s?:|\s*(?:please|kindly|first|next|now|so|instead|simply|just|either"
    r"|to [\w ]{3,40},|(?:you|the agent|the model) (?:should|must|can|may|could|need to"
    r"|have to|will (?:need|have) to|might want to)|try to|consider|be sure to"
    r"|make sure to|go ahead and)[,\s])*[\s\"'(>*–—-]*"
)
_CONDITION = re.compile(
    r"(?i)\s*(?:if|when|unless|in case|once|after|as soon as)\b(?P<what>[^,]{1,160}),"
)
_FAILS_AGAIN = re.compile(
    r"(?i)(?:it|that|this|problem|error|issue|retry|call|attempt)s?\s+(?:still\s+)?"
    r"(?:fails?|persists?|continues?|happens|occurs|does not|doesn't|keeps)"
)
_FORBIDS = re.compile(
    r"(?i)(?:do not|don't|never|must not|should not|shouldn't|avoid)\b"
)
# "Limit 50 exceeded", "Retry limit reached": words that are nouns as often as verbs.
_STATES = re.compile(
    r"(?i)\w+(?:\s*[(=]| of\b)|\w+(?: (?!(?:the|your|an?|it|its|that|this|sure|if"
    r"|whether|what|which|with)\b)[^\s:]+){0,2}[:,]? (?:fail(?:ed|ure|s)|errors?"
    r"|exceed(?:ed|s)|reached|violat\w+|is|are|was|were|has|had|cannot|could|timed"
    r"|not (?:found|supported|allowed))\b"
)
_NO_USE = re.compile(
    r"(?i)\bretry(?:ing)?\b.{0,30}(?:will not|won't|does not|cannot) (?:help|work"
    r"|succeed)|\bno (?:need|use|point) (?:to|in) (?:retry|repeat)"
    r"|\bnot (?:be )?retr(?:ied|yable)\b"
)
_AGAIN = re.compile(r"(?i)\b(?:again|once more|same (?:call|request|arguments|key))\b")
_CHANGED = re.compile(
    r"(?i)\bwith (?!(?:the )?same\b|it\b|(?:a |an )?(?:delay|backoff|exponential))"
    r"|\b(?:different|another|other|smaller|larger|shorter|fewer|corrected|correct"
    r"|valid|new|exact|right|instead|without|after (?:fixing|correcting|changing))\b"
)
_LOOKS = re.compile(
    r"(?i)\bto (?:see|check|verify|confirm|read|find out|learn|inspect)"
    r" (?:it|if|whether|what|the (?:earlier|first|existing|result|state|status|outcome"
    r"|operation|record|booking|payment|order))\b"
    r"|\b(?:with|by|for) the same (?:key|reference|operation|id|operation_ref)"
    r"|\bbefore (?:you )?(?:try|retry|call|send|repeat|pay|post|writ|book)"
    r"|\boperation_ref\b"
)

_PERSON = r"(?:user|customer|caller|traveller|passenger|client|person|human)\b"
# Clauses that begin so are steps. The first rule that fits reads the clause.
_RULES: tuple[tuple[str, Branch, re.Pattern[str]], ...] = tuple(
    (name, branch, re.compile(rf"(?i){_POLITE}(?:{pattern})"))
    for name, branch, pattern in (
        ("ask_approval", Branch.ASK_APPROVAL,
         r"(?:ask|request|get|obtain|seek|wait for|await|have)\b[^.]{0,60}?"
         r"\b(?:approv\w*|permission|sign-?off|authori[sz]ation)\b"),
        ("ask_user", Branch.ASK_USER,
         r"(?:ask|prompt|check with|confirm (?:it |this )?with|clarify with|wait for)"
         rf" (?:the |your |a )?{_PERSON}|(?:get|request|obtain)\b[^.]{{0,60}}? from"
         rf" (?:the |your )?{_PERSON}|ask (?:for|them|him|her|which|what|how)\b"),
        ("hand_over", Branch.STOP,
         r"(?:escalate|hand (?:it |this )?(?:over|off)|transfer\b[^.]{0,30}\b(?:human"
         r"|agent|person)|contact (?:support|your|the|an?)\b|report (?:this|it|the)\b"
         r"|open a ticket|call a (?:human|person))"),
        ("tell_user", Branch.STOP,
         r"(?:tell|inform|notify|let|apologi[sz]e to|explain to)\b (?:the |your )?"
         rf"(?:{_PERSON}|them\b)"),
        ("stop", Branch.STOP,
         r"(?:stop(?!ped)|give up|abort(?!ed)|end (?:the|this|your)|cease"
         r"|finish the run|do nothing)\b"),
        ("verify", Branch.VERIFY,
         r"(?:verify|confirm|find out|check|see|look up) (?:first )?(?:whether|if"
         r"|that (?:it|no)|(?:the|its) (?:\w+ )?(?:status|state|outcome))\b|verify\b"),
        ("wait", Branch.RETRY_UNCHANGED,
         r"(?:wait|pause|sleep|back ?off)\b(?! for (?:a |the )?(?:reply|answer))"),
        ("read_first", Branch.SWITCH_TOOL,
         r"(?:re-?)?(?:read|open|list|fetch|load|view) (?:it|the (?:file|page|list"
         r"|document|record))\b|(?:use|try|call) (?:another|a different|one of the"
         r" other|the other) tools?\b|try one of \["),
    )
)  # fmt: skip
_CALL = (
    r"(?:call|use|run|invoke|try|switch to|go to|execute|query)\s+(?:the )?(?:tool )?"
)
_TRY_AGAIN = re.compile(
    rf"(?i){_POLITE}(?P<step>(?:retry|repeat|re-?send|re-?submit|re-?run|re-?issue"
    r"|try (?:it |this )?(?:again|once more|later|in [0-9]|with|an?\b|another"
    r"|different)"
    r"|(?:make|send|call|do|post|write|run|pay|book|submit|execute|perform)\b"
    r"(?=[^.]{0,60}\bagain\b|[^.]{0,30}\bsame (?:call|request)))\b)"
)
_POLITE_AGAIN = re.compile(r"(?i)\bplease (?:try again|retry)\b")
_FIX = re.compile(
    rf"(?i){_POLITE}(?:fix|correct|change|adjust|modify|edit|update your|rewrite"
    r"|rephrase|shorten|reduce|lower|increase|raise|remove|omit|drop|leave out|add"
    r"|include|provide|pass|supply|specify|set|give|pick|choose|select|enter|replace"
    r"|split|narrow|limit|quote|escape|encode|convert|copy|format|rename|truncate|trim"
    r"|match|make sure|ensure|use (?!it\b|this\b)|run `[^`]+`|send (?:an?|the|only)"
    r"|review (?:the|your) (?:arguments|input|query|parameters)"
    r"|check (?:the|your|that|for|its)(?! (?:logs?|docs|documentation|console|trace)))"
    r"(?:\b|(?<=\s))(?=\W*\w)"
)
_INSTEAD = re.compile(
    r"(?i)(?!got|found|but|received|expected|was|were)[a-z]+ [^.]{0,60}\binstead\b"
)
# "Use `path`" fixes an argument, "use `grep` to …" calls a tool.
_FOR_A_TOOL = re.compile(r"(?i)`?\s+(?:to|for|first|instead|with|on|and)\b|`?[\s.]*$")


def _steps_of(
    clauses: Iterable[_Clause], own: str, tools: frozenset[str]
) -> list[Step]:
    """Read one sentence; after a first step, `and` and `then` only follow it."""
    steps: list[Step] = []
    selected = fallback = False
    for clause in clauses:
        text, at = clause.text, clause.start
        if _NO_USE.search(text):
            end = at + len(text)
            steps.append(Step(Branch.STOP, at, end, Role.FORBIDS, "no_use"))
            continue
        condition = _CONDITION.match(text)
        if condition:
            fallback = bool(_FAILS_AGAIN.search(condition["what"]))
            text, at = text[condition.end() :], at + condition.end()
        step = _read_clause(text, own, tools)
        if step is None:
            if steps:  # "use a date on" + "or" + "after 1 May" is one step
                steps[-1] = steps[-1]._replace(end=at + _length(text))
            continue
        role = step.role
        if clause.link == "or" and steps and steps[-1].role is Role.FORBIDS:
            role = Role.FORBIDS  # "do not split it or retry"
        elif role is Role.SELECTS and fallback:
            role = Role.FALLBACK
        elif role is Role.SELECTS and selected and clause.link != "or":
            role = Role.FOLLOWS
        selected = selected or role is Role.SELECTS
        steps.append(step._replace(start=at + step.start, end=at + step.end, role=role))
    return steps


def _length(text: str) -> int:
    return len(text.rstrip(" .!;,)\"'"))


def _read_clause(text: str, own: str, tools: frozenset[str]) -> Step | None:
    begin = re.match(_POLITE, text, re.IGNORECASE)
    at, end = begin.end() if begin else 0, _length(text)
    if _STATES.match(text, at):
        return None
    if _FORBIDS.match(text, at):
        return Step(Branch.STOP, at, end, Role.FORBIDS, "forbids")
    for name, branch, pattern in _RULES:
        if pattern.match(text):
            return Step(branch, at, end, Role.SELECTS, name)
    called = _read_call(text, at, end, own, tools)
    if called:
        return called
    again = _TRY_AGAIN.match(text)
    if again and _CHANGED.search(text, again.start("step")):
        return Step(Branch.RETRY_CHANGED, at, end, Role.SELECTS, "try_again_with")
    polite = again or _POLITE_AGAIN.search(text)
    if polite:
        exact = re.search(r"(?i)\bsame\b|\blater\b|\bin [0-9]|\bafter [0-9]", text)
        rule, start = (
            "repeat" if exact else "try_again",
            at if again else polite.start(),
        )
        return Step(Branch.RETRY_UNCHANGED, start, end, Role.SELECTS, rule)
    if re.match(r"[A-Z]{2,}\b", text[at:]):  # SQL: SELECT, LIMIT, SET
        return None
    if _FIX.match(text) or _INSTEAD.match(text, at):
        return Step(Branch.RETRY_CHANGED, at, end, Role.SELECTS, "fix")
    return None


def _read_call(
    text: str, at: int, end: int, own: str, tools: frozenset[str]
) -> Step | None:
    """A clause that tells to call a tool: another one, or the same one again."""
    match = re.match(rf"(?i)(?:{_CALL})?`?(?P<tool>[A-Za-z][\w.-]*\w)", text[at:])
    if not match:
        return None
    name, verb = match["tool"], match.start("tool") > 0 and text[at].isalpha()
    quoted = f"`{name}`" in text[at:]
    known = name in tools or name == own
    spelled = bool(re.search(r"[a-z]_[a-z]|[a-z][.-][a-z]|[a-z][A-Z]", name)) or quoted
    after = text[at + match.end() :]
    if not known and (not spelled or not verb) and not _ends_as_tool(verb, name, after):
        return None
    if not verb and not (known or spelled):
        return None
    if not verb and not re.match(r"`?\s+to\b", after):
        return None
    if quoted and not known and not _FOR_A_TOOL.match(after):
        return None
    if name == own:
        if _CHANGED.search(after) or not _AGAIN.search(after):
            return Step(Branch.RETRY_CHANGED, at, end, Role.SELECTS, "call_own", name)
        return Step(Branch.RETRY_UNCHANGED, at, end, Role.SELECTS, "repeat", name)
    if _LOOKS.search(after):
        return Step(Branch.VERIFY, at, end, Role.SELECTS, "look_up", name)
    if not own and _AGAIN.search(after):
        # Whose tool it is nobody said; "call X again with …" is most often its own.
        changed = _CHANGED.search(after)
        branch = Branch.RETRY_CHANGED if changed else Branch.RETRY_UNCHANGED
        return Step(branch, at, end, Role.SELECTS, "call_again", name)
    return Step(Branch.SWITCH_TOOL, at, end, Role.SELECTS, "call_other", name)


def _ends_as_tool(verb: bool, name: str, after: str) -> bool:
    """Say whether a plain word is used as a tool: "use grep to find …"."""
    plain = name.islower() and name not in _NO_TOOLS
    looks_for = r"\s+(?:to (?:find|list|get|search|look|fetch|see|read)|for the)\b"
    return verb and plain and bool(re.match(looks_for, after))


_NO_TOOLS = frozenset(
    ["a", "an", "another", "it", "one", "only", "some", "that", "the", "them", "this"]
)


def _settled(steps: list[Step]) -> list[Step]:
    """Weigh steps of different sentences against each other.

    A bare "try again" only repeats what a correction asks for. A text that forbids
    and says nothing else tells to stop. What is told to the user after another step
    is courtesy, not a branch.
    """
    selects = [s for s in steps if s.role is Role.SELECTS]
    branches = {s.branch for s in selects}
    settled = []
    for step in steps:
        role = step.role
        if role is Role.SELECTS and (
            (step.rule == "try_again" and Branch.RETRY_CHANGED in branches)
            or (step.rule == "tell_user" and branches - {Branch.STOP})
        ):
            role = Role.FOLLOWS
        settled.append(step._replace(role=role))
    if not selects:
        settled = [
            s._replace(role=Role.SELECTS) if s.role is Role.FORBIDS else s
            for s in settled
        ]
    return settled
