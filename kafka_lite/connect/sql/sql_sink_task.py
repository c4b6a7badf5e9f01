"""Writes records into tables · book 8.3.2"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from kafka_lite import __version__
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.sink_task import SinkTask
from kafka_lite.connect.sql import sql_sink_config as keys
from kafka_lite.connect.sql.sql_connection import new_engine
from kafka_lite.connect.sql.sql_rows import SqlRow, SqlRows
from kafka_lite.connect.sql.sql_writer import SqlWriter

logger = logging.getLogger(__name__)

_NO_ANSWER = (sa.exc.OperationalError, sa.exc.InterfaceError)


class SqlSinkTask(SinkTask):
    """Each ``put`` is one transaction, so that there is nothing left to flush.

    ::

        records ─▶ rows ─▶ BEGIN … COMMIT
                              │
                              ├ the database does not answer: the same records again, ``max.retries`` times
                              └ a record is at fault: one by one; it goes to the dead letter queue, or ends the task
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._engine: sa.Engine | None = None
        self._retries_left = 0

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Connect with the first records. Raises ConfigError, ConnectError."""
        self._values = keys.sql_sink_config_def().parse(props)
        keys.check(self._values)
        self._engine = new_engine(self._values)
        self._rows, self._writer = SqlRows(self._values), SqlWriter(self._values)
        self._retries_left = self._values[keys.MAX_RETRIES]

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write the records. Raises RetriableError, ConnectError."""
        if not records:
            return
        try:
            self._write_all(records)
        except _NO_ANSWER as error:
            self._writer.forget_tables()
            if self._retries_left == 0:
                raise ConnectError(f"The database does not answer: {error.orig}") from error
            self._retries_left -= 1
            self.context.timeout(self._values[keys.RETRY_BACKOFF_MS])
            raise RetriableError(f"The database does not answer: {error.orig}") from error
        self._retries_left = self._values[keys.MAX_RETRIES]

    def _write_all(self, records: Sequence[SinkRecord]) -> None:
        try:
            self._write([self._rows.row_of(record) for record in records])
        except _NO_ANSWER:
            raise
        except (ConnectError, sa.exc.StatementError) as error:
            self._writer.forget_tables()
            if self.context.errant_record_reporter is None:
                raise _explained(error) from error
            self._write_one_by_one(records)

    def _write_one_by_one(self, records: Sequence[SinkRecord]) -> None:
        """Report those that are at fault, and write the others."""
        reporter = self.context.errant_record_reporter
        assert reporter is not None
        for record in records:
            try:
                self._write([self._rows.row_of(record)])
            except _NO_ANSWER:
                raise
            except (ConnectError, sa.exc.StatementError) as error:
                self._writer.forget_tables()
                reporter.report(record, _explained(error))

    def _write(self, rows: Sequence[SqlRow]) -> None:
        assert self._engine is not None
        with self._engine.begin() as connection:
            self._writer.write(connection, rows)

    def stop(self) -> None:
        """Close the connections."""
        if self._engine is not None:
            self._engine.dispose()


def _explained(error: Exception) -> ConnectError:
    """With the database's words, and without the values of the statement, which may be secrets."""
    if isinstance(error, ConnectError):
        return error
    reason = getattr(error, "orig", None) or error
    return ConnectError(f"The database refuses a record: {reason}")
