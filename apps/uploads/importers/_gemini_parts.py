"""Parts of Gemini contents: text, calls and responses; shared by the Gemini readers."""

import re

from apps.runs.transcript import Call, Cause, Result, Turn

from ._objects import id_text
from .thread import ThreadBuilder
from .values import Json, integer, mapping, sequence, text

_CAUSES: tuple[tuple[str, Cause], ...] = (
    ("[Operation Cancelled]", "denied"),
    ('Tool "', "rejected"),  # … not found
    ("params must ", "rejected"),
    ("Path not in workspace", "rejected"),
)  # texts that the program itself writes
_EXIT_CODE = re.compile(
    r"^Exit Code: (-?\d+)\n(?:Signal: .*\n)?(?:Background PIDs: .*\n)?"
    r"Process Group PGID: .*(?:\n</untrusted_context>)?\s*\Z",
    re.MULTILINE,
)
_TAIL_CHARS = 400
SUMMARY_LEAD = "<state_snapshot>"
_NOTICES = ("<session_context>", "<system-reminder>", "<hook_context>")


def said_in(parts: Json) -> str:
    """Join what the parts say; data becomes a note of its kind and size."""
    said = []
    for item in sequence(parts):
        part = {"text": item} if isinstance(item, str) else mapping(item)
        if part.get("thought") is True:
            continue
        blob = mapping(part.get("inlineData", part.get("inline_data")))
        if isinstance(part.get("text"), str):
            said.append(text(part["text"]))
        elif blob:
            kind = text(blob.get("mimeType", blob.get("mime_type"))) or "data"
            said.append(f"[{kind}, {len(text(blob.get('data')))} characters]")
        elif "fileData" in part:
            said.append(
                f"[{text(mapping(part['fileData']).get('mimeType')) or 'file'}]"
            )
    return "\n".join(said)


def thoughts_in(parts: Json) -> str:
    """Join the parts that are marked as thoughts."""
    found = (mapping(part) for part in sequence(parts))
    return "\n".join(text(p.get("text")) for p in found if p.get("thought") is True)


def calls_in(parts: Json) -> list[dict[str, Json]]:
    """Give the `functionCall` of each part that has one."""
    found = (mapping(part) for part in sequence(parts))
    calls = (mapping(p.get("functionCall", p.get("function_call"))) for p in found)
    return [call for call in calls if call]


def responses_in(parts: Json) -> list[dict[str, Json]]:
    """Give the `functionResponse` of each part that has one."""
    found = (mapping(part) for part in sequence(parts))
    keys = ("functionResponse", "function_response")
    given = (next((mapping(p[k]) for k in keys if k in p), {}) for p in found)
    return [response for response in given if response]


def add_calls(
    builder: ThreadBuilder, turn: Turn, parts: Json, at: float | None
) -> None:
    """Add the calls that stand as parts of the model's content."""
    for call in calls_in(parts):
        name, arguments = text(call.get("name")), text(call.get("args"))
        made = Call(tool=name, arguments=arguments, id=id_text(call.get("id")), at=at)
        builder.call(turn, made)


def result_of(response: Json, at: float | None) -> Result:
    """Read `{output}`, `{error}` or any other answer of a tool.

    The shell tool writes a command's exit code in a line near the end of its text.
    """
    answer = mapping(response)
    error = answer.get("error")
    if error is not None:
        result = Result(text(error), is_error=True, flag="response.error", at=at)
        head = result.text[:60]
        result.cause = next((c for lead, c in _CAUSES if head.startswith(lead)), "")
        return result
    if len(answer) == 1 and isinstance(answer.get("output"), str):
        result = Result(text(answer["output"]), at=at)
        found = _EXIT_CODE.search(result.text, max(0, len(result.text) - _TAIL_CHARS))
        result.exit_code = integer(found[1]) if found else None
        return result
    return Result(text(response), at=at)


def add_prompt(builder: ThreadBuilder, said: str, at: float | None) -> None:
    """Add what stands in the user's place: a prompt, a summary, a program's words."""
    turn = builder.add("user", said, at=at)
    if said.lstrip().startswith(SUMMARY_LEAD):
        turn.kind = "summary"
    elif said.startswith(_NOTICES):
        turn.kind = "notice"
