import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from apps.config.embedded.places import CHECKOUT
from tests.config.state import folder_of_state, leaves_no_process, processes_of

pytestmark = pytest.mark.slow

UP_AND_READY = "Ctrl-C stops it."

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    """Give the runs of this module one folder of state, set up by the first."""
    with folder_of_state() as folder:
        yield folder
        for process in processes_of(folder):
            process.kill()


@pytest.fixture
def start(state: Path) -> Iterator[Start]:
    """Start `manage.py up` as a shell would: in a process group of its own."""
    started = []

    def start_up(*options: str) -> "subprocess.Popen[str]":
        environment = {**os.environ, "ERRATA_VAR": str(state)}
        for name in ("DATABASE_URL", "REDIS_URL"):
            environment.pop(name, None)
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--no-demo", *options],
            cwd=CHECKOUT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start_up
    for process in started:
        process.kill()
        process.communicate()


def output_until(process: "subprocess.Popen[str]", words: str) -> str:
    """Read what a process prints, up to the line with these words."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def words_of(process: psutil.Process) -> list[str]:
    """Return how a process was called, [""] if it is gone."""
    try:
        return process.cmdline() or [""]
    except psutil.Error:
        return [""]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_up_takes_the_next_port_answers_and_stops_on_ctrl_c_without_a_trace(
    state, start
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        up = start("--port", str(port))
        said = output_until(up, UP_AND_READY)
        second = start("--port", str(port))
        refusal, _ = second.communicate(timeout=60)
    address = re.search(r"Errata +(http://127\.0\.0\.1:\d+)/", said)
    assert address
    with urllib.request.urlopen(f"{address[1]}/healthz", timeout=20) as answer:
        status = answer.status

    os.killpg(up.pid, signal.SIGINT)
    up.communicate(timeout=60)

    assert f"Port {port} is taken" in said
    assert f"Sign in    {address[1]}/" in said
    assert status == 200
    assert second.returncode == 1
    assert f"Errata runs already from this folder: {address[1]}" in refusal
    assert up.returncode == 0
    assert leaves_no_process(state)


def test_up_after_a_hard_kill_ends_what_was_left_and_stops_if_a_part_of_it_ends(
    state, start
):
    port = free_port()
    killed = start("--port", str(port))
    output_until(killed, UP_AND_READY)
    killed.kill()
    killed.wait(timeout=10)
    left = {process.pid for process in processes_of(state)}
    up = start("--port", str(port))
    said = output_until(up, UP_AND_READY)
    now = processes_of(state)
    kept = {words_of(process)[0] for process in now if process.pid in left}

    next(process for process in now if "beat" in words_of(process)).kill()
    last_words, _ = up.communicate(timeout=60)

    assert "Ended what an earlier run left: web, worker, beat." in said
    assert f"http://127.0.0.1:{port}/" in said
    assert not any(Path(program).name.startswith("python") for program in kept)
    assert "beat ended (exit code -9)" in last_words
    assert up.returncode == 1
    assert leaves_no_process(state)
