"""Word difference of two texts. Pure."""

import difflib
import re
from typing import NamedTuple


class Piece(NamedTuple):
    """A stretch that stands in both texts, only in the old, or only in the new."""

    kind: str  # same, old, new
    text: str


def word_difference(old: str, new: str) -> list[Piece]:
    """Cut two texts into the stretches they share and those they do not."""
    first, second = re.findall(r"\S+\s*", old), re.findall(r"\S+\s*", new)
    pieces = []
    matcher = difflib.SequenceMatcher(a=first, b=second, autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            pieces.append(Piece("same", "".join(first[i:j])))
            continue
        if i < j:
            pieces.append(Piece("old", "".join(first[i:j])))
        if k < m:
            pieces.append(Piece("new", "".join(second[k:m])))
    return pieces
