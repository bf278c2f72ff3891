"""What redaction promises of any text: properties, and time on hostile input."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.secrets import redact, redact_bytes
from tests.catalogue.secret_samples import CASES, NO_SECRETS, TOKENS

PIECES = st.one_of(
    st.sampled_from([*TOKENS.values(), *(text for text, _ in CASES), *NO_SECRETS]),
    st.text(max_size=8),
    st.sampled_from(list("\"'\\\n:=@ []{},.-_/0a;&")),
    st.sampled_from(["password=", '"secret": "', "\\u003d", "\\n", "Cookie: a="]),
)
TEXTS = st.lists(PIECES, max_size=7).map("".join)


@given(TEXTS)
def test_redacting_twice_changes_nothing(text):
    once, _ = redact(text)

    assert redact(once) == (once, {})


@given(TEXTS, st.integers(0, 3))
def test_redacted_json_stays_json_and_its_other_values_stay_as_they_were(text, depth):
    row = {"n": 4111111111111111, "content": text, "after": "a, b", "ok": [True, 12]}
    document = json.dumps([row, "x"])
    for _ in range(depth):
        document = json.dumps({"body": document, "z": None})

    redacted = redact_bytes(document.encode())[0]

    value = json.loads(redacted)
    for _ in range(depth):
        assert value["z"] is None
        value = json.loads(value["body"])
    row, x = value
    assert row.keys() == {"n", "content", "after", "ok"}
    assert (row["after"], row["ok"], x) == ("a, b", [True, 12], "x")
    assert row["n"] == 0


@given(TEXTS, st.sampled_from([k for k in TOKENS if k != "discord_token"]))
def test_no_part_of_a_token_is_left(text, kind):
    token = TOKENS[kind]

    redacted, _ = redact(f"{text} {token} {text}")

    assert token[6:14] not in redacted or token[6:14] in text


HOSTILE = [
    "eyJ" * 70_000,
    "-eyJ" * 50_000,
    "eyJaaaaaaaaaaaaaaaaaaaa." * 8_000,
    "@" * 200_000,
    "a.a@" * 50_000,
    "x" * 100_000 + "@" + "a." * 50_000,
    "password=" * 20_000,
    'password="' * 20_000,
    'password=\\"' * 20_000,
    "\\" * 200_000 + '"',
    "Cookie: a=" * 20_000,
    "cookie=a" + "b" * 200_000,
    "authorization: a " * 12_000,
    "-----BEGIN PRIVATE KEY-----" * 8_000,
    "4" * 200_000,
    "4111 1111 1111 1112 " * 10_000,
    "sk-" + "a" * 200_000,
    "sk-a-" * 40_000,
    "M" * 200_000,
    "DE89 " * 40_000,
    "://a:" * 40_000 + "@" * 1_000,
    '["' * 70_000 + "4111111111111111",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_text_takes_time_in_proportion_to_its_length(number):
    text = HOSTILE[number].encode()

    started = time.process_time()
    redact_bytes(text)

    # 200 kB; a quadratic scan would take minutes.
    assert time.process_time() - started < 2
