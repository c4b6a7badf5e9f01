from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.connect.sql.sql_source_connector import SqlSourceConnector
from kafka_lite.connect.sql.sql_source_task import SqlSourceTask
from tests.support.connect_sql import Database


class Context:
    def __init__(self) -> None:
        self.requests = 0

    def request_task_reconfiguration(self) -> None:
        self.requests += 1

    def raise_error(self, error: BaseException) -> None:
        raise error


def _props(database: Database, **changes: str) -> dict[str, str]:
    base = {"name": "shop", "connection.url": database.url, "mode": "bulk", "topic.prefix": "shop-"}
    return base | {key.replace("_", "."): value for key, value in changes.items()}


def _started(database: Database, **changes: str) -> tuple[SqlSourceConnector, Context]:
    connector, context = SqlSourceConnector(), Context()
    connector.initialize(context)  # type: ignore[arg-type]
    connector.start(_props(database, **changes))
    return connector, context


def test_tables_are_divided_among_tasks(database: Database) -> None:
    database.run(*(f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY)" for number in range(5)))
    connector, _ = _started(database, table_blacklist="t4")
    try:
        assert [config["tables"] for config in connector.task_configs(3)] == ["t0,t1", "t2", "t3"]
        assert [config["tables"] for config in connector.task_configs(9)] == ["t0", "t1", "t2", "t3"]
        assert connector.task_configs(1)[0]["topic.prefix"] == "shop-"
        assert connector.task_class() is SqlSourceTask
        assert connector.version() == SqlSourceTask().version()
    finally:
        connector.stop()


def test_new_and_dropped_tables_lead_to_other_tasks(database: Database) -> None:
    connector, context = _started(database)
    try:
        assert connector.task_configs(3) == []
        monitor: Any = connector._monitor
        database.run("CREATE TABLE fresh (id INTEGER PRIMARY KEY)")
        monitor.look()
        assert (context.requests, connector.task_configs(3)[0]["tables"]) == (1, "fresh")
        monitor.look()
        assert context.requests == 1
        database.run("DROP TABLE fresh")
        monitor.look()
        assert (context.requests, connector.task_configs(3)) == (2, [])
        monitor._find = lambda: 1 / 0
        monitor.look()  # is logged, and tried again later
        assert context.requests == 2
    finally:
        connector.stop()
    assert not monitor.is_alive()


def test_a_query_has_one_task(database: Database) -> None:
    connector, _ = _started(database, query="SELECT 1 AS one")
    assert [config["tables"] for config in connector.task_configs(3)] == [""]
    connector.stop()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"table_whitelist": "a", "table_blacklist": "b"}, "mutually exclusive"),
        ({"query": "SELECT 1", "table_whitelist": "a"}, "a query has no list of tables"),
        ({"query": "SELECT 1", "mode": "incrementing"}, "its mode is bulk"),
        ({"mode": "timestamp"}, "the mode timestamp needs it"),
        ({"mode": "sometimes"}, "String must be one of: bulk, incrementing, timestamp"),
    ],
)
def test_configurations_that_contradict_themselves(database: Database, changes: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        _started(database, **changes)
    errors = [
        error for value in SqlSourceConnector().validate(_props(database, **changes)) for error in value.error_messages
    ]
    assert len(errors) == 1
    assert problem in errors[0]


def test_a_database_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(ConnectError, match="The tables of the database cannot be listed: "):
        _started(Database(tmp_path / "no" / "such.db"))


@pytest.mark.parametrize("name", ["SqlSource", "io.confluent.connect.jdbc.JdbcSourceConnector"])
def test_its_names(name: str) -> None:
    assert connector_class(name) is SqlSourceConnector
