"""What the path of a file inside an upload says: the run's name, the instance's id."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_INSTANCE = re.compile(r"[A-Za-z0-9][\w.-]*?__[\w.-]+?-\d+")
# as SWE-bench and its kin write it: owner__repository-number
_SUFFIXES = (".traj.json", ".trajectory.json", ".json", ".jsonl", ".traj", ".eval")


def parts(name: str) -> tuple[str, ...]:
    """Give the folders and the file of a path, however its separators are written."""
    return PurePosixPath(name.replace("\\", "/")).parts


def by_folder(names: Iterable[str]) -> dict[tuple[str, ...], list[str]]:
    """Group names by the folder that holds them."""
    folders: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        folders.setdefault(parts(name)[:-1], []).append(name)
    return folders


def stem(name: str) -> str:
    """Give the file's name without its folders and its suffix."""
    last = parts(name)[-1] if parts(name) else ""
    for suffix in _SUFFIXES:
        if last.lower().endswith(suffix) and len(last) > len(suffix):
            return last[: -len(suffix)]
    return last


def instance_id(name: str) -> str:
    """Give the benchmark instance that the file or its folder is named after, or ""."""
    for part in reversed(parts(name)):
        match = _INSTANCE.match(part)
        if match:
            return match.group()
    return ""
