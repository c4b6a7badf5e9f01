"""Reads the rows of one table, a batch at a time · book 8.3.2"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from kafka_lite.connect.api.errors import ConnectError

INCREMENTING_FIELD, TIMESTAMP_FIELD, NANOS_FIELD = "incrementing", "timestamp", "timestamp_nanos"
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_SQLITE_TIME = "%Y-%m-%d %H:%M:%f"
Batch = list[tuple[sa.RowMapping, Mapping[str, Any] | None]]
"""Rows, each with the source offset after it."""


@dataclass(frozen=True)
class TimestampIncrementingOffset:
    """The last row that was read: the value of its incrementing column, of its time, or of both."""

    incrementing: int | None = None
    timestamp: datetime.datetime | None = None
    """In UTC."""

    def to_map(self) -> dict[str, Any]:
        """As it is stored: ``{"incrementing": 7, "timestamp": ms since 1970, "timestamp_nanos": ns of the second}``."""
        found: dict[str, Any] = {}
        if self.incrementing is not None:
            found[INCREMENTING_FIELD] = self.incrementing
        if self.timestamp is not None:
            found[TIMESTAMP_FIELD] = (self.timestamp - _EPOCH) // datetime.timedelta(milliseconds=1)
            found[NANOS_FIELD] = self.timestamp.microsecond * 1000
        return found

    @staticmethod
    def from_map(stored: Mapping[str, Any] | None) -> TimestampIncrementingOffset:
        """From what is stored; nothing is stored before the first row."""
        if not stored:
            return TimestampIncrementingOffset()
        timestamp = None
        if stored.get(TIMESTAMP_FIELD) is not None:
            timestamp = _EPOCH + datetime.timedelta(seconds=stored[TIMESTAMP_FIELD] // 1000)
            micros = stored.get(NANOS_FIELD, stored[TIMESTAMP_FIELD] % 1000 * 1_000_000) // 1000
            timestamp = timestamp.replace(microsecond=micros)
        return TimestampIncrementingOffset(stored.get(INCREMENTING_FIELD), timestamp)


class TableQuerier(ABC):
    """Of one table, or of one query."""

    @abstractmethod
    def next_batch(self, connection: sa.Connection, max_rows: int) -> Batch:
        """The next rows. Fewer than ``max_rows`` if there are no more for now. Raises sqlalchemy.exc.SQLAlchemyError,
        ConnectError."""

    @abstractmethod
    def close(self) -> None:
        """Give up what is open in the connection of the last batch, before that is closed."""


class BulkQuerier(TableQuerier):
    """All rows, again and again. They have no offset. A round keeps its connection until it is done."""

    def __init__(self, select: sa.Select[Any] | sa.TextClause) -> None:
        self._select = select
        self._result: sa.MappingResult | None = None
        self._round: Iterator[Sequence[sa.RowMapping]] = iter(())

    def next_batch(self, connection: sa.Connection, max_rows: int) -> Batch:
        """The next rows of the round; after fewer than ``max_rows`` the next round begins."""
        if self._result is None:
            self._result = connection.execution_options(stream_results=True).execute(self._select).mappings()
            self._round = iter(self._result.partitions(max_rows))
        rows = next(self._round, ())
        if len(rows) < max_rows:
            self.close()
        return [(row, None) for row in rows]

    def close(self) -> None:
        """End the round, and close its cursor: a server keeps one, with its locks, until somebody does."""
        if self._result is not None:
            self._result.close()
            self._result = None


class TimestampIncrementingQuerier(TableQuerier):
    """The rows after the offset, in its order::

        incrementing              id > 7
        timestamp                 at > 10:00 and at < now
        timestamp+incrementing    (at > 10:00 or (at = 10:00 and id > 7)) and at < now

    Several columns of time count as the first of them that is not null. By time alone, rows of the same time belong
    together: a batch has all of them, and their offset is that of the time before until the last of them.
    """

    def __init__(
        self,
        table: sa.Table,
        dialect: str,
        offset: TimestampIncrementingOffset,
        *,
        incrementing: str | None,
        timestamps: Sequence[str],
        delay_ms: int = 0,
    ) -> None:
        """``delay_ms``: rows are read so long after their time. Raises ConnectError for a column that is not there."""
        self._table = table
        self._is_sqlite = dialect == "sqlite"
        self.offset = offset
        self._incrementing = None if incrementing is None else self._column(incrementing)
        self._time = self._time_of([self._column(name) for name in timestamps])
        self._delay = datetime.timedelta(milliseconds=delay_ms)

    def _column(self, name: str) -> sa.Column[Any]:
        if name not in self._table.columns:
            raise ConnectError(f"The table {self._table.fullname} has no column {name}")
        return self._table.columns[name]

    def _time_of(self, columns: Sequence[sa.Column[Any]]) -> sa.ColumnElement[Any] | None:
        if not columns:
            return None
        column: sa.ColumnElement[Any] = columns[0] if len(columns) == 1 else sa.func.coalesce(*columns)
        # SQLite has texts for times, with or without fractions of a second: made alike, they can be compared.
        return sa.func.strftime(_SQLITE_TIME, column) if self._is_sqlite else column

    def next_batch(self, connection: sa.Connection, max_rows: int) -> Batch:
        """The next rows in the order of the offset."""
        before = datetime.datetime.now(datetime.UTC) - self._delay
        rows = self._rows(connection, self._after(before).limit(max_rows))
        if self._incrementing is None and len(rows) == max_rows:
            last = rows[-1]["__time"]
            complete = [row for row in rows if row["__time"] != last]
            rows = complete or self._rows(connection, self._select().where(self._time_is(last)))
        batch: Batch = []
        for index, row in enumerate(rows):
            after = self._offset_of(row)
            if index + 1 < len(rows) and self._incrementing is None and rows[index + 1]["__time"] == row["__time"]:
                after = self.offset
            self.offset = after
            batch.append((row, after.to_map()))
        return batch

    def close(self) -> None:
        """Do nothing: a batch leaves nothing open."""

    def _rows(self, connection: sa.Connection, select: sa.Select[Any]) -> list[sa.RowMapping]:
        return list(connection.execute(select).mappings())

    def _select(self) -> sa.Select[Any]:
        select = sa.select(self._table)
        if self._time is not None:
            select = select.add_columns(self._time.label("__time"))
        order = [each for each in (self._time, self._incrementing) if each is not None]
        return select.order_by(*order)

    def _after(self, before: datetime.datetime) -> sa.Select[Any]:
        """The rows after the offset and before a time."""
        select, time, incrementing = self._select(), self._time, self._incrementing
        offset = self.offset
        higher = None if incrementing is None or offset.incrementing is None else incrementing > offset.incrementing
        if time is None:
            return select if higher is None else select.where(higher)
        select = select.where(time < self._bound(before))
        if offset.timestamp is None:
            return select if higher is None else select.where(higher)
        later = time > self._bound(offset.timestamp)
        if higher is None:
            return select.where(later)
        return select.where(sa.or_(later, sa.and_(self._time_is(self._bound(offset.timestamp)), higher)))

    def _time_is(self, value: Any) -> sa.ColumnElement[bool]:
        assert self._time is not None
        is_equal: sa.ColumnElement[bool] = self._time == value
        return is_equal

    def _bound(self, time: datetime.datetime) -> Any:
        """A time to compare the column with: as SQLite's text, or without a zone unless the column has one."""
        if self._is_sqlite:
            return f"{time:%Y-%m-%d %H:%M:%S}.{time.microsecond // 1000:03d}"
        assert self._time is not None
        return time if getattr(self._time.type, "timezone", False) else time.replace(tzinfo=None)

    def _offset_of(self, row: sa.RowMapping) -> TimestampIncrementingOffset:
        found = TimestampIncrementingOffset()
        if self._incrementing is not None:
            value = row[self._incrementing.name]
            if value is None:
                raise ConnectError(f"The column {self._incrementing.name} of {self._table.fullname} is null in a row")
            found = replace(found, incrementing=int(value))
        if self._time is not None:
            found = replace(found, timestamp=_utc(row["__time"]))
        return found


def _utc(value: Any) -> datetime.datetime:
    time = value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(str(value))
    return time.replace(tzinfo=datetime.UTC) if time.tzinfo is None else time.astimezone(datetime.UTC)
