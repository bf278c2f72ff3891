# ruff: noqa: UP006, UP007, UP017, UP035, UP045 - the export runs on Python 3.9
"""An envelope in the forms that agents and services take, each with its way back.

Code, domain, state, directive, next action and operation reference survive every
round trip; what a form has no place for goes into its place for extensions. The
forms that only a model reads leave out the customer's message.
"""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any, Dict, List, Mapping, Optional, Union

from apps.rewrites.exports.runtime_template import (
    CATALOGUE,
    CODES,
    ContractError,
    Envelope,
    Success,
    epoch_of,
)

# ---------------------------------------------------------------- compact JSON

# Short names for a model's context, which pays for each of them on every request.
_SHORT = {
    "code": "code",
    "message": "agent_message",
    "next": "next_action",
    "commit_state": "commit_state",
    "directive": "directive",
    "not_before": "not_before",
    "attempts_left": "max_attempts_remaining",
    "use_tool": "alternative_tool",
    "operation_ref": "operation_ref",
    "details": "safe_details",
    "category": "category",
    "domain": "domain",
    "owner": "owner",
    "text_version": "text_version",
    "catalogue_version": "catalogue_version",
}


def to_compact(answer: Union[Envelope, Success]) -> str:
    """One line of JSON: what a model reads."""
    if isinstance(answer, Success):
        return _line(answer.to_dict())
    plain: Dict[str, Any] = {"ok": False, "retryable": answer.retryable}
    for short, name in _SHORT.items():
        value = getattr(answer, name)
        if value not in ("", None, {}):
            plain[short] = dict(value) if name == "safe_details" else value
    return _line(plain)


def from_compact(text: str) -> Union[Envelope, Success]:
    """Read what `to_compact` wrote."""
    plain = _loaded(text)
    if plain.get("ok") is True:
        return Success.from_dict(plain)
    fields = {name: plain[short] for short, name in _SHORT.items() if short in plain}
    return Envelope.from_dict(fields)


def to_anthropic(answer: Union[Envelope, Success], tool_use_id: str) -> Dict[str, Any]:
    """An Anthropic `tool_result` block."""
    block = {
        "type": "tool_result",
        "tool_use_id": tool_use_id,
        "content": to_compact(answer),
    }
    return {**block, "is_error": True} if isinstance(answer, Envelope) else block


def from_anthropic(block: Mapping[str, Any]) -> Union[Envelope, Success]:
    """Read a `tool_result` block; its content may be text or blocks of text."""
    content = block["content"]
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return from_compact(content)


def to_openai(answer: Union[Envelope, Success], tool_call_id: str) -> Dict[str, Any]:
    """An OpenAI message of role `tool`; it has no flag, so the content says it."""
    content = to_compact(answer)
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content}


def from_openai(message: Mapping[str, Any]) -> Union[Envelope, Success]:
    """Read a message of role `tool`."""
    return from_compact(message["content"])


# ---------------------------------------------------------------- MCP


def to_mcp(answer: Union[Envelope, Success]) -> Dict[str, Any]:
    """An MCP tool result: text for the reader, the envelope as structured content."""
    plain = answer.to_dict()
    if isinstance(answer, Success):
        content = [_text(_line(plain), "assistant")]
        return {"content": content, "structuredContent": plain, "isError": False}
    content = [_text(answer.agent_message, "assistant")]
    if answer.user_message:  # a hint to the client, no secrecy: not all honour it
        content.append(_text(answer.user_message, "user"))
    return {"content": content, "structuredContent": plain, "isError": True}


def from_mcp(result: Mapping[str, Any]) -> Union[Envelope, Success]:
    """Read an MCP tool result by its structured content."""
    plain = result.get("structuredContent")
    if not isinstance(plain, dict) or "ok" not in plain:
        raise ContractError("The result has no envelope as structuredContent.")
    return Success.from_dict(plain) if plain["ok"] else Envelope.from_dict(plain)


def _text(text: str, audience: str) -> Dict[str, Any]:
    return {"type": "text", "text": text, "annotations": {"audience": [audience]}}


# ---------------------------------------------------------------- problem+json

STATUS_BY_CATEGORY = {
    "validation": 422,
    "authorization": 403,
    "conflict": 409,
    "dependency": 503,
    "internal": 500,
    "not_found": 404,
    "limit": 429,
    "cancelled": 499,
}


