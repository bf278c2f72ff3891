"""Claude Code: files of sub-agents, which belong to the session of their folder."""

from functools import partial
from io import BytesIO
from typing import Any

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import claude_code
from tests.uploads.importers.counting import json_lines, read_bytes, run_of
from tests.uploads.importers.reading import check_survives

FOLDER = "projects/shop/5f0c/subagents/agent-a1.jsonl"


def line(kind: str, number: int, session: str, **message: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": session,
        "isSidechain": True,
        "agentId": "a1",
        "message": message,
    }


def sub_agent(session: str) -> bytes:
    use = {"type": "tool_use", "id": "c", "name": "Grep", "input": {}}
    answer = line("assistant", 1, session, id="m", content=[use])
    return json_lines([line("user", 0, session, content="look"), answer])


@pytest.mark.parametrize(
    ("session", "name", "run_id", "is_part"),
    [
        ("agent-a1", FOLDER, "5f0c", True),
        ("s1", FOLDER, "5f0c", True),
        ("s1", "projects/shop/agent-a1.jsonl", "s1", True),
    ],
)
def test_read_gives_a_sub_agents_file_to_its_session(
    session: str, name: str, run_id: str, is_part: bool
) -> None:
    run = run_of(claude_code, sub_agent(session), name)

    assert (run.run_id, run.is_part) == (run_id, is_part)
    assert [(thread.kind, thread.id) for thread in run.threads] == [("sub_agent", "a1")]


def test_read_folder_takes_the_agents_name_from_the_companion() -> None:
    companion = FOLDER.replace(".jsonl", ".meta.json")
    files = {
        FOLDER: partial(BytesIO, sub_agent("s1")),
        companion: partial(BytesIO, b'{"agentType": "scout", "spawnDepth": 1}'),
    }

    assert claude_code.claims([*files, "projects/shop/5f0c.jsonl"]) == [list(files)]
    (run,) = claude_code.read_folder(files)
    assert isinstance(run, Transcript)
    assert [thread.agent for thread in run.threads] == ["scout"]


def test_detect_knows_the_companion_which_holds_no_record() -> None:
    raw = b'{"agentType": "general-purpose", "spawnDepth": 1}'

    assert claude_code.detect(raw) > 0.5
    assert read_bytes(claude_code, raw) == []


def test_read_survives_spoiled_files() -> None:
    check_survives(claude_code, sub_agent("s1"), seed=1, count=100, name=FOLDER)
