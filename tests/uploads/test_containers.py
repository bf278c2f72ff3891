"""Containers: what they hold in every wrapping, what is refused, and how."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import zstandard

from apps.uploads.containers import Limits, RefusedError, members
from tests.uploads.archives import tarred, with_zstandard, zipped

PLAIN = b'{"a": 1}\n' * 200
SMALL = Limits(ratio_from=1 << 20, max_ratio=50, max_total=8 << 20, in_memory=1 << 10)


def contents(
    data: bytes, name: str = "upload", limits: Limits = SMALL
) -> dict[str, bytes]:
    found = {}
    for member in members(io.BytesIO(data), name, limits):
        with member.open() as stream:
            found[member.name] = stream.read()
    return found


def refusal(data: bytes, name: str = "upload", limits: Limits = SMALL) -> str:
    with pytest.raises(RefusedError) as caught:
        contents(data, name, limits)
    return str(caught.value)


TWO = {"one.jsonl": PLAIN, "sub/two.jsonl": b"{}"}

WRAPPINGS = [
    ("plain", PLAIN, "run.jsonl", {"run.jsonl": PLAIN}),
    ("empty", b"", "run.jsonl", {"run.jsonl": b""}),
    ("gzip", gzip.compress(PLAIN), "run.jsonl.gz", {"run.jsonl": PLAIN}),
    (
        "gzip of two parts",
        gzip.compress(PLAIN) + gzip.compress(b"{}"),
        "run.gz",
        {"run": PLAIN + b"{}"},
    ),
    ("gzip, then padding", gzip.compress(PLAIN) + b"\0" * 9, "run.gz", {"run": PLAIN}),
    ("gzip under another name", gzip.compress(PLAIN), "run.json", {"run.json": PLAIN}),
    (
        "zstandard",
        zstandard.ZstdCompressor().compress(PLAIN),
        "run.zst",
        {"run": PLAIN},
    ),
    ("zstandard of two frames", zstandard.ZstdCompressor().compress(PLAIN) * 2,
     "run.zst", {"run": PLAIN * 2}),
    ("xz", lzma.compress(PLAIN), "run.xz", {"run": PLAIN}),
    ("bzip2", bz2.compress(PLAIN), "run.bz2", {"run": PLAIN}),
    ("zip, stored", zipped(TWO, zipfile.ZIP_STORED), "all.zip", TWO),
    ("zip, deflated", zipped(TWO), "all.zip", TWO),
    ("zip, zstandard", with_zstandard(TWO), "all.zip", TWO),
    ("zip without members", zipped({}), "all.zip", {}),
    ("tar", tarred(TWO), "all.tar", TWO),
    ("tar.gz", tarred(TWO, "w:gz"), "all.tar.gz", TWO),
    ("tar.xz", tarred(TWO, "w:xz"), "all.tar.xz", TWO),
    ("tar.bz2", tarred(TWO, "w:bz2"), "all.tar.bz2", TWO),
    (
        "tar.zst",
        zstandard.ZstdCompressor().compress(tarred(TWO)),
        "all.tar.zst",
        TWO,
    ),
    (
        "gzip in a zip",
        zipped({"a/run.jsonl.gz": gzip.compress(PLAIN)}),
        "all.zip",
        {"a/run.jsonl": PLAIN},
    ),
    (
        "zip in a tar.gz",
        tarred({"day.zip": zipped(TWO)}, "w:gz"),
        "all.tgz",
        {f"day.zip/{name}": data for name, data in TWO.items()},
    ),
    (
        "tar.gz in a zip",
        zipped({"a/day.tar.gz": tarred(TWO, "w:gz")}),
        "all.zip",
        {f"a/day.tar.gz/{name}": data for name, data in TWO.items()},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("data", "name", "wanted"),
    [case[1:] for case in WRAPPINGS],
    ids=[case[0] for case in WRAPPINGS],
)
def test_members_gives_every_file_of_a_wrapping(data, name, wanted):
    assert contents(data, name) == wanted


def test_members_opens_a_member_twice_and_out_of_order():
    found = list(members(io.BytesIO(tarred(TWO, "w:gz")), "all.tar.gz", SMALL))

    second, first = found[1].open(), found[0].open()

    assert (second.read(), first.read()) == (b"{}", PLAIN)
    assert found[1].open().read() == b"{}"


def test_members_gives_streams_that_seek():
    for data in (zipped(TWO), tarred(TWO), tarred(TWO, "w:gz")):
        stream = next(members(io.BytesIO(data), "all", SMALL)).open()

        assert stream.read(4) == PLAIN[:4]
        assert stream.seek(0) == 0
        assert stream.read() == PLAIN


def test_members_keeps_an_inspect_archive_whole():
    log = zipped({"_journal/start.json": b"{}", "samples/1_epoch_1.json": b"{}"})

    assert contents(log, "a.eval") == {"a.eval": log}
    assert contents(zipped({"logs/a.eval": log}), "all.zip") == {"logs/a.eval": log}


def test_members_keeps_an_inspect_archive_whole_that_was_cut():
    log = zipped({"_journal/start.json": b"{}", "samples/1_epoch_1.json": PLAIN})[:-60]

    assert contents(log, "a.eval") == {"a.eval": log}


def test_members_passes_over_what_a_desktop_adds_and_counts_it():
    noise = {"__MACOSX/._run.json": b"x", ".DS_Store": b"x", "a/._run.json": b"x"}
    for data in (zipped({**noise, **TWO}), tarred({**noise, **TWO})):
        found = members(io.BytesIO(data), "all", SMALL)

        assert [member.name for member in found] == list(TWO)
        assert found.skipped == 3


@pytest.mark.parametrize(
    "path", ["../run.json", "a/../../run.json", "/etc/passwd", "C:\\x", "..\\run.json"]
)
def test_members_refuses_a_path_that_climbs_out_by_its_name(path):
    for data in (zipped({"ok.json": b"{}", path: b"{}"}), tarred({path: b"{}"})):
        text = refusal(data, "all.zip")

        assert text == (
            f"“{path}” in “all.zip” leads out of it, so the archive is refused."
        )


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_members_refuses_links_and_devices(kind):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("latest")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)

    text = refusal(buffer.getvalue(), "all.tar")

    assert text == (
        "“latest” in “all.tar” is a link or a device, so the archive is refused."
    )


def test_members_refuses_a_link_in_a_zip():
    info = zipfile.ZipInfo("latest")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, "/etc/passwd")

    assert "is a link or a device" in refusal(buffer.getvalue(), "all.zip")


ZEROS = b"\0" * (4 << 20)
BOMBS = {
    "gzip": gzip.compress(ZEROS),
    "zstandard": zstandard.ZstdCompressor().compress(ZEROS),
    "xz": lzma.compress(ZEROS),
    "bzip2": bz2.compress(ZEROS),
    "zip": zipped({"zeros.json": ZEROS}),
    "zip, zstandard": with_zstandard({"zeros.json": ZEROS}),
    "tar.gz": tarred({"zeros.json": ZEROS}, "w:gz"),
    "gzip in a zip": zipped(
        {"zeros.json.gz": gzip.compress(ZEROS)}, zipfile.ZIP_STORED
    ),
}


@pytest.mark.parametrize("data", BOMBS.values(), ids=BOMBS)
def test_members_refuses_a_bomb_by_its_name(data):
    text = refusal(data, "zeros.json")

    assert text.startswith("“zeros.json")
    assert text.endswith(
        "” unpacks to more than 50 times its size, as a bomb does, so it is refused."
    )


def test_members_stops_a_bomb_before_it_is_unpacked(monkeypatch):
    """A bomb of 256 MB is given up after some MB, whatever its chunks are."""
    packer = zstandard.ZstdCompressor().compressobj()
    bomb = b"".join(packer.compress(b"\0" * (1 << 24)) for _ in range(16))
    seen: list[int] = []
    unpack = zstandard.ZstdDecompressor

    class Watched:
        def __init__(self, **kwargs):
            self._real = unpack(**kwargs)

        def decompressobj(self):
            real = self._real.decompressobj()

            class Frame:
                eof = property(lambda _: real.eof)
                unused_data = property(lambda _: real.unused_data)

                def decompress(self, data):
                    found = real.decompress(data)
                    seen.append(len(found))
                    return found

            return Frame()

    monkeypatch.setattr(zstandard, "ZstdDecompressor", Watched)

    refusal(bomb + packer.flush(), "zeros.json")

    assert sum(seen) < 64 << 20


def test_members_refuses_overlapping_members_of_a_zip():
    """One stretch of bytes that the directory names many times."""
    data = with_zstandard({"a.json": bytes(range(256)) * 4000})
    end = data.rindex(b"PK\x05\x06")
    begin = data.rindex(b"PK\x01\x02")
    entry, times = data[begin:end], 200
    tail = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, times, times, len(entry) * times, begin, 0
    )
    overlapping = data[:begin] + entry * times + tail

    text = refusal(
        overlapping, "all.zip", Limits(ratio_from=1 << 20, max_total=8 << 20)
    )

    assert text == "“all.zip” unpacks to more than 8 MB. Upload it in parts."


def test_members_refuses_more_bytes_than_the_limit_while_reading():
    many = {f"{n}.bin": bytes(zlib.crc32(b"%d" % n).to_bytes(4, "big")) * 500_000
            for n in range(6)}  # fmt: skip
    limits = Limits(max_total=8 << 20)

    text = refusal(tarred(many, "w:gz"), "all.tar.gz", limits)

    assert text == "“all.tar.gz” unpacks to more than 8 MB. Upload it in parts."


def test_members_refuses_too_many_members():
    data = zipped({f"{n}.json": b"{}" for n in range(11)})

    text = refusal(data, "all.zip", Limits(max_members=10))

    assert text == "There are more than 10 files in it. Upload them in parts."


def test_members_refuses_a_directory_of_millions_before_it_is_read():
    data = bytearray(zipped({"a.json": b"{}"}))
    at = data.rindex(b"PK\x05\x06")
    struct.pack_into("<I", data, at + 12, 0x7FFFFFFF)

    text = refusal(bytes(data), "all.zip")

    assert text == (
        "“all.zip” cannot be read: The archive has more than 1048576 members."
    )


def test_members_refuses_archives_too_deep():
    inner = zipped({"c.zip": zipped({"run.json": b"{}"})})

    text = refusal(zipped({"b.zip": inner}), "a.zip")

    assert text == (
        "“b.zip/c.zip” lies in more than 2 archives, one in another. Unpack the outer"
        " ones."
    )


CUT = {
    "gzip": (gzip.compress(PLAIN), "the gzip file was cut"),
    "zstandard": (zstandard.ZstdCompressor().compress(PLAIN), "the Zstandard file was"),
    "xz": (lzma.compress(PLAIN), "the xz file was cut"),
    "bzip2": (bz2.compress(PLAIN), "the bzip2 file was cut"),
    "tar": (tarred(TWO), "was cut inside “one.jsonl”"),
    "zip": (zipped(TWO), "was cut: its list of files is missing"),
}


@pytest.mark.parametrize(("data", "words"), CUT.values(), ids=CUT)
def test_members_says_in_one_sentence_that_a_file_was_cut(data, words):
    shorter = data[:700] if data[257:262] == b"ustar" else data[:-9]

    text = refusal(shorter, "run.gz")

    assert text.startswith("“run.gz” ")
    assert words in text


def test_members_refuses_an_encrypted_zip():
    data = bytearray(zipped({"a.json": b"{}"}, zipfile.ZIP_STORED))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1

    text = refusal(bytes(data), "all.zip")

    assert text == "“a.json” is encrypted. Upload it without a password."


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"7z\xbc\xaf\x27\x1c" + bytes(40), "7-Zip"), (b"Rar!\x1a\x07\x01", "RAR")],
)
def test_members_names_archives_that_it_does_not_read(data, kind):
    assert refusal(data, "a.x") == (
        f"“a.x” is a {kind} archive, which is not read. Pack it as .zip."
    )


def test_members_walks_a_folder_and_follows_no_link(tmp_path: Path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run.jsonl").write_bytes(PLAIN)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b"{}"))
    (tmp_path / "c.zip").write_bytes(zipped(TWO))
    (tmp_path / ".DS_Store").write_bytes(b"x")
    (tmp_path / "latest").symlink_to(tmp_path / "b" / "run.jsonl")

    found = members(tmp_path, limits=SMALL)
    read = {member.name: member.open().read() for member in found}

    assert read == {
        "a.jsonl": b"{}",
        "b/run.jsonl": PLAIN,
        "c.zip/one.jsonl": PLAIN,
        "c.zip/sub/two.jsonl": b"{}",
    }
    assert found.skipped == 2


def test_members_opens_a_file_by_its_path(tmp_path: Path):
    path = tmp_path / "run.jsonl.gz"
    path.write_bytes(gzip.compress(PLAIN))

    assert [(m.name, m.open().read()) for m in members(path)] == [("run.jsonl", PLAIN)]


def test_members_survives_every_cut_and_flip_of_an_archive():
    """Nothing but RefusedError comes out, whatever the bytes."""
    samples = [zipped(TWO), with_zstandard(TWO), tarred(TWO), tarred(TWO, "w:gz")]
    for sample in samples:
        step = max(1, len(sample) // 150)
        damaged = [sample[:at] for at in range(0, len(sample), step)]
        for at in range(0, len(sample), step):
            flipped = bytearray(sample)
            flipped[at] ^= 0x55
            damaged.append(bytes(flipped))
        for data in damaged:
            try:
                contents(data, "all")
            except RefusedError as exc:
                assert str(exc).endswith((".", "…"))  # noqa: PT017
