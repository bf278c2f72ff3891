"""Tells whether a call failed, how that is known, and why it failed. Pure.

The strongest evidence wins: the log's own flag; a structured field (exit code, error
code, an envelope in the result); a named rule on the head of the text. Where the log
says that the call went well, words of a program's output count for less: they make a
suggestion (`masked`), which counts only after a person's word.
"""

from typing import Literal

import msgspec

from .command_lines import asks_by_exit_code, command_of, is_shell
from .error_objects import holds_inner_error, is_error_object
from .exit_codes import exit_code_of
from .rules import DEFAULT_RULES, Rules
from .text_rules import (
    FRAMEWORK_RULES,
    HEAD_CHARS,
    PHRASE_RULES,
    cause_of,
    matching_rules,
)
from .transcript import Call, Cause, Result

__all__ = [
    "EVIDENCE_RULES",
    "Evidence",
    "Verdict",
    "assess",
    "cause_of",
    "is_error_object",
    "judge",
]

Evidence = Literal["flagged", "structured", "textual", "masked"]

EVIDENCE_RULES: dict[str, str] = {
    "exit-code": "a process ended with a code other than 0",
    "json-error": "the result is an object that reports an error",
    "error-code": "the log names an error code",
    "denied": "fixed words say that a person or a policy refused the call",
    "sibling": "fixed words say that a parallel call failed and stopped this one",
    "unknown-tool": "fixed words say that there is no such tool",
    "bad-args": "fixed words say that the arguments were refused before the call",
    "masked-cause": "a framework's fixed sentence that hides the cause",
    "known-text": "a known program's fixed sentence for a failure",
    "traceback": "the result is a stack trace",
    "traceback-end": "the result ends with a Python stack trace",
    "error-prefix": "the result begins with “Error:”, “Failed to …” or the like",
    "exception-name": "the result begins with the name of an exception",
    "status-line": "the result begins with a 4xx or 5xx status",
    "errno": "the result begins with an operating-system error",
    "program-message": "the result begins with a command's own complaint",
    "failure-phrase": "a short first line says that something failed",
    "argument-phrase": "a short result says what an argument must be",
    "refusal-phrase": "a short first line begins with a refusal",
    "inner-error": "a result that seems a success holds an error object",
    "traceback-inside": "a command that ended well printed a stack trace",
    "empty-result": "nothing came back from a call that elsewhere fails or finds",
}
"""Every rule that can be switched off, with its meaning."""

PERSONS_WORD = "a person's word"  # the rule of a `masked` error that counts
_TRACEBACK = "Traceback (most recent call last):"


class Verdict(msgspec.Struct, frozen=True):
    """Why a call counts as failed."""

    cause: Cause
    evidence: Evidence
    rule: str  # the field or the named rule that said so
    is_delivered: bool = True

    @property
    def is_tool_error(self) -> bool:
        """Whether it counts: failed or rejected, seen by the model, not a guess."""
        counts = self.cause in ("failed", "rejected") and self.is_delivered
        return counts and not self.is_guess

    @property
    def is_guess(self) -> bool:
        """Whether the call seems to have gone well and nobody has said otherwise."""
        return self.evidence == "masked" and self.rule != PERSONS_WORD


def judge(call: Call, rules: Rules = DEFAULT_RULES) -> Verdict | None:
    """Judge one call; None: it did not fail, as far as can be known.

    A call without a result has the cause `no_result`, which is no error.
    """
    verdict = assess(call, rules)
    return None if verdict is None or verdict.evidence == "masked" else verdict


def assess(call: Call, rules: Rules = DEFAULT_RULES) -> Verdict | None:
    """Judge one call; where it seems to have gone well, a verdict may be `masked`."""
    result = call.result
    if result is None:
        return Verdict("no_result", "structured", "no result in the log", False)
    if result.pending:
        return None
    if result.is_error:
        cause = result.cause or cause_of(result.text)
        return Verdict(cause, "flagged", result.flag or "flag", result.delivered)
    if result.cause:
        rule = result.flag or "the log says so"
        return Verdict(result.cause, "structured", rule, result.delivered)
    evidence, rule = _evidence(call, result, rules)
    if not rule:
        return None
    return Verdict(cause_of(result.text), evidence, rule, result.delivered)


def _evidence(call: Call, result: Result, rules: Rules) -> tuple[Evidence, str]:
    """Name the first enabled rule that a result without a flag meets; "": none."""
    text, tool, code = result.text, call.tool, result.exit_code
    is_object = text.startswith("{") or (
        text[:1].isspace() and text[:HEAD_CHARS].lstrip().startswith("{")
    )
    if code is None and not is_object:
        code = exit_code_of(text)
    if code and rules.is_enabled("exit-code", tool) and not _is_answer(call, code):
        return "structured", "exit-code"
    if result.error_code and rules.is_enabled("error-code", tool):
        return "structured", "error-code"
    if is_object:
        if is_error_object(text) and rules.is_enabled("json-error", tool):
            return "structured", "json-error"
        if holds_inner_error(text) and rules.is_enabled("inner-error", tool):
            return "masked", "inner-error"
        return "textual", ""
    for name in matching_rules(text):
        if rules.is_enabled(name, tool):
            outweighed = _outweighs(call, result, code, name)
            return "masked" if outweighed else "textual", name
    went_well = code == 0 or (result.is_error is False and is_shell(tool))
    if went_well and _TRACEBACK in text and rules.is_enabled("traceback-inside", tool):
        return "masked", "traceback-inside"
    return "textual", ""


def _is_answer(call: Call, code: int) -> bool:
    """Whether exit 1 is how this command says “nothing” or “differs” (grep, diff)."""
    return code == 1 and asks_by_exit_code(command_of(call.arguments))


def _outweighs(call: Call, result: Result, code: int | None, name: str) -> bool:
    """Whether the log says “went well” more strongly than these words say “failed”.

    Exit code 0 does, and for a shell a flag that is not set: a pipe may have printed
    a failure and gone on. Elsewhere an unset flag outweighs only the weak rules: some
    writers never set it.
    """
    if name in FRAMEWORK_RULES:
        return False
    if code is not None:
        return True
    if result.is_error is False:
        return name in PHRASE_RULES or is_shell(call.tool)
    return False
