import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from apps.config import embedded
from apps.config.embedded import guises, postgres
from apps.config.embedded.places import socket_folder
from tests.config.state import leaves_no_process, own_state, processes_of

__all__ = ["own_state"]


def write(value: int) -> None:
    """Leave a value in both servers."""
    places = embedded.addresses()
    with psycopg.connect(places.database_url, autocommit=True) as database:
        database.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
        database.execute("INSERT INTO kept VALUES (%s)", [value])
    with redis.Redis.from_url(places.redis_url) as queue:
        queue.rpush("kept", value)


def read() -> tuple[list[int], list[int]]:
    """Return what either server kept."""
    places = embedded.addresses()
    with psycopg.connect(places.database_url) as database:
        rows = database.execute("SELECT value FROM kept ORDER BY value").fetchall()
    with redis.Redis.from_url(places.redis_url) as queue:
        items = queue.lrange("kept", 0, -1)
    return [row[0] for row in rows], [int(item) for item in items]


def server_processes(state: Path) -> list[psutil.Process]:
    """Return PostgreSQL's first process and Redis."""
    return [each for each in processes_of(state) if _is_a_server(each)]


def _is_a_server(process: psutil.Process) -> bool:
    try:
        name, first = process.name(), process.cmdline()[0]
    except (psutil.Error, IndexError):  # it ended meanwhile
        return False
    if name == "postgres":
        return not first.startswith("postgres: ")
    return name in ("redis-server", "valkey-server")


def test_both_servers_keep_their_data_over_a_stop_and_stop_twice(own_state):
    before = embedded.addresses()
    embedded.ensure_running()
    write(1)

    embedded.stop()
    embedded.stop()
    left = processes_of(own_state)
    embedded.ensure_running()
    embedded.ensure_running()

    assert embedded.addresses() == before
    assert left == []
    assert read() == ([1], [1])


def test_both_servers_come_back_after_a_hard_kill(own_state):
    embedded.ensure_running()
    write(1)
    victims = server_processes(own_state)

    for victim in victims:
        victim.send_signal(signal.SIGKILL)
    psutil.wait_procs(victims, timeout=1)
    embedded.ensure_running()

    assert len(victims) == 2
    assert read() == ([1], [1])
    assert {each.pid for each in server_processes(own_state)}.isdisjoint(
        victim.pid for victim in victims
    )


def test_a_stale_lock_file_that_names_a_living_stranger_does_not_stop_the_start(
    own_state,
):
    embedded.ensure_running()
    embedded.stop()
    lock = own_state / "postgres" / "data" / "postmaster.pid"
    lines = [str(os.getpid()), str(lock.parent), "1", "5432", "", "", "1 1", "ready"]
    lock.write_text("\n".join(lines) + "\n")
    (own_state / "redis" / "redis.pid").write_text(f"{os.getpid()}\n")
    (own_state / "run" / ".s.PGSQL.5432.lock").write_text("\n".join(lines) + "\n")

    embedded.ensure_running()
    write(2)

    assert read() == ([2], [2])


def test_a_server_whose_socket_was_removed_is_started_anew(own_state):
    embedded.ensure_running()
    write(1)
    for path in (own_state / "run").iterdir():
        path.unlink()

    embedded.ensure_running()

    assert read() == ([1], [1])
    assert len(server_processes(own_state)) == 2


def test_a_half_made_data_folder_is_made_again(own_state):
    half = own_state / "postgres" / "data.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")

    embedded.ensure_running()

    assert postgres.is_answering()
    assert not half.exists()


def test_three_processes_that_start_at_once_share_one_pair_of_servers(own_state):
    script = "from apps.config import embedded; embedded.ensure_running()"
    command = [sys.executable, "-c", script]

    starters = [subprocess.Popen(command) for _ in range(3)]
    codes = [starter.wait(timeout=60) for starter in starters]
    write(3)

    assert codes == [0, 0, 0]
    assert read() == ([3], [3])
    assert len(server_processes(own_state)) == 2


