"""Copies tables of a SQL database into topics, one per table · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_lite import __version__
from kafka_lite.common.config_def import ConfigDef, ConfigError
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.api.connector_utils import ConnectorUtils
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.sql import sql_source_config as keys
from kafka_lite.connect.sql.sql_connection import new_engine
from kafka_lite.connect.sql.table_monitor import TableMonitorThread

if TYPE_CHECKING:
    import sqlalchemy as sa

MONITOR_STOP_S = 5.0


class SqlSourceConnector(SourceConnector):
    """Divides the tables among its tasks, and asks for other tasks when tables come and go."""

    def __init__(self) -> None:
        self._props: dict[str, str] = {}
        self._values: dict[str, Any] = {}
        self._engine: sa.Engine | None = None
        self._monitor: TableMonitorThread | None = None

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The database, its tables, and which rows of them."""
        return keys.sql_source_config_def()

    def validate(self, connector_configs: Mapping[str, str]) -> Sequence[ConfigValue]:
        """Also check what the keys say together."""
        values = self.config().validate(connector_configs)
        if not any(value.error_messages for value in values):
            try:
                keys.check(self.config().parse(connector_configs))
            except ConfigError as error:
                next(value for value in values if value.name == error.name).error_messages.append(str(error))
        return values

    def start(self, props: Mapping[str, str]) -> None:
        """Connect, and begin to watch the tables. Raises ConfigError, ConnectError."""
        self._props = dict(props)
        self._values = self.config().parse(props)
        keys.check(self._values)
        self._engine = new_engine(self._values)
        if self._values[keys.QUERY]:
            return
        try:
            self._monitor = TableMonitorThread(
                props.get("name", ""),
                self._find_tables,
                lambda: self.context.request_task_reconfiguration(),
                self._values[keys.TABLE_POLL_INTERVAL],
            )
        except Exception as error:  # a driver's
            self._engine.dispose()
            raise ConnectError(f"The tables of the database cannot be listed: {error}") from error
        self._monitor.start()

    def _find_tables(self) -> list[str]:
        from kafka_lite.connect.sql.tables import TableFilter, table_names

        assert self._engine is not None
        lists = [self._values[key] for key in (keys.WHITELIST, keys.BLACKLIST, keys.INCLUDE, keys.EXCLUDE)]
        views = "VIEW" in self._values[keys.TABLE_TYPES]
        return TableFilter(*lists).select(table_names(self._engine, self._values[keys.SCHEMA_PATTERN], views=views))

    def task_class(self) -> type[Task]:
        """The reader."""
        from kafka_lite.connect.sql.sql_source_task import SqlSourceTask

        return SqlSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Each task has some of the tables. There are no more tasks than tables; a query has one."""
        if self._values[keys.QUERY]:
            return [{**self._props, keys.TABLES: ""}]
        tables = self._monitor.tables if self._monitor is not None else []
        if not tables:
            return []
        groups = ConnectorUtils.group_partitions(tables, min(len(tables), max_tasks))
        return [{**self._props, keys.TABLES: ",".join(group)} for group in groups]

    def stop(self) -> None:
        """Watch the tables no longer."""
        if self._monitor is not None:
            self._monitor.initiate_shutdown()
            self._monitor.await_shutdown(MONITOR_STOP_S)
            self._monitor = None
        if self._engine is not None:
            self._engine.dispose()
