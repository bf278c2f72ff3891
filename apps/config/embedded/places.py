"""Where the embedded servers keep their state, and how they are reached.

Nothing is started or written here: settings ask for the addresses whether or
not a server is up.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

CHECKOUT = Path(__file__).resolve().parents[3]

# A Unix socket's path has room for 103 bytes on macOS and 107 on Linux, and
# PostgreSQL appends "/.s.PGSQL.5432".
_SOCKET_FOLDER_BYTES = 88


@dataclass(frozen=True)
class Addresses:
    """Where the embedded servers answer, whether or not they are up."""

    database_url: str  # for psycopg: postgresql:///errata?…
    redis_url: str  # for redis-py: unix:///…/redis.sock?db=0


def var_folder() -> Path:
    """Return the folder of all state: ERRATA_VAR, else `var` in the checkout."""
    return Path(os.environ.get("ERRATA_VAR") or CHECKOUT / "var").resolve()


def socket_folder() -> Path:
    """Return the folder of the sockets: `var/run`, or a short one if that is long.

    The short one must be the same for every process of this user, whatever its
    TMPDIR says.
    """
    folder = var_folder() / "run"
    if len(os.fsencode(folder)) <= _SOCKET_FOLDER_BYTES:
        return folder
    return Path(f"/tmp/errata-{os.geteuid()}-{place_key()}")  # noqa: S108 - made 0700


def postgres_socket() -> Path:
    """Return the path of PostgreSQL's socket, whose name PostgreSQL chooses."""
    return socket_folder() / ".s.PGSQL.5432"


def redis_socket() -> Path:
    """Return the path of Redis's socket."""
    return socket_folder() / "redis.sock"


def place_key() -> str:
    """Return a short name for this folder of state, unlike any other's."""
    return hashlib.sha256(os.fsencode(var_folder())).hexdigest()[:12]


def addresses() -> Addresses:
    """Return the addresses of the embedded servers without starting them."""
    host = quote(str(socket_folder()), safe="")
    return Addresses(
        database_url=f"postgresql:///errata?user=errata&host={host}",
        redis_url=f"unix://{quote(str(redis_socket()))}?db=0",
    )


def broker_url(redis_url: str) -> str:
    """Return a Redis address as Celery's broker wants it.

    redis-py says `unix:///path?db=1` where Celery says
    `redis+socket:///path?virtual_host=1`. Other addresses pass unchanged.
    """
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    number = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={number}"
