"""Reads samples with a reader, and spoils them in every way that files are spoiled."""

import copy
import io
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from apps.runs.transcript import Call, Record, Transcript, Unreadable
from apps.uploads.importers import HEAD_BYTES
from apps.uploads.importers import detect as detect_all

Json = Any
ODD: list[Json] = [
    None, True, False, 0, -1, 3.5, 1e308, 10**30, "", "x", "\ud800", "a\x00b", [], {},
    [None], [[]], {"a": {}}, ["text"], {"type": "text"}, {"text": 1}, "2025-13-99",
     "NaN",
    [1, 2], {"": ""}, -(2**70), "9" * 400,
]  # fmt: skip


def as_json(value: Json) -> bytes:
    """Write a sample as one JSON document."""
    return json.dumps(value).encode()


def as_lines(*values: Json) -> bytes:
    """Write a sample as JSON lines."""
    return b"".join(as_json(value) + b"\n" for value in values)


def read(reader: Any, data: bytes, name: str = "run.json") -> list[Record]:
    """Give all records of a file."""
    return list(reader.read(io.BytesIO(data), name))


def one_run(reader: Any, data: bytes, name: str = "run.json") -> Transcript:
    """Give the file's only record, which is a run."""
    (run,) = read(reader, data, name)
    assert isinstance(run, Transcript)
    return run


def calls(run: Transcript, thread: int = 0) -> list[Call]:
    """Give the calls of a thread in order."""
    return [call for turn in run.threads[thread].turns for call in turn.calls]


def shape(run: Transcript) -> tuple[int, int, int]:
    """Count calls, calls without a result, and errors by a flag or an exit code."""
    found = [c for thread in run.threads for t in thread.turns for c in t.calls]
    results = [call.result for call in found if call.result is not None]
    errors = [r for r in results if r.is_error or r.exit_code not in (None, 0)]
    return len(found), len(found) - len(results), len(errors)


def told_as(data: bytes) -> str:
    """Name the format that the head of a file is told as; "" for none."""
    ranked = detect_all(data[:HEAD_BYTES])
    return ranked[0][0] if ranked else ""


def spoiled(sample: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Yield spoiled copies of a sample, the same ones for the same seed."""
    chance = random.Random(seed)
    yield from (
        b"\xef\xbb\xbf" + sample,
        sample.decode("utf-8", "replace").encode("utf-16"),
        sample.replace(b"\n", b"\r\n"),
        sample.replace(b",", b",\r\n"),
        sample.strip() + b" " + sample.strip(),
        sample + b"\n\x00\x00",
        b"[" * 3000 + sample,
        b'{"a":' * 2000 + sample + b"}" * 2000,
        b"",
    )
    for _ in range(count):
        yield chance.choice((_cut, _flip, _insert, _swap, _double))(sample, chance)


def _cut(sample: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(sample) + 1)
    return sample[:at] if chance.random() < 0.7 else sample[at:]


def _flip(sample: bytes, chance: random.Random) -> bytes:
    data = bytearray(sample)
    for _ in range(chance.choice((1, 1, 3, 9))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _insert(sample: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(sample) + 1)
    odd = chance.choice(
        (
            b"\x00",
            b"\\ud800",
            b"\xff\xfe",
            b'"',
            b"}",
            b"]",
            b"{",
            b"[",
            b"\n",
            b"null,",
        )
    )
    return sample[:at] + odd + sample[at:]


def _double(sample: bytes, chance: random.Random) -> bytes:
    """Write some key twice, or some stretch."""
    at = chance.randrange(len(sample) + 1)
    end = min(len(sample), at + chance.randrange(200))
    return sample[:end] + sample[at:end] + sample[end:]


def _swap(sample: bytes, chance: random.Random) -> bytes:
    """Put a value of another type in the place of some value."""
    lines = sample.splitlines() if b"\n{" in sample else [sample]
    index = chance.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[index])
    except (ValueError, IndexError):
        return _flip(sample, chance) if sample else sample
    holder: Json = [value]
    for _ in range(chance.choice((1, 1, 2, 5))):
        parent, key = chance.choice(list(_places(holder)))
        parent[key] = copy.deepcopy(chance.choice(ODD))
    lines[index] = json.dumps(holder[0]).encode()
    return b"\n".join(lines)


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def check_survives(
    reader: Any, sample: bytes, seed: int, count: int = 300, name: str = "a/run.json"
) -> None:
    """Assert that nothing is raised, and that what comes out can be stored."""
    for data in spoiled(sample, seed, count):
        score = reader.detect(data[:HEAD_BYTES])
        assert 0 <= score <= 1
        for record in read(reader, data, name):
            msgspec.msgpack.encode(record)
            if isinstance(record, Unreadable):
                assert record.reason
                assert len(record.preview) <= 500


def check_rest_stands(
    reader: Any, sample: bytes, spoil: Callable[[bytes], bytes], rest: int
) -> None:
    """Assert that the loss is told, and how many runs are read without a gap."""
    records = read(reader, spoil(sample))
    runs = [r for r in records if isinstance(r, Transcript)]
    gaps = [run for run in runs if run.unreadable]
    assert len(runs) - len(gaps) == rest
    assert gaps or any(isinstance(r, Unreadable) for r in records)
