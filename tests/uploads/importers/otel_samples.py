"""One trace of an agent in the four containers that OpenTelemetry data comes in."""

import json

from .loose import Figures

START = 1772445600  # seconds
TRACE = "0af7651916cd43dd8448eb211c80319c"
CONVERSATION = "conv-0123456789abcdef"
ERROR = {"status_code": "ERROR", "description": "boom"}


def said(role, *parts):
    return {"role": role, "parts": list(parts)}


def used(call_id, name, **arguments):
    return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}


def told(call_id, result):
    return {"type": "tool_call_response", "id": call_id, "result": result}


def text(content):
    return {"type": "text", "content": content}


ASKED = [said("system", text("Be kind.")), said("user", text("Ship 17"))]
FIRST = said("assistant", used("c1", "get", id=17), used("c2", "get", id=4))
SECOND = said("assistant", used("c3", "ship", id=17))
HISTORY = [
    *ASKED,
    FIRST,
    said("user", told("c1", "paid"), told("c2", "No order 4. Retry.")),
]


def span(span_id, name, start, end, parent="a0", error=False, events=(), **attributes):
    """A span in plain words; each container spells it in its own way."""
    attributes = {key.replace("__", "."): value for key, value in attributes.items()}
    return {
        "id": span_id,
        "name": name,
        "start": start,
        "end": end,
        "parent": parent,
        "error": error,
        "events": list(events),
        "attributes": attributes,
    }


def model(span_id, start, asked, answered, **attributes):
    return span(
        span_id,
        "chat m",
        start,
        start + 1,
        gen_ai__operation__name="chat",
        gen_ai__request__model="model-a",
        gen_ai__usage__input_tokens=50,
        gen_ai__input__messages=json.dumps(asked),
        gen_ai__output__messages=json.dumps(answered),
        **attributes,
    )


def tool(span_id, start, call_id, name, arguments, **fields):
    return span(
        span_id,
        f"execute_tool {name}",
        start,
        start + 1,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name=name,
        gen_ai__tool__call__id=call_id,
        gen_ai__tool__call__arguments=json.dumps(arguments),
        **fields,
    )


def exception(message):
    return {"name": "exception", "attributes": {
        "exception.type": "ValueError", "exception.message": message}}  # fmt: skip


RAISED = {"error": True, "events": [exception("No order 4.")]}
SPANS = [  # in the order in which they ended
    model("m1", 1, ASKED, [FIRST]),
    tool("t1", 3, "c1", "get", {"id": 17}, gen_ai__tool__call__result="paid"),
    tool("t2", 3, "c2", "get", {"id": 4}, **RAISED),
    model("m2", 5, HISTORY, [SECOND]),
    tool("t3", 7, "c3", "ship", {"id": 17}, error=True, events=[exception("refused")]),
    span("a0", "invoke_agent desk", 0, 9, parent="", error=True,
         gen_ai__operation__name="invoke_agent", gen_ai__agent__name="desk",
         gen_ai__conversation__id=CONVERSATION),
    span("h1", "GET", 0, 9, parent="", error=True, http__method="GET"),
]  # fmt: skip
COUNTED = Figures(calls=3, flagged=2, turns=4)


def nanoseconds(seconds):
    return str((START + seconds) * 10**9)


def keyed(attributes):
    kinds = {str: "stringValue", bool: "boolValue", float: "doubleValue"}
    return [
        {"key": key, "value": {kinds.get(type(value), "intValue"): value}}
        for key, value in attributes.items()
    ]


def otlp_span(source, trace=TRACE):
    events = [{"name": e["name"], "attributes": keyed(e["attributes"])}
              for e in source["events"]]  # fmt: skip
    return {"traceId": trace, "spanId": source["id"], "parentSpanId": source["parent"],
            "name": source["name"], "kind": 1, "events": events,
            "startTimeUnixNano": nanoseconds(source["start"]),
            "endTimeUnixNano": nanoseconds(source["end"]),
            "attributes": keyed(source["attributes"]),
            "status": {"code": 2} if source["error"] else {}}  # fmt: skip


def otlp(spans, trace=TRACE):
    scope = {"scope": {"name": "made"}, "spans": [otlp_span(s, trace) for s in spans]}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def tempo(spans):
    found = [otlp_span(s) for s in spans]
    for item in found:
        item["startTimeUnixNano"] = int(item["startTimeUnixNano"])
        item["status"] = {"code": item["status"].get("code", 0), "message": ""}
    scope = {"instrumentationLibrary": {}, "spans": found}
    return {"batches": [{"resource": {}, "instrumentationLibrarySpans": [scope]}]}


def tags(attributes):
    return [{"key": k, "type": "string", "value": v} for k, v in attributes.items()]


def jaeger(spans):
    def one(source):
        parents = [{"refType": "CHILD_OF", "spanID": source["parent"]}]
        logs = [{"fields": tags({"event": e["name"], **e["attributes"]})}
                for e in source["events"]]  # fmt: skip
        error = {"error": True, "otel.status_code": "ERROR"} if source["error"] else {}
        return {"traceID": TRACE, "spanID": source["id"], "logs": logs,
                "operationName": source["name"], "processID": "p1",
                "references": parents if source["parent"] else [],
                "startTime": (START + source["start"]) * 10**6,
                "duration": (source["end"] - source["start"]) * 10**6,
                "tags": tags({**source["attributes"], **error})}  # fmt: skip

    trace = {
        "traceID": TRACE,
        "spans": [one(s) for s in spans],
        "processes": {"p1": {}},
    }
    return {"data": [trace], "total": 0}


def console(source, ended=True):
    def moment(seconds):
        return f"2026-03-02T10:00:{seconds:02}.000000Z"

    return {"name": source["name"], "kind": "SpanKind.INTERNAL",
            "context": {"trace_id": f"0x{TRACE}", "span_id": source["id"]},
            "parent_id": source["parent"] or None,
            "start_time": moment(source["start"]),
            "end_time": moment(source["end"]) if ended else None,
            "status": ERROR if source["error"] and ended else {"status_code": "UNSET"},
            "attributes": source["attributes"] if ended else {},
            "events": source["events"] if ended else []}  # fmt: skip


PRINTED = "\n".join(
    json.dumps(console(source, ended), indent=4)
    for source in SPANS
    for ended in (False, True)
).encode()  # fmt: skip
