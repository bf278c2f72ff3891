"""Catalogues for the tests of exports."""

import sys
import types

from apps.catalogue.envelope import Category, CommitState, NextAction, RetryDirective
from apps.rewrites.exports.catalogue import (
    Catalogue,
    CodeEntry,
    TextEntry,
    ToolEntry,
)
from apps.rewrites.exports.python_module import to_python


def make_code(code: str = "refund.too_high", **changes) -> CodeEntry:
    fields = {
        "code": code,
        "texts": (
            TextEntry(1, "Refund failed."),
            TextEntry(2, "Call refund again with at most {limit}.", "At most {limit}."),
        ),
        "category": Category.VALIDATION,
        "commit_state": CommitState.NOT_COMMITTED,
        "next_action": NextAction.CORRECT_INPUT,
        "title": "Refund above the limit",
        "tool": "refund",
        "safe_details": ("limit",),
    }
    return CodeEntry(**{**fields, **changes})


TOOLS = (
    ToolEntry("refund", read_only=False, idempotent=False),
    ToolEntry("pay", read_only=False, idempotent=True, verification_tool="find_pay"),
    ToolEntry("find_pay", read_only=True),
)


def make_catalogue(*codes: CodeEntry, **changes) -> Catalogue:
    """One with nasty words in every place that ends up in source code."""
    nasty = 'Q"\'\\ \n\t${ x } `y` */ """ é 🎉 \u2028 </script>'
    fields = {
        "name": f"Crm {nasty}",
        "version": "7",
        "domain": "crm.example.com",
        "codes": codes
        or (
            make_code(),
            make_code("crm.lookup_failed", title=nasty, help_url="https://x.example/h"),
            make_code("a.words", texts=(TextEntry(1, nasty),), safe_details=()),
            *_all_actions(),
        ),
        "tools": TOOLS,
    }
    return Catalogue(**{**fields, **changes})


def _all_actions() -> list[CodeEntry]:
    """A code for each value of each enum."""
    codes = [
        make_code(
            f"every.action_{action}",
            category=list(Category)[number % len(Category)],
            commit_state=list(CommitState)[number % len(CommitState)],
            next_action=action,
            alternative_tool="find_pay" if action == "switch_tool" else "",
            tool="pay",
            max_attempts=number,
        )
        for number, action in enumerate(NextAction)
    ]
    return codes + [
        make_code(f"every.directive_{directive}", directive=directive)
        for directive in RetryDirective
    ]


def load_exported(catalogue: Catalogue) -> types.ModuleType:
    """The exported module, from its source alone."""
    module = types.ModuleType("exported_catalogue")
    sys.modules["exported_catalogue"] = module  # dataclasses look it up there
    exec(compile(to_python(catalogue), "catalogue.py", "exec"), module.__dict__)
    return module
