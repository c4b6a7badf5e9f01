"""Keeps the statuses of a standalone worker in memory.

Kafka 0.10.2: connect/runtime/.../connect/storage/MemoryStatusBackingStore.java · book 8.3.6
"""

from __future__ import annotations

import threading
from typing import TypeVar

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.status import ConnectorStatus, State, TaskStatus, TopicStatus
from kafka_lite.connect.runtime.storage.status_backing_store import StatusBackingStore

Id = TypeVar("Id", str, ConnectorTaskId)
S = TypeVar("S", ConnectorStatus, TaskStatus)


class MemoryStatusBackingStore(StatusBackingStore):
    """With one worker every write is safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: dict[ConnectorTaskId, TaskStatus] = {}
        self._connectors: dict[str, ConnectorStatus] = {}
        self._topics: dict[tuple[str, str], TopicStatus] = {}

    def start(self) -> None:
        """Do nothing: there is nothing to read."""

    def stop(self) -> None:
        """Do nothing: nothing is open."""

    def put(self, status: ConnectorStatus | TaskStatus) -> None:
        """Store a status. One that is DESTROYED removes what is stored."""
        with self._lock:
            if isinstance(status, TaskStatus):
                _put(self._tasks, status.id, status)
            else:
                _put(self._connectors, status.id, status)

    def put_safe(self, status: ConnectorStatus | TaskStatus) -> None:
        """Store a status."""
        self.put(status)

    def task(self, task: ConnectorTaskId) -> TaskStatus | None:
        """The status of a task."""
        with self._lock:
            return self._tasks.get(task)

    def connector(self, connector: str) -> ConnectorStatus | None:
        """The status of a connector."""
        with self._lock:
            return self._connectors.get(connector)

    def tasks(self, connector: str) -> list[TaskStatus]:
        """The statuses of all tasks of a connector, by number."""
        with self._lock:
            return [self._tasks[task] for task in sorted(self._tasks) if task.connector == connector]

    def connectors(self) -> set[str]:
        """The names of all connectors that have a status."""
        with self._lock:
            return set(self._connectors)

    def put_topic(self, status: TopicStatus) -> None:
        """Store that a connector uses a topic."""
        with self._lock:
            self._topics[status.task.connector, status.topic] = status

    def remove_topic(self, connector: str, topic: str) -> None:
        """Forget that a connector uses a topic."""
        with self._lock:
            self._topics.pop((connector, topic), None)

    def topic(self, connector: str, topic: str) -> TopicStatus | None:
        """The status of a topic that a connector uses."""
        with self._lock:
            return self._topics.get((connector, topic))

    def topics(self, connector: str) -> list[TopicStatus]:
        """The statuses of all topics that a connector uses, by name."""
        with self._lock:
            return [self._topics[key] for key in sorted(self._topics) if key[0] == connector]

    def flush(self) -> None:
        """Do nothing: everything is stored."""


def _put(statuses: dict[Id, S], key: Id, status: S) -> None:
    if status.state is State.DESTROYED:
        statuses.pop(key, None)
    else:
        statuses[key] = status
