"""Fixtures over real parts: PostgreSQL, Redis, a Celery worker, a Chromium."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test import Client

from apps.accounts.models import User, Workspace
from apps.config import embedded

from .factories import make_member, make_workspace

# Playwright's own loop runs in the thread of a browser test, beside our plain calls.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
QUEUE_PREFIX = f"errata-test-{os.getpid()}:"


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the embedded servers where no address of others is given; own the queue."""
    embedded.ensure_running()
    from apps.config.celery import app

    options = django_settings.CELERY_BROKER_TRANSPORT_OPTIONS
    app.conf.broker_transport_options = {**options, "global_keyprefix": QUEUE_PREFIX}


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the servers of a CI run; at a desk they stay up for the next one."""
    if os.environ.get("CI") and not hasattr(session.config, "workerinput"):
        embedded.stop()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of sample logs beside the checkout; without it the test skips."""
    if not SHARED.is_dir():
        pytest.skip("the folder ../shared with sample logs is not there")
    return SHARED


@pytest.fixture(scope="session")
def uploads_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uploads")


@pytest.fixture(autouse=True)
def _settings_of_tests(settings, uploads_folder: Path) -> None:
    settings.MEDIA_ROOT = uploads_folder
    # a password's hash is slow on purpose; no test is about that
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def workspace(db: None) -> Workspace:
    return make_workspace("team")


@pytest.fixture
def owner(workspace: Workspace) -> User:
    return make_member(workspace)


@pytest.fixture
def client(owner: User) -> Client:
    """A signed-in owner's browser, without a browser."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def stranger(db: None) -> Client:
    """A signed-in member of another workspace."""
    client = Client()
    client.force_login(make_member(make_workspace("others")))
    return client


def database_url() -> str:
    """Address of the database that the tests use, for another process."""
    found = connection.settings_dict
    host = quote(str(found["HOST"]), safe="")
    password = f":{quote(found['PASSWORD'])}" if found["PASSWORD"] else ""
    port = f"&port={found['PORT']}" if found["PORT"] else ""
    return f"postgresql://{found['USER']}{password}@/{found['NAME']}?host={host}{port}"


def worker_environment(uploads_folder: Path) -> dict[str, str]:
    """What a worker process needs to work on the tests' database and queue."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "REDIS_URL": django_settings.REDIS_URL,
        "SECRET_KEY": "only for tests",
        "UPLOADS_DIR": str(uploads_folder),
        "ERRATA_QUEUE_PREFIX": QUEUE_PREFIX,
        "LOG_LEVEL": "WARNING",
    }


@pytest.fixture
def worker(
    transactional_db: None, uploads_folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A real Celery worker on the tests' database, with a queue of its own."""
    process = start_worker(uploads_folder)
    yield process
    process.terminate()
    process.wait(20)


def start_worker(
    uploads_folder: Path, wait_seconds: float = 40
) -> subprocess.Popen[bytes]:
    """Start a worker and wait until it answers."""
    from apps.config.celery import app

    name = f"test-{os.getpid()}-{time.monotonic_ns()}@local"
    command = [sys.executable, "-m", "celery", "-A", "apps.config.celery", "worker"]
    command += ["--concurrency", "1", "--hostname", name, "--loglevel", "WARNING"]
    command += ["--without-gossip", "--without-mingle"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=worker_environment(uploads_folder)
    )
    deadline = time.monotonic() + wait_seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the worker ended at once with code {process.returncode}")
        if app.control.inspect(timeout=0.5, destination=[name]).ping():
            return process
    process.kill()
    return pytest.fail(f"the worker did not answer within {wait_seconds} s")
