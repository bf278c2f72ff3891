"""Starting a server so that it outlives its starter, and ending one."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from apps.config.embedded.guises import AS_OURSELVES, Guise

# The shell forks, names its child and goes: the server belongs to nobody, so
# it is nobody's zombie. Its output goes to the log, which is open as stderr.
_DETACH = 'exec "$@" >&2 & echo $!'

_LOG_BYTES = 5_000_000


class EmbeddedServerError(Exception):
    """A server did not start or stop; the message says what to do."""


def launch(command: list[str], log: Path, guise: Guise = AS_OURSELVES) -> int:
    """Start a server in a session of its own and return its process id.

    Its working folder is `/`, its environment bare: a PGDATA or TZ of the
    caller must not reach it.
    """
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(log.with_suffix(".old.log"))
    with log.open("ab") as output:
        started = subprocess.run(
            ["/bin/sh", "-c", _DETACH, "sh", *guise.prefix, *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
            check=True,
            **guise.options(),
        )
    return int(started.stdout)


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that only waits to be reaped does not."""
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def command_line(pid: int) -> str:
    """Return how a process was called, "" if it is gone or another user's."""
    import psutil

    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def working_folder(pid: int) -> str:
    """Return the folder a process works in, "" if it is gone or another user's."""
    import psutil

    try:
        return str(psutil.Process(pid).cwd())
    except psutil.Error:
        return ""


def is_listening(path: Path) -> bool:
    """Tell whether a server accepts on a Unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Ask again until something is so; False if the time is up first."""
    deadline = time.monotonic() + seconds
    pause = 0.005
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
    return True


def end(pid: int, *steps: tuple[signal.Signals, float]) -> None:
    """Send one signal after the other, each with its wait, until a process ends.

    Raises EmbeddedServerError if it survives them all.
    """
    for number, seconds in steps:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_until(lambda: not is_alive(pid), seconds):
            return
    raise EmbeddedServerError(
        f"Process {pid} ({command_line(pid)}) does not end. End it by hand."
    )


def last_lines(log: Path, since: int = 0, count: int = 8) -> str:
    """Return the end of a log, from byte `since` on."""
    with log.open("rb") as lines:
        lines.seek(since)
        text = lines.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-count:])
