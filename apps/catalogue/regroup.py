"""Stage 2: fold fingerprints of one tool that differ only in varying words.

Masking knows what a number or a path looks like; it cannot know that `orders` in
"relation orders is locked" is a table's name. Only many texts side by side tell.

1. *Forms* (`text_forms`): the tokens of each masked text, values of every kind alike.
   Texts of one form are one group.
2. *Families* (`families`): forms that are equal but for the word at one position.
   `varying_words.judge` says whether its words are values; if so its forms are joined,
   and the position becomes `<*>`.
3. Again with the joined forms, until nothing changes, so that several positions may
   vary; then with families of two positions.

Every step looks at all forms at once and joins whatever any family joins, so neither
the order of the items nor how they were counted can change a group. Evidence is taken
from all tools together (one framework speaks in each of them); texts of two tools are
never joined. What is not plain enough to fold is suggested, with a reason in words.
Unlike parse trees that learn line by line (Drain, Spell), no threshold of similarity is
set, and no first text decides what the later ones are compared with.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

import msgspec

from apps.catalogue.families import Family, families, families_of_two
from apps.catalogue.text_forms import Form, common_form, form_of, template_of
from apps.catalogue.varying_words import VALUE, is_word

MAX_ROUNDS: Final = 8
MAX_SUGGESTED: Final = 12  # pairs of one family
SAYS_MORE: Final = 4  # fixed words that a text must share with a longer one
_EXITS: Final = frozenset(("exit", "exited", "Exit"))  # a bare exit code says nothing

Node = tuple[str, Form]  # a form of one tool


class Item(msgspec.Struct, frozen=True):
    """A fingerprint as counted; the same key may come more than once."""

    tool: str
    key: str
    masked: str
    count: int = 1
    structured_code: str = ""  # set: the code decides, and the text is never folded


class Group(msgspec.Struct, frozen=True):
    """Fingerprints of one tool that are one failure."""

    tool: str
    key: str  # the smallest of `members`: hangs neither on counts nor on order
    template: str  # masked text, with <*> where the members differ
    members: tuple[str, ...]  # keys, sorted
    count: int
    reasons: tuple[str, ...]  # why it was folded, in words; empty for a group of one


class Suggestion(msgspec.Struct, frozen=True):
    """Two groups of one tool that a person may want to merge."""

    tool: str
    keys: tuple[str, str]  # of the groups, sorted
    reason: str


class Regrouping(msgspec.Struct, frozen=True):
    """What became of the fingerprints: each is in exactly one group."""

    groups: tuple[Group, ...]  # sorted by tool and key
    suggestions: tuple[Suggestion, ...]

    def key_of_members(self) -> dict[tuple[str, str], str]:
        """(tool, key of a fingerprint) -> key of its group."""
        return {(g.tool, member): g.key for g in self.groups for member in g.members}


class _Counted(NamedTuple):
    masked: str
    errors: int
    coded: bool


def regroup(items: Iterable[Item]) -> Regrouping:
    """Fold fingerprints that differ only in varying words. Pure, order-independent."""
    counted = _count(items)
    members: dict[Node, list[str]] = defaultdict(list)
    alone: list[tuple[str, str]] = []
    for (tool, key), fingerprint in counted.items():
        if fingerprint.coded:
            alone.append((tool, key))
        else:
            members[tool, form_of(fingerprint.masked)].append(key)
    folds = _Folds(members)
    for _ in range(MAX_ROUNDS):
        if not folds.fold(families) and not folds.fold(families_of_two):
            break
    groups = [
        _group(tool, keys, counted, folds.reasons_for((tool, form)))
        for (tool, form), keys in folds.members.items()
    ]
    groups += [_group(tool, [key], counted, ()) for tool, key in alone]
    groups.sort(key=lambda group: (group.tool, group.key))
    return Regrouping(tuple(groups), tuple(_suggestions(folds.members)))


def _count(items: Iterable[Item]) -> dict[tuple[str, str], _Counted]:
    """Add up items of one key; the text counted most often speaks for a coded one."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(
        lambda: defaultdict(int)
    )
    coded: dict[tuple[str, str], bool] = {}
    for item in items:
        counts[item.tool, item.key][item.masked] += item.count
        coded[item.tool, item.key] = bool(item.structured_code)
    return {
        node: _Counted(
            min(texts, key=lambda text: (-texts[text], text)),
            sum(texts.values()),
            coded[node],
        )
        for node, texts in sorted(counts.items())
    }


