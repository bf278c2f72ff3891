"""Aider histories: each trait counted by hand.

What the person and the program write ends its lines in two blanks.
"""

import json

import pytest

from apps.uploads.importers import aider
from tests.uploads.importers.counting import (
    Figures,
    calls_of,
    figures,
    read_bytes,
    runs_of,
)
from tests.uploads.importers.reading import check_survives

BANNER = """# aider chat started at 2026-03-02 09:00:00

> Aider v0.60.1
> Models: gpt-x with diff edit format, weak model gpt-y
> Git repo: .git with 3 files
"""


def block(path: str, search: str, replace: str) -> str:
    return (
        f"{path}\n```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n"
        ">>>>>>> REPLACE\n```\n"
    )


UNMATCHED = (
    "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in"
)
OTHERS = "> # The other 1 SEARCH/REPLACE block were applied successfully."


def written(text: str) -> bytes:
    """Mark the ends of lines as the program does."""
    lines = text.split("\n")
    marked = [x + "  " if x.startswith((">", "####")) else x for x in lines]
    return "\n".join(marked).encode()


def failing(path: str, search: str, more: str = "") -> str:
    return f"""
> The LLM did not conform to the edit format.
> https://aider.chat/docs/troubleshooting/edit-errors.html
> # 1 SEARCH/REPLACE block failed to match!
>
> {UNMATCHED} {path}
> <<<<<<< SEARCH
> {search}
> =======
> z
> >>>>>>> REPLACE
>
> The SEARCH section must exactly match an existing block.
{more}"""


APPLIED = f"""{BANNER}
#### change a

Certainly.

{block("a.py", "x", "y")}
{block("a.py", "u", "v")}

> Tokens: 1,200 sent, 3k received. Cost: $0.01 request.
> Applied edit to a.py
> Commit 1234567 fix
"""
FAILED = f"""{BANNER}
#### change a and b

{block("a.py", "x", "y")}
{block("b.py", "self.x", "z")}
{failing("b.py", "self.x", OTHERS)}
I am sorry.

{block("b.py", "self.xx", "z")}
{failing("b.py", "self.xx")}> Only 3 reflections allowed, stopping.

#### /clear
"""
MALFORMED = f"""{BANNER}
#### change a

a.py
```python
<<<<<<< SEARCH
x
=======

> The LLM did not conform to the edit format.
> https://aider.chat/docs/troubleshooting/edit-errors.html
> a.py
>
> ^^^ Expected `>>>>>>> REPLACE` not end of text
"""
INTERRUPTED = f"""{BANNER}
#### change a
>
> ^C again to exit

Certainly.

{block("a.py", "x", "y")}

#### other
"""
WHOLE_FILE = f"""{BANNER}
#### change a

a.py
```
all of it
```

> Applied edit to a.py

#### and b

No.

> Skipping edits to b.py
"""
COMMANDS = f"""{BANNER}
#### run it

```bash
make
```

> Run shell command? (Y)es/(N)o [Yes]: y
> Running make
> make: *** no target
> Added 1 line of output to the chat.

#### again

> Running make
> done
> Add command output to the chat? n
"""
PROVIDER = f"""{BANNER}
#### hello
> Unexpected error: litellm.APIConnectionError: overloaded
> Retrying in 0.2 seconds...
"""
CLEARED = f"""{BANNER}
#### /clear

#### change a
#### and b

#### or not
"""
NO_PROMPT = f"""{BANNER}
#### /add a.py
> Added a.py to the chat

#### !ls
"""
TEST_OUTPUT = written(f"{BANNER}\n#### /test pytest\n") + (
    b"> === test session starts ===  one\nplain output\n\n"
    b"#### no heading\nlast line  \n\nIt fails because of b.\n"
)


@pytest.mark.parametrize(
    ("raw", "counted"),
    [
        pytest.param(written(APPLIED), Figures(1, 2, 0, 0, 3), id="applied"),
        pytest.param(written(FAILED), Figures(1, 3, 0, 2, 4), id="failed to match"),
        pytest.param(written(MALFORMED), Figures(1, 1, 0, 1, 2), id="malformed"),
        pytest.param(written(INTERRUPTED), Figures(1, 1, 1, 0, 4), id="interrupted"),
        pytest.param(
            written(WHOLE_FILE), Figures(1, 2, 0, 1, 4), id="other edit formats"
        ),
        pytest.param(written(COMMANDS), Figures(1, 2, 0, 0, 4), id="commands"),
        pytest.param(written(PROVIDER), Figures(1, 0, 0, 0, 2), id="provider failed"),
        pytest.param(written(CLEARED), Figures(1, 0, 0, 0, 3), id="prompts in a row"),
        pytest.param(written(NO_PROMPT), Figures(0, threads=0), id="nothing asked"),
        pytest.param(TEST_OUTPUT, Figures(1, 0, 0, 0, 3), id="output without marks"),
        pytest.param(
            written(APPLIED + FAILED + PROVIDER), Figures(3, 5, 0, 2, 9, 3), id="three"
        ),
        pytest.param(
            written(APPLIED).partition(b"fix")[2], Figures(0, threads=0), id="a tail"
        ),
        pytest.param(
            written(FAILED).partition(b"change")[2],
            Figures(1, 3, 0, 2, 3),
            id="beginning cut",
        ),
    ],
)
def test_read_counts(raw: bytes, counted: Figures) -> None:
    assert figures(read_bytes(aider, raw)) == counted


