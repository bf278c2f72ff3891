"""Finds the code and text of each fingerprint, and makes what is new.

What is made depends on the fingerprint alone, so arrival order and the number of
workers change nothing.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from .fingerprints.v1 import Fingerprint
from .models import Code, Text, TextOrigin
from .templates import matches

_PLACEHOLDER = re.compile(r"<[^<>\s]{1,20}>")
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")


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
        return fingerprint.structured_code[:200]
    words = _WORD.findall(_PLACEHOLDER.sub(" ", fingerprint.masked).lower())
    said = "_".join(words)
    slug = fingerprint.slug or "error"
    name = slug if said == slug else f"{slug}~{fingerprint.key[:4]}"
    return f"{tool[:90]}.{name}"


def resolve(workspace_id: int, seen: Iterable[Seen]) -> dict[str, Place]:
    """Give the place of each fingerprint by its key; safe beside other workers.

    Rows are made in the order of their keys, each statement on its own, so that two
    workers never wait for each other in a circle.
    """
    by_key = {item.fingerprint.key: item for item in seen}
    places = _known(workspace_id, by_key)
    missing = sorted(set(by_key) - set(places))
    if missing:
        _make(workspace_id, [by_key[key] for key in missing])
        places |= _known(workspace_id, missing)
    return places


def _known(workspace_id: int, keys: Iterable[str]) -> dict[str, Place]:
    rows = Text.objects.filter(workspace_id=workspace_id, key__in=list(keys))
    return {
        key: Place(code, text)
        for key, code, text in rows.values_list("key", "code_id", "id")
    }


def _make(workspace_id: int, items: list[Seen]) -> None:
    shipped = list(
        Text.objects.filter(
            workspace_id=workspace_id,
            origin=TextOrigin.SHIPPED,
            code__tool__in={item.tool for item in items},
        ).select_related("code")
    )
    versions: dict[str, Text] = {}
    for item in items:
        for text in shipped:
            if text.code.tool == item.tool and matches(text.sample, item.delivered):
                versions[item.fingerprint.key] = text
                break
    wanted = {
        (item.tool[:200], code_key(item.tool, item.fingerprint))
        for item in items
        if item.fingerprint.key not in versions
    }
    Code.objects.bulk_create(
        [
            Code(workspace_id=workspace_id, tool=tool, key=key)
            for tool, key in sorted(wanted)
        ],
        ignore_conflicts=True,
    )
    codes = dict(
        ((tool, key), pk)
        for tool, key, pk in Code.objects.filter(
            workspace_id=workspace_id, key__in={key for _, key in wanted}
        ).values_list("tool", "key", "pk")
    )
    texts = []
    for item in items:
        mark = item.fingerprint
        version = versions.get(mark.key)
        code_id = (
            version.code_id
            if version
            else codes[item.tool[:200], code_key(item.tool, mark)]
        )
        texts.append(
            Text(
                workspace_id=workspace_id,
                code_id=code_id,
                key=mark.key,
                masked=storable(mark.masked),
                sample=storable(item.delivered[:4000]),
                wrapper=mark.wrapper[:120],
                version_of=version,
            )
        )
    Text.objects.bulk_create(texts, ignore_conflicts=True)


def storable(text: str) -> str:
    """Make text storable: PostgreSQL has no NUL and no lone surrogates."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
