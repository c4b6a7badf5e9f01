"""The interface of a listener that is told how connectors and tasks are doing.

Kafka 0.10.2: connect/runtime/.../connect/runtime/ConnectorStatus.java, TaskStatus.java (Listener) · book 8.3.7
"""

from __future__ import annotations

from typing import Protocol

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId


class StatusListener(Protocol):
    """The herder. It is told by the thread in which it happens; ``of`` is a connector's name, or a task."""

    def on_startup(self, of: str | ConnectorTaskId) -> None:
        """It has started."""
        ...

    def on_pause(self, of: str | ConnectorTaskId) -> None:
        """It is paused."""
        ...

    def on_stop(self, of: str) -> None:
        """The user has stopped a connector, which keeps its configuration and has no tasks."""
        ...

    def on_resume(self, of: str | ConnectorTaskId) -> None:
        """It continues."""
        ...

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        """It was stopped, and is about to be started again."""
        ...

    def on_shutdown(self, of: str | ConnectorTaskId) -> None:
        """It was stopped."""
        ...

    def on_failure(self, of: str | ConnectorTaskId, error: BaseException) -> None:
        """An error has ended it."""
        ...

    def on_topic(self, task: ConnectorTaskId, topic: str) -> None:
        """A task has produced a record to a topic, or read one from it. Told for each record, so it has to be quick."""
        ...
