"""`manage.py fingerprint`: tells which code each error would get."""

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.catalogue.grouping import group_keys


class Command(BaseCommand):
    """Keys of codes for errors on standard input. Needs no database."""

    help = (
        'Read JSON lines {"tool": …, "text": …} from standard input and write the key '
        "of the code of each, one a line, in the same order. All lines are regrouped "
        "together, so nothing is written before the last one is read; their order "
        "changes no key."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Read everything, then write a key for each line."""
        for key in group_keys(read_errors(sys.stdin.buffer)):
            self.stdout.write(key)


def read_errors(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """(tool, text) of each line. Raises CommandError with the number of a bad one."""
    for number, line in enumerate(lines, start=1):
        try:
            error = json.loads(line)
            tool, text = error["tool"], error["text"]
            if not (isinstance(tool, str) and isinstance(text, str)):
                raise TypeError("tool and text must be strings")
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            raise CommandError(
                f"Line {number} is not an object with the strings tool and text, such "
                f'as {{"tool": "search", "text": "Error: …"}} ({problem!r}). '
                "Correct it and run again; nothing was written."
            ) from problem
        yield tool, text
