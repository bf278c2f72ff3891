"""Imports between apps go down a level, never up or sideways."""

import ast
from pathlib import Path

import pytest

APPS = Path(__file__).resolve().parents[1] / "apps"
LEVELS = {
    "config": 8,
    "api": 7,
    "overview": 6,
    "triage": 5,
    "codes": 5,
    "trends": 4,
    "uploads": 3,
    "labels": 3,
    "rewrites": 3,
    "runs": 2,
    "catalogue": 1,
    "accounts": 0,
    "ui": 0,
}
# What any app may import of another, whatever its level: the Celery application's
# settings are read by name, and `embedded` knows no app.
OPEN_MODULES = {"apps.config.embedded"}


def imported_modules(path: Path) -> list[tuple[int, str]]:
    """List (line, module) of a file's imports, relative ones made absolute."""
    package = ".".join(path.relative_to(APPS.parent).parent.parts)
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parent = parts[: len(parts) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            found += [(node.lineno, base)]
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def wrong_imports() -> list[str]:
    """List every import that goes up or sideways."""
    wrong = []
    for path in sorted(APPS.rglob("*.py")):
        app = path.relative_to(APPS).parts[0]
        if "migrations" in path.parts or app not in LEVELS:
            continue  # Django writes migrations' dependencies
        for line, module in imported_modules(path):
            parts = module.split(".")
            if parts[0] != "apps" or len(parts) < 2 or parts[1] == app:
                continue
            if any(module.startswith(name) for name in OPEN_MODULES):
                continue
            if LEVELS.get(parts[1], 99) >= LEVELS[app]:
                wrong.append(f"{path.relative_to(APPS.parent)}:{line} imports {module}")
    return sorted(set(wrong))


def test_imports_go_down_the_ladder():
    assert wrong_imports() == []


def test_every_app_has_a_level():
    folders = {p.name for p in APPS.iterdir() if p.is_dir() and p.name != "__pycache__"}

    assert folders <= set(LEVELS)


@pytest.mark.parametrize("folder", ["apps", "tests"])
def test_no_file_is_over_400_lines(folder):
    lengths = {
        str(path): len(path.read_text().splitlines())
        for path in (APPS.parent / folder).rglob("*.py")
    }

    assert {path: n for path, n in lengths.items() if n > 400} == {}
