"""Real files of APIs, frameworks and tracers beside the checkout (../shared).

Counts were taken by hand with scripts that know no reader. Where `counts.md` there has
fewer calls of a Langfuse trace, its script looked at the type TOOL alone: LangGraph's
trace has one call in a plain span, Koog's two in spans that their attributes name.
"""

from pathlib import Path

import pytest

from apps.runs.transcript import Transcript
from apps.uploads.importers import HEAD_BYTES, detect, readers

from .counting import figures

pytestmark = pytest.mark.shared

# path: format, calls, flagged errors, calls without a result, not delivered
FILES = {
    "anthropic-messages/am-01-request.json": ("anthropic_messages", 51, 6, 0, 0),
    "anthropic-messages/am-02-request.json": ("anthropic_messages", 47, 4, 0, 0),
    "anthropic-managed-agents/managed_custom_tools.jsonl": (
        *("anthropic_managed_agents", 1, 0, 0, 0),
    ),
    "anthropic-managed-agents/managed_mcp_tools_reject.jsonl": (
        *("anthropic_managed_agents", 2, 1, 0, 0),
    ),
    "autogen/ag-made-recovers.json": ("autogen", 2, 1, 0, 0),
    "autogen/ww-captain-20.json": ("who_and_when", 1, 0, 0, 0),
    "autogen/ww-captain-28.json": ("who_and_when", 1, 0, 0, 0),
    "autogen/ww-captain-35.json": ("who_and_when", 0, 0, 0, 0),
    "autogen/ww-magentic-18.json": ("who_and_when", 0, 0, 0, 0),
    "autogen/ww-magentic-49.json": ("who_and_when", 0, 0, 0, 0),
    "autogen/ww-magentic-7.json": ("who_and_when", 0, 0, 0, 0),
    "google-adk/adk-01.session.json": ("google_adk", 2, 0, 0, 0),
    "google-adk/adk-made-parallel.session.json": ("google_adk", 2, 0, 0, 0),
    "google-adk/adk-made-status-dict-camel.session.json": ("google_adk", 2, 0, 0, 0),
    "google-adk/adk-made-status-dict.session.json": ("google_adk", 2, 0, 0, 0),
    "langchain/lc-made-switch-dumpd.json": ("langchain", 3, 1, 0, 0),
    "langchain/lc-made-switch-modeldump.json": ("langchain", 3, 1, 0, 0),
    "langchain/lc-made-validation-messagestodict.json": ("langchain", 3, 3, 0, 0),
    "langfuse/google-adk-2025-08-28.json": ("langfuse", 1, 0, 0, 0),
    "langfuse/koog-2025-08-26.json": ("langfuse", 2, 0, 0, 0),
    "langfuse/langgraph-2025-08-22.json": ("langfuse", 1, 0, 0, 0),
    "langfuse/lf-autogen-2025-06-06.trace.json": ("langfuse", 0, 0, 0, 0),
    "langfuse/lf-claude-agent-2025-12-22.trace.json": ("langfuse", 2, 0, 0, 0),
    "langfuse/lf-vercel-aisdk-2025-11-17.trace.json": ("langfuse", 1, 0, 0, 0),
    "langfuse/openai-agents-2025-09-30.json": ("langfuse", 1, 0, 0, 0),
    "langfuse/pydantic-ai-tools-2025-12-04.json": ("langfuse", 3, 0, 0, 0),
    "langsmith/ls-run-ops-a.jsonl": ("langsmith", 0, 0, 0, 0),
    "mcp/mcp-made-stock-protocol-errors.jsonl": ("mcp", 7, 5, 0, 1),
    "mcp/mcp-made-stock-recovers.jsonl": ("mcp", 5, 2, 0, 0),
    "mlflow/ml-made-0.json": ("mlflow", 1, 1, 0, 1),
    "mlflow/ml-made-2.json": ("mlflow", 2, 1, 0, 0),
    "openai-agents/oa-01-sdk-traces.json": ("openai_agents", 1, 0, 0, 0),
    "openai-agents/oa-made-past-date-items.json": ("openai_responses", 2, 0, 0, 0),
    "openai-agents/oa-made-timeout-items.json": ("openai_responses", 3, 0, 0, 0),
    "otel-genai/ot-01-jaeger.json": ("otel_genai", 1, 0, 0, 0),
    "otel-genai/ot-02-tempo-batches.json": ("otel_genai", 1, 0, 0, 0),
    "otel-genai/ot-made-v2-retry-then-switch.otlp.json": ("otel_genai", 3, 1, 0, 0),
    "otel-genai/ot-made-v5-crash.otlp.json": ("otel_genai", 2, 1, 0, 1),
    "otel-genai/ot-made-v5-parallel-mixed.otlp.json": ("otel_genai", 4, 2, 0, 0),
    "pydantic-ai/pa-made-v1-parallel-mixed.json": ("pydantic_ai", 4, 2, 0, 0),
    "pydantic-ai/pa-made-v1-retry-then-switch.json": ("pydantic_ai", 3, 1, 0, 0),
    "pydantic-ai/pa-made-v2-gives-up.json": ("pydantic_ai", 4, 3, 1, 0),
    "pydantic-ai/pa-made-v2-parallel-mixed.json": ("pydantic_ai", 4, 2, 0, 0),
    "smolagents/sm-made-codeagent.json": ("smolagents", 3, 1, 0, 0),
    "smolagents/sm-made-toolcalling-recovers.json": ("smolagents", 3, 1, 0, 0),
    "vercel-ai/va-made-parallel-ui-messages.json": ("vercel_ai", 2, 1, 0, 0),
    "vercel-ai/va-made-recovers-model-messages.json": ("vercel_ai", 3, 1, 0, 0),
    "vercel-ai/va-made-recovers-steps.json": ("vercel_ai", 3, 1, 0, 0),
    "vercel-ai/va-made-recovers-ui-messages.json": ("vercel_ai", 3, 1, 0, 0),
}
OWN = {"openai_chat", "openinference", "errata", *(row[0] for row in FILES.values())}
FOLDERS = {name.partition("/")[0] for name in FILES}


