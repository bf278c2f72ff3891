"""Makes archives of small files, also of a kind that Python itself cannot write."""

import io
import struct
import tarfile
import zipfile
import zlib

import zstandard


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Make a zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def tarred(files: dict[str, bytes], mode: str = "w") -> bytes:
    """Make a tar; `mode` as of `tarfile.open`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def with_zstandard(files: dict[str, bytes]) -> bytes:
    """Make a zip with members of method 93, which `zipfile` cannot write."""
    body, directory = b"", b""
    for name, data in files.items():
        packed = zstandard.ZstdCompressor().compress(data)
        crc, label = zlib.crc32(data), name.encode()
        fields = (20, 0, 93, 0, 0, crc, len(packed), len(data), len(label), 0)
        directory += struct.pack(
            "<4sHHHHHHIIIHHHHHII",
            b"PK\x01\x02", 20, *fields, 0, 0, 0, 0, len(body),
        ) + label  # fmt: skip
        head = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", *fields)
        body += head + label + packed
    end = struct.pack(
        "<4sHHHHIIH",
        b"PK\x05\x06", 0, 0, len(files), len(files), len(directory), len(body), 0,
    )  # fmt: skip
    return body + directory + end
