"""ATIF trajectories: steps, continuations, sub-agents, and the trial around them."""

import io

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import atif

from .reading import as_json, calls, check_survives, one_run, read, shape, told_as


def step(number, source, message="", **other):
    return {"step_id": number, "source": source, "message": message,
            "timestamp": f"2026-05-01T10:00:0{number}+00:00", **other}  # fmt: skip


def made(call_id, tool, arguments):
    return {"tool_call_id": call_id, "function_name": tool, "arguments": arguments}


def saw(*results):
    return {"results": list(results)}


STEPS = [
    step(1, "system", "You work."),
    step(2, "user", "Make a file."),
    step(3, "agent", "I try.", reasoning_content="Hm.",
         tool_calls=[made("c1", "bash", {"cmd": "ls"}), made("c2", "bash",
         {"cmd": "x"})],
         observation=saw(
             {"source_call_id": "c2", "content": "x: not found",
              "extra": {"exit_code": 127}},
             {"source_call_id": "c1", "content": "a.py"}),
         metrics={"prompt_tokens": 70, "completion_tokens": 6}),
    step(4, "agent", "Done.", tool_calls=[made("c3", "finish", {})]),
]  # fmt: skip


def a_run(steps=None, session="5f-1", **other):
    return {
        "schema_version": "ATIF-v1.5", "session_id": session,
        "agent": {"name": "worker", "version": "1.1", "model_name": "model-a",
                  "tool_definitions": [{"type": "function",
                  "function": {"name": "bash"}}]},
        "steps": STEPS if steps is None else steps, **other,
    }  # fmt: skip


def test_read_pairs_results_with_their_calls_inside_a_step():
    run = one_run(atif, as_json(a_run()), "jobs/day/task__x1/agent/trajectory.json")

    assert shape(run) == (3, 1, 1)
    first, second, _ = calls(run)
    assert (first.tool, first.arguments) == ("bash", '{"cmd":"ls"}')
    assert (first.result.text, second.result.exit_code) == ("a.py", 127)  # type: ignore[union-attr]
    turn = run.threads[0].turns[2]
    assert (turn.text, turn.reasoning, turn.input_tokens) == ("I try.", "Hm.", 70)
    assert (run.run_id, run.is_global_id, run.is_part) == ("5f-1", True, False)
    assert (run.agent, run.agent_version, run.model) == ("worker", "1.1", "model-a")
    assert (run.started_at, run.ended_at) == (1777629601.0, 1777629604.0)
    assert (run.task_id, run.outcome, run.ending) == ("task__x1", "unknown", "")
    assert [tool.name for tool in run.tools] == ["bash"]


@pytest.mark.parametrize(
    ("extra", "is_error", "flag", "code"),
    [
        ({"is_error": True}, True, "is_error", None),
        ({"status": "error"}, True, "status", None),
        ({"status": "success", "exit_code": 0}, False, "status", 0),
        ({"exit_code": 3}, None, "", 3),
        ({}, None, "", None),
    ],
)
def test_read_takes_errors_from_a_result_s_extra(extra, is_error, flag, code):
    steps = [
        step(
            1,
            "agent",
            tool_calls=[made("c1", "bash", {})],
            observation=saw({"source_call_id": "c1", "content": "", "extra": extra}),
        )
    ]

    result = calls(one_run(atif, as_json(a_run(steps))))[0].result

    assert result is not None
    assert (result.is_error, result.flag, result.exit_code) == (is_error, flag, code)


def test_read_makes_a_call_of_each_result_of_an_agent_that_types_into_its_message():
    said = (
        '{"plan": "p", "commands": [{"keystrokes": "ls\\n"}], "task_complete": false}'
    )
    steps = [
        step(1, "user", "Go."),
        step(2, "agent", said, observation=saw({"content": "$ ls"})),
        step(3, "agent", "ls -l", observation=saw({"content": "$ ls -l"})),
        step(4, "agent", "I stop."),
    ]

    run = one_run(atif, as_json(a_run(steps)))

    assert [(c.tool, c.arguments, c.result.text) for c in calls(run) if c.result] == [
        ("worker", '[{"keystrokes":"ls\\n"}]', "$ ls"),
        ("worker", "ls -l", "$ ls -l"),
    ]


