"""Zip archives that Python's own reader refuses."""

import io
import zipfile

import pytest

from apps.uploads import zips
from tests.uploads.archives import with_zstandard, zipped

TWO = {"one.jsonl": b'{"a": 1}\n' * 200, "sub/two.jsonl": b"{}"}


@pytest.mark.parametrize("write", [zipped, with_zstandard])
def test_unpack_gives_the_bytes_of_each_member(write):
    stream = io.BytesIO(write(TWO))

    entries, is_whole = zips.entries(stream)

    assert is_whole
    assert {e.name: b"".join(zips.unpack(stream, e)) for e in entries} == TWO


def test_unpack_refuses_a_method_that_it_does_not_know():
    stream = io.BytesIO(zipped(TWO, zipfile.ZIP_LZMA))

    entries, _ = zips.entries(stream)

    with pytest.raises(zips.BadZipError) as caught:
        b"".join(zips.unpack(stream, entries[0]))
    assert str(caught.value) == "“one.jsonl” is packed by method 14. Use Deflate."


@pytest.mark.parametrize("write", [zipped, with_zstandard])
def test_entries_finds_the_members_of_an_archive_that_was_cut(write):
    data = write(TWO)
    stream = io.BytesIO(data[: data.index(b"sub/two.jsonl") + 15])

    entries, is_whole = zips.entries(stream)

    assert [entry.name for entry in entries] == list(TWO)
    assert not is_whole
    assert b"".join(zips.unpack(stream, entries[0])) == TWO["one.jsonl"]
    with pytest.raises(zips.BadZipError) as caught:
        b"".join(zips.unpack(stream, entries[1]))
    assert "ends too early" in str(caught.value)


def test_entries_reads_sizes_that_follow_their_data():
    """Members of a zip that was written to a pipe, whose directory is lost."""

    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in TWO.items():
            archive.writestr(name, data)
    cut = pipe.data[: pipe.data.index(b"PK\x01\x02")]

    entries, is_whole = zips.entries(io.BytesIO(cut))

    assert [entry.name for entry in entries] == list(TWO)
    assert not is_whole
    assert b"".join(zips.unpack(io.BytesIO(cut), entries[1])) == b"{}"
