"""OpenTelemetry: four containers of one trace, threads, crashes, content left out."""

import json

import pytest

from apps.uploads.importers import otel_genai as reader

from .loose import Figures, calls_of, figures, json_lines, read_bytes, run_of, runs_of
from .otel_samples import (
    ASKED,
    CONVERSATION,
    COUNTED,
    FIRST,
    HISTORY,
    PRINTED,
    RAISED,
    SPANS,
    START,
    jaeger,
    model,
    otlp,
    said,
    span,
    tempo,
    text,
    tool,
    used,
)
from .reading import check_survives


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(otlp(SPANS), indent=1).encode(),
        json_lines([otlp([s]) for s in SPANS]),
        json.dumps(tempo(SPANS)).encode(),
        json.dumps(jaeger(SPANS)).encode(),
        PRINTED,
    ],
    ids=["OTLP", "OTLP lines", "Tempo", "Jaeger", "console"],
)
def test_all_containers_read_alike(raw):
    run = run_of(reader, raw)

    paid, gone, refused = calls_of(run)
    assert figures([run]) == COUNTED
    assert (run.run_id, run.is_global_id) == (CONVERSATION, True)
    assert (run.agent, run.model, run.ending) == ("desk", "model-a", "crashed")
    assert (run.started_at, run.ended_at) == (START, START + 9)
    assert (paid.result.text, paid.result.is_error) == ("paid", None)
    assert (gone.result.error_code, gone.result.delivered) == ("ValueError", True)
    assert gone.result.text == "No order 4. Retry."  # as the next request told it
    assert (refused.result.text, refused.result.delivered) == ("refused", False)
    assert (gone.result.turns_before, refused.result.turns_before) == (3, 4)
    assert (gone.at, gone.result.at) == (START + 3, START + 4)
    assert reader.detect(raw) >= 0.9


def test_a_conversation_of_two_traces_is_one_run():
    again = [
        model(
            "m9",
            20,
            [*HISTORY, said("user", text("And 18?"))],
            [said("assistant", text("No."))],
            session__id=CONVERSATION,
        )
    ]

    run = run_of(reader, json_lines([otlp(SPANS), otlp(again, "f" * 32)]))

    assert run.run_id == CONVERSATION
    assert figures([run]).calls == 3
    assert run.threads[-1].turns[-1].text == "No."


def test_traces_without_a_conversation_are_runs_of_their_own():
    def plain(number):
        return otlp([model("m1", number, ASKED, [FIRST])], f"{number:032x}")

    runs = runs_of(reader, json_lines([plain(1), plain(2)]))

    assert [run.run_id for run in runs] == [f"{1:032x}", f"{2:032x}"]
    assert [figures([run]).missing for run in runs] == [2, 2]


def test_content_that_is_left_out_is_marked():
    bare = [
        span("m1", "chat m", 1, 2, gen_ai__operation__name="chat"),
        span("t1", "execute_tool get", 2, 3, gen_ai__tool__name="get"),
        span("t2", "execute_tool set", 3, 4, gen_ai__tool__name="set", **RAISED),
        span("m2", "chat m", 5, 6, gen_ai__operation__name="chat"),
        span("a0", "invoke_agent", 0, 9, parent=""),
    ]

    run = run_of(reader, json.dumps(otlp(bare)).encode())

    assert figures([run]) == Figures(calls=2, flagged=1, turns=2)
    assert [c.result.text for c in calls_of(run)] == ["[not recorded]", "No order 4."]
    assert [len(turn.calls) for turn in run.threads[0].turns] == [2, 0]


def test_tools_without_any_model_are_batches_by_their_times():
    alone = [
        tool(f"t{n}", start, f"c{n}", "get", {}, gen_ai__tool__call__result="r")
        for n, start in enumerate((1, 1, 4))
    ]

    run = run_of(reader, json.dumps(otlp(alone)).encode())

    assert [len(turn.calls) for turn in run.threads[0].turns] == [2, 1]


def test_an_agent_inside_a_tool_is_a_thread():
    inner = [
        span("a1", "invoke_agent scout", 3, 4, parent="t1",
             gen_ai__operation__name="invoke_agent", gen_ai__agent__name="scout"),
        {**model("m5", 3, ASKED, [said("assistant", used("d1", "look"))]),
         "parent": "a1"},
        {**tool("t5", 4, "d1", "look", {}), "parent": "a1"},
    ]  # fmt: skip

    run = run_of(reader, json.dumps(otlp([*SPANS, *inner])).encode())

    assert [(t.kind, t.agent) for t in run.threads] == [
        ("main", "desk"),
        ("sub_agent", "scout"),
    ]
    assert [figures([run]).calls, len(run.threads[1].turns)] == [4, 3]