def test_read_passes_over_copied_context():
    steps = [{**STEPS[2], "is_copied_context": True}, STEPS[3]]

    assert shape(one_run(atif, as_json(a_run(steps)))) == (1, 1, 0)


def test_read_takes_a_continuation_as_a_part_of_its_session():
    run = one_run(atif, as_json(a_run(session="5f-1-cont-2")))

    assert (run.run_id, run.is_part) == ("5f-1", True)
    assert (run.threads[0].id, run.threads[0].kind) == ("cont-2", "main")
    summary = one_run(atif, as_json(a_run(session="5f-1-summarization-1-answers")))
    assert (summary.run_id, summary.threads[0].kind) == ("5f-1", "sub_agent")


def test_read_takes_embedded_sub_agents_as_threads():
    child = a_run(STEPS[2:3], "child-1", trajectory_id="t-9")

    run = one_run(atif, as_json(a_run(subagent_trajectories=[child])))

    assert [(t.id, t.kind, len(t.turns)) for t in run.threads] == [
        ("", "main", 4),
        ("t-9", "sub_agent", 1),
    ]
    assert shape(run) == (5, 1, 2)


def test_read_takes_a_step_that_only_refers_to_sub_agents_as_a_notice():
    steps = [step(1, "user", "Go."), step(2, "system", "Summarised.", observation=saw(
        {"subagent_trajectory_ref": [{"session_id": "s"}]}))]  # fmt: skip

    run = one_run(atif, as_json(a_run(steps)))

    assert [(t.role, t.kind) for t in run.threads[0].turns] == [
        ("user", ""), ("system", "notice"),
    ]  # fmt: skip
    assert calls(run) == []


RESULT = {
    "id": "r-1", "task_name": "make-file", "trial_name": "make-file__x1",
    "agent_info": {"name": "worker", "model_info": {"name": "model-a"}},
    "verifier_result": {"rewards": {"reward": 1.0}}, "exception_info": None,
    "started_at": "2026-05-01T09:59:00Z", "finished_at": "2026-05-01T10:02:00Z",
}  # fmt: skip


def test_read_folder_gives_the_trial_s_run_its_outcome():
    files = {
        "day/make-file__x1/agent/trajectory.json": as_json(a_run()),
        "day/make-file__x1/agent/trajectory.cont-1.json": as_json(
            a_run(session="5f-1-cont-1")),
        "day/make-file__x1/result.json": as_json(RESULT),
        "day/make-file__x1/agent/sessions/other.json": b"{}",
        "day/result.json": b"{}",
    }  # fmt: skip

    (group,) = atif.claims(files)
    opened = {name: (lambda n=name: io.BytesIO(files[n])) for name in group}
    run, part = atif.read_folder(opened)

    assert group == [*sorted(list(files)[:2], key=len), "day/make-file__x1/result.json"]
    assert isinstance(run, Transcript)
    assert isinstance(part, Transcript)
    assert (run.outcome, run.outcome_by) == ("correct", "verifier_result.rewards")
    assert (run.task_id, run.title) == ("make-file", "make-file__x1")
    assert (run.ending, run.scores[0].value) == ("submitted", 1.0)
    assert (part.is_part, part.outcome) == (True, "unknown")


def test_detect_tells_it_by_its_version():
    assert told_as(as_json(a_run())) == "atif"
    assert told_as(as_json(a_run([step(1, "user", "x" * 300_000)]))) == "atif"
    assert atif.detect(as_json({"schema_version": 2, "steps": []})) == 0


def test_read_survives_every_damage():
    child = a_run(STEPS[2:3], "child-1", trajectory_id="t-9")
    check_survives(atif, as_json(a_run(subagent_trajectories=[child])), seed=14)


def test_read_sets_aside_what_has_no_steps():
    (record,) = read(atif, as_json({"schema_version": "ATIF-v1.0"}))

    assert record.reason == "an ATIF trajectory with a list `steps` was expected here"  # type: ignore[union-attr]
