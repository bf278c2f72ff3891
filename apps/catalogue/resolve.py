"""Finds the code and text of each fingerprint, and makes what is new.

What is made depends on the fingerprint alone, so arrival order and the number of
workers change nothing.
"""

from collections.abc import Iterable
from typing import NamedTuple

from .fingerprints import v1
from .fingerprints.v1 import Fingerprint
from .models import Code, Text, TextOrigin
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


def resolve(workspace_id: int, seen: Iterable[Seen]) -> dict[str, Place]:
    """Give the place of each text by its key (`text_key`); safe beside other workers.

    Rows are made in the order of their keys, each statement on its own, so that two
    workers never wait for each other in a circle.
    """
    by_key = {item.fingerprint.text_key: item for item in seen}
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
            code__tool__in={stored_tool(item.tool) for item in items},
        ).select_related("code")
    )
    versions: dict[str, Text] = {}
    for item in items:
        for text in shipped:
            if text.code.tool == stored_tool(item.tool) and matches(
                text.sample, item.delivered
            ):
                versions[item.fingerprint.text_key] = text
                break
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
    codes = dict(
        ((tool, key), pk)
        for tool, key, pk in Code.objects.filter(
            workspace_id=workspace_id, key__in={key for _, key in wanted}
        ).values_list("tool", "key", "pk")
    )
    texts = []
    for item in items:
        mark = item.fingerprint
        version = versions.get(mark.text_key)
        code_id = (
            version.code_id
            if version
            else codes[stored_tool(item.tool), code_key(item.tool, mark)]
        )
        texts.append(
            Text(
                workspace_id=workspace_id,
                code_id=code_id,
                key=mark.text_key,
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
