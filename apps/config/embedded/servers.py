"""Both servers together: start what is needed, stop what runs."""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from apps.config.embedded import postgres, redis
from apps.config.embedded.launch import EmbeddedServerError
from apps.config.embedded.places import socket_folder, var_folder


class _Server(Protocol):
    @property
    def NAME(self) -> str: ...  # noqa: N802
    def is_answering(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...


def ensure_running() -> None:
    """Start the servers that are needed and down, and wait until they answer.

    DATABASE_URL and REDIS_URL each take the place of one. Any number of
    processes may call this at once, any number of times. Raises
    EmbeddedServerError if a server does not come up.
    """
    if all(server.is_answering() for server in _needed()):
        return
    _make_folders()
    with _alone():
        for server in _needed():
            if not server.is_answering():
                server.start()


def stop() -> None:
    """Stop the servers that run, whoever started them. Safe to repeat."""
    if not socket_folder().exists():
        return
    with _alone():
        for server in reversed(_needed()):
            server.stop()


def _needed() -> list[_Server]:
    servers: dict[str, _Server] = {"DATABASE_URL": postgres, "REDIS_URL": redis}
    return [server for name, server in servers.items() if not os.environ.get(name)]


def _make_folders() -> None:
    """Make the folders of state, open to this user alone."""
    var = var_folder()
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_owner(var)
    (var / "log").mkdir(exist_ok=True)
    sockets = socket_folder()
    sockets.mkdir(mode=0o700, exist_ok=True)
    found = sockets.lstat()
    if not stat.S_ISDIR(found.st_mode) or stat.S_IMODE(found.st_mode) & 0o077:
        raise EmbeddedServerError(
            f"{sockets} is open to others, who could reach the database through it. "
            f"Close it: chmod 700 {sockets}"
        )
    _check_owner(sockets)


def _check_owner(folder: Path) -> None:
    if folder.lstat().st_uid != os.geteuid():
        raise EmbeddedServerError(
            f"{folder} belongs to another user. Run as that user, or name a folder "
            "of your own in ERRATA_VAR."
        )


@contextmanager
def _alone() -> Iterator[None]:
    """Keep other processes from starting or stopping the servers meanwhile."""
    with (socket_folder() / "servers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