def to_problem(envelope: Envelope, instance: str = "") -> Dict[str, Any]:
    """RFC 9457 `application/problem+json`; our fields are extension members."""
    entry = CODES.get(envelope.code, {})
    plain = envelope.to_dict()
    del plain["ok"]
    problem = {
        "type": CATALOGUE["problem_base"] + envelope.code,
        "title": entry.get("title", envelope.code),
        "status": STATUS_BY_CATEGORY[envelope.category],
        "detail": plain.pop("agent_message"),
        **plain,
    }
    return {**problem, "instance": instance} if instance else problem


def from_problem(problem: Mapping[str, Any]) -> Envelope:
    """Read a problem; where `code` is missing, the type's last part is the code."""
    kind = str(problem.get("type", ""))
    code = (
        problem.get("code")
        or kind.rsplit("/", maxsplit=1)[-1].rsplit(":", maxsplit=1)[-1]
    )
    fields = {**problem, "code": code, "agent_message": problem.get("detail", "")}
    return Envelope.from_dict(fields)


# ---------------------------------------------------------------- google.rpc.Status

RPC_BY_CATEGORY = {
    "validation": 3,
    "authorization": 7,
    "conflict": 10,
    "dependency": 14,
    "internal": 13,
    "not_found": 5,
    "limit": 8,
    "cancelled": 1,
}
_TYPE = "type.googleapis.com/google.rpc."
# `metadata` is a map of strings whose keys begin in lower case (AIP-193).
_METADATA = {
    "code": "code",
    "category": "category",
    "commitState": "commit_state",
    "directive": "directive",
    "nextAction": "next_action",
    "notBefore": "not_before",
    "owner": "owner",
    "alternativeTool": "alternative_tool",
    "operationRef": "operation_ref",
    "catalogueVersion": "catalogue_version",
}


def to_rpc_status(envelope: Envelope, now: Optional[datetime] = None) -> Dict[str, Any]:
    """`google.rpc.Status` as JSON, each detail type at most once (AIP-193)."""
    entry = CODES.get(envelope.code, {})
    metadata = {key: getattr(envelope, name) for key, name in _METADATA.items()}
    metadata = {key: value for key, value in metadata.items() if value}
    metadata["textVersion"] = str(envelope.text_version)
    if envelope.max_attempts_remaining is not None:
        metadata["maxAttemptsRemaining"] = str(envelope.max_attempts_remaining)
    if envelope.safe_details:
        metadata["safeDetails"] = _line(dict(envelope.safe_details))
    details: List[Dict[str, Any]] = [
        {
            "@type": _TYPE + "ErrorInfo",
            "reason": entry.get("exported_code", envelope.code),
            "domain": envelope.domain,
            "metadata": metadata,
        }
    ]
    if envelope.not_before:
        start = (now or datetime.now(timezone.utc)).timestamp()
        seconds = max(0, round(epoch_of(envelope.not_before) - start))
        details.append({"@type": _TYPE + "RetryInfo", "retryDelay": f"{seconds}s"})
    if envelope.user_message:
        message = {"locale": "en", "message": envelope.user_message}
        details.append({"@type": _TYPE + "LocalizedMessage", **message})
    if entry.get("help_url"):
        link = {"description": entry["title"], "url": entry["help_url"]}
        details.append({"@type": _TYPE + "Help", "links": [link]})
    return {
        "code": RPC_BY_CATEGORY[envelope.category],
        "message": envelope.agent_message,
        "details": details,
    }


def from_rpc_status(status: Mapping[str, Any]) -> Envelope:
    """Read a Status that `to_rpc_status` wrote."""
    found = {part["@type"].split(".")[-1]: part for part in status.get("details", [])}
    info = found.get("ErrorInfo")
    if info is None:
        raise ContractError("The status has no ErrorInfo.")
    metadata = info.get("metadata", {})
    fields: Dict[str, Any] = {
        name: metadata[key] for key, name in _METADATA.items() if key in metadata
    }
    fields.setdefault("code", info["reason"])
    if "maxAttemptsRemaining" in metadata:
        fields["max_attempts_remaining"] = int(metadata["maxAttemptsRemaining"])
    return Envelope.from_dict(
        {
            **fields,
            "domain": info.get("domain", ""),
            "agent_message": status.get("message", ""),
            "user_message": found.get("LocalizedMessage", {}).get("message", ""),
            "text_version": int(metadata.get("textVersion", 0)),
            "safe_details": json.loads(metadata.get("safeDetails", "{}")),
        }
    )


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _loaded(text: str) -> Dict[str, Any]:
    try:
        plain = json.loads(text)
    except ValueError as exc:
        raise ContractError(f"The content is no JSON: {exc}.") from exc
    if not isinstance(plain, dict):
        raise ContractError("The content is no JSON object.")
    return plain
