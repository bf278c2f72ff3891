"""How many texts a second get a fingerprint on one core, cold and warm.

    python -m tests.bench.fingerprints

Texts are made here, no two alike. Cold starts with empty caches and sees each text
once; warm sees copies of what the cache holds. Beside them stands a limit from the same
run, a bare SHA-256 of each text, so that figures of two machines can be compared.
"""

import hashlib
import random
import time
from collections.abc import Callable

from apps.catalogue import masking
from apps.catalogue.fingerprints import v1

TEXTS = 20_000
TARGET_COLD = 20_000
TARGET_WARM = 100_000
WORDS = ("order", "invoice", "refund", "ticket", "wallet", "shipment", "tariff", "job")
KINDS = (
    "Order ORD-{n:06d} was not found. Call search_{word}s to find the right one.",
    "Error: timed out after {n} ms waiting for {word}-7.example.com",
    "ENOENT: no such file or directory, open '/srv/{word}/{n}.csv'",
    '{{"ok": false, "error": {{"message": "Refund of {n}.50 for cus_{n:x} was not '
    'made: it is above the {word}.", "request_id": "9f{n:010x}"}}}}',
    "HTTP 502 Bad Gateway from 10.0.3.17:{n} ({word})",
    "The {word} {n} is busy at 2026-09-07T08:15:00Z. Try again later, or ask the user "
    "which one was meant.",
    'Traceback (most recent call last):\n  File "/srv/{word}.py", line {n}, in run\n'
    "    run({n})\nValueError: no {word} with number {n}",
    "Exit code 2\nmake: *** [{word}] Error {n}",
)


def make_texts(count: int) -> list[str]:
    """Distinct error texts of the usual kinds: plain, prefixed, JSON, with a stack."""
    draw = random.Random(17)
    return [
        KINDS[n % len(KINDS)].format(n=n, word=draw.choice(WORDS)) for n in range(count)
    ]


def texts_a_second(call: Callable[[str], object], texts: list[str]) -> float:
    """Speed of a call in processor time, which other programs do not slow."""
    started = time.process_time()
    for text in texts:
        call(text)
    return len(texts) / (time.process_time() - started)


def clear_caches() -> None:
    """Forget all that was seen, as after a start."""
    masking.mask_token.cache_clear()
    v1.clear_cache()


def fingerprint(text: str) -> object:
    return v1.fingerprint("tool", text)


def measure(count: int = TEXTS) -> dict[str, float]:
    """Texts a second: cold, warm, and the limit."""
    texts = make_texts(count)
    clear_caches()
    cold = texts_a_second(fingerprint, texts)
    remembered = texts[: v1.CACHE_SIZE // 2]
    for text in remembered:
        fingerprint(text)
    copies = [text.encode().decode() for text in remembered]
    warm = texts_a_second(fingerprint, copies)
    limit = texts_a_second(lambda t: hashlib.sha256(t.encode()).hexdigest(), texts)
    return {"cold": cold, "warm": warm, "limit": limit}


def main() -> None:
    found = measure()
    mean = sum(map(len, make_texts(TEXTS))) / TEXTS
    print(f"{TEXTS:,} distinct texts, {mean:.0f} characters each")
    print(f"cold   {found['cold']:>10,.0f} texts/s   target {TARGET_COLD:,}")
    print(f"warm   {found['warm']:>10,.0f} texts/s   target {TARGET_WARM:,}")
    print(f"limit  {found['limit']:>10,.0f} texts/s   SHA-256 of the same texts")


if __name__ == "__main__":
    main()
