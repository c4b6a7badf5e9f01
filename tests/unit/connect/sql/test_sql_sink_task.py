import datetime
import decimal
import re
from typing import Any

import pytest
import sqlalchemy as sa

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api.data.logical_types import Decimal, Timestamp
from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.data.schema_builder import SchemaBuilder
from kafka_lite.connect.api.data.struct import Struct
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.connect.sql.sql_sink_connector import SqlSinkConnector
from kafka_lite.connect.sql.sql_sink_task import SqlSinkTask
from tests.support.connect_sql import Database

ITEM = SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).field("what", Schema.OPTIONAL_STRING_SCHEMA).build()
KEY = SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).build()
NOT_NULL = "(NOT NULL constraint failed: items.what|violates not-null constraint)"
BY_KEY = {"insert.mode": "upsert", "pk.mode": "record_key", "auto.create": "true"}


class Context:
    """What the task asks for, and what it reports."""

    def __init__(self, reports: bool) -> None:
        self.timeouts: list[int] = []
        self.reported: list[tuple[int, str]] = []
        self.errant_record_reporter = self if reports else None

    def timeout(self, timeout_ms: int) -> None:
        self.timeouts.append(timeout_ms)

    def report(self, record: SinkRecord, error: BaseException) -> None:
        self.reported.append((record.kafka_offset, str(error)))


class Rig:
    def __init__(self, database: Database, reports: bool = False, **props: str) -> None:
        self.task, self.context, self.database = SqlSinkTask(), Context(reports), database
        database.at_end.insert(0, self.task.stop)
        self.task.initialize(self.context)  # type: ignore[arg-type]
        self.task.start({"connection.url": database.url, **props})

    def put(self, *values: Any, topic: str = "items") -> None:
        """Values of ``ITEM``, or structs; each has its id as its key."""
        records = []
        for offset, value in enumerate(values):
            struct = value if isinstance(value, Struct) else Struct(ITEM, {"id": value[0], "what": value[1]})
            key = Struct(KEY, {"id": struct["id"]})
            records.append(SinkRecord(topic=topic, kafka_partition=0, kafka_offset=offset, key=key, value=struct))
        self.task.put(records)

    def delete(self, number: int) -> None:
        key = Struct(KEY, {"id": number})
        self.task.put([SinkRecord(topic="items", kafka_partition=0, kafka_offset=0, key=key)])

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return self.database.rows("SELECT * FROM items ORDER BY id")


def test_a_table_is_created_and_rows_are_inserted(database: Database) -> None:
    rig = Rig(database, **{"auto.create": "true"})
    rig.put((1, "tea"), (2, None))
    rig.put((1, "again"))
    assert sorted(rig.rows, key=str) == [(1, "again"), (1, "tea"), (2, None)]
    rig.task.put([])
    rig.task.stop()


def test_upserts_and_deletes_keep_their_order(database: Database) -> None:
    rig = Rig(database, **BY_KEY, **{"delete.enabled": "true", "batch.size": "2"})
    rig.delete(7)  # there is no table yet
    rig.put((1, "tea"), (2, "cake"), (1, "green tea"), (3, "milk"))
    assert rig.rows == [(1, "green tea"), (2, "cake"), (3, "milk")]
    tombstone = SinkRecord(topic="items", kafka_partition=0, kafka_offset=0, key=Struct(KEY, {"id": 3}))
    changed = tombstone.new_record(value=Struct(ITEM, {"id": 3, "what": "back"}))
    rig.task.put([tombstone, changed, tombstone.new_record(key=Struct(KEY, {"id": 1}))])
    assert rig.rows == [(2, "cake"), (3, "back")]
    rig.task.put([changed, tombstone])
    assert rig.rows == [(2, "cake")]


def test_updates_make_no_rows(database: Database) -> None:
    database.run("CREATE TABLE items (id INTEGER PRIMARY KEY, what TEXT)", "INSERT INTO items VALUES (1, 'tea')")
    rig = Rig(database, **BY_KEY | {"insert.mode": "update"})
    rig.put((1, "coffee"), (2, "cake"))
    assert rig.rows == [(1, "coffee")]


def test_a_row_that_is_all_key(database: Database) -> None:
    rig = Rig(database, **BY_KEY | {"pk.mode": "record_value"})
    rig.put((1, "tea"), (1, "tea"))
    assert rig.rows == [(1, "tea")]


