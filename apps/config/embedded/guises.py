"""Who PostgreSQL runs as: it refuses to run as root."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict


class GuiseOptions(TypedDict, total=False):
    """What `subprocess.run` needs to start a process in a guise."""

    cwd: str
    env: dict[str, str]
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Guise:
    """A way to start a program: what to call it through, and as whom."""

    prefix: tuple[str, ...] = ()
    account: tuple[int, int] | None = None  # user and group, None: our own

    def options(self) -> GuiseOptions:
        """Return the arguments for `subprocess.run`, with a bare environment."""
        path = os.environ.get("PATH", os.defpath)
        options: GuiseOptions = {
            "cwd": "/",
            "env": {"PATH": path, "LC_ALL": "C", "TZ": "UTC"},
        }
        if self.account:
            options["user"], options["group"] = self.account
            options["extra_groups"] = []
        return options


AS_OURSELVES = Guise()


def nobody() -> tuple[int, int]:
    """Return user and group of the account without rights."""
    try:
        account = pwd.getpwnam("nobody")
    except KeyError:
        account = next(entry for entry in pwd.getpwall() if entry.pw_uid)
    return account.pw_uid, account.pw_gid


def in_a_user_namespace() -> Guise:
    """Be root outside and nobody inside: the files stay ours.

    Not every kernel or container allows it: ask `can_run` first.
    """
    user, _ = nobody()
    return Guise(prefix=("unshare", "--user", f"--map-user={user}", "--"))


def as_nobody() -> Guise:
    """Give up root for good: what the program reads must be open to nobody."""
    return Guise(account=nobody())


def can_run(guise: Guise, program: Path, folder: Path) -> bool:
    """Tell whether a guise is no root, can run a program and write to a folder."""
    script = 'test "$(id -u)" != 0 && test -w "$1" && exec "$2" --version'
    try:
        answer = subprocess.run(
            [*guise.prefix, "/bin/sh", "-c", script, "sh", str(folder), str(program)],
            capture_output=True,
            timeout=20,
            check=False,
            **guise.options(),
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.returncode == 0
