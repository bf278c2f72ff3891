"""A transcript as one compressed value, and back."""

from functools import cache

import msgspec
import zstandard

from .transcript import Transcript

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Transcript)
_LEVEL = 1  # 3 packs one part in a hundred smaller and takes a third longer


@cache
def _compressor() -> zstandard.ZstdCompressor:
    """Give this process's compressor: a new one for each run costs a quarter more."""
    return zstandard.ZstdCompressor(level=_LEVEL)


def pack(transcript: Transcript) -> bytes:
    """Encode with msgpack and compress with zstd."""
    return _compressor().compress(_encoder.encode(transcript))


def unpack(data: bytes | memoryview) -> Transcript:
    """Give back what `pack` was given."""
    raw = zstandard.ZstdDecompressor().decompress(bytes(data))
    return _decoder.decode(raw)
