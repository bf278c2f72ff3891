"""The quick way through plain chat messages gives what the general way gives."""

import io
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.runs.transcript import Record
from apps.uploads.importers import openai_chat
from apps.uploads.importers._plain_chat import plain_run
from tests.factories import as_lines, failing, make_run, step

text = st.text(max_size=12)
call = st.fixed_dictionaries(
    {
        "id": text,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": text, "arguments": text}),
    }
)
message = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "developer", "user", "assistant", "tool"]),
        "content": st.none() | text,
    },
    optional={
        "tool_calls": st.lists(call, max_size=3),
        "tool_call_id": text,
        "name": text,
        "is_error": st.none() | st.booleans(),
        "timestamp": st.sampled_from(["2026-11-24T10:00:00Z", "later", ""]),
    },
)
run = st.fixed_dictionaries(
    {"run_id": text, "messages": st.lists(message, max_size=6)},
    optional={
        "started_at": st.sampled_from(["2026-11-24T10:00:00Z", 1_790_000_000, None]),
        "outcome": st.sampled_from([None, True, "correct", {"success": False}, 7]),
        "agent": st.none() | text | st.just({"name": "a", "version": 2}),
        "model": st.none() | text,
    },
)


def both_ways(content: bytes, monkeypatch) -> tuple[list[Record], list[Record]]:
    quick = list(openai_chat.read(io.BytesIO(content), "x"))
    with monkeypatch.context() as patch:
        patch.setattr(openai_chat, "plain_run", lambda raw: None)
        return quick, list(openai_chat.read(io.BytesIO(content), "x"))


@given(st.lists(run, min_size=1, max_size=3))
def test_both_ways_give_the_same_runs(runs):
    content = "\n".join(map(json.dumps, runs)).encode()

    with pytest.MonkeyPatch.context() as patch:
        quick, general = both_ways(content, patch)

    assert quick == general


def test_a_common_run_goes_the_quick_way():
    line = as_lines([make_run("a", [failing("pay", {}, "no"), step("get", {})])])

    assert plain_run(line) is not None


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": ""},
        {"run_id": 7},
        {"tools": []},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
        {"messages": [{"role": "assistant", "content": "", "usage": {}}]},
        {"messages": "none"},
    ],
)
def test_an_odd_run_goes_the_general_way(change):
    line = json.dumps({**make_run("a", []), **change}).encode()

    assert plain_run(line) is None


@pytest.mark.shared
@pytest.mark.parametrize("mode", ["always", "mixed"])
def test_both_ways_agree_on_the_corpus(shared, tmp_path, monkeypatch, mode):
    out = tmp_path / "c.jsonl"
    maker = shared / "bench" / "make_corpus.py"
    command = [sys.executable, str(maker), "--runs", "300", "--error-flag", mode]
    subprocess.run([*command, "--out", str(out)], check=True)

    quick, general = both_ways(out.read_bytes(), monkeypatch)

    assert len(quick) == 300
    assert quick == general
