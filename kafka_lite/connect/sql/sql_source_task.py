"""Copies the rows of some tables · book 8.3.2"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from kafka_lite import __version__
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.source_task import SourceTask
from kafka_lite.connect.sql import sql_source_config as keys
from kafka_lite.connect.sql.sql_connection import new_engine
from kafka_lite.connect.sql.sql_types import row_struct, table_schema
from kafka_lite.connect.sql.table_querier import (
    BulkQuerier,
    TableQuerier,
    TimestampIncrementingOffset,
    TimestampIncrementingQuerier,
)
from kafka_lite.connect.sql.tables import load_table

logger = logging.getLogger(__name__)

MAX_WAIT_MS = 1000


class _Source:
    """A table or query, and when it is due."""

    def __init__(self, name: str, topic: str, querier: TableQuerier, schema: Schema | None) -> None:
        self.name = name
        self.topic = topic
        self.querier = querier
        self.schema = schema
        """None for a query: it is made of the first row."""
        self.due_ms = 0.0
        self.connection: sa.Connection | None = None


class SqlSourceTask(SourceTask):
    """Asks its tables one by one, each of them every ``poll.interval.ms``, and at once if there were many rows.

    ::

        source partition {"protocol": "1", "table": "orders"}    offset {"incrementing": 7, "timestamp": …}
    """

    def __init__(self, time: Time = SYSTEM_TIME) -> None:
        self._time = time
        self._stopped = threading.Condition()
        self._stopping = False
        self._values: dict[str, Any] = {}
        self._engine: sa.Engine | None = None
        self._sources: list[_Source] = []

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Connect, and find the columns of the tables. Raises ConnectError."""
        self._values = keys.sql_source_config_def().parse(props)
        self._engine = engine = new_engine(self._values)
        names = [name for name in props.get(keys.TABLES, "").split(",") if name]
        if self._values[keys.QUERY]:
            query, topic = sa.text(self._values[keys.QUERY]), self._values[keys.TOPIC_PREFIX]
            self._sources = [_Source("query", topic, BulkQuerier(query), None)]
            return
        try:
            with engine.connect() as connection:
                self._sources = [self._source(connection, name) for name in names]
        except sa.exc.OperationalError as error:
            raise ConnectError(f"The database cannot be used: {error.orig}") from error

    def _source(self, connection: sa.Connection, name: str) -> _Source:
        table = load_table(connection, name)
        dialect = connection.dialect.name
        schema = table_schema(table, dialect, best_fit=self._values[keys.NUMERIC_MAPPING] == "best_fit")
        topic = self._values[keys.TOPIC_PREFIX] + table.name
        return _Source(name, topic, self._querier(name, table, dialect), schema)

    def _querier(self, name: str, table: sa.Table, dialect: str) -> TableQuerier:
        mode = keys.Mode(self._values[keys.MODE])
        if mode is keys.Mode.BULK:
            return BulkQuerier(sa.select(table))
        incrementing = self._incrementing_column(table) if mode.has_incrementing else None
        timestamps = self._values[keys.TIMESTAMP_COLUMN] if mode.has_timestamp else []
        stored = self.context.offset_storage_reader.offset(_partition(name))
        querier = TimestampIncrementingQuerier(
            table, dialect, TimestampIncrementingOffset.from_map(stored),
            incrementing=incrementing, timestamps=timestamps, delay_ms=self._values[keys.TIMESTAMP_DELAY],
        )  # fmt: skip
        if self._values[keys.VALIDATE_NON_NULL]:
            _ensure_not_null(table, [incrementing] if incrementing else [], timestamps)
        return querier

    def _incrementing_column(self, table: sa.Table) -> str:
        given: str = self._values[keys.INCREMENTING_COLUMN]
        if given:
            return given
        primary = [column.name for column in table.primary_key.columns]
        if len(primary) != 1:
            raise ConnectError(f"Which column of the table {table.fullname} grows? Set {keys.INCREMENTING_COLUMN}")
        return primary[0]

    # ── polling ───────────────────────────────────────────────────────────────────────────────────────────────────

    def poll(self) -> Sequence[SourceRecord] | None:
        """The next rows of the table that has waited longest; None after a second without any."""
        now_ms = self._time.hi_res_ms()
        source = min(self._sources, key=lambda each: each.due_ms, default=None)
        if source is None or source.due_ms > now_ms:
            self._wait(MAX_WAIT_MS if source is None else min(source.due_ms - now_ms, MAX_WAIT_MS))
            return None
        max_rows = self._values[keys.BATCH_MAX_ROWS]
        try:
            records = self._read(source, max_rows)
        except sa.exc.DBAPIError as error:
            raise self._explained(source, error) from error
        self._sources.append(self._sources.pop(self._sources.index(source)))  # of those that are due, the others first
        is_done = len(records) < max_rows
        source.due_ms = now_ms + self._values[keys.POLL_INTERVAL] if is_done else now_ms
        return records or None

    def _read(self, source: _Source, max_rows: int) -> list[SourceRecord]:
        """A bulk round keeps its connection; any other read is a short transaction."""
        assert self._engine is not None
        with self._stopped:
            kept, source.connection = source.connection, None
        connection = kept or self._engine.connect()
        keeps = False
        try:
            batch = source.querier.next_batch(connection, max_rows)
            keeps = isinstance(source.querier, BulkQuerier) and len(batch) == max_rows
        finally:
            with self._stopped:
                keeps = keeps and not self._stopping
                source.connection = connection if keeps else None
            if not keeps:
                source.querier.close()
                connection.close()
        if batch and source.schema is None:
            source.schema = _schema_of_query(batch[0][0])
        return [self._record(source, row, offset) for row, offset in batch]

    def _record(self, source: _Source, row: sa.RowMapping, offset: Mapping[str, Any] | None) -> SourceRecord:
        assert source.schema is not None
        return SourceRecord(
            source_partition=None if offset is None else _partition(source.name),
            source_offset=offset,
            topic=source.topic,
            value_schema=source.schema,
            value=row_struct(source.schema, row),
        )

    def _explained(self, source: _Source, error: sa.exc.DBAPIError) -> ConnectError:
        """A table that is gone ends the task; a database that does not answer is asked again."""
        assert self._engine is not None
        schema, _, bare = source.name.rpartition(".")
        try:
            exists = source.name == "query" or sa.inspect(self._engine).has_table(bare, schema or None)
        except sa.exc.SQLAlchemyError:
            exists = True
        if not exists:
            return ConnectError(f"The table {source.name} does not exist: it was dropped, or renamed")
        if isinstance(error, sa.exc.OperationalError):
            return RetriableError(f"The database does not answer: {error.orig}")
        return ConnectError(f"The table {source.name} cannot be read: {error.orig}")

    def _wait(self, ms: float) -> None:
        with self._stopped:
            if not self._stopping:
                self._time.wait(self._stopped, ms)

    def stop(self) -> None:
        """End a wait, and close the connections of rounds that are not done. A poll in progress closes its own."""
        with self._stopped:
            self._stopping = True
            self._stopped.notify_all()
            idle = [(source, source.connection) for source in self._sources if source.connection is not None]
            for source, _ in idle:
                source.connection = None
        for source, connection in idle:
            source.querier.close()
            connection.close()
        if self._engine is not None:
            self._engine.dispose()


def _partition(name: str) -> dict[str, str]:
    return {"protocol": "1", "table": name}


def _ensure_not_null(table: sa.Table, incrementing: Sequence[str], timestamps: Sequence[str]) -> None:
    """Of several columns of times one has to be there always."""
    may_be_null = [table.columns[name].nullable and not table.columns[name].primary_key for name in incrementing]
    if timestamps:
        may_be_null.append(all(table.columns[name].nullable for name in timestamps))
    if any(may_be_null):
        raise ConnectError(
            f"The table {table.fullname} has NULLs where {', '.join([*incrementing, *timestamps])} should have values. "
            f"Such rows would not be read: declare the column NOT NULL, or set {keys.VALIDATE_NON_NULL}=false"
        )


_QUERY_TYPES = {
    bool: SchemaBuilder.bool,
    int: SchemaBuilder.int64,
    float: SchemaBuilder.float64,
    bytes: SchemaBuilder.bytes,
}


def _schema_of_query(row: sa.RowMapping) -> Schema:
    """A query has no declared types: those of its first row."""
    builder = SchemaBuilder.struct()
    for name, value in row.items():
        builder.field(name, _QUERY_TYPES.get(type(value), SchemaBuilder.string)().optional().build())
    return builder.build()
