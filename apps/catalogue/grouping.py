"""The code of every error in one set: fingerprints, then regrouping over them all."""

from collections.abc import Iterable

from apps.catalogue.fingerprints.v1 import Fingerprint, fingerprint
from apps.catalogue.regroup import Item, Regrouping, regroup


def group_keys(errors: Iterable[tuple[str, str]]) -> list[str]:
    """Key of the code of each (tool, text), in the order given.

    The order does not matter to the keys: shuffled errors get the same ones.
    """
    pairs = list(errors)
    prints = [fingerprint(tool, text) for tool, text in pairs]
    tools = [tool for tool, _ in pairs]
    keys = regroup_prints(zip(tools, prints, strict=True)).key_of_members()
    return [keys[tool, one.key] for tool, one in zip(tools, prints, strict=True)]


def regroup_prints(prints: Iterable[tuple[str, Fingerprint]]) -> Regrouping:
    """Regroup (tool, fingerprint) pairs, one for each error."""
    return regroup(
        Item(tool, one.key, one.masked, structured_code=one.structured_code)
        for tool, one in prints
    )
