"""ToolBench answers: the branch that was kept, and the branches that were left."""

import json

from apps.uploads.importers import toolbench

from .reading import as_json, calls, check_survives, one_run, shape, told_as


def node(kind, description="", children=(), **other):
    return {"node_type": kind, "description": description, "children": list(children),
            "pruned": False, "is_terminal": False, **other}  # fmt: skip


def did(tool, arguments, text, code, *children, thought=""):
    call = node("Action", tool, [node("Action Input", arguments, children,
                observation=text, observation_code=code)])  # fmt: skip
    return node("Thought", thought, [call]) if thought else call


def chat(*messages):
    return [{"role": "system", "content": "Use tools."},
            {"role": "user", "content": "Find news."}, *messages]  # fmt: skip


def asked(tool, arguments, text=None):
    return {"role": "assistant", "content": text,
            "function_call": {"name": tool, "arguments": arguments}}  # fmt: skip


def answered(tool, text):
    return {"role": "function", "name": tool, "content": text}


FAILED = '{"error": "Message error...", "response": ""}'
TREE = node("Action Input", "", [
    did("news", '{"q": 1}', FAILED, 11,
        did("search", '{"q": 1}', '{"error": "", "response": "x"}', 0,
            did("Finish", '{"return_type": "give_up_and_restart"}', '{"response":"…"}',
                4),
            thought="Try search."),
        did("search", '{"q": 2}', '{"error": "", "response": "y"}', 0,
            did("Finish", '{"return_type": "give_answer"}', '{"response":"…"}', 3))),
    did("nothing", "{}", "no such function", 1),
])  # fmt: skip
KEPT = chat(
    asked("news", '{"q": 1}'), answered("news", FAILED),
    {"role": "user", "content": "This is not the first time."},
    asked("search", '{"q": 2}'), answered("search", '{"error": "", "response": "y"}'),
    asked("Finish", '{"return_type": "give_answer"}'),
)  # fmt: skip


def a_run(win=True, chains=None, tree=TREE, **answer):
    return {
        "win": win, "tree": {"size": 9, "tree": tree}, "forward_args": {},
        "compare_candidates": [],
        "answer_generation": {
            "query": "Find news.", "finish_type": "give_answer",
            "train_messages": [chat(), KEPT] if chains is None else chains,
            "function": [{"name": "news", "description": "d", "parameters": {}}],
            **answer,
        },
    }  # fmt: skip


NAME = "answer/G1-57_ChatGPT_DFS.json"


def test_read_takes_the_last_chain_as_the_main_thread():
    run = one_run(toolbench, as_json(a_run()), NAME)

    assert [c.tool for c in calls(run)] == ["news", "search", "Finish"]
    failed, found, finish = (call.result for call in calls(run))
    assert failed is not None
    assert (failed.text, failed.is_error, failed.flag) == (
        FAILED,
        True,
        "observation_code",
    )
    assert (failed.error_code, failed.cause) == ("11", "failed")
    assert found is not None
    assert found.is_error is None
    assert finish is not None
    assert (finish.delivered, finish.is_error) == (False, None)
    assert (run.run_id, run.task_id, run.title) == (
        "G1-57_ChatGPT_DFS",
        "G1-57",
        "Find news.",
    )
    assert (run.outcome, run.outcome_by) == ("correct", "win (not judged)")
    assert run.ending == "submitted"
    assert [tool.name for tool in run.tools] == ["news"]


def test_read_takes_the_branches_that_were_left_as_threads_of_their_own():
    run = one_run(toolbench, as_json(a_run()), NAME)

    assert [(t.kind, [c.tool for turn in t.turns for c in turn.calls])
            for t in run.threads[1:]] == [
        ("branch", ["search", "Finish"]),
        ("branch", ["nothing"]),
    ]  # fmt: skip
    assert run.threads[1].turns[0].text == "Try search."
    refused = calls(run, 2)[0].result
    assert refused is not None
    assert (refused.cause, refused.error_code) == ("rejected", "1")
    assert shape(run) == (6, 0, 2)


def test_read_takes_every_call_as_a_branch_where_there_was_no_answer():
    run = one_run(toolbench, as_json(a_run(False, [], finish_type="give_up")), NAME)

    assert calls(run) == []
    assert run.threads[0].turns[0].text == "Find news."
    assert shape(run) == (6, 0, 2)
    assert (run.outcome, run.ending) == ("incorrect", "")


def test_read_counts_each_call_once_where_a_branch_forks_again():
    fork = node(
        "Action Input",
        "",
        [
            did(
                "a",
                "{}",
                "1",
                0,
                did("b", "{}", "2", 0),
                did("c", "{}", "3", 0, did("d", "{}", "4", 0)),
            )
        ],
    )

    run = one_run(toolbench, as_json(a_run(False, [], fork)), NAME)

    assert [[c.tool for turn in t.turns for c in turn.calls] for t in run.threads] == [
        [], ["a", "b"], ["c", "d"],
    ]  # fmt: skip


def test_detect_tells_it_by_win_and_tree():
    assert told_as(as_json(a_run())) == "toolbench"
    assert told_as(json.dumps(a_run(), indent=2).encode()) == "toolbench"
    long = a_run(tree=node("Action Input", "", [did("a", "x" * 300_000, "1", 0)]))
    assert told_as(as_json(long)) == "toolbench"
    assert toolbench.detect(as_json({"win": True})) == 0


def test_read_survives_every_damage():
    check_survives(toolbench, as_json(a_run()), seed=18)
