"""Rows into PostgreSQL by binary COPY, the fastest way in."""

from collections.abc import Iterable, Sequence

from django.db import connection
from psycopg import sql


def copy_rows(
    table: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[object]]
) -> None:
    """Write rows; `columns` are name and PostgreSQL type, in the order of the rows."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table),
        sql.SQL(", ").join(sql.Identifier(name) for name, _ in columns),
    )
    connection.ensure_connection()
    assert connection.connection is not None
    with connection.connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([kind for _, kind in columns])
        for row in rows:
            copy.write_row(row)


def next_ids(table: str, count: int) -> list[int]:
    """Take `count` new ids of a table's sequence."""
    if not count:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id'))"
            " FROM generate_series(1, %s)",
            [table, count],
        )
        return [row[0] for row in cursor.fetchall()]
