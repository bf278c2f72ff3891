"""A look at the head of a file, parsed once and shared by all detectors."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO

from .records import documents, utf8
from .values import Json, decode_all, mapping

MAX_RECORDS = 40


@dataclass(frozen=True, slots=True)
class Head:
    """What the first 256 KiB hold."""

    start: bytes  # the first bytes, without a mark or white space
    is_array: bool  # one top-level JSON array
    is_lines: bool  # several JSON documents one after another
    records: list[Json] = field(default_factory=list)  # whole documents at the start
    cut: bytes = b""  # the document that the head ends in
    keys: frozenset[str] = frozenset()
    # top-level keys of the first document, also where it is cut

    @property
    def first(self) -> dict[str, Json]:
        """Give the first document if it is an object and whole, else {}."""
        return mapping(self.records[0]) if self.records else {}

    @property
    def objects(self) -> list[dict[str, Json]]:
        """Give those of the first documents that are objects."""
        return [record for record in self.records if isinstance(record, dict)]


@lru_cache(maxsize=16)
def peek(head: bytes) -> Head:
    """Parse what can be parsed of a head; never raises."""
    start = utf8(BytesIO(head)).read().lstrip()[:64]
    records: list[Json] = []
    cut = b""
    try:
        for document in documents(BytesIO(head)):
            try:
                records.extend(decode_all(document.raw))
            except ValueError:
                if not records:
                    cut = cut or document.raw
            if len(records) >= MAX_RECORDS:
                break
    except ValueError:
        pass
    is_array = start[:1] == b"["
    keys = frozenset(mapping(records[0])) if records else frozenset(_keys(cut))
    return Head(start, is_array, not is_array and len(records) > 1, records, cut, keys)


def _keys(raw: bytes) -> list[str]:
    """Top-level keys of a cut object, by walking its brackets."""
    if not raw.lstrip().startswith(b"{"):
        return []
    depth, found = 0, []
    token = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[\[\]{}]', re.DOTALL)
    for match in token.finditer(raw):
        byte = match.group()[:1]
        if byte in (b"{", b"["):
            depth += 1
        elif byte in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and match.group(2):
            found.append(match.group(1).decode("utf-8", "replace"))
    return found
