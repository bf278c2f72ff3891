"""The long fault test: `python -m tests.bench.chaos` (`make chaos`).

While an upload goes in, workers are killed at random moments, Redis is restarted
with its data gone, PostgreSQL is restarted, and the disk is filled once.
Afterwards the figures must equal the corpus's ground truth exactly.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from tests.bench.ingest import GENERATOR, ROOT, make_corpus

SETTLE_SECONDS = 900


def main() -> None:
    """Run it and say what was seen; the exit code is 1 if a figure is off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument(
        "--restarts", type=int, default=5, help="of Redis, of PostgreSQL"
    )
    parser.add_argument("--seed", type=int, default=11)
    wanted = parser.parse_args()
    if not GENERATOR.is_file():
        sys.exit("The generator of the corpus (../shared/bench) is not there.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["ERRATA_VAR"] = str(folder / "var")
        os.environ["UPLOAD_PART_KB"] = "1024"  # many parts, so that kills meet them
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
        corpus = make_corpus(folder, wanted.runs, as_array=False)
        truth = json.loads(corpus.with_suffix(".summary.json").read_text())
        sys.exit(Chaos(folder, corpus, truth, random.Random(wanted.seed)).run(wanted))


class Chaos:
    """One storm over one upload."""

    def __init__(
        self, folder: Path, corpus: Path, truth: dict[str, Any], draw: random.Random
    ) -> None:
        """Start the servers on an empty folder of state."""
        from apps.config import embedded

        self.embedded = embedded
        self.folder, self.corpus, self.truth, self.draw = folder, corpus, truth, draw
        self.workers: list[subprocess.Popen[bytes]] = []
        embedded.ensure_running()
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)

    def run(self, wanted: argparse.Namespace) -> int:
        """Upload in the storm, let it settle, compare."""
        from django.core.files import File

        from apps.accounts.actions import ensure_workspace
        from apps.uploads import actions

        workspace = ensure_workspace("chaos")
        print("full disk:", self.fill_disk(workspace))
        with self.corpus.open("rb") as stream:
            upload = actions.receive(workspace, "corpus.jsonl", File(stream))
        self.requeue()
        blows = ["worker"] * wanted.kills
        blows += ["redis", "postgres"] * wanted.restarts
        self.draw.shuffle(blows)
        began = time.monotonic()
        done_in_storm = 0
        for blow in blows:
            self.keep_workers(2)
            time.sleep(self.draw.uniform(0.2, 2.0))
            done_in_storm += not self.is_open(upload)
            self.strike(blow)
        print(
            f"{len(blows)} blows in {time.monotonic() - began:.0f} s;"
            f" the upload had ended before {done_in_storm} of them"
        )
        deadline = time.monotonic() + SETTLE_SECONDS
        while self.is_open(upload) and time.monotonic() < deadline:
            self.keep_workers(2)
            self.requeue()
            time.sleep(3)
        for worker in self.workers:
            worker.kill()
        faults = self.compare(workspace, upload)
        self.embedded.stop()
        print("\n".join(faults) or "every figure equals the ground truth")
        return 1 if faults else 0

    def strike(self, blow: str) -> None:
        """Kill a worker; or restart Redis without its data; or PostgreSQL."""
        if blow == "worker":
            victim = self.draw.choice(self.workers)
            victim.kill()
            victim.wait()
            return
        state = str(self.folder / "var")
        for process in psutil.process_iter(["name", "cmdline"]):
            name = process.info["name"] or ""
            line = " ".join(process.info["cmdline"] or [])
            is_redis = blow == "redis" and "redis" in name
            is_postgres = blow == "postgres" and name == "postgres" and "-D" in line
            if (is_redis or is_postgres) and state in line + self._folder_of(process):
                process.send_signal(signal.SIGKILL if is_redis else signal.SIGINT)
                psutil.wait_procs([process], timeout=20)
        if blow == "redis":
            for path in (self.folder / "var" / "redis").glob("*"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.embedded.ensure_running()
        from django.db import connections

        connections.close_all()
        self.requeue()

    @staticmethod
    def _folder_of(process: psutil.Process) -> str:
        try:
            return process.cwd()
        except psutil.Error:
            return ""

    def keep_workers(self, count: int) -> None:
        """Start workers until so many live."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        command = [sys.executable, "-m", "celery", "-A", "apps.config.celery", "worker"]
        command += ["--pool", "solo", "--without-gossip", "--without-mingle"]
        while len(self.workers) < count:
            name = f"chaos-{time.monotonic_ns()}@local"
            self.workers.append(
                subprocess.Popen(
                    [*command, "-n", name],
                    cwd=ROOT,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    @staticmethod
    def requeue() -> None:
        """Do what beat does each minute, at once."""
        from apps.uploads.tasks import requeue_forgotten_task

        requeue_forgotten_task(after_seconds=0)

    @staticmethod
    def is_open(upload: Any) -> bool:
        """Look whether the upload is still open."""
        upload.refresh_from_db()
        return bool(upload.is_open)

    def fill_disk(self, workspace: Any) -> str:
        """Upload into a folder without room; say what the row says."""
        from django.core.files import File
        from django.test import override_settings

        from apps.uploads import actions

        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(small)],
            capture_output=True,
        )
        if mounted.returncode:
            return "not tried: a small file system cannot be mounted here"
        try:
            with override_settings(MEDIA_ROOT=small), self.corpus.open("rb") as stream:
                upload = actions.receive(workspace, "too-large.jsonl", File(stream))
            left = sum(
                path.stat().st_size for path in small.rglob("*") if path.is_file()
            )
            return f"{upload.state}, {left} bytes left behind: {upload.reason}"
        finally:
            subprocess.run(["umount", str(small)], check=True)

    def compare(self, workspace: Any, upload: Any) -> list[str]:
        """List every figure that is not the ground truth's."""
        from apps.overview.report import report
        from apps.runs.models import Run, ToolError
        from apps.uploads.models import Part

        found, truth = report(workspace), self.truth
        with_error = truth["runs_with_error"]
        pairs = {
            "state": (upload.state, "done"),
            "runs": (found["runs"], truth["runs"]),
            "rows of runs": (Run.objects.count(), truth["runs"]),
            "tool calls": (found["tool_calls"], truth["tool_calls"]),
            "tool errors": (found["tool_errors"], truth["tool_errors"]),
            "rows of errors": (
                ToolError.objects.filter(is_counted=True).count(),
                truth["tool_errors"],
            ),
            "correct": (found["with_error"]["correct"], with_error["recovered_runs"]),
            "incorrect": (found["with_error"]["incorrect"], with_error["failed_runs"]),
            "open parts": (Part.objects.filter(is_done=False).count(), 0),
        }
        return [
            f"{name}: {ours}, not {right}"
            for name, (ours, right) in pairs.items()
            if ours != right
        ]


if __name__ == "__main__":
    main()
