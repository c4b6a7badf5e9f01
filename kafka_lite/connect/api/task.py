"""The base class of tasks, which copy the data.

Kafka 0.10.2: connect/api/.../connect/connector/Task.java · book 8.3.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

UNDEFINED_VERSION = "undefined"
"""The version of a plug-in that does not say which one it has."""


class Task(ABC):
    """One share of a connector's work. It is a SourceTask or a SinkTask, and has a thread of its own."""

    def version(self) -> str:
        """The version of the task's code, usually that of its connector."""
        return UNDEFINED_VERSION

    @abstractmethod
    def start(self, props: Mapping[str, str]) -> None:
        """Prepare the work, given one of the configurations that ``Connector.task_configs`` returned."""

    @abstractmethod
    def stop(self) -> None:
        """End the work, and close what ``start`` opened."""
