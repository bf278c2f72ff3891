"""The real files of benchmark harnesses: told as what they are, read whole, counted.

The counts were taken from the files by hand and compared with the list beside them;
where the two differ, the reason stands with the row.
"""

import io
from pathlib import Path

import pytest

from apps.runs.transcript import OutcomeRecord, Transcript, Unreadable
from apps.uploads.importers import HEAD_BYTES, readers
from apps.uploads.importers import detect as detect_all

SESSIONS = Path(__file__).resolve().parents[4] / "shared" / "sessions"
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(
        not SESSIONS.is_dir(),
        reason="the folder ../shared/sessions with the real files is not here",
    ),
]

TERMINUS = "terminus_2_hello-world-context-summarization-linear-history"
# file: format, runs, correct/incorrect/unknown, calls, errors by a flag or an exit
# code, calls without a result
RUNS = {
    "tau-bench/gpt-4o-airline.part-a.json": ("tau_bench", 84, "23/61/0", 530, 0, 0),
    "tau-bench/crashed-before-first-turn.json": ("tau_bench", 1, "0/0/1", 0, 0, 0),
    # the same format in another folder: 34 runs, 6 with reward 1
    "openai-chat/tau-airline-a.json": ("tau_bench", 34, "6/28/0", 299, 0, 0),
    "tau2-bench/gpt-oss-120b-langchain-airline.json": (
        "tau2_bench", 11, "3/8/0", 183, 16, 0),
    "tau2-bench/azure-airline.json": ("tau2_bench", 10, "3/7/0", 71, 11, 0),
    "tau2-bench/telecom-gpt-4o-user-side-tools.json": (
        "tau2_bench", 8, "4/4/0", 39, 1, 0),
    "tau2-bench/ironforge-v2-sonnet46.json": ("tau2_bench", 4, "1/3/0", 41, 2, 0),
    # SWE-agent's outcomes come from results.claude-3.5-sonnet.json: see JOINED
    "swe-agent/sympy__sympy-16886.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 7, 0, 0),
    "swe-agent/django__django-11099.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 14, 0, 0),
    "swe-agent/pallets__flask-5014.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 12, 0, 0),
    "swe-agent/sympy__sympy-15017.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 19, 0, 0),
    "swe-agent/scikit-learn__scikit-learn-13439.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 7, 0, 0),
    "swe-agent/django__django-11066.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 5, 0, 0),
    "swe-agent/sympy__sympy-19637.claude-3.5-sonnet.traj": (
        "swe_agent", 1, "0/0/1", 9, 0, 0),
    "swe-agent/marshmallow-1867.function-calling.traj": (
        "swe_agent", 1, "0/0/1", 11, 0, 0),
    "swe-agent/pydicom-1458.gpt4.traj": ("swe_agent", 1, "0/0/1", 12, 0, 0),
    "mini-swe-agent/django__django-14752.deepseek_chat_test_1-100.traj.json": (
        "mini_swe_agent", 1, "0/0/1", 31, 6, 0),
    "mini-swe-agent/pvlib__pvlib-python-1072.deepseek_reasoner_dev.traj.json": (
        "mini_swe_agent", 1, "0/0/1", 15, 3, 0),
    "mini-swe-agent/pylint-dev__astroid-1196.deepseek_reasoner_dev.traj.json": (
        "mini_swe_agent", 1, "0/0/1", 0, 0, 0),
    "mini-swe-agent/sqlfluff__sqlfluff-2419.deepseek_lite_dev.traj.json": (
        "mini_swe_agent", 1, "0/0/1", 41, 5, 0),
    "mini-swe-agent/astropy-12907.patch-repair-outcome.traj.json": (
        "mini_swe_agent", 1, "0/1/0", 64, 15, 0),
    "mini-swe-agent/local.bare-list.traj.json": ("mini_swe_agent", 1, "0/0/1", 2, 0, 0),
    # each `finish` is a call without a result, in all dialects
    "openhands/swe-bench.output.jsonl": ("openhands", 2, "1/1/0", 81, 4, 1),
    # the list has 105 calls: two more were refused before they became an action, and
    # stand in their error alone (its 21 errors count these two)
    "openhands/multi-swe-bench.output.jsonl": ("openhands", 3, "0/0/3", 107, 21, 2),
    "openhands/resolver.output.jsonl": ("openhands", 2, "2/0/0", 26, 0, 2),
    # the list has one error: exit code -1, which says that the command still runs
    "openhands/ui-export.basic-gui-mode.json": ("openhands", 1, "0/0/1", 4, 0, 0),
    "openhands/prontoqa.pairs-dialect.output.jsonl": ("openhands", 6, "5/1/0", 17, 0,
    6),
    # their outcomes come from output.swebench_eval.md: see JOINED
    "openhands-completions/django__django-11163.last-completion.json": (
        "openhands_completions", 1, "0/0/1", 19, 0, 1),
    "openhands-completions/django__django-11206.last-completion.json": (
        "openhands_completions", 1, "0/0/1", 16, 0, 1),
    "openhands-completions/astropy__astropy-7336.last-completion.json": (
        "openhands_completions", 1, "0/0/1", 14, 0, 1),
    "openhands-completions/astropy__astropy-14369.last-completion.json": (
        "openhands_completions", 1, "0/0/1", 21, 0, 1),
    # the list has 0 calls and 0 errors: the file has eleven results, each with an
    # error, whose calls are not in it; they are kept
    "inspect/log_tool_call_error.json": ("inspect_ai", 1, "0/0/1", 11, 11, 0),
    "inspect/browser.json": ("inspect_ai", 1, "1/0/0", 4, 0, 0),
    "inspect/log_formats.eval": ("inspect_ai", 1, "0/1/0", 0, 0, 0),
    "inspect/log_message_deduplication.v3.eval": ("inspect_ai", 1, "0/1/0", 5, 0, 0),
    "inspect/popularity-cancelled.json": ("inspect_ai", 3, "2/1/0", 0, 0, 0),
    "inspect/retry-2-then-success.legacy.zstd.eval": ("inspect_ai", 1, "0/0/1", 0, 0,
    0),
    "inspect/generated-order-desk-a.json": ("inspect_ai", 12, "9/3/0", 25, 14, 0),
    "inspect/generated-order-desk-a.zstd.eval": ("inspect_ai", 12, "9/3/0", 25, 14, 0),
    "inspect-ai/ia-01-images-tool-calls.json": ("inspect_ai", 1, "0/1/0", 0, 0, 0),
    "atif/openhands_hello-world.trajectory.json": ("atif", 1, "0/0/1", 2, 0, 1),
    # the list has 0 calls: this agent types into its message; a result is a call
    f"atif/{TERMINUS}.trajectory.json": (
        "atif", 1, "0/0/1", 3, 0, 0),
    "intercode/sql-gpt-4.json": ("intercode", 150, "115/35/0", 833, 224, 0),
    "intercode/sql-gpt-3.5.json": ("intercode", 60, "24/36/0", 449, 261, 0),
    "intercode/bash-gpt-4-fs-4.json": ("intercode", 27, "16/11/0", 131, 13, 0),
    "intercode/bash-react-gpt-3.5-fs-2.json": ("intercode", 53, "3/50/0", 303, 178, 0),
    "intercode/sql-starchat-loops.json": ("intercode", 30, "5/25/0", 255, 229, 0),
    # ToolBench: the calls are those of the whole tree, each once; the list has those of
    # the kept branch, which is the main thread (see MAIN). The list's errors are by
    # text; these are by `observation_code`
    "toolbench/G1-57_ChatGPT_DFS.json": ("toolbench", 1, "1/0/0", 10, 1, 0),
    "toolbench/G1-69_ChatGPT_DFS.json": ("toolbench", 1, "0/1/0", 24, 13, 0),
    "toolbench/G2-10_ChatGPT_DFS.json": ("toolbench", 1, "0/1/0", 30, 12, 0),
    "toolbench/G2-119_ChatGPT_DFS.json": ("toolbench", 1, "0/1/0", 23, 0, 0),
    "toolbench/G3-21_ChatGPT_DFS.json": ("toolbench", 1, "1/0/0", 4, 1, 0),
    # the last call of every run ends it and has no answer
    "mint/llama-3-70b.math.jsonl": ("mint", 35, "15/20/0", 130, 0, 35),
    "mint/codeact-llama-2-7b.gsm8k.jsonl": ("mint", 30, "7/23/0", 97, 0, 30),
}  # fmt: skip

