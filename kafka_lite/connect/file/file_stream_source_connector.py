"""Reads the lines of a file into a topic.

Kafka 0.10.2: connect/file/.../connect/file/FileStreamSourceConnector.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_lite import __version__
from kafka_lite.common.config_def import NO_DEFAULT, ConfigDef, Importance, Type
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.file.file_stream_source_task import FILENAME_FIELD, POSITION_FIELD, FileStreamSourceTask

FILE, TOPIC = "file", "topic"
CONFIG = (
    ConfigDef()
    .define(FILE, Type.STRING, NO_DEFAULT, Importance.HIGH, "The file to read.")
    .define(TOPIC, Type.STRING, NO_DEFAULT, Importance.HIGH, "The topic that gets the lines.")
)


class FileStreamSourceConnector(SourceConnector):
    """It has one task, since a file is read by one reader."""

    def __init__(self) -> None:
        self._task_config: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def config(self) -> ConfigDef:
        """The file and the topic."""
        return CONFIG

    def start(self, props: Mapping[str, str]) -> None:
        """Check the topic. Raises ConnectError."""
        topic = props.get(TOPIC)
        if not topic:
            raise ConnectError("FileStreamSourceConnector configuration must include 'topic' setting")
        if "," in topic:
            raise ConnectError("FileStreamSourceConnector should only have a single topic when used as a source.")
        self._task_config = {key: props[key] for key in (FILE, TOPIC) if key in props}

    def task_class(self) -> type[Task]:
        """The reader."""
        return FileStreamSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:  # noqa: ARG002
        """One task, whatever the maximum."""
        return [dict(self._task_config)]

    def alter_offsets(
        self, connector_config: Mapping[str, str], offsets: Sequence[tuple[dict[str, Any], dict[str, Any] | None]]
    ) -> bool:
        """A position in a file is a number from 0. The file may be one of a former configuration.

        Raises ConnectError.
        """
        if not connector_config.get(FILE):
            raise ConnectError(
                f"Offsets cannot be modified if the '{FILE}' configuration is unspecified. "
                "This is because stdin is used for input and offsets are not tracked."
            )
        for partition, offset in offsets:
            if offset is None:
                continue  # whatever is stored may be deleted
            if POSITION_FIELD not in offset:
                raise ConnectError(f"Offset objects should either be null or contain the key '{POSITION_FIELD}'")
            position = offset[POSITION_FIELD]
            if not isinstance(position, int) or isinstance(position, bool):
                raise ConnectError(
                    f"The value for the '{POSITION_FIELD}' key in the offset is expected to be a Long value"
                )
            if position < 0:
                raise ConnectError(
                    f"The value for the '{POSITION_FIELD}' key in the offset should be a non-negative value"
                )
            if FILENAME_FIELD not in partition:
                raise ConnectError(f"Partition objects should contain the key '{FILENAME_FIELD}'")
        return True
