import datetime
from typing import Any

import pytest
import sqlalchemy as sa

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.sql.table_querier import (
    BulkQuerier,
    TimestampIncrementingOffset,
    TimestampIncrementingQuerier,
)
from kafka_lite.connect.sql.tables import load_table
from tests.support.connect_sql import Database

TEN = datetime.datetime(2026, 1, 1, 10, tzinfo=datetime.UTC)
NONE = TimestampIncrementingOffset()


class Rows:
    """A table of ids and times, with or without fractions of seconds, as SQLite has them."""

    def __init__(self, database: Database) -> None:
        self.database = database
        database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, at TIMESTAMP NOT NULL, changed TIMESTAMP)")

    def add(self, number: int, at: str, changed: str | None = None) -> None:
        text = "NULL" if changed is None else f"'2026-01-01 {changed}'"
        self.database.run(f"INSERT INTO t VALUES ({number}, '2026-01-01 {at}', {text})")

    def querier(self, offset: TimestampIncrementingOffset = NONE, **columns: Any) -> TimestampIncrementingQuerier:
        columns = {"incrementing": None, "timestamps": ()} | columns
        with self.database.connection() as connection:
            return TimestampIncrementingQuerier(load_table(connection, "t"), connection.dialect.name, offset, **columns)

    def read(self, querier: Any, max_rows: int = 100) -> list[tuple[int, Any]]:
        with self.database.connection() as connection:
            return [(row["id"], offset) for row, offset in querier.next_batch(connection, max_rows)]


@pytest.fixture
def rows(database: Database) -> Rows:
    return Rows(database)


def test_offsets_are_stored_and_read() -> None:
    offset = TimestampIncrementingOffset(7, TEN + datetime.timedelta(microseconds=123_456))
    stored = offset.to_map()
    assert stored == {"incrementing": 7, "timestamp": 1767261600123, "timestamp_nanos": 123_456_000}
    assert TimestampIncrementingOffset.from_map(stored) == offset
    del stored["timestamp_nanos"]
    found = TimestampIncrementingOffset.from_map(stored).timestamp
    assert found == TEN + datetime.timedelta(milliseconds=123)
    assert TimestampIncrementingOffset.from_map(None) == NONE


def test_bulk_reads_all_rows_in_each_round(rows: Rows) -> None:
    for number in range(1, 6):
        rows.add(number, "10:00:00")
    querier = BulkQuerier(sa.text("SELECT * FROM t ORDER BY id"))
    with rows.database.connection() as connection:
        batches = [[row["id"] for row, _ in querier.next_batch(connection, 2)] for _ in range(4)]
        querier.close()  # in the middle of a round
    assert batches == [[1, 2], [3, 4], [5], [1, 2]]


def test_a_round_that_ends_with_a_full_batch_ends_with_an_empty_one(rows: Rows) -> None:
    rows.add(1, "10:00:00")
    querier = BulkQuerier(sa.text("SELECT * FROM t"))
    with rows.database.connection() as connection:
        assert [len(querier.next_batch(connection, 1)) for _ in range(3)] == [1, 0, 1]
        querier.close()


def test_incrementing_reads_what_is_new(rows: Rows) -> None:
    for number in (3, 1, 2):
        rows.add(number, "10:00:00")
    querier = rows.querier(incrementing="id")
    assert rows.read(querier, 2) == [(1, {"incrementing": 1}), (2, {"incrementing": 2})]
    assert rows.read(querier) == [(3, {"incrementing": 3})]
    assert rows.read(querier) == []
    rows.add(9, "10:00:00")
    assert rows.read(querier) == [(9, {"incrementing": 9})]
    assert [number for number, _ in rows.read(rows.querier(TimestampIncrementingOffset(2), incrementing="id"))] == [
        3,
        9,
    ]


def test_timestamp_reads_rows_of_one_time_together(rows: Rows) -> None:
    for number, at in ((1, "10:00:00"), (2, "10:00:01"), (3, "10:00:01.000"), (4, "10:00:02")):
        rows.add(number, at)
    querier = rows.querier(timestamps=["at"])
    first = rows.read(querier, 2)  # of the second row's time there is one row more: it waits for the next batch
    assert [(number, offset["timestamp"]) for number, offset in first] == [(1, 1767261600000)]
    second = rows.read(querier, 3)
    assert [number for number, _ in second] == [2, 3, 4][: len(second)]
    offsets = [offset["timestamp"] for _, offset in second]
    assert offsets[:2] == [1767261600000, 1767261601000]  # after the first of them, both would be read again
    rest = rows.read(querier, 3)
    assert [number for number, _ in [*second, *rest]] == [2, 3, 4]


def test_more_rows_of_one_time_than_fit_into_a_batch(rows: Rows) -> None:
    for number in range(5):
        rows.add(number, "10:00:00")
    querier = rows.querier(timestamps=["at"])
    assert len(rows.read(querier, 2)) == 5
    assert rows.read(querier, 2) == []


def test_both_tell_rows_of_one_time_apart(rows: Rows) -> None:
    for number, at in ((1, "10:00:00"), (2, "10:00:00.000000"), (3, "09:00:00"), (4, "10:00:00")):
        rows.add(number, at)
    querier = rows.querier(incrementing="id", timestamps=["at"])
    assert [number for number, _ in rows.read(querier, 2)] == [3, 1]
    assert [number for number, _ in rows.read(querier)] == [2, 4]
    rows.database.run("UPDATE t SET at = '2026-01-01 11:00:00' WHERE id = 1")
    assert rows.read(querier) == [(1, {"incrementing": 1, "timestamp": 1767265200000, "timestamp_nanos": 0})]


def test_of_several_times_the_first_that_is_not_null_counts(rows: Rows) -> None:
    rows.add(1, "10:00:00", changed="12:00:00")
    rows.add(2, "11:00:00")
    assert [number for number, _ in rows.read(rows.querier(timestamps=["changed", "at"]))] == [2, 1]


def test_rows_are_read_after_a_delay(rows: Rows) -> None:
    at = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=30)
    rows.database.run(f"INSERT INTO t VALUES (1, '{at:%Y-%m-%d %H:%M:%S}', NULL)")
    assert rows.read(rows.querier(timestamps=["at"], delay_ms=3_600_000)) == []
    assert len(rows.read(rows.querier(timestamps=["at"], delay_ms=1000))) == 1


def test_columns_that_are_not_there(rows: Rows) -> None:
    with pytest.raises(ConnectError, match="The table t has no column nr"):
        rows.querier(incrementing="nr")
