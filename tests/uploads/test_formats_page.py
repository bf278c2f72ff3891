"""`docs/formats.md` is what the readers say of themselves, and says all of it."""

from pathlib import Path

import pytest

from apps.uploads.format_docs import SECTIONS, render, sections
from apps.uploads.importers import readers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def test_the_page_is_written_from_the_readers():
    assert PAGE.read_text() == render(), (
        "python -m apps.uploads.format_docs > docs/formats.md"
    )


@pytest.mark.parametrize("name", sorted(readers()))
def test_a_reader_says_what_it_reads_and_what_not(name):
    first, texts = sections(readers()[name])

    assert first
    assert list(texts) == list(SECTIONS)
    assert all(texts.values())


def test_each_anchor_has_its_heading():
    page = render()
    labels = [reader.LABEL for reader in readers().values()]

    assert all(f"\n## {label}\n" in page for label in labels)
    assert len(set(labels)) == len(labels)
