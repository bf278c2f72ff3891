"""The text shows SQL or a message of the database."""

import re

from apps.catalogue.checks.subject import Finding, Severity, Subject
from apps.catalogue.checks.wording import spans
from apps.catalogue.contradictions import Contract

ID = "leaks-sql"
SEVERITY = Severity.ERROR
MEANING = "The text shows SQL or a message of the database."
WHY = (
    "The agent starts to write around the query, and a customer may be read table "
    "names."
)
FIX = "Say in words what was not found or not allowed; keep the statement in the trace."

_PATTERN = re.compile(
    r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\b[^.]{0,200}?"
    r"\b(?:FROM|SET|VALUES|WHERE)\b|\bSQLSTATE\b|\bERROR \d{4} \(|\bORA-\d{5}\b"
    r"|\bPG::|\bpsycopg|\bsqlite3\.|java\.sql\.|^LINE \d+:"
    r"|(?i:relation \"[^\"]{0,100}\" does not exist|\bunknown column\b"
    r"|syntax error at or near|duplicate key value violates"
    r"|violates \S{1,80} constraint|canceling statement due to"
    r"|remaining connection slots)",
    re.MULTILINE,
)


def check(subject: Subject) -> list[Finding]:
    """Look at both messages: the customer's must not show it either."""
    found = spans(_PATTERN, subject.text)
    told = subject.envelope.user_message if subject.envelope else ""
    if not found and not _PATTERN.search(told):
        return []
    where = "" if found else " in the customer's message"
    return [
        Finding(
            ID,
            SEVERITY,
            f"It shows SQL or the database's own words{where}.",
            FIX,
            found,
        )
    ]


CASES_PASS = (
    Subject("Column acct does not exist in orders. Call list_tables for the names."),
    Subject("Only SELECT is allowed here. Rewrite it as a SELECT."),
    Subject("Update the order, or select another one from the list."),
)
CASES_FAIL = (
    Subject("ERROR 1054 (42S22): Unknown column 'acct' in 'where clause'"),
    Subject("SELECT id FROM orders WHERE acct = 7 returned nothing"),
    Subject('psycopg.errors.UndefinedTable: relation "orders_x" does not exist'),
    Subject("Not found.", Contract(user_message="ORA-00942: no table or view")),
)
