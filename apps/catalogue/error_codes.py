"""Tell a code that names one failure from a value that only looks like one.

A structured code wins over text, so a wrong yes is costly in both directions: an
occurrence id taken for a code makes every error a code of its own, a catch-all such
as `INTERNAL` hides all failures behind one. Hence three answers:

- `NAMES_IT`: the failure's own name (`card_declined`, `channel_not_found`, `E1042`).
- `BROAD`: a class of failures (`INVALID_ARGUMENT`, `ValueError`, 404): what the agent
  should do still hangs on the text, so it is put before the text, not in its place.
- `NOTHING`: says no more than "error", or names the occurrence (a uuid, a request id).
"""

import re
from enum import Enum
from functools import lru_cache
from typing import Final

from apps.catalogue.word_sets import word_set


class CodeKind(Enum):
    """How much a value in a code's place says."""

    NAMES_IT = "names it"
    BROAD = "broad"
    NOTHING = "nothing"


_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._\-/: ][A-Za-z0-9]+)*")
_MAX_LENGTH: Final = 63  # AIP-193's limit for a reason
_SQLSTATE = re.compile(
    r"(?:0[0-9A-HL-PXZ]|2[0-8BCDF]|3[489BDF]|4[024]|5[34578]|58|72|F0|HV|P0|XX)"
    r"[0-9A-Z]{3}"
)
# Runs of digits or mixed letters and digits such as an id has and a name has not.
_OCCURRENCE = re.compile(r"\d{7}|[0-9a-f]{8}-[0-9a-f]{4}|(?=\w*\d\w*[a-f])[0-9a-f]{10}")

# JSON-RPC's own codes name the channel: what one server sends as -32602, another sends
# as a result. 0, 1 and 200 are no names.
_CHANNEL = re.compile(r"-32700|-326\d\d|-?[01]|2\d\d")
_SAYS_NOTHING = word_set(
    "error err errors fail failed failure exception true false none null unknown "
    "other _other undefined default status n/a ok tool_error toolerror tool_result "
    "result error_message generic_error general_error object about:blank"
)
# One word for many failures. Of google.rpc's codes these leave the correction to the
# text; the others (UNAVAILABLE, ALREADY_EXISTS …) ask for the same whatever it says.
_COVERS_MANY = word_set(
    "internal internal_error internal_server_error server_error api_error "
    "service_error unknown_error unexpected_error unhandled_error "
    "unhandled_exception runtime_error execution_error execution_failed "
    "processing_error request_error request_failed operation_failed system_error "
    "application_error backend_error http_error bad_request invalid_request "
    "invalid_request_error invalid_argument invalid_arguments invalid_input "
    "invalid_params invalid_parameter invalid_parameters validation "
    "validation_error validation_failed unprocessable_entity unprocessable_content "
    "failed_precondition precondition_failed out_of_range not_found data_loss "
    "conflict dependency business_error business_rule client_error user_error "
    "input_error tool_execution_error tool_failed schema_error parse_error"
)
# Exceptions that languages ship: `ValueError` says how it was raised, not what failed.
_BUILT_IN = re.compile(
    r"(?:[a-z_]+\.)*(?:Base|Tool|Agent|Model|Unhandled|Generic|Unexpected)?(?:Exception|Error)|"
    r"(?:Value|Type|Key|Index|Attribute|Runtime|OS|IO|Name|Assertion|Arithmetic|Lookup|"
    r"Reference|Range|Syntax|Validation|HTTP|Http|Request|Axios|Fetch|Client|Server|Api|API|"
    r"System|Application|Internal|Execution|ToolExecution|ToolInvocation|Zod|Schema)"
    r"(?:Error|Exception|Retry)"
)


@lru_cache(maxsize=1 << 12)
def kind_of(code: str) -> CodeKind:
    """Judge a value found where a code is expected."""
    code = code.strip()
    if not code or len(code) > _MAX_LENGTH:
        return CodeKind.NOTHING
    plain = re.sub(r"[\s\-.]+", "_", code.lower()).removeprefix("err_")
    if plain in _SAYS_NOTHING:
        return CodeKind.NOTHING
    if re.fullmatch(r"-?\d{1,6}", code):
        # SQLSTATEs of digits alone (23505) come as text; 200 or 0 is no failure.
        if _SQLSTATE.fullmatch(code) and not code.startswith(("00", "4040", "5000")):
            return CodeKind.BROAD
        if _CHANNEL.fullmatch(code):
            return CodeKind.NOTHING
        return CodeKind.BROAD
    if _SQLSTATE.fullmatch(code):
        return CodeKind.NAMES_IT
    if not _IDENTIFIER.fullmatch(code) or _OCCURRENCE.search(code.lower()):
        return CodeKind.NOTHING
    if code.count(" ") > 0:  # "Bad Request": a title, which stands in the text anyway
        return CodeKind.NOTHING
    if plain in _COVERS_MANY or _BUILT_IN.fullmatch(code):
        return CodeKind.BROAD
    return CodeKind.NAMES_IT


def is_name_like(value: str) -> bool:
    """Whether a text is written as code is (`not_found`, `NOT_FOUND`), not as words."""
    return (
        len(value) <= _MAX_LENGTH
        and (
            "_" in value
            or (value.isupper() and len(value) > 2)
            or "." in value.strip(".")
        )
        and _IDENTIFIER.fullmatch(value) is not None
        and " " not in value
    )
