"""The interface of stores of statuses.

Kafka 0.10.2: connect/runtime/.../connect/storage/StatusBackingStore.java; topics: Kafka 2.5 · book 8.3.6
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, TaskStatus, TopicStatus


class StatusBackingStore(ABC):
    """Has the last status of each connector and task. Any worker may read it."""

    @abstractmethod
    def start(self) -> None:
        """Read everything. Raises ConnectError."""

    @abstractmethod
    def stop(self) -> None:
        """Close what the store holds open."""

    @abstractmethod
    def put(self, status: ConnectorStatus | TaskStatus) -> None:
        """Store a status. One that is DESTROYED removes what is stored."""

    @abstractmethod
    def put_safe(self, status: ConnectorStatus | TaskStatus) -> None:
        """Store a status unless it may not replace the known one: see ``AbstractStatus.may_replace``."""

    @abstractmethod
    def task(self, task: ConnectorTaskId) -> TaskStatus | None:
        """The status of a task."""

    @abstractmethod
    def connector(self, connector: str) -> ConnectorStatus | None:
        """The status of a connector."""

    @abstractmethod
    def tasks(self, connector: str) -> list[TaskStatus]:
        """The statuses of all tasks of a connector, by number."""

    @abstractmethod
    def connectors(self) -> set[str]:
        """The names of all connectors that have had a status."""

    @abstractmethod
    def put_topic(self, status: TopicStatus) -> None:
        """Store that a connector uses a topic."""

    @abstractmethod
    def remove_topic(self, connector: str, topic: str) -> None:
        """Forget that a connector uses a topic."""

    @abstractmethod
    def topic(self, connector: str, topic: str) -> TopicStatus | None:
        """The status of a topic that a connector uses."""

    @abstractmethod
    def topics(self, connector: str) -> list[TopicStatus]:
        """The statuses of all topics that a connector uses, by name."""

    @abstractmethod
    def flush(self) -> None:
        """Wait until everything is stored."""