def test_an_interrupt_of_the_starters_group_leaves_the_servers_up(own_state):
    script = (
        "from apps.config import embedded; embedded.ensure_running(); "
        "import time; print('up', flush=True); time.sleep(60)"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert starter.stdout is not None
    starter.stdout.readline()

    os.killpg(starter.pid, signal.SIGINT)
    starter.communicate(timeout=10)

    assert postgres.is_answering()
    assert len(server_processes(own_state)) == 2


def test_a_long_path_moves_the_sockets_to_a_short_closed_folder(own_state, monkeypatch):
    state = own_state.with_name("long" * 20)
    monkeypatch.setenv("ERRATA_VAR", str(state))

    embedded.ensure_running()
    write(4)
    sockets = socket_folder()
    kept = read()
    embedded.stop()

    assert sockets.parent == Path("/tmp")
    assert sockets.stat().st_mode & 0o777 == 0o700
    assert kept == ([4], [4])
    for path in sockets.iterdir():
        path.unlink()
    sockets.rmdir()


def test_a_socket_folder_that_others_may_enter_is_refused(own_state):
    sockets = own_state / "run"
    sockets.mkdir(parents=True)
    sockets.chmod(0o755)

    with pytest.raises(embedded.EmbeddedServerError, match="open to others"):
        embedded.ensure_running()

    assert processes_of(own_state) == []
    sockets.chmod(0o700)


def test_a_redis_file_that_cannot_be_read_is_set_aside(own_state):
    embedded.ensure_running()
    embedded.stop()
    appended = own_state / "redis" / "appendonly.aof"
    folder = own_state / "redis" / "appendonlydir"
    for path in [appended, *folder.glob("*.aof")]:
        if path.exists():
            path.write_bytes(b"REDIS0099 from the future")
    if not folder.exists():
        appended.write_bytes(b"REDIS0099 from the future")

    embedded.ensure_running()
    write(5)

    assert read() == ([5], [5])
    assert len(list(own_state.glob("redis.unreadable-*"))) == 1


def test_data_of_another_major_version_is_refused_with_what_to_do(own_state):
    embedded.ensure_running()
    embedded.stop()
    (own_state / "postgres" / "data" / "PG_VERSION").write_text("12\n")

    with pytest.raises(embedded.EmbeddedServerError, match="written by PostgreSQL 12"):
        embedded.ensure_running()


def test_a_named_server_of_ones_own_is_left_alone(own_state, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://db.example/errata")
    monkeypatch.setenv("REDIS_URL", "redis://queue.example")

    embedded.ensure_running()
    embedded.stop()

    assert not own_state.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root needs another account")
def test_root_without_user_namespaces_runs_postgres_as_nobody(
    own_state, tmp_path, monkeypatch
):
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "id").symlink_to("/usr/bin/id")
    monkeypatch.setenv("PATH", str(programs))  # there is no `unshare` here

    embedded.ensure_running()
    write(6)
    home = own_state / "postgres"
    user = (home / "data").stat().st_uid
    embedded.stop()
    embedded.ensure_running()
    kept = read()
    embedded.stop()

    assert user == guises.nobody()[0]
    assert kept == ([6], [6])
    assert leaves_no_process(own_state)
    subprocess.run(["/bin/rm", "-rf", str(home.resolve())], check=True)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("redis://host:6379/2", "redis://host:6379/2"),
        ("rediss://:secret@host/0", "rediss://:secret@host/0"),
        (
            "unix:///a%20b/redis.sock?db=3",
            "redis+socket:///a%20b/redis.sock?virtual_host=3",
        ),
        ("unix:///run/redis.sock", "redis+socket:///run/redis.sock?virtual_host=0"),
    ],
)
def test_broker_url_says_a_socket_in_celerys_words(given, wanted):
    assert embedded.broker_url(given) == wanted