def head_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_known_and_reads_to_its_end(shared: Path, name):
    path = shared / "sessions" / name
    format_name, calls, flagged, missing, undelivered = FILES[name]

    ranked = detect(head_of(path))
    with path.open("rb") as file:
        records = list(readers()[format_name].read(file, path.name))

    assert ranked[0][0] == format_name
    (run,) = records
    assert isinstance(run, Transcript)
    found = figures(records)
    assert (found.calls, found.flagged, found.missing, found.set_aside) == (
        *(calls, flagged, missing, 0),
    )
    results = [c.result for t in run.threads for u in t.turns for c in u.calls]
    assert sum(r is not None and not r.delivered for r in results) == undelivered
    unknown = format_name == "who_and_when"
    assert run.outcome == ("incorrect" if unknown else "unknown")
    assert all(score.higher_is_better is None for score in run.scores)


def test_every_file_of_these_folders_is_in_the_table(shared: Path):
    sessions = shared / "sessions"
    found = {
        path.relative_to(sessions).as_posix()
        for folder in FOLDERS
        for path in (sessions / folder).rglob("*")
        if path.is_file()
    }

    assert found == set(FILES)


def test_no_reader_of_these_formats_claims_another_s_file(shared: Path):
    sessions = shared / "sessions"
    others = [
        path
        for path in sorted(sessions.rglob("*"))
        if path.is_file() and path.relative_to(sessions).parts[0] not in FOLDERS
    ]

    claimed = []
    for path in others:
        ranked = detect(head_of(path))
        best = [name for name, score in ranked if score == ranked[0][1]]
        if OWN & set(best):
            claimed.append(path.name)

    assert others
    assert claimed == []
