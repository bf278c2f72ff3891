"""Exercise an exported Python module: `python exercise_module.py MODULE.py`.

Runs in a bare Python 3.9 or newer. Prints one JSON document: every rendering of an
envelope with every combination of enum values, for other languages to read.
"""

import importlib.util
import itertools
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import write_scenarios  # type: ignore[import-not-found] # noqa: E402 - found by the above


def load(path):
    spec = importlib.util.spec_from_file_location("exported_catalogue", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["exported_catalogue"] = module  # dataclasses look it up there
    spec.loader.exec_module(module)
    return module


def envelopes(m):
    """Every combination of enum values; the other fields are full in turn."""
    product = itertools.product(
        m.CATEGORIES, m.COMMIT_STATES, m.DIRECTIVES, m.NEXT_ACTIONS
    )
    for number, (category, state, directive, action) in enumerate(product):
        full = number % 2 == 0
        yield m.Envelope(
            code="crm.lookup_failed",
            category=category,
            commit_state=state,
            directive=directive,
            next_action=action,
            agent_message='Say "no" – 🎉\n\\ done.',
            user_message="Sorry, é." if full else "",
            domain="crm.example.com",
            not_before="2026-09-07T10:00:00Z" if full else "",
            max_attempts_remaining=number % 3 if full else None,
            owner=("", "runtime", "model")[number % 3],
            alternative_tool="find_user" if full else "",
            operation_ref="op-1" if full else "",
            safe_details={"a": 1, "b": ["x", None, True], "c": "ü"} if full else {},
            text_version=number % 5,
            catalogue_version="7",
        )


def renderings(m, envelope):
    """The five forms, and each read back."""
    return {
        "anthropic": (m.to_anthropic(envelope, "toolu_1"), m.from_anthropic),
        "openai": (m.to_openai(envelope, "call_1"), m.from_openai),
        "mcp": (m.to_mcp(envelope), m.from_mcp),
        "problem": (m.to_problem(envelope, "urn:event:1"), m.from_problem),
        "rpc": (m.to_rpc_status(envelope), m.from_rpc_status),
    }


def check_round_trips(m):
    count = 0
    for envelope in envelopes(m):
        for name, (form, back) in renderings(m, envelope).items():
            wanted = envelope.to_dict()
            if name in ("anthropic", "openai"):  # only the model reads these
                wanted.pop("user_message", None)
            through_json = json.loads(json.dumps(form))
            assert back(through_json).to_dict() == wanted, (name, form)
            count += 1
    return count


def check_runtime(m):
    for scenario in write_scenarios.SCENARIOS:
        scenario(m, m.MemoryStore)
        with tempfile.TemporaryDirectory() as folder:
            stores: list[Any] = []

            def open_store(folder=folder, stores=stores):
                stores.append(m.SqliteStore(f"{folder}/{len(stores)}.db"))
                return stores[-1]

            scenario(m, open_store)
            for store in stores:
                store.close()
    return len(write_scenarios.SCENARIOS)


def main(path):
    m = load(path)
    count, scenarios = check_round_trips(m), check_runtime(m)
    sample = [
        {
            "envelope": envelope.to_dict(),
            "forms": {k: form for k, (form, _) in renderings(m, envelope).items()},
        }
        for envelope in envelopes(m)
    ]
    json.dump(
        {"round_trips": count, "scenarios": scenarios, "sample": sample}, sys.stdout
    )


if __name__ == "__main__":
    main(sys.argv[1])
