#!/usr/bin/env python3
"""Errata's commands: `manage.py up`, `ingest`, `report` and Django's own."""

import os
import sys

# These start no server: they need no database, can do without one, or (`up`)
# start it themselves.
_WITHOUT_SERVERS = {
    "",
    "check",
    "check_templates",
    "collectstatic",
    "compilemessages",
    "diffsettings",
    "findstatic",
    "help",
    "makemessages",
    "makemigrations",
    "startapp",
    "startproject",
    "up",
    "version",
}


def main() -> int:
    """Run one command; start the embedded servers for it if they are down."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.stderr.write(
            f"Django is not installed for {sys.executable}. Run `make install`, then "
            "call .venv/bin/python manage.py.\n"
        )
        return 1
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    asks_help = any(word in ("-h", "--help", "--version") for word in sys.argv[1:])
    if command not in _WITHOUT_SERVERS and not asks_help:
        from apps.config import embedded

        try:
            embedded.ensure_running()
        except embedded.EmbeddedServerError as error:
            sys.stderr.write(f"{error}\n")
            return 1
    execute_from_command_line(sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main())
