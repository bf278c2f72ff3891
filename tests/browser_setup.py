"""A Chromium for the browser tests: found, or fetched by the ordinary means.

`python -m tests.browser_setup` says what it did; tests call `chromium_path`.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)

# What a browser needs in a container, and what keeps it from calling home.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class NoChromiumError(Exception):
    """There is no Chromium; the message says what to do."""


def chromium_path() -> str:
    """Return the path of a Chromium that runs: CHROMIUM_PATH, the path's, Playwright's.

    Raises NoChromiumError if there is none.
    """
    for program in _candidates():
        if _runs(program):
            return program
    raise NoChromiumError(
        "The browser tests need a Chromium. Install one (on Debian: apt-get install "
        "chromium; elsewhere: .venv/bin/playwright install chromium), or name its "
        "program in CHROMIUM_PATH."
    )


def get_chromium() -> str:
    """Return the path of a Chromium; get one if there is none, and say how."""
    try:
        program = chromium_path()
    except NoChromiumError:
        if "CHROMIUM_PATH" in os.environ:
            raise
        _say("No Chromium on the path.")
    else:
        _say(f"Chromium: {program}")
        return program
    for attempt in (_from_playwright, _from_the_system):
        attempt()
        try:
            program = chromium_path()
        except NoChromiumError:
            continue
        _say(f"Chromium: {program}")
        return program
    return chromium_path()


def _candidates() -> Iterator[str]:
    if named := os.environ.get("CHROMIUM_PATH"):
        yield named
        return
    yield from filter(None, map(shutil.which, _NAMES))
    # Asked last: it takes half a second.
    if own := _playwright_path():
        yield own


def _from_playwright() -> None:
    _try(
        "Asking Playwright for its own",
        [sys.executable, "-m", "playwright", "install", "chromium"],
    )


def _from_the_system() -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        _say("Not root on a Debian: the system's package is left alone.")
        return
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _try("Asking apt-get for its list", ["apt-get", "update", "-q"], quiet)
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends"]
    # Without a font the pages would be blank.
    packages = ["chromium", "fonts-liberation"]
    _try("Asking apt-get for a browser", [*install, *packages], quiet)


def _try(what: str, command: list[str], env: dict[str, str] | None = None) -> None:
    _say(f"{what}: {' '.join(command)}")
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=900, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        _say(f"  failed: {error}")
        return
    if done.returncode:
        last = (done.stdout + done.stderr).strip().splitlines()[-3:]
        _say("  failed:", *last)


def _playwright_path() -> str | None:
    """Return where Playwright keeps its Chromium, if it fetched one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = playwright.chromium.executable_path
    return program if Path(program).exists() else None


def _runs(program: str) -> bool:
    """Tell whether a program is a browser, not a stub that asks for a snap."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and "Chrom" in answer.stdout


def _say(*lines: str) -> None:
    print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    try:
        get_chromium()
    except NoChromiumError as error:
        sys.exit(str(error))
