"""Test data: sessions as agents write them, sent through the real pipeline."""

import io
import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.core.files import File

from apps.accounts.actions import join
from apps.accounts.models import Role, User, Workspace
from apps.uploads.actions import receive
from apps.uploads.models import Upload
from apps.uploads.pipeline import ingest_upload

HTMX = {"HX-Request": "true"}
_numbers = itertools.count(1)


def make_workspace(slug: str = "", **values: Any) -> Workspace:
    name = slug or f"team-{next(_numbers)}"
    return Workspace.objects.create(slug=name, name=name.title(), **values)


def make_member(workspace: Workspace, role: str = Role.OWNER) -> User:
    number = next(_numbers)
    user = User.objects.create_user(
        username=f"person-{number}",
        email=f"person-{number}@example.com",
        password="secret",
    )
    join(user, workspace, role)
    return user


def step(
    tool: str,
    arguments: dict[str, Any] | str,
    result: str | None = '{"ok": true}',
    is_error: bool | None = None,
) -> dict[str, Any]:
    """One call with its result; None leaves the flag, or the result, out."""
    return {
        "tool": tool,
        "arguments": arguments,
        "result": result,
        "is_error": is_error,
    }


def failing(tool: str, arguments: dict[str, Any], text: str) -> dict[str, Any]:
    """A call whose result is flagged as an error."""
    return step(tool, arguments, text, is_error=True)


def make_run(
    run_id: str,
    steps: Sequence[dict[str, Any]],
    *,
    started_at: str = "2026-11-24T10:00:00Z",
    success: bool | None = True,
    final: str = "Done.",
    **values: Any,
) -> dict[str, Any]:
    """A session in the wrapper of chat messages; one call a turn."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please do it."}]
    for number, item in enumerate(steps):
        call_id = f"call_{number}"
        arguments = item["arguments"]
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        function = {"name": item["tool"], "arguments": arguments}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": call_id, "type": "function", "function": function}
                ],
            }
        )
        if item["result"] is None:
            continue
        answer = {"role": "tool", "tool_call_id": call_id, "content": item["result"]}
        if item["is_error"] is not None:
            answer["is_error"] = item["is_error"]
        messages.append(answer)
    if final:
        messages.append({"role": "assistant", "content": final})
    run = {"run_id": run_id, "started_at": started_at, "messages": messages, **values}
    if success is not None:
        run["outcome"] = {"success": success}
    return run


def as_lines(runs: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(run) + "\n" for run in runs).encode()


def upload_bytes(
    workspace: Workspace,
    content: bytes,
    name: str = "sessions.jsonl",
    format_name: str = "",
) -> Upload:
    """Hand in a file and read it to its end."""
    upload = receive(
        workspace, name, File(io.BytesIO(content)), format_name=format_name
    )
    ingest_upload(upload)
    upload.refresh_from_db()
    return upload


def ingest(workspace: Workspace, *runs: dict[str, Any]) -> Upload:
    """Hand in runs and read them."""
    return upload_bytes(workspace, as_lines(runs))
