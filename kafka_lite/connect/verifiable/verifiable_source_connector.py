"""Produces numbers, and prints each of them.

Kafka 0.10.2: connect/runtime/.../connect/tools/VerifiableSourceConnector.java · book 8.3.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite import __version__
from kafka_lite.connect.api.source_connector import SourceConnector
from kafka_lite.connect.api.task import Task
from kafka_lite.connect.verifiable.verifiable_source_task import ID, VerifiableSourceTask


class VerifiableSourceConnector(SourceConnector):
    """It has as many tasks as it may have. Each counts for itself, from 0."""

    def __init__(self) -> None:
        self._config: dict[str, str] = {}

    def version(self) -> str:
        """Of kafka_lite."""
        return __version__

    def start(self, props: Mapping[str, str]) -> None:
        """Note the configuration."""
        self._config = dict(props)

    def task_class(self) -> type[Task]:
        """The counter."""
        return VerifiableSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """The connector's configuration, with the task's number as its ``id``."""
        return [{**self._config, ID: str(number)} for number in range(max_tasks)]
