"""mini-swe-agent: the object, the bare list of older versions, the exit statuses."""

import pytest

from apps.runs.transcript import OutcomeRecord
from apps.uploads.importers import mini_swe_agent

from .reading import as_json, calls, check_survives, one_run, read, shape, told_as


def said(call_id, command, text="I look."):
    function = {"name": "bash", "arguments": f'{{"command": "{command}"}}'}
    return {
        "role": "assistant", "content": text,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        "extra": {"timestamp": 1770000000.5, "response": {
            "model": "model-a-1", "usage": {"prompt_tokens": 50,
            "completion_tokens": 7}}},
    }  # fmt: skip


def answered(call_id, code, output="", raised=""):
    text = f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>"
    return {"role": "tool", "tool_call_id": call_id, "content": text, "extra": {
        "raw_output": output, "returncode": code, "exception_info": raised,
        "timestamp": 1770000002}}  # fmt: skip


def a_run(*messages, status="Submitted", **info):
    start = [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Fix."},
    ]
    return {
        "info": {
            "config": {"model": {"model_name": "vendor/model-a"}},
            "exit_status": status, "mini_version": "2.3.0", **info,
        },
        "messages": [*start, *messages],
        "trajectory_format": "mini-swe-agent-1.1", "instance_id": "acme__widget-7",
    }  # fmt: skip


EXIT = {"role": "exit", "content": "the diff", "extra": {"exit_status": "Submitted"}}
WHOLE = a_run(
    said("c1", "ls nowhere"), answered("c1", 2, "ls: nowhere: No such file"),
    said("c2", "ls"), answered("c2", 0, "a.py"),
    said("c3", "submit"), EXIT,
)  # fmt: skip


def test_read_gives_calls_with_exit_codes_times_and_tokens():
    run = one_run(mini_swe_agent, as_json(WHOLE))

    assert shape(run) == (3, 0, 1)
    first = calls(run)[0]
    assert (first.tool, first.arguments) == ("bash", '{"command": "ls nowhere"}')
    assert first.result is not None
    assert (first.result.exit_code, first.result.is_error) == (2, None)
    assert first.result.text.startswith("<returncode>2</returncode>")
    assert (first.at, first.result.at) == (1770000000.5, 1770000002.0)
    turn = run.threads[0].turns[2]
    assert (turn.model, turn.input_tokens, turn.output_tokens) == ("model-a-1", 50, 7)
    assert (run.run_id, run.task_id) == ("acme__widget-7", "acme__widget-7")
    assert (run.model, run.agent_version) == ("vendor/model-a", "2.3.0")
    assert (run.is_global_id, run.outcome, run.ending) == (
        False,
        "unknown",
        "submitted",
    )


def test_read_takes_the_submission_as_a_result_that_the_model_never_saw():
    result = calls(one_run(mini_swe_agent, as_json(WHOLE)))[2].result

    assert result is not None
    assert (result.text, result.delivered) == ("the diff", False)


def test_read_flags_what_could_not_be_run():
    run = one_run(mini_swe_agent, as_json(a_run(
        said("c1", "sleep 99"), answered("c1", -1, "", "timed out after 60 seconds"),
    )))  # fmt: skip

    result = calls(run)[0].result
    assert result is not None
    assert (result.is_error, result.flag) == (True, "exception_info")
    assert result.exit_code == -1


def test_read_takes_a_format_error_as_an_error_whose_call_is_unknown():
    refused = {
        "role": "user",
        "content": "Tool call error: not JSON",
        "extra": {"interrupt_type": "FormatError", "timestamp": 1770000003},
    }

    run = one_run(mini_swe_agent, as_json(a_run(said("c1", "ls"), refused)))

    open_one, unknown = calls(run)
    assert open_one.result is None
    assert unknown.tool == "unknown"
    assert unknown.result is not None
    assert (unknown.result.is_error, unknown.result.cause) == (True, "rejected")
    assert unknown.result.error_code == "FormatError"


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        ("Submitted", "submitted"),
        ("LimitsExceeded", "budget_spent"),
        ("RepeatedFormatError", "budget_spent"),
        ("TimeExceeded", "timed_out"),
        ("UserInterruption", "cancelled"),
        ("Timeout", "crashed"),
        ("InternalServerError", "crashed"),
        (None, ""),
    ],
)
def test_read_takes_the_ending_from_the_exit_status(status, ending):
    assert one_run(mini_swe_agent, as_json(a_run(status=status))).ending == ending