def test_columns_are_added(database: Database) -> None:
    rig = Rig(database, **BY_KEY, **{"auto.evolve": "true"})
    rig.put((1, "tea"))
    wider = (
        SchemaBuilder.struct().field("id", Schema.INT64_SCHEMA).field("Price €", Decimal.builder(2).optional().build())
    )
    wider.field("at", Timestamp.builder().optional().build()).field("n", SchemaBuilder.int32().default_value(5).build())
    at = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    values = {"id": 2, "Price €": decimal.Decimal("2.50"), "at": at, "n": 6}
    rig.put(Struct(wider.build(), values), (3, "milk"))
    noon = datetime.datetime(2026, 1, 1, 12)
    stored = (2.5, "2026-01-01 12:00:00.000000") if database.is_sqlite else (decimal.Decimal("2.50"), noon)
    assert database.rows('SELECT id, what, "Price €", at, n FROM items ORDER BY id') == [
        (1, "tea", None, None, 5), (2, None, *stored, 6), (3, "milk", None, None, 5)
    ]  # fmt: skip


def test_topics_have_tables_of_their_own(database: Database) -> None:
    rig = Rig(database, **{"auto.create": "true", "table.name.format": "of_${topic}"})
    rig.put((1, "tea"), topic="a")
    rig.put((2, "tea"), topic="b")
    assert database.rows("SELECT id FROM of_a UNION ALL SELECT id FROM of_b") == [(1,), (2,)]


@pytest.mark.parametrize(
    ("props", "problem"),
    [
        ({}, "The table items does not exist, and auto.create is false"),
        ({"there": "yes"}, "The table items has no column what, and auto.evolve is false"),
    ],
)
def test_tables_are_changed_only_if_asked_for(database: Database, props: dict[str, str], problem: str) -> None:
    if props:
        database.run("CREATE TABLE items (id INTEGER)")
    with pytest.raises(ConnectError, match=problem):
        Rig(database).put((1, "tea"))


def test_a_required_column_cannot_be_added(database: Database) -> None:
    database.run("CREATE TABLE items (what TEXT)")
    with pytest.raises(ConnectError, match="The column id cannot be added to the table items"):
        Rig(database, **{"auto.evolve": "true"}).put((1, "tea"))


def test_a_bad_record_goes_to_the_reporter_and_the_others_are_written(database: Database) -> None:
    database.run("CREATE TABLE items (id INTEGER PRIMARY KEY, what TEXT NOT NULL)")
    rig = Rig(database, reports=True)
    rig.put((1, "tea"), (2, None), (1, "again"), (3, "milk"))
    assert rig.rows == [(1, "tea"), (3, "milk")]
    assert [offset for offset, _ in rig.context.reported] == [1, 2]
    assert re.match(f"The database refuses a record: .*{NOT_NULL}", rig.context.reported[0][1])


def test_without_a_reporter_nothing_of_the_batch_is_written(database: Database) -> None:
    database.run("CREATE TABLE items (id INTEGER PRIMARY KEY, what TEXT NOT NULL)")
    rig = Rig(database)
    with pytest.raises(ConnectError, match=NOT_NULL) as raised:
        rig.put((1, "secret"), (2, None))
    assert "secret" not in str(raised.value)
    assert rig.rows == []


def test_a_database_that_does_not_answer_gets_the_records_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(database, **{"auto.create": "true", "max.retries": "2", "retry.backoff.ms": "7"})
    gone = sa.exc.OperationalError("INSERT", {}, Exception("database is locked"))
    monkeypatch.setattr(rig.task._writer, "write", lambda *_: (_ for _ in ()).throw(gone))
    for _ in range(2):
        with pytest.raises(RetriableError, match="The database does not answer: database is locked"):
            rig.put((1, "tea"))
    with pytest.raises(ConnectError) as raised:
        rig.put((1, "tea"))
    assert not isinstance(raised.value, RetriableError)
    assert rig.context.timeouts == [7, 7]


def test_the_connector_gives_all_tasks_its_configuration(database: Database) -> None:
    connector = connector_class("SqlSink")()
    assert isinstance(connector, SqlSinkConnector)
    props = {"name": "s", "connection.url": database.url}
    connector.start(props)
    assert connector.task_configs(2) == [props, props]
    assert connector.task_class() is SqlSinkTask
    assert connector.version() == SqlSinkTask().version()
    bad = props | {"insert.mode": "upsert"}
    with pytest.raises(ConfigError):
        connector.start(bad)
    assert [value.name for value in connector.validate(bad) if value.error_messages] == ["pk.mode"]
