"""A transcript as one compressed value, and back."""

import msgspec
import zstandard

from .transcript import Transcript

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Transcript)
_LEVEL = 3


def pack(transcript: Transcript) -> bytes:
    """Encode with msgpack and compress with zstd."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    return compressor.compress(_encoder.encode(transcript))


def unpack(data: bytes) -> Transcript:
    """Give back what `pack` was given."""
    raw = zstandard.ZstdDecompressor().decompress(bytes(data))
    return _decoder.decode(raw)
