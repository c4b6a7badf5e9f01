"""Writes the records of topics into tables of a SQL database · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.config_def import ConfigDef, ConfigError
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.api.sink_connector import GroupOffsetsSinkConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.sql import sql_sink_config as keys


class SqlSinkConnector(GroupOffsetsSinkConnector):
    """All its tasks have the same configuration: the partitions of the topics are divided among them.

    With ``insert.mode=upsert`` rows that are read again, from an earlier offset, are not written twice.
    """

    def __init__(self) -> None:
        self._props: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The database, and how rows are made."""
        return keys.sql_sink_config_def()

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
        """Check the configuration. Raises ConfigError."""
        keys.check(self.config().parse(props))
        self._props = dict(props)

    def task_class(self) -> type[Task]:
        """The writer."""
        from kafka_lite.connect.sql.sql_sink_task import SqlSinkTask

        return SqlSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many tasks as may be."""
        return [dict(self._props) for _ in range(max_tasks)]
