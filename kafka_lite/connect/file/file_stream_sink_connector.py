"""Writes the records of topics into a file, one per line.

Kafka 0.10.2: connect/file/.../connect/file/FileStreamSinkConnector.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite import __version__
from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.connect.api.sink_connector import GroupOffsetsSinkConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.file.file_stream_sink_task import FileStreamSinkTask

FILE = "file"
CONFIG = ConfigDef().define(FILE, Type.STRING, NO_DEFAULT, Importance.HIGH, "The file to write.")


class FileStreamSinkConnector(GroupOffsetsSinkConnector):
    """All its tasks append to the same file."""

    def __init__(self) -> None:
        self._task_config: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The file."""
        return CONFIG

    def start(self, props: Mapping[str, str]) -> None:
        """Note the file."""
        self._task_config = {FILE: props[FILE]} if FILE in props else {}

    def task_class(self) -> type[Task]:
        """The writer."""
        return FileStreamSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many tasks as may be."""
        return [dict(self._task_config) for _ in range(max_tasks)]
