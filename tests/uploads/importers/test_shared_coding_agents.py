"""The real files of coding agents: told as what they are, read whole, counted.

The counts were taken from the files with scripts of their own, without the readers.
"""

from pathlib import Path

import pytest

from apps.runs.transcript import Call, Thread, Transcript
from apps.uploads.importers import HEAD_BYTES, folder_readers, readers
from apps.uploads.importers import detect as detect_all
from tests.uploads.importers.counting import Figures, calls_of, figures, read_bytes

SESSIONS = Path(__file__).resolve().parents[4] / "shared" / "sessions"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not SESSIONS.is_dir(),
        reason="the folder ../shared/sessions with the real files is not here",
    ),
]

MINE = frozenset(
    {
        *(
            "aider",
            "claude_code",
            "cline",
            "codex",
            "copilot_cli",
            "cursor",
            "opencode",
        ),
        *("gemini_cli", "gemini_contents", "gemini_telemetry", "pi", "specstory"),
    }
)
FOLDERS = {
    "aider": ("aider",),
    "claude-code": ("claude_code",),
    "codex": ("codex",),
    "copilot-cli": ("copilot_cli",),
    "cursor": ("cursor",),
    "gemini-cli": ("gemini_cli", "gemini_contents"),
    "opencode": ("opencode",),
    "pi": ("pi",),
    "specstory-markdown": ("specstory",),
}
SUB_AGENT = "claude-code/fixture-as-subagent/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f"
ROLLOUT = "codex/fixture-is/rollout-{}-0199aaaa-0000-7000-8000-0000000000{}.jsonl"
TREE = "opencode/fixture-as-storage-tree"

# file: runs, calls, calls without a result, results flagged as errors, results with an
# exit code other than 0 in a field or a fixed last line
COUNTS: dict[str, tuple[int, int, int, int, int]] = {
    # 220 whole chats and a cut one; 145 have a prompt or an answer. 93 edit blocks and
    # one answer without a whole block; 14 failed, 13 stand in answers that ^C cut
    "aider/ai-01-chat-history.md": (145, 94, 13, 14, 0),
    "aider/ai-02-chat-history-no-edits.md": (0, 0, 0, 0, 0),
    "claude-code/cc-01.jsonl": (1, 20, 0, 4, 0),
    "claude-code/cc-02.jsonl": (1, 66, 0, 8, 0),
    "claude-code/cc-03.jsonl": (1, 38, 0, 5, 0),
    "claude-code/cc-04-missing-result.jsonl": (1, 1, 1, 0, 0),
    "claude-code/cc-05-compaction.jsonl": (1, 218, 0, 19, 0),
    "claude-code/fixture-as-schema_drift.jsonl": (1, 1, 0, 0, 0),
    # two session ids; one result has no call of its own
    "claude-code/fixture-as-small.jsonl": (2, 4, 1, 1, 0),
    f"{SUB_AGENT}.jsonl": (1, 1, 1, 0, 0),
    f"{SUB_AGENT}/subagents/agent-a0ad4f44468bdf20d.jsonl": (1, 1, 0, 0, 0),
    f"{SUB_AGENT}/subagents/agent-a0ad4f44468bdf20d.meta.json": (0, 0, 0, 0, 0),
    # two session ids
    "claude-code/fixture-ccl-edge-cases.jsonl": (2, 3, 2, 1, 0),
    "claude-code/web-session-loglines.json": (1, 12, 0, 1, 0),
    "codex/cx-01-made-fix-calc.jsonl": (1, 9, 0, 0, 3),
    # a header and events, but no item
    "codex/fixture-as-legacy-050.jsonl": (0, 0, 0, 0, 0),
    "codex/fixture-as-schema_drift.jsonl": (1, 1, 0, 0, 0),
    # two ids; 8 calls, and one output whose call is not there
    "codex/fixture-as-small.jsonl": (2, 9, 2, 0, 0),
    ROLLOUT.format("2025-06-01T09-00-00", "0a"): (1, 0, 0, 0, 0),
    ROLLOUT.format("2026-08-01T10-01-00", "02"): (1, 2, 0, 0, 0),
    ROLLOUT.format("2026-08-01T10-02-00", "03"): (1, 0, 0, 0, 0),
    ROLLOUT.format("2026-08-01T10-05-00", "06"): (1, 0, 0, 0, 0),
    "copilot-cli/cp-01.jsonl": (1, 106, 1, 3, 0),
    "copilot-cli/fixture-as-large.jsonl": (1, 2, 1, 0, 0),
    "cursor/fixture-as-large.jsonl": (1, 2, 0, 0, 0),
    "cursor/fixture-as-subagent/parent.jsonl": (1, 1, 1, 0, 0),
    "cursor/fixture-as-subagent/subagents/child.jsonl": (1, 0, 0, 0, 0),
    "gemini-cli/fixture-as-jsonl_v040.jsonl": (1, 1, 0, 0, 0),
    "gemini-cli/fixture-as-large.json": (1, 2, 0, 0, 0),
    "gemini-cli/fixture-as-schema_drift.json": (1, 0, 0, 0, 0),
    "gemini-cli/gm-01-made-fix-calc.jsonl": (1, 9, 0, 4, 1),
    "gemini-cli/gm-02-chat.json": (1, 2, 0, 0, 0),
    "gemini-cli/gm-03-chat.json": (1, 9, 0, 0, 0),
    # 45 calls and 46 responses: one has no call
    "gemini-cli/gm-04-checkpoint-contents.json": (1, 46, 0, 5, 3),
    # three of status error, and a tool that does not exist
    "opencode/oc-made-fix-calc.json": (1, 8, 0, 4, 1),
    "opencode/oc-made-subagent-child.json": (1, 1, 0, 0, 0),
    "opencode/oc-made-subagent-loop.json": (1, 6, 0, 3, 0),
    "pi/openclaw-63f16c5a.jsonl": (1, 2, 0, 1, 0),
    "pi/pi-01.jsonl": (1, 189, 0, 12, 10),
    "pi/pi-02.jsonl": (1, 6, 0, 1, 0),
    "pi/pi-03.jsonl": (1, 6, 0, 2, 2),
    "pi/pi-04-provider-error-only.jsonl": (1, 0, 0, 0, 0),
    "pi/pi-05-small.jsonl": (1, 2, 0, 0, 0),
    "specstory-markdown/sp-01-codex-cli.md": (1, 14, 1, 0, 0),
    "specstory-markdown/sp-02-claude-code.md": (1, 24, 8, 0, 0),
    # its 29 calls stand as text: they are those of the session that it resumes
    "specstory-markdown/sp-03-gemini-cli-resumed.md": (1, 0, 0, 0, 0),
    # four tags, two of them bare copies of the ones before
    "specstory-markdown/sp-04-cursor-ide.md": (1, 2, 2, 0, 0),
    "specstory-markdown/sp-05-fixture-codex.md": (1, 3, 0, 0, 0),
}


