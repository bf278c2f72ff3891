"""How fast an upload becomes figures: `python -m tests.bench.ingest`.

A database of its own, real workers, from the first byte read until every figure of
the overview is final. In the same run two limits: the file through `orjson.loads`
alone, and the bare minimum (typed decoding, zstd of each transcript, COPY of the same
rows).
"""

import argparse
import io
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import orjson
import psutil
import zstandard

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT.parent / "shared" / "bench" / "make_corpus.py"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--as-array", action="store_true", help="one JSON array")
    wanted = parser.parse_args()
    if not GENERATOR.is_file():
        sys.exit("The generator of the corpus (../shared/bench) is not there.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ERRATA_VAR"] = str(Path(folder) / "var")
        os.environ.pop("DATABASE_URL", None)
        os.environ.pop("REDIS_URL", None)
        corpus = make_corpus(Path(folder), wanted.runs, wanted.as_array)
        measure(corpus, wanted.runs, wanted.workers)


def make_corpus(folder: Path, runs: int, as_array: bool) -> Path:
    """Write the corpus; as lines, or as one JSON array."""
    path = folder / "corpus.jsonl"
    command = [sys.executable, str(GENERATOR), "--runs", str(runs), "--out", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if not as_array:
        return path
    whole = folder / "corpus.json"
    with path.open("rb") as lines, whole.open("wb") as out:
        out.write(b"[\n")
        for number, line in enumerate(lines):
            out.write((b",\n" if number else b"") + line.rstrip(b"\n"))
        out.write(b"\n]\n")
    return whole


def measure(corpus: Path, runs: int, workers: list[int]) -> None:
    """Run the limits and then Errata with each number of workers."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
    from apps.config import embedded

    embedded.ensure_running()
    try:
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        size = corpus.stat().st_size
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version[:6]}")
        print(f"{runs:,} runs, {size / 1e6:.0f} MB, {corpus.suffix}")
        loads = orjson_alone(corpus)
        print(
            f"orjson.loads alone: {runs / loads:,.0f} runs/s,"
            f" {size / loads / 1e6:.0f} MB/s"
        )
        minimum = bare_minimum(corpus)
        print(
            f"bare minimum: {runs / minimum:,.0f} runs/s,"
            f" {size / minimum / 1e6:.0f} MB/s"
        )
        for count in workers:
            errata(corpus, runs, count, loads, minimum)
    finally:
        embedded.stop()


def documents(corpus: Path) -> Iterator[bytes]:
    """Yield the bytes of each run."""
    with corpus.open("rb") as stream:
        for line in stream:
            text = line.strip().rstrip(b",")
            if len(text) > 1:
                yield text


def orjson_alone(corpus: Path) -> float:
    """Seconds to parse each run."""
    began = time.perf_counter()
    for document in documents(corpus):
        orjson.loads(document)
    return time.perf_counter() - began


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct):
    id: str
    function: _Function


class _Message(msgspec.Struct):
    role: str
    content: str | None = None
    tool_calls: list[_Call] = []
    tool_call_id: str = ""
    name: str = ""
    is_error: bool = False


class _Run(msgspec.Struct):
    run_id: str
    started_at: str
    model: str
    messages: list[_Message]


def bare_minimum(corpus: Path) -> float:
    """Seconds to decode, compress and COPY rows of the same number and width."""
    from django.db import connection

    from apps.uploads.copying import copy_rows

    decode = msgspec.json.Decoder(_Run).decode
    encode = msgspec.msgpack.Encoder().encode
    compress = zstandard.ZstdCompressor(level=3).compress
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bare_runs (id int8 PRIMARY KEY, a text, b text, c text,"
            " data bytea)"
        )
        cursor.execute(
            "CREATE TABLE bare_errors (id int8 PRIMARY KEY, run int8, a text, b text,"
            " c text, d text, e text, f int4, g int4, h bool)"
        )
    began = time.perf_counter()
    runs: list[Any] = []
    errors: list[Any] = []
    number = 0
    for number, document in enumerate(documents(corpus)):
        run = decode(document)
        runs.append(
            (number, run.run_id, run.started_at, run.model, compress(encode(run)))
        )
        for place, message in enumerate(run.messages):
            if message.is_error:
                key = number * 1000 + place
                text = message.content or ""
                errors.append(
                    (
                        key,
                        number,
                        message.name,
                        text,
                        "failed",
                        "flagged",
                        "x",
                        place,
                        1,
                        True,
                    )
                )
        if len(runs) >= 250:
            _copy_bare(copy_rows, runs, errors)
            runs, errors = [], []
    _copy_bare(copy_rows, runs, errors)
    return time.perf_counter() - began


def _copy_bare(copy_rows: Any, runs: list[Any], errors: list[Any]) -> None:
    texts = [(name, "text") for name in "abc"]
    copy_rows("bare_runs", [("id", "int8"), *texts, ("data", "bytea")], runs)
    more = [("d", "text"), ("e", "text"), ("f", "int4"), ("g", "int4"), ("h", "bool")]
    copy_rows("bare_errors", [("id", "int8"), ("run", "int8"), *texts, *more], errors)


def errata(corpus: Path, runs: int, count: int, loads: float, minimum: float) -> None:
    """Upload the corpus with a number of worker processes and print the figures."""
    from django.core.files import File

    from apps.accounts.actions import ensure_workspace
    from apps.overview.report import report
    from apps.uploads import actions
    from apps.uploads.tasks import ingest_upload_task

    workspace = ensure_workspace(f"bench-{count}")
    with workers_running(count) as processes:
        before = cpu_seconds(processes)
        watch = Watch(processes)
        began = time.perf_counter()
        with corpus.open("rb") as stream:
            upload = actions.receive(
                workspace, corpus.name, File(io.BufferedReader(stream))
            )
        received = time.perf_counter() - began
        ingest_upload_task.delay(upload.pk)
        while upload.is_open:
            time.sleep(0.02)
            upload.refresh_from_db()
        found = report(workspace)
        seconds = time.perf_counter() - began
        watch.stop()
        spent = {
            name: cpu - before[name] for name, cpu in cpu_seconds(processes).items()
        }
    assert found["runs"] == runs, (found["runs"], upload.reason)
    size = corpus.stat().st_size
    print(f"\nErrata, {count} worker{'s' if count > 1 else ''}:")
    print(f"  {seconds:.1f} s ({received:.1f} s of them to receive and redact)")
    print(
        f"  {runs / seconds:,.0f} runs/s,"
        f" {found['tool_calls'] / seconds:,.0f} tool calls/s,"
        f" {size / seconds / 1e6:.1f} MB/s"
    )
    reading = seconds - received
    print(f"  reading alone: {runs / reading:,.0f} runs/s")
    print(
        f"  against orjson.loads {loads / seconds:.2f}, against the bare minimum"
        f" {minimum / seconds:.2f} (reading alone {minimum / reading:.2f})"
    )
    total = sum(spent.values())
    parts = ", ".join(f"{name} {1000 * cpu / runs:.2f}" for name, cpu in spent.items())
    print(
        f"  CPU ms a run: {parts}; cores busy {total / seconds:.2f} of {os.cpu_count()}"
    )
    print(f"  peak memory of a worker {watch.peak / 1e6:.0f} MB")


@contextmanager
def workers_running(count: int) -> Iterator[list[psutil.Process]]:
    """Run that many worker processes of one process each."""
    command = [sys.executable, "-m", "celery", "-A", "apps.config.celery", "worker"]
    command += [
        "--pool",
        "solo",
        "--without-gossip",
        "--without-mingle",
        "-l",
        "WARNING",
    ]
    running = [
        subprocess.Popen(
            [*command, "-n", f"bench-{n}@local"],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for n in range(count)
    ]
    from apps.config.celery import app

    while len(app.control.inspect(timeout=1).ping() or {}) < count:
        pass
    try:
        yield [psutil.Process(p.pid) for p in running]
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


def cpu_seconds(workers: list[psutil.Process]) -> dict[str, float]:
    """CPU seconds so far of this process, workers, PostgreSQL and Redis."""
    state = os.environ["ERRATA_VAR"]
    spent = {"receive": _cpu(psutil.Process()), "workers": sum(map(_cpu, workers))}
    spent |= {"postgres": 0.0, "redis": 0.0}
    for process in psutil.process_iter(["name"]):
        name = process.info["name"]
        kind = "postgres" if name == "postgres" else "redis" if "redis" in name else ""
        if kind and _is_ours(process, state):
            spent[kind] += _cpu(process) + _cpu_of_ended_children(process)
    return spent


def _is_ours(process: psutil.Process, state: str) -> bool:
    try:
        top = process
        while True:
            if state in " ".join(top.cmdline()) or state in top.cwd():
                return True
            parent = top.parent()
            if parent is None or parent.name() != "postgres":
                return False
            top = parent
    except psutil.Error:
        return False


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _cpu_of_ended_children(process: psutil.Process) -> float:
    """CPU of backends that have ended: a worker's connection lasts for a part."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.children_user + times.children_system)


class Watch:
    """Watches the memory of workers until it is stopped."""

    def __init__(self, workers: list[psutil.Process]) -> None:
        """Begin to watch."""
        self.peak = 0
        self._workers = workers
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(0.05):
            for process in self._workers:
                try:
                    self.peak = max(self.peak, process.memory_info().rss)
                except psutil.Error:
                    continue

    def stop(self) -> None:
        """End it."""
        self._ended.set()
        self._thread.join()


if __name__ == "__main__":
    main()