def test_two_spans_of_one_request_count_once_and_a_loop_is_none():
    attributes = {"ai.operationId": "ai.generateText", "ai.prompt": '{"prompt": "Hi"}'}
    calls = json.dumps([{"toolCallId": "c1", "toolName": "get", "input": "{}"}])

    def request(number, **more):
        about = {"ai.operationId": "ai.generateText.doGenerate", **more}
        found = span(
            f"r{number}", "ai.generateText.doGenerate", number, number + 1, "g0"
        )
        return {**found, "attributes": about}

    loop = {**span("g0", "ai.generateText", 0, 9, ""), "attributes": attributes}
    done = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "get",
            "ai.toolCall.id": "c1", "ai.toolCall.result": '"ok"'}  # fmt: skip
    ran = {**span("t0", "ai.toolCall", 2, 3, "g0"), "attributes": done}
    first = request(1, **{"ai.response.toolCalls": calls})
    second = request(4, **{"ai.response.text": "Done."})

    whole = run_of(reader, json.dumps(otlp([loop, first, ran, second])).encode())
    short = run_of(reader, json.dumps(otlp([loop, first, ran])).encode())

    assert figures([whole]) == Figures(calls=1, turns=3)
    assert (calls_of(whole)[0].result.text, whole.threads[0].turns[2].text) == (
        "ok",
        "Done.",
    )
    assert figures([short]) == Figures(calls=1, turns=2)


def test_openinference_and_openllmetry_attributes_are_read_too():
    inference = {"openinference.span.kind": "LLM", "llm.model_name": "model-b"}
    prefix = "llm.output_messages.0.message."
    inference |= {
        prefix + "role": "assistant",
        prefix + "tool_calls.0.tool_call.id": "c1",
        prefix + "tool_calls.0.tool_call.function.name": "get",
        prefix + "tool_calls.0.tool_call.function.arguments": "{}",
    }
    llmetry = {"llm.request.type": "chat", "gen_ai.request.model": "model-c"}
    llmetry |= {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.tool_calls.0.name": "get",
                "gen_ai.completion.0.tool_calls.0.id": "c2",
                "gen_ai.completion.0.tool_calls.0.arguments": "{}"}  # fmt: skip

    for attributes in (inference, llmetry):
        source = {**span("m1", "x", 1, 2, ""), "attributes": attributes}
        run = run_of(reader, json.dumps(otlp([source])).encode())
        assert [call.tool for call in calls_of(run)] == ["get"]


def test_messages_as_events_of_older_versions():
    events = [
        {"name": "gen_ai.user.message",
         "attributes": {"gen_ai.event.content": '{"role": "user", "content": "Hi"}'}},
        {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": json.dumps(
            {"message": {"tool_calls": [
                {"id": "c1", "function": {"name": "get", "arguments": "{}"}}]}})}},
    ]  # fmt: skip
    source = span(
        "m1", "chat m", 1, 2, "", events=events, gen_ai__operation__name="chat"
    )

    run = run_of(reader, json.dumps(otlp([source])).encode())

    assert (run.threads[0].turns[0].text, calls_of(run)[0].tool) == ("Hi", "get")


def test_a_final_answer_by_a_tool_of_the_framework_is_text():
    parameters = json.dumps({"output_tools": [{"name": "final_result"}]})
    answer = [said("assistant", used("f1", "final_result", quality="good"))]
    source = model("m1", 1, ASKED, answer, model_request_parameters=parameters)

    run = run_of(reader, json.dumps(otlp([source])).encode())

    assert figures([run]).calls == 0
    assert run.threads[0].turns[-1].text == '{"quality":"good"}'


def test_a_ring_of_parents_ends():
    ring = [{**SPANS[0], "parent": "m2"}, {**SPANS[3], "parent": "m1"}]

    assert figures(read_bytes(reader, json.dumps(otlp(ring)).encode())).runs == 1


def test_a_file_without_agents_says_so():
    (record,) = read_bytes(reader, json.dumps(otlp(SPANS[-1:])).encode())

    assert record.reason == "no span in this file is of a model, an agent or a tool"


def test_a_cut_file_keeps_the_spans_before_the_cut():
    raw = json.dumps(otlp(SPANS)).encode()

    records = read_bytes(reader, raw[: raw.index(b'"spanId": "t3"')])

    assert figures(records) == Figures(
        calls=3, missing=1, flagged=1, turns=4, set_aside=1
    )


def test_a_span_that_is_none_is_set_aside():
    spoiled = otlp(SPANS)
    spoiled["resourceSpans"][0]["scopeSpans"][0]["spans"].insert(1, "span")

    assert figures(read_bytes(reader, json.dumps(spoiled).encode())).set_aside == 1


@pytest.mark.parametrize(
    "raw",
    [json_lines([otlp(SPANS)]), json.dumps(jaeger(SPANS)).encode(), PRINTED],
    ids=["OTLP", "Jaeger", "console"],
)
def test_nothing_escapes_from_spoiled_files(raw):
    check_survives(reader, raw, seed=10, count=120)