# calls of the main thread, where a run has more
MAIN = {
    "toolbench/G1-57_ChatGPT_DFS.json": 4,
    "toolbench/G1-69_ChatGPT_DFS.json": 0,
    "toolbench/G2-10_ChatGPT_DFS.json": 4,
    "toolbench/G2-119_ChatGPT_DFS.json": 3,
    "toolbench/G3-21_ChatGPT_DFS.json": 4,
}

# file: format, correct/incorrect/unknown
LISTS = {
    # 168 resolved; without a patch 11, and one row for those that it does not name;
    # without a log 3
    "swe-agent/results.claude-3.5-sonnet.json": ("swe_bench_report", "168/12/3"),
    "openhands-completions/output.swebench_eval.md": ("swe_bench_report", "26/24/0"),
    "mini-swe-agent/exit-statuses.deepseek-reasoner-dev.yaml": (
        "mini_swe_agent", "0/0/15"),
}  # fmt: skip

# run's file: its outcome once the list beside it is joined by the instance
JOINED = {
    "swe-agent/sympy__sympy-16886.claude-3.5-sonnet.traj": "correct",
    "swe-agent/django__django-11099.claude-3.5-sonnet.traj": "correct",
    "swe-agent/pallets__flask-5014.claude-3.5-sonnet.traj": "incorrect",
    "swe-agent/sympy__sympy-15017.claude-3.5-sonnet.traj": "incorrect",
    "swe-agent/scikit-learn__scikit-learn-13439.claude-3.5-sonnet.traj": "incorrect",
    "swe-agent/django__django-11066.claude-3.5-sonnet.traj": "correct",
    "swe-agent/sympy__sympy-19637.claude-3.5-sonnet.traj": "correct",
    "openhands-completions/django__django-11163.last-completion.json": "correct",
    "openhands-completions/django__django-11206.last-completion.json": "incorrect",
    "openhands-completions/astropy__astropy-7336.last-completion.json": "correct",
    "openhands-completions/astropy__astropy-14369.last-completion.json": "incorrect",
}
OWN = frozenset(
    {
        "agentdojo", "atif", "hal_results", "harbor_result", "inspect_ai", "intercode",
        "mini_swe_agent", "mint", "openhands", "openhands_completions", "outcome_list",
        "swe_agent", "swe_bench_report", "task_run_map", "tau2_bench", "tau_bench",
        "toolbench", "trae_agent",
    }
)  # fmt: skip


