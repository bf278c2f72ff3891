"""A folder of state of its own for tests that start and kill servers."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from apps.config import embedded


@contextmanager
def folder_of_state() -> Iterator[Path]:
    """Yield the path of a folder of state yet to be made; remove it at the end.

    It is in memory where there is room: these tests wait for the disk otherwise.
    """
    memory = Path("/dev/shm")
    has_room = memory.is_dir() and shutil.disk_usage(memory).free > 2 << 30
    with tempfile.TemporaryDirectory(dir=memory if has_room else None) as folder:
        yield Path(folder).resolve() / "var"


@pytest.fixture
def own_state(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let the embedded servers live in a folder of this test, and end them with it."""
    with folder_of_state() as folder:
        monkeypatch.setenv("ERRATA_VAR", str(folder))
        monkeypatch.delenv("DATABASE_URL", raising=False)
        monkeypatch.delenv("REDIS_URL", raising=False)
        yield folder
        embedded.stop()


def processes_of(state: Path) -> list[psutil.Process]:
    """Return the living processes that name a folder of state, or were given it."""
    return [
        process
        for process in psutil.process_iter()
        if process.pid != os.getpid() and _is_of(process, str(state))
    ]


def leaves_no_process(state: Path, seconds: float = 5) -> bool:
    deadline = time.monotonic() + seconds
    while processes_of(state):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _is_of(process: psutil.Process, state: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return process.environ().get("ERRATA_VAR") == state or any(
            state in word for word in process.cmdline()
        )
    except psutil.Error:
        return False
