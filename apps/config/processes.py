"""The processes that `manage.py up` starts, and those an earlier one left.

Each is the leader of a process group. What was started is written down, so
that after a `kill -9` of `up` the next one finds and ends it.
"""

import contextlib
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from apps.config.embedded.launch import is_alive, wait_until
from apps.config.embedded.places import CHECKOUT, var_folder

# A worker that is asked kindly ends its task first; asked less kindly it puts
# the task back. The last step is SIGKILL, which a task survives as well.
_STEPS = ((signal.SIGTERM, 6.0), (signal.SIGQUIT, 4.0))

_LOG_BYTES = 20_000_000


@dataclass(frozen=True)
class Leader:
    """A process group by its leader, which may be gone already."""

    name: str
    pid: int
    started: float  # seconds since 1970; tells it from a later process of that id

    def members(self) -> list[int]:
        """Return the ids of those of the group that still run."""
        return [
            process.pid
            for process in psutil.process_iter()
            if _belongs(process, self) and is_alive(process.pid)
        ]


@dataclass
class Crew:
    """The processes of one `up`."""

    record: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: list[str], *fds: int) -> None:
        """Start a process with its output in `var/log/NAME.log`."""
        with log_path(name).open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=fds,
                start_new_session=True,
            )
        text = json.dumps([vars(leader) for leader in self._leaders()])
        self.record.write_text(text)

    def ended(self) -> dict[str, int]:
        """Return the exit codes of those that ended, and forget these."""
        codes = {name: process.poll() for name, process in self.running.items()}
        over = {name: code for name, code in codes.items() if code is not None}
        for name in over:
            del self.running[name]
        return over

    def end(self) -> None:
        """End all that run, kindly at first."""
        _end(self._leaders())
        for process in self.running.values():
            process.wait()
        self.record.unlink(missing_ok=True)

    def _leaders(self) -> list[Leader]:
        return [
            Leader(name, process.pid, psutil.Process(process.pid).create_time())
            for name, process in self.running.items()
            if psutil.pid_exists(process.pid)
        ]


def end_leftovers(record: Path) -> list[str]:
    """End what an `up` left that was killed; return the names of what ran."""
    try:
        leaders = [Leader(**entry) for entry in json.loads(record.read_text())]
    except (FileNotFoundError, ValueError, TypeError):
        return []
    left = [leader for leader in leaders if leader.members()]
    _end(left)
    record.unlink(missing_ok=True)
    return [leader.name for leader in left]


def log_path(name: str) -> Path:
    """Return the log of a process, an overlong one moved aside."""
    folder = var_folder() / "log"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.log"
    if path.exists() and path.stat().st_size > _LOG_BYTES:
        path.replace(path.with_suffix(".old.log"))
    return path


def _belongs(process: psutil.Process, leader: Leader) -> bool:
    """Tell whether a process is of a group, and no stranger under its number."""
    try:
        return (
            os.getpgid(process.pid) == leader.pid
            and process.create_time() >= leader.started - 1
            and any("apps." in word for word in process.cmdline())
        )
    except (psutil.Error, ProcessLookupError):
        return False


def _end(leaders: list[Leader]) -> None:
    def all_over() -> bool:
        return not any(leader.members() for leader in leaders)

    for number, seconds in _STEPS:
        for leader in leaders:
            members = leader.members()
            # Only a leader ends its group in order; orphans are told one by one.
            told = [leader.pid] if leader.pid in members else members
            for pid in told:
                _signal(pid, number)
        if wait_until(all_over, seconds):
            return
    for leader in leaders:
        for pid in leader.members():
            _signal(pid, signal.SIGKILL)
    wait_until(all_over, 5)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
