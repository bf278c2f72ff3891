"""OpenHands completion logs: the last file of a folder is the run."""

import io

from apps.uploads.importers import openhands_completions

from .reading import as_json, calls, check_survives, one_run, shape, told_as


def part(text):
    return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]


def made(call_id, tool, arguments):
    return {"index": 1, "id": call_id, "type": "function",
            "function": {"name": tool, "arguments": arguments}}  # fmt: skip


MESSAGES = [
    {"role": "system", "content": part("You are OpenHands agent.")},
    {"role": "user", "content": part("Fix it.")},
    {"role": "assistant", "content": part("Look."),
     "tool_calls": [made("c1", "execute_bash", '{"command": "ls x"}')]},
    {"role": "tool", "tool_call_id": "c1", "name": "execute_bash",
     "content": part("no x\n[Command finished with exit code 2]")},
]  # fmt: skip


def a_file(messages=None, last="finish", at=1770000100.5, **other):
    return {
        "messages": MESSAGES if messages is None else messages,
        "response": {"model": "vendor/model-a", "usage": {"prompt_tokens": 90,
            "completion_tokens": 8}, "choices": [{"message": {"role": "assistant",
            "content": "Done.", "tool_calls": [made("c2", last, "{}")]}}]},
        "args": [], "kwargs": {"tools": [{"type": "function",
            "function": {"name": "execute_bash", "parameters": {}}}]},
        "timestamp": at, "cost": 0.1, **other,
    }  # fmt: skip


NAME = "llm_completions/acme__widget-7/vendor__model-a-1770000100.5.json"


def test_read_takes_the_conversation_and_the_response_as_the_run():
    run = one_run(openhands_completions, as_json(a_file()), NAME)

    assert shape(run) == (2, 1, 0)
    first = calls(run)[0]
    assert (first.tool, first.id) == ("execute_bash", "c1")
    assert first.result is not None
    assert first.result.text == "no x\n[Command finished with exit code 2]"
    last = run.threads[0].turns[-1]
    assert (last.text, last.input_tokens, last.output_tokens) == ("Done.", 90, 8)
    assert (run.run_id, run.task_id) == ("", "acme__widget-7")
    assert (run.model, run.started_at) == ("vendor/model-a", 1770000100.5)
    assert (run.outcome, run.ending) == ("unknown", "submitted")
    assert [tool.name for tool in run.tools] == ["execute_bash"]


def test_read_prefers_the_native_form_of_calls():
    converted = [{"role": "assistant", "content": part("<function=execute_bash>")}]
    native = a_file(converted, fncall_messages=MESSAGES)

    assert shape(one_run(openhands_completions, as_json(native), NAME)) == (2, 1, 0)


def test_read_folder_takes_the_last_file_by_its_number():
    folder = "llm_completions/acme__widget-7/vendor__model-a-"
    files = {
        f"{folder}1770000100.5.json": as_json(a_file()),
        f"{folder}1770000099.25.json": as_json(
            a_file(MESSAGES[:2], "execute_bash", 1.5)
        ),
        f"{folder}999999999.5.json": as_json(a_file(MESSAGES[:2], "execute_bash", 1.5)),
        "llm_completions/acme__widget-8/vendor__model-a-1770000001.0.json": b"",
        "other/notes.json": b"{}",
    }

    groups = openhands_completions.claims(files)
    group = groups[0]
    opened = {name: (lambda n=name: io.BytesIO(files[n])) for name in group}
    (run,) = openhands_completions.read_folder(opened)

    assert group == [f"{folder}{n}.json" for n in (
        "1770000100.5", "1770000099.25", "999999999.5")]  # fmt: skip
    assert len(groups) == 2
    assert shape(run) == (2, 1, 0)  # type: ignore[arg-type]
    assert run.task_id == "acme__widget-7"  # type: ignore[union-attr]
    assert run.started_at == 999999999.5  # type: ignore[union-attr]


def test_detect_tells_it_from_bare_chat_messages():
    assert told_as(as_json(a_file())) == "openhands_completions"
    assert openhands_completions.detect(as_json({"messages": MESSAGES})) == 0
    long = [*MESSAGES, {"role": "user", "content": part("x" * 300_000)}]
    assert told_as(as_json(a_file(long))) == "openhands_completions"


def test_read_survives_every_damage():
    check_survives(openhands_completions, as_json(a_file()), seed=10)
