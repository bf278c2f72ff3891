"""The servers of a first run: PostgreSQL and Redis, started from packages.

They stand in where DATABASE_URL or REDIS_URL is absent. Their data is in
`var/`, they listen on Unix sockets alone, and they outlive whoever started
them, so a worker, a page and a command share them.
"""

from apps.config.embedded.launch import EmbeddedServerError
from apps.config.embedded.places import Addresses, addresses, broker_url, var_folder
from apps.config.embedded.servers import ensure_running, stop

__all__ = [
    "Addresses",
    "EmbeddedServerError",
    "addresses",
    "broker_url",
    "ensure_running",
    "stop",
    "var_folder",
]
