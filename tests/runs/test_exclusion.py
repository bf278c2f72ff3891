"""Which runs a pattern leaves out."""

import pytest

from apps.runs.exclusion import excluding_rule
from apps.runs.rules import Rules
from apps.runs.transcript import Transcript

RUN = Transcript(
    "openai_chat", [], source="ACME/bench", agent="claude-7", tags=["smoke", "CI"]
)


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        ((), ""),
        (("agent: claude-*",), "agent: claude-*"),
        (("agent: claude",), ""),
        (("agent: gpt-*", "tag: ci"), "tag: ci"),
        (("source: acme/*",), "source: acme/*"),
        (("format: openai_chat",), "format: openai_chat"),
        (("file: *.jsonl",), "file: *.jsonl"),
        (("file: other",), ""),
        (("threads: *",), ""),
        (("nonsense",), ""),
    ],
)
def test_a_run_is_left_out_by_the_first_pattern_that_fits(patterns, wanted):
    assert excluding_rule(RUN, "june.jsonl", Rules(excluded=patterns)) == wanted
