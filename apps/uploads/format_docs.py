"""The page `docs/formats.md`, written from the readers themselves.

    python -m apps.uploads.format_docs > docs/formats.md

A test compares the two, so the page cannot fall behind.
"""

import re
import sys

from .importers import Reader, readers

SECTIONS = ("Export", "Read", "Not read", "Errors", "Outcomes")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):\s*", re.MULTILINE)

_HEAD = """\
# Formats

What Errata reads, and how each is exported. A file is recognised by what is in it,
never by its name; `--format NAME` (or the list beside the upload) overrides that.
`.gz`, `.zst`, `.zip` and `.tar.*` are unpacked, and a folder can be handed in as it is.
What cannot be read is set aside with its place and never dropped.

For an agent that none of these knows there is [Errata's own format](errata-format.md).
This page is written from the readers: `python -m apps.uploads.format_docs >
docs/formats.md`.

| format | name |
| --- | --- |
"""


def render() -> str:
    """Give the whole page."""
    known = sorted(readers().items(), key=lambda item: item[1].LABEL.lower())
    rows = [f"| [{r.LABEL}](#{_anchor(r)}) | `{name}` |\n" for name, r in known]
    return _HEAD + "".join(rows) + "".join(_entry(name, r) for name, r in known)


def sections(reader: Reader) -> tuple[str, dict[str, str]]:
    """Split a reader's docstring: what it reads, and each section by its heading."""
    first, *parts = _HEADING.split((reader.__doc__ or "").strip())
    texts = dict(zip(parts[::2], (p.strip() for p in parts[1::2]), strict=True))
    return first.strip(), texts


def _entry(name: str, reader: Reader) -> str:
    first, texts = sections(reader)
    items = []
    for heading, text in texts.items():
        body = "\n  ".join(line.strip() for line in text.splitlines())
        items.append(f"- **{heading}**: {body}\n")
    return f"\n## {reader.LABEL}\n\n`{name}`. {first}\n\n{''.join(items)}"


def _anchor(reader: Reader) -> str:
    """Give the anchor that a heading has where Markdown is shown."""
    kept = re.sub(r"[^\w\- ]", "", reader.LABEL.lower())
    return kept.replace(" ", "-")


if __name__ == "__main__":
    sys.stdout.write(render())
