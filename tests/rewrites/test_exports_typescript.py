"""The catalogue as a TypeScript module: compiled strictly, run with Node.

The compiler and a SQLite for Node come from npm once, into `var/`; where there is no
npm, no Node or no network these tests skip and say so.
"""

import fcntl
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from apps.rewrites.exports.catalogue import content_hash
from apps.rewrites.exports.python_module import to_python
from apps.rewrites.exports.typescript_module import PARTS, to_typescript
from tests.rewrites.export_samples import make_catalogue

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXPORTS = ROOT / "apps" / "rewrites" / "exports"
TOOLS = ROOT / "var" / "npm-exports"
PACKAGES = ("typescript@5.9.3", "sql.js@1.13.0")
STRICT = {
    "strict": True,
    "target": "es2022",
    "lib": ["es2022"],
    "types": [],
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "moduleDetection": "force",
    "verbatimModuleSyntax": True,
    "noUncheckedIndexedAccess": True,
    "exactOptionalPropertyTypes": True,
    "noImplicitReturns": True,
    "noImplicitOverride": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
    "noPropertyAccessFromIndexSignature": True,
    "noFallthroughCasesInSwitch": True,
}


@pytest.fixture(scope="module")
def tsc():
    """The command of the compiler."""
    if not shutil.which("node") or not shutil.which("npm"):
        pytest.skip("there is no Node or no npm here: TypeScript is not tested")
    TOOLS.mkdir(parents=True, exist_ok=True)
    compiler = TOOLS / "node_modules" / "typescript" / "bin" / "tsc"
    with (TOOLS / "lock").open("w") as lock:  # several workers may come at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (compiler.exists() and (TOOLS / "node_modules" / "sql.js").exists()):
            flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save"]
            command = ["npm", "install", *flags, "--prefix", str(TOOLS), *PACKAGES]
            try:
                done = subprocess.run(command, capture_output=True, timeout=150)
            except subprocess.TimeoutExpired:
                pytest.skip("npm did not answer: TypeScript is not tested")
            if done.returncode:
                pytest.skip("npm cannot install here: TypeScript is not tested")
    return ["node", str(compiler)]


def compile_strictly(tsc, folder, **options):
    """Compile every file of a folder; returns what the compiler says."""
    (folder / "package.json").write_text('{"type": "module"}')
    config = {"compilerOptions": {**STRICT, **options}, "include": ["*.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(config))
    done = subprocess.run(
        [*tsc, "-p", str(folder)], capture_output=True, text=True, timeout=150
    )
    return done.stdout


def test_module_compiles_strictly_and_agrees_with_python(tsc, tmp_path):
    catalogue = make_catalogue()
    (tmp_path / "catalogue.ts").write_text(to_typescript(catalogue), encoding="utf-8")
    (tmp_path / "catalogue.py").write_text(to_python(catalogue), encoding="utf-8")
    sample = tmp_path / "sample.json"
    script = [sys.executable, "-I", str(HERE / "exercise_module.py")]
    with sample.open("w") as out:
        subprocess.run(
            [*script, str(tmp_path / "catalogue.py")], stdout=out, check=True
        )

    assert compile_strictly(tsc, tmp_path, declaration=True) == ""
    done = subprocess.run(
        [
            "node",
            str(HERE / "exercise_module.mjs"),
            str(tmp_path / "catalogue.js"),
            str(sample),
            str(TOOLS / "node_modules" / "sql.js"),
        ],
        capture_output=True,
        text=True,
        timeout=150,
    )

    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told == {
        "roundTrips": 8 * 4 * 5 * 8 * 5,
        "scenarios": 9 * 2,
        "hash": content_hash(catalogue),
    }


def test_every_part_compiles_as_it_stands(tsc, tmp_path):
    for part in PARTS:
        shutil.copy(EXPORTS / part, tmp_path)

    said = compile_strictly(tsc, tmp_path, noEmit=True, allowImportingTsExtensions=True)

    assert said == ""


def test_module_imports_nothing():
    source = to_typescript(make_catalogue())

    assert "import " not in source.split("*/")[1]
    assert source == to_typescript(make_catalogue())
    source.encode("utf-8")
