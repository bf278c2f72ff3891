"""What a secret looks like: every kind in several forms, and what is none."""

import json

import pytest

from apps.catalogue.secrets import (
    KINDS,
    ExtraShape,
    Secret,
    find_secrets,
    redact,
    redact_bytes,
)
from tests.catalogue.secret_samples import CASES, NO_SECRETS, TOKENS

FORMS = (
    "%s",
    "key: %s, next",
    'export KEY="%s"',
    "(%s)",
    "https://api.example/v1?k=%s&page=2",
    "a\n%s\nb",
    "<%s>",
)


@pytest.mark.parametrize("kind", TOKENS)
@pytest.mark.parametrize("form", FORMS)
def test_redact_takes_a_provider_token_out_in_every_form(kind, form):
    text = form % TOKENS[kind]

    redacted, counts = redact(text)

    assert redacted == form % f"[{kind}]"
    assert counts == {kind: 1}


@pytest.mark.parametrize("kind", TOKENS)
def test_redact_bytes_takes_a_token_out_of_json_at_any_depth(kind):
    inner = json.dumps({"output": f"line\n{TOKENS[kind]}\tend", "n": 1})
    middle = json.dumps({"content": inner})
    document = json.dumps({"messages": [middle]}).encode()

    redacted, counts = redact_bytes(document)

    message = json.loads(json.loads(redacted)["messages"][0])["content"]
    assert json.loads(message) == {"output": f"line\n[{kind}]\tend", "n": 1}
    assert counts == {kind: 1}


@pytest.mark.parametrize(("text", "left"), CASES)
def test_redact_replaces_what_a_field_a_header_or_a_url_names(text, left):
    redacted, counts = redact(text)

    if left is None:  # the kind stands where a random id would have to be repeated
        assert "webhook]" in redacted or "telegram_token]" in redacted
    else:
        assert redacted == left
    assert sum(counts.values()) == 1
    assert set(counts) <= KINDS


@pytest.mark.parametrize("text", NO_SECRETS)
def test_redact_leaves_what_is_no_secret(text):
    assert redact(text) == (text, {})
    assert redact_bytes(json.dumps({"t": text}).encode())[1] == {}


# (text, what should be left, what is left)
KNOWN_WRONG = [
    # Matrix products look like addresses.
    ("loss = x@weights.transpose", "loss = x@weights.transpose", "loss = [email]"),
    # A password with a bracket keeps its end; a marker must not begin a value.
    ("password=abc1[def]", "password=[password]", "password=[password][def]"),
    # Words alone are taken for a schema, not for a value.
    ("password: hunter", "password: [password]", "password: hunter"),
    # An IBAN with fewer than 14 digits in a row, written without blanks.
    ("NL91ABNA0417164300", "[iban]", "NL91ABNA0417164300"),
    # One 16-digit order number in ten that begins with 4 has a valid sum.
    ("order 4000000000000002", "order 4000000000000002", "order [card_number]"),
]


@pytest.mark.parametrize(("text", "wanted", "actual"), KNOWN_WRONG)
def test_redact_is_known_to_be_wrong_here(text, wanted, actual):
    assert redact(text)[0] == actual
    assert wanted != actual


def test_find_secrets_counts_characters_not_bytes():
    text = "Grüße 🎉 an bob@example.com, ключ " + TOKENS["aws_key_id"] + " – Ende"

    found = find_secrets(text)

    assert [(s.kind, text[s.start : s.end]) for s in found] == [
        ("email", "bob@example.com"),
        ("aws_key_id", TOKENS["aws_key_id"]),
    ]
    assert redact(text)[0] == "Grüße 🎉 an [email], ключ [aws_key_id] – Ende"


def test_find_secrets_joins_what_overlaps_and_names_the_more_telling_kind():
    text = f"Authorization: Bearer {TOKENS['github_token']}"

    assert find_secrets(text) == [Secret("github_token", 22, len(text))]


def test_redact_takes_shapes_of_the_workspace_too():
    shape = ExtraShape("customer_id", r"cus_[0-9a-f]{10}")

    assert redact("cus_0123456789 left", [shape]) == (
        "[customer_id] left",
        {"customer_id": 1},
    )


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [("Customer", "x"), ("x", "("), ("x", "a*"), ("word", r"\w+")],
)
def test_extra_shape_refuses_what_would_not_be_safe_to_repeat(kind, pattern):
    with pytest.raises(ValueError, match=r"\.$"):
        ExtraShape(kind, pattern)


def test_redact_bytes_never_crosses_the_closing_quote():
    document = json.dumps({"a": "password=", "b": "x1", "c": "Cookie: a=1234"}).encode()
    extra = ExtraShape("wide", "password=.*")

    assert json.loads(redact_bytes(document)[0])["b"] == "x1"
    assert json.loads(redact_bytes(document, [extra])[0]) == {
        "a": "[wide]",
        "b": "x1",
        "c": "Cookie: [cookie]",
    }
