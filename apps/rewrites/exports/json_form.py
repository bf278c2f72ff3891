"""The catalogue and its envelopes as JSON, each with a JSON Schema (2020-12)."""

import json
from collections.abc import Iterable
from typing import Any, Final

from apps.catalogue.envelope import (
    Category,
    CommitState,
    NextAction,
    RetryDirective,
    RetryOwner,
)
from apps.rewrites.exports.catalogue import (
    FORMAT_VERSION,
    Catalogue,
    to_plain,
    with_hash,
)

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]
_TEXT: Final[Schema] = {"type": "string"}
_TRUTH: Final[Schema] = {"type": ["boolean", "null"]}


def to_json(catalogue: Catalogue) -> str:
    """The catalogue, readable, with a line break at its end."""
    return json.dumps(with_hash(catalogue), indent=2, ensure_ascii=False) + "\n"


def catalogue_schema() -> Schema:
    """Schema of `to_json`'s document; its `$id` carries the format's version."""
    return {
        "$schema": _DIALECT,
        "$id": f"urn:errata:schema:catalogue:{FORMAT_VERSION}",
        "title": "Errata catalogue",
        **_closed(
            {
                "content_hash": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "format_version": {"const": FORMAT_VERSION},
                "name": _TEXT,
                "version": _TEXT,
                "domain": _TEXT,
                "problem_base": _TEXT,
                "codes": {"type": "object", "additionalProperties": _code()},
                "tools": {"type": "object", "additionalProperties": _tool()},
            }
        ),
    }


def envelope_schema(catalogue: Catalogue) -> Schema:
    """Schema of what a tool of this catalogue answers: a union on `ok`.

    A client that validates an error against the success branch alone would refuse
    it, hence one schema for both. Unknown fields are allowed under `extensions` only.
    """
    plain = to_plain(catalogue)
    return {
        "$schema": _DIALECT,
        "$id": f"urn:errata:schema:envelope:{catalogue.domain}:{catalogue.version}",
        "title": f"Envelope of {catalogue.name}",
        "type": "object",
        "oneOf": [_failure(plain["codes"]), _success()],
    }


def _closed(properties: Schema, optional: Iterable[str] = ()) -> Schema:
    """An object with these properties and no others."""
    left_out = set(optional)
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in left_out],
        "additionalProperties": False,
    }


def _enum(kind: Iterable[str]) -> Schema:
    return {"enum": [str(value) for value in kind]}


def _code() -> Schema:
    text = _closed(
        {
            "version": {"type": "integer", "minimum": 1},
            "agent_message": {"type": "string", "minLength": 1},
            "user_message": _TEXT,
        }
    )
    return _closed(
        {
            "exported_code": {
                "type": "string",
                "pattern": "^[A-Z][A-Z0-9_]{0,61}[A-Z0-9]$",
            },
            "title": _TEXT,
            "tool": _TEXT,
            "category": _enum(Category),
            "commit_state": _enum(CommitState),
            "directive": _enum(RetryDirective),
            "next_action": _enum(NextAction),
            "alternative_tool": _TEXT,
            "max_attempts": {"type": ["integer", "null"], "minimum": 0},
            "safe_details": {"type": "array", "items": _TEXT, "uniqueItems": True},
            "help_url": _TEXT,
            "texts": {"type": "array", "items": text, "minItems": 1},
        }
    )


def _tool() -> Schema:
    return _closed(
        {
            "read_only": _TRUTH,
            "destructive": _TRUTH,
            "idempotent": _TRUTH,
            "verification_tool": _TEXT,
        }
    )


def _failure(codes: object) -> Schema:
    names = sorted(codes) if isinstance(codes, dict) else []
    retry = _closed(
        {
            "directive": _enum(RetryDirective),
            "not_before": {"type": "string", "format": "date-time"},
            "max_attempts_remaining": {"type": "integer", "minimum": 0},
            "owner": _enum(RetryOwner),
        },
        optional=("not_before", "max_attempts_remaining", "owner"),
    )
    scalar = {"type": ["string", "number", "boolean", "null"]}
    detail = {"anyOf": [scalar, {"type": "array", "items": scalar}]}
    properties = {
        "ok": {"const": False},
        "code": {"enum": names},
        "domain": _TEXT,
        "category": _enum(Category),
        "commit_state": _enum(CommitState),
        "retry": retry,
        "retryable": {"type": "boolean"},
        "next_action": _enum(NextAction),
        "agent_message": {"type": "string", "minLength": 1},
        "text_version": {"type": "integer", "minimum": 1},
        "catalogue_version": _TEXT,
        "alternative_tool": _TEXT,
        "operation_ref": _TEXT,
        "user_message": _TEXT,
        "safe_details": {"type": "object", "additionalProperties": detail},
        "extensions": {"type": "object"},
    }
    optional = (
        "alternative_tool",
        "operation_ref",
        "user_message",
        "safe_details",
        "extensions",
    )
    return _closed(properties, optional)


def _success() -> Schema:
    verification = _closed(
        {"checked_at": {"type": "string", "format": "date-time"}, "evidence_ref": _TEXT}
    )
    properties = {
        "ok": {"const": True},
        "operation_ref": _TEXT,
        "commit_state": {"enum": ["committed", "not_applicable"]},
        "result": True,
        "verification": verification,
        "extensions": {"type": "object"},
    }
    return _closed(properties, ("verification", "extensions"))
