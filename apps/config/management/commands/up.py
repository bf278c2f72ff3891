"""`manage.py up`: the whole of Errata on this machine, until Ctrl-C."""

import errno
import fcntl
import http.client
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor

from apps.config import embedded
from apps.config.embedded.launch import last_lines
from apps.config.processes import Crew, end_leftovers, log_path

_PORTS_TRIED = 50
_CELERY = [sys.executable, "-m", "celery", "-A", "apps.config.celery"]
_DEMO = (
    "import os, django; "
    "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'apps.config.settings'); "
    "django.setup(); from apps.overview.demo import ensure_demo; ensure_demo()"
)


class Command(BaseCommand):
    """Start servers, web, worker and beat; stop them all on Ctrl-C."""

    help = "Start Errata on this machine and print its address; Ctrl-C stops it."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--no-demo", action="store_true", help="leave out the workspace “Demo”"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until a signal or until a part of it ends; then stop all."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        with _alone() as note:
            record = embedded.var_folder() / "up.json"
            crew = Crew(record)
            try:
                if left := end_leftovers(record):
                    self.say(f"Ended what an earlier run left: {', '.join(left)}.")
                self.start(crew, note, options)
                self.watch(crew)
            except KeyboardInterrupt:
                self.say("\nStopping.")
            except embedded.EmbeddedServerError as error:
                raise CommandError(str(error)) from error
            finally:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                crew.end()
                embedded.stop()
        self.say("Stopped.")

    def start(self, crew: Crew, note: IO[str], options: dict[str, Any]) -> None:
        """Start everything and say where it answers."""
        from apps.accounts.actions import ensure_first_account

        embedded.ensure_running()
        if migrations := _migrate():
            self.say(f"The database is set up: {migrations} migrations.")
        link = ensure_first_account()
        connections.close_all()
        with self.listener(options["host"], options["port"]) as listener:
            port = listener.getsockname()[1]
            fd = listener.fileno()
            crew.start("web", _web(fd), fd)
        address = _address(options["host"], port)
        note.write(address)
        note.flush()
        self.await_web(crew, options["host"], port)
        # Not before: on two cores they would hold the first page up by a second.
        for name, command in (("worker", _worker()), ("beat", _beat())):
            crew.start(name, command)
        self.say(f"\n  Errata     {address}/")
        if link:
            self.say(f"  Sign in    {address}{link}    (this link works once)")
        self.say(f"  Logs       {embedded.var_folder() / 'log'}")
        self.say("  Ctrl-C stops it.\n")
        if not options["no_demo"]:
            crew.start("demo", [sys.executable, "-c", _DEMO])
            self.say("The workspace “Demo” is being filled.")

    def listener(self, host: str, port: int) -> socket.socket:
        """Listen on the port, or on the next one that is free."""
        for number in range(port, port + _PORTS_TRIED):
            try:
                listener = _listen(host, number)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise CommandError(f"{host}:{number}: {error.strerror}.") from error
                continue
            if number != port:
                self.say(f"Port {port} is taken; Errata takes {number}.")
            return listener
        raise CommandError(f"Ports {port} to {port + _PORTS_TRIED - 1} are all taken.")

    def await_web(self, crew: Crew, host: str, port: int) -> None:
        """Wait until the web process answers a request."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.look_after(crew)
            if _answers(host, port):
                return
            time.sleep(0.05)
        raise CommandError(f"The web process does not answer. {_said('web')}")

    def watch(self, crew: Crew) -> None:
        """Wait for a signal; fail if a process ends by itself."""
        while True:
            self.look_after(crew)
            time.sleep(0.2)

    def look_after(self, crew: Crew) -> None:
        """Fail if a process has ended that should not."""
        for name, code in crew.ended().items():
            if name != "demo":
                raise CommandError(
                    f"{name} ended (exit code {code}); the rest is stopped. "
                    f"{_said(name)}"
                )
            if code:
                self.say(f"The workspace “Demo” could not be filled. {_said(name)}")
            else:
                self.say("The workspace “Demo” is filled.")

    def say(self, text: str) -> None:
        """Print at once, also into a pipe."""
        self.stdout.write(text)
        self.stdout.flush()


@contextmanager
def _alone() -> Iterator[IO[str]]:
    """Let one `up` run at a time here; yield the file that holds its address.

    The lock goes with its process, however that ends.
    """
    var = embedded.var_folder()
    var.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (var / "up.lock").open("a+") as note:
        try:
            fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note.seek(0)
            raise CommandError(
                f"Errata runs already from this folder: {note.read() or 'starting'}. "
                "Stop it there with Ctrl-C."
            ) from None
        note.truncate(0)
        yield note


def _migrate() -> int:
    """Bring the tables up to date; return how many migrations that took.

    Asking first saves a second on every later start.
    """
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        call_command("migrate", interactive=False, verbosity=0)
    return len(plan)


def _web(fd: int) -> list[str]:
    options = ["--bind", f"fd://{fd}", "--workers", "2", "--threads", "4"]
    options += ["--preload", "--timeout", "120", "--graceful-timeout", "5"]
    options += ["--no-control-socket"]
    return [sys.executable, "-m", "gunicorn", *options, "apps.config.wsgi"]


def _worker() -> list[str]:
    options = ["--concurrency", "2", "--loglevel", "INFO"]
    options += ["--without-gossip", "--without-mingle"]
    return [*_CELERY, "worker", *options]


def _beat() -> list[str]:
    return [*_CELERY, "beat", "--loglevel", "INFO", "--pidfile="]


def _said(name: str) -> str:
    log = log_path(name)
    return f"{log} says:\n{last_lines(log)}"


def _listen(host: str, port: int) -> socket.socket:
    family, _, _, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    return socket.create_server(address[:2], family=family)


def _address(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104 - compared
    if ":" in shown and not shown.startswith("["):
        shown = f"[{shown}]"
    return f"http://{shown}:{port}"


def _answers(host: str, port: int) -> bool:
    """Tell whether a request gets any answer."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared
    web = http.client.HTTPConnection(host, port, timeout=20)
    try:
        web.request("GET", "/healthz", headers={"Host": f"localhost:{port}"})
        web.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        web.close()
    return True
