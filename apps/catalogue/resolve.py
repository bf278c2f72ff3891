"""Finds the code and text of each fingerprint, and makes what is new.

What is made depends on the fingerprint and the rules of the workspace alone, so arrival
order and the number of workers change nothing.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db import transaction

from .fingerprints import v1
from .fingerprints.v1 import Fingerprint
from .models import Code, Text, TextOrigin
from .placement import Path, Rules, side_key
from .placing import has_raw_splits, hold_places, live_rules
from .templates import matches


class Place(NamedTuple):
    """Where an error belongs."""

    code_id: int
    text_id: int


class Seen(NamedTuple):
    """A fingerprint with one delivered text that has it."""

    fingerprint: Fingerprint
    tool: str
    delivered: str


def code_key(tool: str, fingerprint: Fingerprint) -> str:
    """Name the code of a fingerprint; equal for equal fingerprints, whenever met.

    A code in the result keeps its spelling. Else the name is `tool.what_failed`; where
    the words of the text do not all fit into it, four characters of the fingerprint
    keep two long texts apart.
    """
    if fingerprint.structured_code:
        return storable(fingerprint.structured_code[:200])
    name = fingerprint.slug
    if not v1.says_all(name, fingerprint.masked):
        name = f"{name}~{fingerprint.key[:4]}"
    return f"{stored_tool(tool)[:90]}.{name}"


def stored_tool(tool: str) -> str:
    """Give a tool's name as it is stored."""
    return storable(tool)[:200]


class Places:
    """The place of every text that was asked for."""

    def __init__(self, by_key: dict[str, Place]) -> None:
        """Begin with the rows as they are, without splits on raw text."""
        self.by_key = by_key
        self.rules = Rules()
        self.divided: dict[str, tuple[int, str]] = {}  # text key -> home, masked

    def of(self, key: str, delivered: str) -> Place:
        """Give the place of one error by its text's key and its raw text."""
        if key not in self.divided:
            return self.by_key[key]
        return self.by_key[side_key(key, self.path(key, delivered).matched)]

    def path(self, key: str, delivered: str) -> Path:
        """Lead an error of a divided text by its raw text."""
        home, masked = self.divided[key]
        return self.rules.follow(home, masked, raw=storable(delivered))


def resolve(workspace_id: int, seen: Collection[Seen]) -> Places:
    """Make the codes and texts that are new; give all places as they stand now.

    Safe beside other workers: rows are made in the order of their keys, so that two
    workers never wait for each other in a circle.
    """
    _make_missing(workspace_id, seen)
    return _places(workspace_id, seen)


def hold(workspace_id: int, seen: Collection[Seen]) -> Places:
    """Give the places of texts and keep them until the transaction ends.

    Whoever writes errors calls this first in its transaction: no job then moves a text
    between the look at its place and the row that carries it. Texts that `resolve` was
    not asked for before are made here, which lets other workers wait.
    """
    hold_places(workspace_id)
    return resolve(workspace_id, seen)


def _make_missing(workspace_id: int, seen: Iterable[Seen]) -> None:
    by_key = {item.fingerprint.text_key: item for item in seen}
    missing = sorted(set(by_key) - set(_known(workspace_id, by_key)))
    if missing:
        _make(workspace_id, [by_key[key] for key in missing])


def _places(workspace_id: int, seen: Collection[Seen]) -> Places:
    keys = {item.fingerprint.text_key for item in seen}
    places = Places(_known(workspace_id, keys))
    if keys and has_raw_splits(workspace_id):
        _divide(workspace_id, seen, places)
    return places


def _known(workspace_id: int, keys: Iterable[str]) -> dict[str, Place]:
    rows = Text.objects.filter(workspace_id=workspace_id, key__in=list(keys))
    return {
        key: Place(code, text)
        for key, code, text in rows.values_list("key", "code_id", "id")
    }


