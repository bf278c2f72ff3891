"""Command lines: their steps, their first word, and when exit 1 is an answer."""

import pytest

from apps.runs.command_lines import (
    asks_by_exit_code,
    command_of,
    first_word,
    is_shell,
    steps,
)


@pytest.mark.parametrize(
    ("arguments", "key", "expected"),
    [
        ('{"command": "ls -l"}', "", "ls -l"),
        ('{"cmd": "ls"}', "", "ls"),
        ('{"cmd": "ls", "line": "pwd"}', "line", "pwd"),
        ('{"command": ["bash", "-lc", "grep a b"]}', "", "grep a b"),
        ('{"command": ["pytest", "-x"]}', "", "pytest -x"),
        ('{"query": "x"}', "", ""),
        ('{"command": 5}', "", ""),
        ("ls -l", "", "ls -l"),
        ('{"cut', "", '{"cut'),
        ("", "", ""),
    ],
)
def test_command_of_finds_the_command_line(arguments, key, expected):
    assert command_of(arguments, key) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a", [("", "a")]),
        ("cd x && a | b", [("", "cd x"), ("&&", "a"), ("|", "b")]),
        ("a;b\nc", [("", "a"), (";", "b"), ("\n", "c")]),
        ('grep "a|b && c" f', [("", 'grep "a|b && c" f')]),
        ("grep 'a;b' f || c", [("", "grep 'a;b' f"), ("||", "c")]),
        ("a $(b; c) d", [("", "a $(b; c) d")]),
        ("a 2>&1 | b", [("", "a 2>&1"), ("|", "b")]),
        ("a & b", [("", "a"), ("&", "b")]),
        (r"a\;b", [("", r"a\;b")]),
        ("it's", [("", "it's")]),
        ("", []),
        (" ;; ", []),
    ],
)
def test_steps_split_where_the_shell_does(command, expected):
    assert steps(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", "pytest"),
        ("cd /srv && pytest -q", "pytest"),
        ("cd 'a b'; cd c\npytest", "pytest"),
        ("FOO=1 BAR='x y' pytest", "pytest"),
        ("sudo -u me ls", "sudo"),
        ("sudo ls", "ls"),
        ("timeout -k 5 10s make", "make"),
        ("/usr/bin/grep x", "grep"),
        ("cd /srv", "cd"),
        ("", ""),
        ("   ", ""),
    ],
)
def test_first_word_skips_what_only_leads_to_the_command(command, expected):
    assert first_word(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "grep -n x f",
        "cd /srv && grep -rn 'a|b' src",
        "cat f | grep x",
        "ls; diff a b",
        "test -f x && echo yes",
        "[ -f x ]",
        "git diff --quiet",
        "git -C /srv grep x",
        "git config --get user.name",
        "! grep -q x f",
        "sudo /usr/bin/grep x f",
        "command -v node",
        "pgrep -f server",
    ],
)
def test_exit_code_one_is_an_answer_of_commands_that_ask(command):
    assert asks_by_exit_code(command)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "npm test && grep x f",
        "grep x f | sort",
        "grep x f && make",
        "find . -exec grep x {} +",
        "git status",
        "echo 'grep x f'",
        "python grep.py",
        "",
    ],
)
def test_exit_code_one_of_other_commands_is_a_failure(command):
    assert not asks_by_exit_code(command)


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("bash", True),
        ("Bash", True),
        ("execute_bash", True),
        ("run_shell_command", True),
        ("exec_command", True),
        ("computer_terminal", True),
        ("mcp__host__shell", True),
        ("publish", False),
        ("str_replace_editor", False),
        ("run_tests", False),
        ("get_order", False),
    ],
)
def test_is_shell_goes_by_the_words_of_the_name(tool, expected):
    assert is_shell(tool) is expected


KNOWN_WRONG = [  # tool, wanted, actual
    ("get_shell_company", False, True),
    ("python", True, False),
    ("Terminus-2", True, False),
]


@pytest.mark.parametrize(("tool", "wanted", "actual"), KNOWN_WRONG)
def test_is_shell_known_wrong(tool, wanted, actual):
    assert wanted is not actual
    assert is_shell(tool) is actual


def test_a_very_long_command_line_is_split_in_linear_time():
    command = "echo 'x' | " * 50_000

    assert len(steps(command)) == 50_000