def records(name: str):
    """Read a file with the reader that its head is told as."""
    data = (SESSIONS / name).read_bytes()
    (best, _), *_ = detect_all(data[:HEAD_BYTES])
    return best, list(readers()[best].read(io.BytesIO(data), name))


def shares(outcomes):
    return "/".join(str(outcomes.count(o)) for o in ("correct", "incorrect", "unknown"))


@pytest.mark.parametrize("name", RUNS)
def test_real_runs_are_told_read_and_counted(name):
    best, found = records(name)

    assert all(isinstance(record, Transcript) for record in found)
    results = [
        call.result
        for run in found
        for thread in run.threads
        for turn in thread.turns
        for call in turn.calls
    ]
    errors = [r for r in results if r and (r.is_error or r.exit_code not in (None, 0))]
    assert (
        best, len(found), shares([run.outcome for run in found]), len(results),
        len(errors), results.count(None),
    ) == RUNS[name]  # fmt: skip
    assert not any(run.unreadable for run in found)


@pytest.mark.parametrize("name", MAIN)
def test_real_search_trees_keep_the_final_branch_as_the_main_thread(name):
    _, (run,) = records(name)

    assert sum(len(turn.calls) for turn in run.threads[0].turns) == MAIN[name]


@pytest.mark.parametrize("name", LISTS)
def test_real_lists_are_told_and_counted(name):
    best, found = records(name)

    assert all(isinstance(record, OutcomeRecord) for record in found)
    assert (best, shares([record.outcome for record in found])) == LISTS[name]


@pytest.mark.parametrize("name", JOINED)
def test_real_runs_find_their_outcome_in_the_list_beside_them(name):
    _, (run,) = records(name)
    folder = name.partition("/")[0]
    (list_name,) = [n for n in LISTS if n.startswith(f"{folder}/")]
    outcomes = {record.task_id: record.outcome for record in records(list_name)[1]}

    assert outcomes.get(run.task_id, outcomes.get("*")) == JOINED[name]


def test_every_real_file_of_these_formats_is_in_a_table():
    folders = {name.partition("/")[0] for name in (*RUNS, *LISTS)} - {"openai-chat"}
    files = {
        path.relative_to(SESSIONS).as_posix()
        for folder in folders
        for path in (SESSIONS / folder).iterdir()
    }

    assert files <= RUNS.keys() | LISTS.keys()


def test_these_formats_are_not_seen_in_other_files():
    """A file of another format may look alike, but its own reader must be surer."""
    seen = {}
    for path in sorted(SESSIONS.rglob("*")):
        name = path.relative_to(SESSIONS).as_posix()
        if not path.is_file() or name in RUNS or name in LISTS:
            continue
        head = path.read_bytes()[:HEAD_BYTES]
        scores = {n: readers()[n].detect(head) for n in OWN}
        found = {n: score for n, score in scores.items() if score}
        if found:
            seen[name] = found

    assert seen == {}


def test_real_files_cut_anywhere_raise_nothing():
    for name in (*RUNS, *LISTS):
        data = (SESSIONS / name).read_bytes()
        best = (RUNS.get(name) or LISTS[name])[0]
        for share in (0.01, 0.37, 0.99):
            for part in (
                data[: int(len(data) * share)],
                data[int(len(data) * share) :],
            ):
                readers()[best].detect(part[:HEAD_BYTES])
                for record in readers()[best].read(io.BytesIO(part), name):
                    assert not isinstance(record, Unreadable) or record.reason