def _group(
    tool: str,
    keys: list[str],
    counted: dict[tuple[str, str], _Counted],
    reasons: tuple[str, ...],
) -> Group:
    keys = sorted(keys)
    return Group(
        tool=tool,
        key=keys[0],
        template=template_of([counted[tool, key].masked for key in keys]),
        members=tuple(keys),
        count=sum(counted[tool, key].errors for key in keys),
        reasons=reasons,
    )


class _Folds:
    """The forms so far, each with the fingerprints that it stands for."""

    def __init__(self, members: dict[Node, list[str]]) -> None:
        self.members = members
        self.reasons: dict[Node, set[str]] = {}

    def reasons_for(self, node: Node) -> tuple[str, ...]:
        """Why the members of a form are one group, in words."""
        found = self.reasons.get(node, set())
        if not found and len(self.members[node]) > 1:
            found = {"the same words around values of another kind"}
        return tuple(sorted(found))

    def fold(self, find: Callable[[Iterable[Form]], Iterator[Family]]) -> bool:
        """Join the forms of every family that folds; False where none did."""
        tools: dict[Form, list[str]] = defaultdict(list)
        for tool, form in self.members:
            tools[form].append(tool)
        parents: dict[Node, Node] = {}
        why: dict[Node, set[str]] = defaultdict(set)
        for family in find(tools):
            if not family.verdict.folds:
                continue
            first: dict[str, Node] = {}  # of each tool that has forms of this family
            for form in family.forms:
                for tool in tools[form]:
                    node = (tool, form)
                    why[node].add(family.verdict.reason)
                    _join(parents, first.setdefault(tool, node), node)
        if parents:
            self._join_members(parents, why)
        return bool(parents)

    def _join_members(
        self, parents: dict[Node, Node], why: dict[Node, set[str]]
    ) -> None:
        joined: dict[Node, list[Node]] = defaultdict(list)
        for node in self.members:
            joined[_root(parents, node)].append(node)
        members: dict[Node, list[str]] = defaultdict(list)
        reasons: dict[Node, set[str]] = defaultdict(set)
        for (tool, _), nodes in joined.items():
            form = common_form([form for _, form in nodes])
            for node in nodes:
                members[tool, form] += self.members[node]
                reasons[tool, form] |= self.reasons.get(node, set())
                if len(nodes) > 1:
                    reasons[tool, form] |= why[node]
        self.members = members
        self.reasons = reasons


def _root(parents: dict[Node, Node], node: Node) -> Node:
    while node in parents:
        node = parents[node]
    return node


def _join(parents: dict[Node, Node], one: Node, other: Node) -> None:
    """Union by name: the smaller root stays, whatever came first."""
    one, other = _root(parents, one), _root(parents, other)
    if one != other:
        parents[max(one, other)] = min(one, other)


def _suggestions(members: dict[Node, list[str]]) -> list[Suggestion]:
    """Pairs of groups that a person should look at."""
    keys: dict[Form, dict[str, str]] = defaultdict(dict)
    for (tool, form), of_group in members.items():
        keys[form][tool] = min(of_group)
    found: dict[tuple[str, str, str], str] = {}
    for family in families(keys):
        if not family.verdict.doubtful or family.verdict.folds:
            continue
        for tool in sorted({tool for form in family.forms for tool in keys[form]}):
            of_tool = sorted(keys[f][tool] for f in family.forms if tool in keys[f])
            for other in of_tool[1 : MAX_SUGGESTED + 1]:
                found.setdefault((tool, of_tool[0], other), family.verdict.reason)
    for tool, shorter, longer in _that_say_more(members):
        pair = sorted((keys[shorter][tool], keys[longer][tool]))
        found.setdefault((tool, pair[0], pair[1]), "one text says more than the other")
    return [
        Suggestion(tool, (one, other), reason)
        for (tool, one, other), reason in sorted(found.items())
    ]


def _that_say_more(members: Iterable[Node]) -> Iterator[tuple[str, Form, Form]]:
    """Forms that another one of the same tool begins with."""
    beginnings: list[Node] = []  # of the form at hand, the shortest first
    for tool, form in sorted(members):
        while beginnings and not _begins(beginnings[-1], (tool, form)):
            beginnings.pop()
        for _, shorter in beginnings:
            fixed = sum(map(is_word, shorter)) - shorter.count(VALUE)
            if fixed >= SAYS_MORE and _EXITS.isdisjoint(shorter):
                yield tool, shorter, form
        beginnings.append((tool, form))


def _begins(shorter: Node, longer: Node) -> bool:
    return shorter[0] == longer[0] and longer[1][: len(shorter[1])] == shorter[1]