@pytest.mark.parametrize(
    ("success", "outcome"), [(True, "correct"), (False, "incorrect")]
)
def test_read_takes_the_outcome_of_forks_that_repair_patches(success, outcome):
    run = one_run(mini_swe_agent, as_json(a_run(patch_repair={"success": success})))

    assert (run.outcome, run.outcome_by) == (outcome, "info.patch_repair.success")


def test_read_ends_with_a_notice_where_the_provider_failed():
    exit_ = {"role": "exit", "content": "server error", "extra": {
        "exit_status": "InternalServerError"}}  # fmt: skip

    run = one_run(mini_swe_agent, as_json(a_run(said("c1", "ls"), exit_)))

    last = run.threads[0].turns[-1]
    assert (last.kind, last.text) == ("notice", "server error")
    assert shape(run) == (1, 1, 0)


BARE = [
    {"role": "system", "content": "One command in a bash block."},
    {"role": "user", "content": "Fix it."},
    {
        "role": "assistant",
        "content": "THOUGHT: look\n\n```mswea_bash_command\nls x\n```",
    },
    {"role": "user", "content": "<returncode>1</returncode>\n<output>no x</output>"},
    {"role": "assistant", "content": "No command."},
    {"role": "user", "content": "Please give one action."},
    {"role": "assistant", "content": "```bash\necho done\n```"},
]


def test_read_takes_commands_of_a_bare_list_from_fenced_blocks():
    run = one_run(mini_swe_agent, as_json(BARE), "out/acme__widget-7.traj.json")

    assert [(c.tool, c.arguments) for c in calls(run)] == [
        ("bash", "ls x"),
        ("bash", "echo done"),
    ]
    assert shape(run) == (2, 1, 0)
    assert calls(run)[0].result.text.startswith("<returncode>1")  # type: ignore[union-attr]
    assert [t.kind for t in run.threads[0].turns] == ["", "", "", "", "notice", ""]
    assert (run.run_id, run.task_id) == ("acme__widget-7", "acme__widget-7")


STATUSES = b"""instances_by_exit_status:
    Submitted:
    - acme__widget-7
    - 'acme__widget-8'
    Timeout:
    - acme__widget-9
"""


def test_read_gives_an_ending_for_each_instance_of_the_status_list():
    records = read(mini_swe_agent, STATUSES, "exit_statuses_17.yaml")

    assert [(r.task_id, r.ending, r.outcome, r.note) for r in records] == [  # type: ignore[union-attr]
        ("acme__widget-7", "submitted", "unknown", "Submitted"),
        ("acme__widget-8", "submitted", "unknown", "Submitted"),
        ("acme__widget-9", "crashed", "unknown", "Timeout"),
    ]
    assert isinstance(records[0], OutcomeRecord)
    assert (records[0].line, records[0].by) == (3, "mini-swe-agent exit statuses")


def test_detect_tells_all_three():
    assert told_as(as_json(WHOLE)) == "mini_swe_agent"
    assert told_as(as_json(BARE)) == "mini_swe_agent"
    assert told_as(STATUSES) == "mini_swe_agent"
    assert told_as(b"\xef\xbb\xbf" + STATUSES) == "mini_swe_agent"
    assert mini_swe_agent.detect(as_json([{"role": "user", "content": "bash"}])) == 0


def test_read_survives_every_damage():
    check_survives(mini_swe_agent, as_json(WHOLE), seed=5)
    check_survives(mini_swe_agent, as_json(BARE), seed=6, count=150)
    check_survives(mini_swe_agent, STATUSES, seed=7, count=150)
