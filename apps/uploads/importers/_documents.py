"""The loop that all readers of JSON share: documents in, values and faults out."""

from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from apps.runs.transcript import Unreadable

from ._salvage import after, before, fault_in
from .records import Document, documents
from .values import Json, decode_all


class Value(NamedTuple):
    """One JSON value of a file, where it stands, and what is wrong with it."""

    json: Json  # None: nothing could be read
    document: Document
    fault: Unreadable | None = None


def values(
    stream: BinaryIO,
    is_run: Callable[[Json], bool] | None = None,
    is_item: Callable[[Json], bool] | None = None,
    quick: Callable[[bytes], Json | None] | None = None,
) -> Iterator[Value]:
    """Yield each value of the file, and each document that is none.

    Of a document with a fault, the sound beginning comes as its value together with
    the fault, if it is a run; then the runs behind the fault. In a list of items, one
    with a fault may have swallowed those after it: they come too. `quick` is asked
    first for the value of a document; what it gives is a run.
    """
    in_list: bool | None = None  # one top-level list, and no run in it so far
    for document in documents(stream):
        in_list = document.offset > 0 if in_list is None else in_list
        value = quick(document.raw) if quick is not None else None
        if value is not None:
            in_list = False
            yield Value(value, document)
            continue
        try:
            found = decode_all(document.raw)
        except ValueError as exc:
            fault = unreadable(document, str(exc))
            items = is_item if in_list else None
            yield from _salvaged(document, fault, is_run, items)
            continue
        for value in found:
            in_list = in_list and not (is_run is not None and is_run(value))
            yield Value(value, document)


def _salvaged(
    document: Document,
    fault: Unreadable,
    is_run: Callable[[Json], bool] | None,
    is_item: Callable[[Json], bool] | None,
) -> Iterator[Value]:
    text = document.raw.decode("utf-8", "replace")
    place = fault_in(text) if is_run or is_item else None
    part = before(text, place) if is_run and place is not None else None
    is_whole_run = is_run is not None and part is not None and is_run(part)
    yield Value(part if is_whole_run else None, document, fault)
    if place is None:
        return
    runs = list(after(text, place, is_run)) if is_run is not None else []
    if not runs and not is_whole_run and is_item is not None:
        runs = list(after(text, place, is_item))
    for value in runs:
        yield Value(value, document)


def unreadable(document: Document, reason: str) -> Unreadable:
    """Describe a document that no record could be made of."""
    preview = document.raw[:500].decode("utf-8", "replace")
    if not document.is_complete:
        reason = "the file ends in the middle of this record"
    return Unreadable(reason, document.line, document.offset, preview)


def odd_item(item: Json, document: Document, what: str) -> Unreadable:
    """Describe an item of a list that is not what the list holds."""
    preview = repr(item)[:500]
    return Unreadable(f"{what} that is not an object", document.line, None, preview)
