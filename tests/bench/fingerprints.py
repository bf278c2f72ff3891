"""How many texts a second get a fingerprint on one core, cold and warm.

    python -m tests.bench.fingerprints

Texts are made here, no two alike. Cold starts with empty caches and sees each text once;
warm sees copies of what the cache holds. Beside them stands a limit from the same run,
a bare SHA-256 of each text, so that figures of two machines can be compared.
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
WORDS = (
    "order",
    "invoice",
    "refund",
    "ticket",
    "wallet",
    "shipment",
    "tariff",
    "ledger",
)


def make_texts(count: int) -> list[str]:
    """Distinct error texts of the usual kinds: plain, prefixed, JSON, with a stack."""
    draw = random.Random(17)
    kinds: list[Callable[[int, str], str]] = [
        lambda n, word: f"Order ORD-{n:06d} was not found. Call search_{word}s first.",
        lambda n, word: (
            f"Error: timed out after {n} ms waiting for {word}-7.example.com"
        ),
        lambda n, word: (
            f"ENOENT: no such file or directory, open '/srv/{word}/{n}.csv'"
        ),
        lambda n, word: (
            f'{{"ok": false, "error": {{"message": "Refund of {n}.50 for cus_{n:x} was '
            f'not made: it is above the {word}.", "request_id": "{n * 104729:012x}"}}}}'
        ),
        lambda n, word: f"HTTP 502 Bad Gateway from 10.0.{n % 256}.{n // 256}:80 ({n})",
        lambda n, word: (
            f"The {word} {n} is busy at 2026-09-07T08:{n % 60:02d}:00Z. Try again later, "
            "or ask the user which one was meant."
        ),
        lambda n, word: (
            f'Traceback (most recent call last):\n  File "/srv/{word}.py", line {n}, in '
            f"<module>\n    run({n})\nValueError: no {word} with number {n}"
        ),
        lambda n, word: f"Exit code {n % 3 + 1}\nmake: *** [{word}] Error {n}",
    ]
    return [kinds[n % len(kinds)](n, draw.choice(WORDS)) for n in range(count)]


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
    remembered = [text.encode().decode() for text in texts[: v1.CACHE_SIZE // 2]]
    for text in texts[: v1.CACHE_SIZE // 2]:
        fingerprint(text)
    warm = texts_a_second(fingerprint, remembered)
    limit = texts_a_second(lambda t: hashlib.sha256(t.encode()).hexdigest(), texts)
    return {"cold": cold, "warm": warm, "limit": limit}


def main() -> None:
    found = measure()
    texts = make_texts(TEXTS)
    print(
        f"{TEXTS:,} distinct texts, {sum(map(len, texts)) / TEXTS:.0f} characters each"
    )
    print(f"cold   {found['cold']:>10,.0f} texts/s   target {TARGET_COLD:,}")
    print(f"warm   {found['warm']:>10,.0f} texts/s   target {TARGET_WARM:,}")
    print(f"limit  {found['limit']:>10,.0f} texts/s   SHA-256 of the same texts")


if __name__ == "__main__":
    main()
