"""Labels as files: JSONL true to what is stored, CSV that no spreadsheet runs. Pure."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")  # how a spreadsheet knows one


def to_jsonl(rows: Iterable[Mapping[str, object]]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def to_csv(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Rows under a head; a text that would be a formula gets a quote in front."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in columns])
    return out.getvalue()


def _cell(value: object) -> object:
    """A cell's value; numbers stay as they are."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    return value
