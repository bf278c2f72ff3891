"""Tells whether a result that is an object reports a failure. Pure."""

import re
from typing import Any

import msgspec

_ABSENT = msgspec.Raw(b"")


class _Shape(msgspec.Struct):
    """The fields of a result by which writers report success or failure."""

    ok: Any = None
    success: Any = None
    status: Any = None
    error: Any = None
    error_message: Any = None
    errorMessage: Any = None  # noqa: N815 (a field of logs)
    isError: Any = None  # noqa: N815
    is_error: Any = None
    message: Any = None
    reason: Any = None
    detail: Any = None
    errors: msgspec.Raw = _ABSENT
    data: msgspec.Raw = _ABSENT
    response: msgspec.Raw = _ABSENT
    result: msgspec.Raw = _ABSENT


_decoder = msgspec.json.Decoder(_Shape)
_inner_text = msgspec.json.Decoder(str)
_NO_ERROR = frozenset(
    {"", "none", "(none)", "null", "no", "no error", "ok", "0", "false"}
)
_FAILED = frozenset({"failed", "failure", "fail"})
_NEAR = 200  # characters in which the outer object names what it holds
_SURE = ('{"ok":true', '{"ok": true', '{"success":true', '{"success": true')
_PYTHON = re.compile(
    r"\s*\{'(?:(?:ok|success)': False|status': 'error'"
    r"|(?:error|error_message)': (?:'[^']|\"|\{'|True))"
)


def is_error_object(text: str) -> bool:
    """Whether a result that is one object, JSON or Python's, reports a failure.

    It does where it says `ok: false`, `success: false`, `status: error` or
    `isError: true`, or holds an `error` and nothing that says success. `status:
    failed` needs a message beside it: alone it is what a look-up of a job found.
    """
    if text.startswith(_SURE):
        return False
    shape = _decoded(text)
    if shape is None:
        return bool(_PYTHON.match(text))
    return _reports_failure(shape)


def holds_inner_error(text: str) -> bool:
    """Whether a result that seems a success holds an error object inside."""
    near = text[:_NEAR]
    if '"response"' not in near and '"result"' not in near:
        return False
    shape = _decoded(text)
    if shape is None:
        return False
    for raw in (shape.response, shape.result):
        inner = bytes(raw).lstrip()
        if inner[:1] == b'"':
            try:
                told = _inner_text.decode(inner)
            except msgspec.DecodeError:
                continue
        else:
            told = inner.decode()
        if told.lstrip()[:1] == "{" and is_error_object(told):
            return True
    return False


def _decoded(text: str) -> _Shape | None:
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _reports_failure(shape: _Shape) -> bool:
    if shape.ok is False or shape.success is False:
        return True
    if shape.isError is True or shape.is_error is True:
        return True
    if shape.ok is True or shape.success is True:
        return False
    has_error = any(map(_is_error, (shape.error, shape.error_message)))
    if has_error or _is_error(shape.errorMessage) or _has_failed(shape):
        return True
    return bytes(shape.data) == b"null" and bytes(shape.errors)[:2] not in (b"", b"[]")


def _is_error(value: object) -> bool:
    """Whether the value of a field `error` says that there was one."""
    if isinstance(value, str):
        return value.strip().lower() not in _NO_ERROR
    return bool(value)


def _has_failed(shape: _Shape) -> bool:
    status = shape.status
    if isinstance(status, int):
        return 400 <= status <= 599
    if not isinstance(status, str):
        return False
    word = status.strip().lower()
    if word in _FAILED:
        reasons = (shape.message, shape.reason, shape.detail)
        return any(isinstance(reason, str) and reason for reason in reasons)
    return word == "error" or (len(word) == 3 and word[0] in "45" and word.isdecimal())