def _divide(workspace_id: int, seen: Iterable[Seen], places: Places) -> None:
    """Find the sides of texts that a split on raw text divides; make new ones."""
    places.rules = rules = live_rules(workspace_id)
    bases = Text.objects.filter(workspace_id=workspace_id, key__in=places.by_key)
    for text in bases.only("key", "home_id", "masked"):
        if rules.follow(text.home_id, text.masked).meets_raw:
            places.divided[text.key] = (text.home_id, text.masked)
    wanted: dict[tuple[str, tuple[int, ...]], str] = {}
    for item in seen:
        key = item.fingerprint.text_key
        if key in places.divided:
            matched = places.path(key, item.delivered).matched
            if matched:
                wanted.setdefault((key, matched), item.delivered)
    if wanted:
        places.by_key |= make_sides(workspace_id, rules, wanted)


def make_sides(
    workspace_id: int, rules: Rules, wanted: dict[tuple[str, tuple[int, ...]], str]
) -> dict[str, Place]:
    """Give the row of each side, made if need be.

    `wanted` has the key of a text and the raw splits matched, with one raw text.
    """
    keys = [side_key(key, matched) for key, matched in wanted]
    known = _known(workspace_id, keys)
    if len(known) == len(set(keys)):
        return known
    bases = {
        text.key: text
        for text in Text.objects.filter(
            workspace_id=workspace_id, key__in={key for key, _ in wanted}
        )
    }
    rows = []
    for (key, matched), raw in sorted(wanted.items()):
        base = bases[key]
        path = rules.follow(base.home_id, base.masked, matched=matched)
        rows.append(
            Text(
                workspace_id=workspace_id,
                code_id=path.code,
                home_id=base.home_id,
                key=side_key(key, matched),
                masked=base.masked,
                sample=storable(raw[:4000]),
                wrapper=base.wrapper,
                version_of_id=base.version_of_id,
                is_coded=base.is_coded,
                side_of=base,
                matched_rules=list(matched),
            )
        )
    Text.objects.bulk_create(rows, ignore_conflicts=True)
    return _known(workspace_id, keys)


def _make(workspace_id: int, items: list[Seen]) -> None:
    versions = shipped_versions(workspace_id, items)
    wanted = {
        (stored_tool(item.tool), code_key(item.tool, item.fingerprint))
        for item in items
        if item.fingerprint.text_key not in versions
    }
    Code.objects.bulk_create(
        [
            Code(workspace_id=workspace_id, tool=tool, key=key)
            for tool, key in sorted(wanted)
        ],
        ignore_conflicts=True,
    )
    found = Code.objects.filter(
        workspace_id=workspace_id, key__in={key for _, key in wanted}
    )
    codes = {(code.tool, code.key): code.pk for code in found.only("tool", "key")}
    with transaction.atomic():  # short: rules must not change before the rows stand
        hold_places(workspace_id)
        rules = live_rules(workspace_id)
        texts = []
        for item in items:
            mark = item.fingerprint
            version = versions.get(mark.text_key)
            home = (
                version.home_id
                if version
                else codes[stored_tool(item.tool), code_key(item.tool, mark)]
            )
            masked = storable(mark.masked)
            texts.append(
                Text(
                    workspace_id=workspace_id,
                    code_id=rules.follow(home, masked).code,
                    home_id=home,
                    key=mark.text_key,
                    masked=masked,
                    sample=storable(item.delivered[:4000]),
                    wrapper=mark.wrapper[:120],
                    version_of=version,
                    is_coded=bool(mark.structured_code),
                )
            )
        Text.objects.bulk_create(texts, ignore_conflicts=True)


def shipped_versions(workspace_id: int, items: Iterable[Seen]) -> dict[str, Text]:
    """Find the texts, by key, that a shipped rewrite produced."""
    shipped: dict[str, list[Text]] = {}
    for text in Text.objects.filter(
        workspace_id=workspace_id,
        origin=TextOrigin.SHIPPED,
        home__tool__in={stored_tool(item.tool) for item in items},
    ).select_related("home"):
        shipped.setdefault(text.home.tool, []).append(text)
    versions: dict[str, Text] = {}
    for item in items:
        for text in shipped.get(stored_tool(item.tool), ()):
            if matches(text.sample, item.delivered):
                versions[item.fingerprint.text_key] = text
                break
    return versions


def storable(text: str) -> str:
    """Make text storable: PostgreSQL has no NUL and no lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
