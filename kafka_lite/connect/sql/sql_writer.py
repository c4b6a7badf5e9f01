"""Writes rows, and makes or changes tables for them · book 8.3.2"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.sql import sql_sink_config as keys
from kafka_lite.connect.sql.sql_rows import SqlRow
from kafka_lite.connect.sql.sql_sink_config import InsertMode
from kafka_lite.connect.sql.sql_types import column_of

logger = logging.getLogger(__name__)


class SqlWriter:
    """Keeps the columns of the tables that it has seen. One transaction of the caller has all of a batch."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Of the parsed values of the sink's keys."""
        self._mode = InsertMode(values[keys.INSERT_MODE])
        self._batch_size: int = values[keys.BATCH_SIZE]
        self._creates: bool = values[keys.AUTO_CREATE]
        self._evolves: bool = values[keys.AUTO_EVOLVE]
        self._tables: dict[str, sa.Table] = {}

    def forget_tables(self) -> None:
        """After an error: the tables may have been changed by others."""
        self._tables.clear()

    def write(self, connection: sa.Connection, rows: Sequence[SqlRow]) -> None:
        """Write rows in their order. Raises ConnectError, sqlalchemy.exc.SQLAlchemyError."""
        for group in self._groups(rows):
            first = group[0]
            table = self._table(connection, first)
            if table is None:  # nothing to delete
                continue
            values = [row.values for row in group]
            if first.others is None:
                self._delete(connection, table, first, values)
            elif self._mode is InsertMode.UPDATE:
                self._update(connection, table, first, values)
            else:
                connection.execute(self._insert(connection.dialect.name, table, first), values)

    def _groups(self, rows: Sequence[SqlRow]) -> Iterator[list[SqlRow]]:
        """Rows with the same statement, at most ``batch.size``. The order of each table's rows is kept."""
        by_table = sorted(rows, key=lambda row: row.table)
        for _, same in groupby(by_table, key=lambda row: (row.table, row.others is None, tuple(row.schemas.items()))):
            group = list(same)
            for begin in range(0, len(group), self._batch_size):
                yield group[begin : begin + self._batch_size]

    # ── statements ────────────────────────────────────────────────────────────────────────────────────────────────

    def _insert(self, dialect: str, table: sa.Table, row: SqlRow) -> Any:
        if self._mode is InsertMode.INSERT:
            return table.insert()
        others = list(row.others or ())
        if dialect in ("mysql", "mariadb"):
            of_mysql = mysql.insert(table)
            changed = others or list(row.key)
            return of_mysql.on_duplicate_key_update({name: of_mysql.inserted[name] for name in changed})
        of: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}.get(dialect)
        if of is None:
            raise ConnectError(f"insert.mode=upsert is not there for {dialect}")
        insert = of(table)
        if not others:
            return insert.on_conflict_do_nothing(index_elements=list(row.key))
        return insert.on_conflict_do_update(
            index_elements=list(row.key), set_={name: insert.excluded[name] for name in others}
        )

    @staticmethod
    def _delete(connection: sa.Connection, table: sa.Table, row: SqlRow, values: Sequence[dict[str, Any]]) -> None:
        connection.execute(table.delete().where(*_is_key(table, row)), _renamed(row, values))

    @staticmethod
    def _update(connection: sa.Connection, table: sa.Table, row: SqlRow, values: Sequence[dict[str, Any]]) -> None:
        changes: dict[str, Any] = {name: sa.bindparam(f"to_{name}") for name in row.others or ()}
        if changes:
            connection.execute(table.update().where(*_is_key(table, row)).values(changes), _renamed(row, values))

    # ── tables ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _table(self, connection: sa.Connection, row: SqlRow) -> sa.Table | None:
        """The table, which has all columns of the row. None if it is not there, and only a deletion asks for it."""
        known = self._tables.get(row.table)
        if known is not None and all(name in known.columns for name in row.schemas):
            return known
        schema, _, bare = row.table.rpartition(".")
        try:
            table = sa.Table(bare, sa.MetaData(), schema=schema or None, autoload_with=connection)
        except sa.exc.NoSuchTableError:
            if row.others is None:
                return None
            self._create(connection, row, bare, schema or None)
            table = sa.Table(bare, sa.MetaData(), schema=schema or None, autoload_with=connection)
        missing = {name: row.schemas[name] for name in row.schemas if name not in table.columns}
        if missing:
            self._add_columns(connection, table, missing)
            table = sa.Table(bare, sa.MetaData(), schema=schema or None, autoload_with=connection)
        self._tables[row.table] = table
        return table

    def _create(self, connection: sa.Connection, row: SqlRow, name: str, schema: str | None) -> None:
        if not self._creates:
            raise ConnectError(f"The table {row.table} does not exist, and {keys.AUTO_CREATE} is false")
        columns = [column_of(each, of, in_primary_key=each in row.key) for each, of in row.schemas.items()]
        logger.info("Creating table %s with the columns %s", row.table, ", ".join(row.schemas))
        sa.Table(name, sa.MetaData(), *columns, schema=schema).create(connection, checkfirst=True)

    def _add_columns(self, connection: sa.Connection, table: sa.Table, missing: Mapping[str, Schema]) -> None:
        names = ", ".join(missing)
        if not self._evolves:
            raise ConnectError(f"The table {table.fullname} has no column {names}, and {keys.AUTO_EVOLVE} is false")
        for name, schema in missing.items():
            if not schema.optional and schema.default is None:
                raise ConnectError(
                    f"The column {name} cannot be added to the table {table.fullname}, since the rows that are there "
                    "have no value for it: it is not optional, and has no default"
                )
        logger.info("Adding columns to table %s: %s", table.fullname, names)
        quoted = connection.dialect.identifier_preparer.format_table(table)
        for name, schema in missing.items():
            column = column_of(name, schema, in_primary_key=False)
            definition = sa.schema.CreateColumn(column).compile(dialect=connection.dialect)
            connection.execute(sa.text(f"ALTER TABLE {quoted} ADD COLUMN {definition}"))


def _is_key(table: sa.Table, row: SqlRow) -> list[sa.ColumnElement[bool]]:
    return [table.columns[name] == sa.bindparam(f"key_{name}") for name in row.key]


def _renamed(row: SqlRow, values: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parameters whose names differ from those of the columns, as UPDATE and DELETE need."""
    return [{f"{'key' if name in row.key else 'to'}_{name}": each[name] for name in each} for each in values]
