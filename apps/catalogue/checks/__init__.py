"""What is wrong with a text: one check a module, the same in the editor and in lint.

A new check is a new module and a line in `_MODULES`; its cases are its test, and
`python -m apps.catalogue.checks.docs` writes its entry in `docs/checks.md`.
"""

from apps.catalogue.checks import (
    alarming_words,
    delay_not_repeatable,
    echoes_input,
    empty_as_error,
    envelope_contradicts,
    leaks_host,
    leaks_path,
    leaks_secret,
    leaks_sql,
    leaks_stack,
    loop_through_clear_text,
    masked_failure,
    names_no_way_on,
    no_constraint,
    relative_wait,
    retry_not_said,
    selects_no_branch,
    selects_several,
    tempting_wrong_move,
    text_against_envelope,
    too_long,
    unknown_tool,
    unknown_with_retry,
    upstream_instructions,
    variable_in_prose,
    wrapper_contradicts,
)
from apps.catalogue.checks.subject import Check, Events, Finding, Severity, Subject

__all__ = ["Check", "Events", "Finding", "Severity", "Subject", "all_checks", "run"]

_MODULES: tuple[Check, ...] = (
    alarming_words,
    delay_not_repeatable,
    echoes_input,
    empty_as_error,
    envelope_contradicts,
    leaks_host,
    leaks_path,
    leaks_secret,
    leaks_sql,
    leaks_stack,
    loop_through_clear_text,
    masked_failure,
    names_no_way_on,
    no_constraint,
    relative_wait,
    retry_not_said,
    selects_no_branch,
    selects_several,
    tempting_wrong_move,
    text_against_envelope,
    too_long,
    unknown_tool,
    unknown_with_retry,
    upstream_instructions,
    variable_in_prose,
    wrapper_contradicts,
)
_ORDER = tuple(Severity)


def all_checks() -> tuple[Check, ...]:
    """Every check, errors first, then by id."""
    return tuple(sorted(_MODULES, key=lambda c: (_ORDER.index(c.SEVERITY), c.ID)))


def run(subject: Subject) -> list[Finding]:
    """Everything that is wrong with a text, the worst first."""
    return [finding for check in all_checks() for finding in check.check(subject)]