def test_read_tells_the_run() -> None:
    first, second = runs_of(aider, written(APPLIED + APPLIED))

    assert (first.run_id, first.is_global_id) == ("2026-03-02 09:00:00", False)
    assert (second.run_id, second.line) == ("2026-03-02 09:00:00 (2)", 33)
    assert (first.model, first.agent_version) == ("gpt-x", "0.60.1")
    assert (first.started_at, first.ending) == (1772442000.0, "")
    answer = first.threads[0].turns[1]
    assert (answer.input_tokens, answer.output_tokens) == (1200, 3000)


def test_read_makes_calls_of_edit_blocks() -> None:
    (run,) = runs_of(aider, written(APPLIED))

    first, _ = calls_of(run)

    assert (first.tool, json.loads(first.arguments)) == (
        *("edit",),
        {"path": "a.py", "search": "x", "replace": "y"},
    )
    assert first.result is not None
    assert (first.result.text, first.result.is_error) == ("Applied edit to a.py", False)


def test_read_gives_the_failure_to_the_block_that_it_repeats() -> None:
    (run,) = runs_of(aider, written(FAILED))

    applied, failed, last = calls_of(run)

    assert (applied.result and applied.result.is_error) is False
    assert failed.result is not None
    assert failed.result.text.startswith("# 1 SEARCH/REPLACE block failed to match!")
    assert "https://" not in failed.result.text
    assert (failed.result.delivered, failed.result.turns_before) == (True, 2)
    assert last.result is not None
    assert (last.result.is_error, last.result.delivered) == (True, False)
    assert run.ending == ""  # the person went on


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        (FAILED.replace("#### /clear\n", ""), "budget_spent"),
        (PROVIDER, "crashed"),
        (APPLIED, ""),
    ],
)
def test_read_tells_how_the_chat_ended(text: str, ending: str) -> None:
    (run,) = runs_of(aider, written(text))

    assert run.ending == ending


def test_read_takes_a_malformed_answer_as_rejected() -> None:
    (call,) = calls_of(*runs_of(aider, written(MALFORMED)))

    assert call.result is not None
    assert (call.result.cause, call.result.is_error) == ("rejected", True)


def test_read_takes_a_skipped_edit_as_denied() -> None:
    applied, skipped = calls_of(*runs_of(aider, written(WHOLE_FILE)))

    assert applied.arguments == skipped.arguments.replace("b.py", "a.py")
    assert skipped.result is not None
    assert (skipped.result.cause, skipped.result.delivered) == ("denied", False)


def test_read_tells_whether_the_model_saw_a_commands_output() -> None:
    first, second = calls_of(*runs_of(aider, written(COMMANDS)))

    assert (first.tool, first.arguments) == ("shell", '{"command":"make"}')
    assert first.result is not None
    assert (first.result.text, first.result.delivered) == ("make: *** no target", True)
    assert second.result is not None
    assert (second.result.text, second.result.delivered) == ("done", False)


def test_read_tells_prompts_from_commands() -> None:
    (run,) = runs_of(aider, TEST_OUTPUT)

    turns = [(turn.role, turn.kind) for turn in run.threads[0].turns]
    assert turns == [("user", "notice"), ("system", "notice"), ("assistant", "")]
    assert run.threads[0].turns[1].text.endswith("#### no heading\nlast line")


def test_read_takes_a_history_whose_blanks_were_stripped() -> None:
    assert figures(read_bytes(aider, FAILED.encode())) == Figures(1, 3, 0, 2, 4)
    crlf = written(FAILED).replace(b"\n", b"\r\n")
    assert figures(read_bytes(aider, crlf)) == Figures(1, 3, 0, 2, 4)


def test_detect_wants_the_line_that_begins_a_chat() -> None:
    assert aider.detect(b"junk\n" + written(APPLIED)) == 0.95
    assert aider.detect(b"# a heading about # aider chat started at") == 0


@pytest.mark.parametrize("text", [APPLIED, FAILED, MALFORMED, COMMANDS, WHOLE_FILE])
def test_read_survives_spoiled_files(text: str) -> None:
    check_survives(aider, written(text), seed=1, count=80)
