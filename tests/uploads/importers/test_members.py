"""One big value, taken apart while it is read."""

import io
import itertools
import json
import random

import pytest

from apps.uploads.importers import records
from apps.uploads.importers._members import header, members
from apps.uploads.importers.records import DocumentTooLargeError

SAMPLE = {
    "info": {"a": [1, {"b": "}"}], "c": 'quote " and \\ slash'},
    "n": 3, "flag": True, "none": None, "text": "x, y: [z]",
    "runs": [{"id": 1}, [2], "three", 4, {"id": "ü]"}], "empty": [], "late": {},
}  # fmt: skip


def parts(data: bytes, **options):
    return [
        (m.key, json.loads(m.document.raw), m.is_item)
        for m in members(io.BytesIO(data), **options)
    ]


@pytest.mark.parametrize("indent", [None, 0, 2])
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1 << 20])
def test_members_gives_each_member_whatever_the_chunks(monkeypatch, indent, chunk):
    monkeypatch.setattr(records, "CHUNK", chunk)
    data = json.dumps(SAMPLE, indent=indent, ensure_ascii=False).encode()

    assert parts(data) == [(key, value, False) for key, value in SAMPLE.items()]


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
def test_members_gives_items_of_the_arrays_that_were_named(monkeypatch, chunk):
    monkeypatch.setattr(records, "CHUNK", chunk)

    found = parts(json.dumps(SAMPLE).encode(), arrays=("runs", "empty"), only=("late",))

    runs = [("runs", value, True) for value in SAMPLE["runs"]]  # type: ignore[attr-defined]
    assert found == [*runs, ("late", {}, False)]


def test_members_gives_items_of_a_top_level_array_and_of_several_objects():
    assert parts(b'[{"a": 1}, {"b": 2}]') == [
        ("", {"a": 1}, True),
        ("", {"b": 2}, True),
    ]
    assert parts(b'{"a": 1} {"a": 2}\n{"a": 3}') == [("a", n, False) for n in (1, 2, 3)]


def test_members_gives_line_and_offset_of_each():
    data = json.dumps(SAMPLE, indent=1).encode()
    for member in members(io.BytesIO(data), arrays=("runs",)):
        document = member.document

        assert data[document.offset :].startswith(document.raw)
        assert document.line == data[: document.offset].count(b"\n") + 1


def test_members_marks_what_the_end_of_the_file_cut():
    (member,) = members(io.BytesIO(b'{"runs": [{"id": 1'), arrays=("runs",))

    assert member.document.raw == b'{"id": 1'
    assert not member.document.is_complete


def test_members_reads_utf_16_and_a_mark():
    text = json.dumps(SAMPLE)
    wanted = [(key, value, False) for key, value in SAMPLE.items()]

    assert parts(text.encode("utf-16")) == wanted
    assert parts(b"\xef\xbb\xbf" + text.encode()) == wanted


def test_members_does_not_hold_what_was_not_asked_for(monkeypatch):
    monkeypatch.setattr(records, "MAX_DOCUMENT_BYTES", 1 << 20)
    data = json.dumps({"big": "x" * (3 << 20), "a": 1}).encode()

    assert parts(data, only=("a",)) == [("a", 1, False)]
    with pytest.raises(DocumentTooLargeError) as caught:
        parts(data)
    assert str(caught.value) == (
        "The record at line 1 is larger than 1 MB. Export each run as a record of its"
        " own."
    )


def test_members_reads_a_hundred_megabytes_in_one_string_in_seconds():
    size = 100 << 20
    chunks = itertools.chain([b'{"runs": [{"text": "'],
                             itertools.repeat(b"\\u00e9 x\\\\" * 8192, size // 81920),
                             [b'"}]}'])  # fmt: skip

    class Stream:
        def read(self, size):
            return next(chunks, b"")

    (member,) = members(Stream(), arrays=("runs",))  # type: ignore[arg-type]

    assert len(member.document.raw) > size * 0.9


def test_members_ends_whatever_the_bytes():
    chance = random.Random(21)
    for _ in range(3000):
        data = bytes(
            chance.choice(b'{}[]",:\\ ab1\n') for _ in range(chance.randrange(60))
        )

        total = sum(
            len(m.document.raw)
            for m in members(io.BytesIO(data), arrays=("a", "b", ""))
        )

        assert total <= len(data)


def test_header_finds_members_wherever_they_stand_and_rewinds():
    data = json.dumps({"runs": [1] * 1000, "info": {"a": 1}, "bad": 2}).encode()
    stream = io.BytesIO(data.replace(b'"bad": 2', b'"bad": 2x'))

    assert header(stream, ("info", "bad", "absent")) == {"info": {"a": 1}}
    assert stream.tell() == 0
