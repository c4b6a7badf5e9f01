"""Writes the records of topics into Parquet files · book 8.3.2"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite import __version__
from kafka_lite.common.config_def import ConfigDef, ConfigError
from kafka_lite.common.config_value import ConfigValue
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.sink_connector import SinkConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.parquet.parquet_sink_config import parquet_sink_config_def, store_folder
from kafka_lite.connect.parquet.partitioners import partitioner_of


class ParquetSinkConnector(SinkConnector):
    """All its tasks have the same configuration: the partitions of the topics are divided among them."""

    def __init__(self) -> None:
        self._props: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The folder, and how files are made."""
        return parquet_sink_config_def()

    def validate(self, connector_configs: Mapping[str, str]) -> Sequence[ConfigValue]:
        """Also check what the keys say together."""
        values = self.config().validate(connector_configs)
        if not any(value.error_messages for value in values):
            try:
                self._check(connector_configs)
            except ConfigError as error:
                next(value for value in values if value.name == error.name).error_messages.append(str(error))
        return values

    def _check(self, props: Mapping[str, str]) -> None:
        parsed = self.config().parse(props)
        store_folder(parsed)
        partitioner_of(parsed)

    def start(self, props: Mapping[str, str]) -> None:
        """Check the configuration. Raises ConfigError."""
        self._check(props)
        self._props = dict(props)

    def task_class(self) -> type[Task]:
        """The writer. Raises ConnectError without pyarrow."""
        try:
            from kafka_lite.connect.parquet.parquet_sink_task import ParquetSinkTask
        except ImportError as error:
            raise ConnectError("The Parquet sink needs pyarrow: pip install 'kafka-lite[connect]'") from error
        return ParquetSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many tasks as may be."""
        return [dict(self._props) for _ in range(max_tasks)]
