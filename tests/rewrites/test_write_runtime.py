"""The write runtime of the exported Python module, in memory and in SQLite."""

import subprocess
import sys
from typing import Any

import pytest

from apps.rewrites.exports.python_module import to_python
from tests.rewrites import write_scenarios
from tests.rewrites.export_samples import load_exported, make_catalogue


@pytest.fixture(scope="module")
def module():
    return load_exported(make_catalogue())


@pytest.mark.parametrize(
    "scenario", write_scenarios.SCENARIOS, ids=lambda s: s.__name__
)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_write_runtime(module, scenario, kind, tmp_path):
    stores: list[Any] = []

    def open_store():
        path = str(tmp_path / f"{len(stores)}.db")
        memory = kind == "memory"
        stores.append(module.MemoryStore() if memory else module.SqliteStore(path))
        return stores[-1]

    scenario(module, open_store)

    if kind == "sqlite":
        for store in stores:
            store.close()


CRASH = """
import importlib.util, os, signal, sys
spec = importlib.util.spec_from_file_location("exported_catalogue", sys.argv[1])
m = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = m
spec.loader.exec_module(m)
database, written, how = sys.argv[2:]
runtime = m.WriteRuntime(m.SqliteStore(database), lease_seconds=0.0)

def send(args, ref):
    with open(written, "a") as file:
        file.write(ref + "\\n")
    if how == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"

def verify(ref):
    found = ref in open(written).read().split()
    return ("committed", "done", "line") if found else ("absent", None, "")

if how == "die":
    runtime.run(runtime.begin("pay", {}, "op-1").ref, send, verify)
print([o.state for o in runtime.resume(send, verify)])
"""


def test_a_killed_program_looks_up_its_write_after_the_restart(tmp_path):
    source = tmp_path / "catalogue.py"
    source.write_text(to_python(make_catalogue()), encoding="utf-8")
    written = tmp_path / "written"
    files = [str(tmp_path / "operations.db"), str(written)]

    runs = [
        subprocess.run(
            [sys.executable, "-c", CRASH, str(source), *files, how],
            capture_output=True,
            text=True,
        )
        for how in ("die", "go on")
    ]

    assert runs[0].returncode == -9
    assert (runs[1].stdout.strip(), runs[1].stderr) == ("['committed']", "")
    assert written.read_text().split() == ["op-1"]
