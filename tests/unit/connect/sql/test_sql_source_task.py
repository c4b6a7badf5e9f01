from collections.abc import Mapping
from typing import Any

import pytest
import sqlalchemy as sa

from kafka_lite.common.time import MockTime
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.sql.sql_source_task import SqlSourceTask
from tests.support.connect_sql import Database, StoredOffsets


class Rig:
    def __init__(self, database: Database, stored: Mapping[str, Any] | None = None, **changes: str) -> None:
        self.time = MockTime()
        self.task = SqlSourceTask(self.time)
        database.at_end.insert(0, self.task.stop)
        self.task.initialize(StoredOffsets(stored))  # type: ignore[arg-type]
        base = {"connection.url": database.url, "topic.prefix": "shop-", "mode": "incrementing", "tables": "orders"}
        self.task.start(base | {key.replace("_", "."): value for key, value in changes.items()})

    def polled(self) -> list[Any]:
        return [(record.topic, dict(record.value.items())) for record in self.task.poll() or ()]


@pytest.fixture
def shop(database: Database) -> Database:
    database.run(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, what TEXT NOT NULL, price NUMERIC(8, 2))",
        "INSERT INTO orders VALUES (1, 'tea', 2.5), (2, 'cake', NULL)",
    )
    return database


def test_rows_become_records_with_offsets(shop: Database) -> None:
    rig = Rig(shop)
    first, second = rig.task.poll() or ()
    assert (first.topic, dict(first.value.items())) == ("shop-orders", {"id": 1, "what": "tea", "price": 2.5})
    assert first.value_schema is not None
    assert first.value_schema.name == "orders"
    assert second.source_partition == {"protocol": "1", "table": "orders"}
    assert second.source_offset == {"incrementing": 2}
    rig.task.stop()


def test_a_table_is_asked_again_after_the_interval(shop: Database) -> None:
    rig = Rig(shop, poll_interval_ms="5000")
    assert len(rig.polled()) == 2
    shop.run("INSERT INTO orders VALUES (3, 'milk', 1)")
    begin_ms, empty = rig.time.hi_res_ms(), 0
    while not (rows := rig.polled()):
        empty += 1
    assert [values["id"] for _, values in rows] == [3]
    assert (rig.time.hi_res_ms() - begin_ms, empty) == (5000, 5)  # each wait was a second at most


def test_a_table_with_many_rows_is_asked_at_once(shop: Database) -> None:
    rig = Rig(shop, batch_max_rows="1")
    assert [values["id"] for _ in range(2) for _, values in rig.polled()] == [1, 2]
    assert rig.time.hi_res_ms() == 0


def test_a_new_task_continues_after_the_stored_offset(shop: Database) -> None:
    rig = Rig(shop, {"orders": {"incrementing": 1}})
    assert [values["id"] for _, values in rig.polled()] == [2]


def test_tables_take_turns(shop: Database) -> None:
    shop.run("CREATE TABLE items (nr INTEGER PRIMARY KEY)", "INSERT INTO items VALUES (7)")
    rig = Rig(shop, tables="orders,items", batch_max_rows="1")
    assert {topic for _ in range(3) for topic, _ in rig.polled()} == {"shop-orders", "shop-items"}


def test_bulk_records_have_no_offset_and_come_again(shop: Database) -> None:
    rig = Rig(shop, mode="bulk", batch_max_rows="1", poll_interval_ms="1")
    record = (rig.task.poll() or ())[0]
    assert (record.source_partition, record.source_offset) == (None, None)
    assert [values["id"] for _, values in rig.polled()] == [2]
    assert rig.polled() == []
    rig.time.sleep(1)
    assert [values["id"] for _, values in rig.polled()] == [1]
    rig.task.stop()


def test_a_query(shop: Database) -> None:
    rig = Rig(shop, mode="bulk", query="SELECT what, price * 2 AS double, id FROM orders ORDER BY id", tables="")
    double = 5.0 if shop.is_sqlite else "5.00"  # a query has no declared types
    assert rig.polled() == [
        ("shop-", {"what": "tea", "double": double, "id": 1}), ("shop-", {"what": "cake", "double": None, "id": 2})
    ]  # fmt: skip


def test_a_task_that_is_stopped_in_a_bulk_round_gives_its_connection_back(shop: Database) -> None:
    """Or a server would keep the round's locks: nobody could drop the table."""
    rig = Rig(shop, mode="bulk", batch_max_rows="1")
    assert len(rig.polled()) == 1
    assert rig.task._sources[0].connection is not None
    pool = rig.task._engine.pool if rig.task._engine is not None else None
    rig.task.stop()
    assert pool is not None
    assert rig.task._sources[0].connection is None
    assert pool.checkedout() == 0  # type: ignore[attr-defined]
    shop.run("DROP TABLE orders")


def test_a_dropped_table_ends_the_task_and_is_named(shop: Database) -> None:
    rig = Rig(shop, poll_interval_ms="1")
    rig.polled()
    shop.run("DROP TABLE orders")
    rig.time.sleep(1)
    with pytest.raises(ConnectError, match="The table orders does not exist: it was dropped, or renamed") as raised:
        rig.task.poll()
    assert not isinstance(raised.value, RetriableError)


def test_a_database_that_does_not_answer_is_asked_again(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig(shop)
    gone = sa.exc.OperationalError("SELECT", {}, Exception("the server is restarting"))
    querier = rig.task._sources[0].querier
    monkeypatch.setattr(querier, "next_batch", lambda *_: (_ for _ in ()).throw(gone))
    with pytest.raises(RetriableError, match="The database does not answer: the server is restarting"):
        rig.task.poll()
    monkeypatch.undo()
    assert len(rig.polled()) == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tables": "none"}, "The table none does not exist"),
        ({"incrementing_column_name": "nr"}, "has no column nr"),
        ({"incrementing_column_name": "price"}, "has NULLs where price should have values"),
        ({"mode": "timestamp", "timestamp_column_name": "price"}, "has NULLs where price should have values"),
        ({"tables": "keyless"}, "Which column of the table keyless grows"),
    ],
)
def test_tables_that_cannot_be_copied(shop: Database, changes: dict[str, str], problem: str) -> None:
    shop.run("CREATE TABLE keyless (x TEXT)")
    with pytest.raises(ConnectError, match=problem):
        Rig(shop, **changes)


def test_a_column_with_nulls_may_be_allowed(shop: Database) -> None:
    rig = Rig(shop, incrementing_column_name="price", validate_non_null="false")
    with pytest.raises(ConnectError, match="The column price of orders is null in a row"):
        rig.task.poll()


def test_a_database_that_cannot_be_opened(tmp_path: Any) -> None:
    with pytest.raises(ConnectError, match="The database cannot be used"):
        Rig(Database(tmp_path / "no" / "such.db"))
