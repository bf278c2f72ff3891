"""Exit codes: read around a program's output, as harnesses write them, never in it."""

import pytest

from apps.runs.exit_codes import exit_code_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 2\nls: no", 2),
        ("Exit code: 1", 1),
        ("Exit Code: 0", 0),
        ("exitcode: 1 (execution failed)\nCode output: x", 1),
        ("<returncode>127</returncode>\n<output>\n</output>", 127),
        ("<returncode>-9</returncode>", -9),
        (
            "Chunk ID: a1\nWall time: 0.1 s\nProcess exited with code 2\nOutput:\nx",
            2,
        ),
        ("Command failed with exit code 1.\nOutput", 1),
        ("Command failed with exit code: 3", 3),
        ("Command '['ls']' returned non-zero exit status 2.", 2),
        ("Process exited with code 0\nOutput:\nTraceback (most recent call last):", 0),
        ("ls x\nls: no such\n[Command finished with exit code 2]", 2),
        (
            "x\n[The command completed with exit code 0.]\n[Working directory: /]",
            0,
        ),
        ("(no output)\n\nCommand exited with code 1", 1),
        ("done\n<shellId: 3 completed with exit code 1>", 1),
        ("Output: x\nExit Code: 1\nSignal: 0\nBackground PIDs: (none)", 1),
    ],
)
def test_exit_code_of_reads_the_wrapper(text, code):
    assert exit_code_of(text) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "fine",
        "exit code: 1",  # what `echo "exit code: $?"` prints
        "Output:\nExit code 1",
        "see log\nExit code 1 was seen before",
        "def f():\n    sys.exit(1)\nExit code 1",
        "Process exited with code",
        "[Command finished with exit code 1]\nand then it went on",
        "The exit code 1 means that nothing was found",
    ],
)
def test_exit_code_of_leaves_a_programs_own_words_alone(text):
    assert exit_code_of(text) is None


def test_exit_code_of_finds_the_trailer_of_a_long_output():
    text = "x" * 100_000 + "\n[Command finished with exit code 3]"

    assert exit_code_of(text) == 3