def head_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(HEAD_BYTES)


def files_of(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in (SESSIONS / folder).rglob("*")]
    return sorted(path for path in found if path.is_file())


@pytest.mark.parametrize("name", COUNTS)
def test_a_real_file_is_read_whole(name: str) -> None:
    path = SESSIONS / name
    (format_name, _), *_ = detect_all(head_of(path))

    records = read_bytes(readers()[format_name], path.read_bytes(), name)

    assert format_name in FOLDERS[name.partition("/")[0]]
    counted = figures(records)
    runs = [record for record in records if isinstance(record, Transcript)]
    results = [call.result for call in calls_of(*runs) if call.result is not None]
    codes = sum(result.exit_code not in (None, 0) for result in results)
    assert (*counted[:4], codes) == COUNTS[name]


def test_every_real_file_is_told_by_one_of_these_readers() -> None:
    for path in files_of(*FOLDERS):
        ranked = detect_all(head_of(path))
        assert ranked, path
        assert ranked[0][0] in FOLDERS[path.relative_to(SESSIONS).parts[0]], path
        assert len(ranked) == 1 or ranked[1][1] < ranked[0][1], path


def test_the_table_has_every_real_file() -> None:
    there = {str(path.relative_to(SESSIONS)) for path in files_of(*FOLDERS)}

    assert {name for name in there if not name.startswith(TREE)} == COUNTS.keys()


def test_no_real_file_of_another_format_is_told_by_these_readers() -> None:
    others = [
        folder.name for folder in SESSIONS.iterdir() if folder.name not in FOLDERS
    ]
    for path in files_of(*others):
        head = head_of(path)
        told = [name for name in MINE if readers()[name].detect(head) > 0]
        assert told == [], path


def test_the_storage_tree_is_read_as_one_run() -> None:
    paths = {str(path.relative_to(SESSIONS)): path for path in files_of(TREE)}
    reader = folder_readers()["opencode"]

    assert reader.claims(paths) == [sorted(paths, key=lambda n: (_rank(n), n))]
    records = list(reader.read_folder({n: _opener(p) for n, p in paths.items()}))

    assert figures(records) == Figures(1, 1, 0, 0, 5)
    (run,) = records
    assert isinstance(run, Transcript)
    (call,) = calls_of(run)
    assert call.result is not None
    assert (call.result.exit_code, run.run_id) == (1, "s_stage0_large")


def _rank(name: str) -> int:
    kinds = ("session", "message", "part")
    return next(n for n, kind in enumerate(kinds) if f"/{kind}/" in name)


def _opener(path: Path):
    return lambda: path.open("rb")


def test_sub_agents_folders_are_read_as_one_run() -> None:
    cursor = {
        str(p.relative_to(SESSIONS)): p for p in files_of("cursor/fixture-as-subagent")
    }
    claude = {
        str(p.relative_to(SESSIONS)): p for p in files_of(f"{SUB_AGENT}/subagents")
    }
    found = folder_readers()

    for name, paths, agent in (
        ("cursor", cursor, ""),
        ("claude_code", claude, "general-purpose"),
    ):
        reader = found[name]
        assert reader.claims(paths) == [list(paths)]
        (run,) = reader.read_folder({n: _opener(p) for n, p in paths.items()})
        assert isinstance(run, Transcript)
        assert run.threads[-1].kind == "sub_agent"
        assert run.threads[-1].agent == agent


def test_a_real_session_is_told_in_detail() -> None:
    name = "claude-code/cc-05-compaction.jsonl"

    (run,) = read_bytes(readers()["claude_code"], (SESSIONS / name).read_bytes(), name)

    assert isinstance(run, Transcript)
    main, side = run.threads
    assert (side.id, side.agent, len(calls_of(run)) - len(calls_in(side))) == (
        *("a37a9c9", "Explore"),
        196,
    )
    assert sum(turn.kind == "summary" for turn in main.turns) == 1
    causes = [call.result.cause for call in calls_of(run) if call.result is not None]
    counts = {
        cause: causes.count(cause) for cause in ("denied", "cancelled", "rejected")
    }
    assert counts == {"denied": 4, "cancelled": 6, "rejected": 1}


def calls_in(thread: Thread) -> list[Call]:
    return [call for turn in thread.turns for call in turn.calls]
