"""How a connector or a task is doing, as its worker reports it.

Kafka 0.10.2: connect/runtime/.../connect/runtime/AbstractStatus.java, ConnectorStatus.java, TaskStatus.java;
storage/KafkaStatusBackingStore.java (CacheEntry); TopicStatus.java: Kafka 2.5 · book 8.3.6
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId

Id = TypeVar("Id")


class State(Enum):
    """A reported state. Other workers learn it from the status topic, where it may be outdated."""

    UNASSIGNED = "UNASSIGNED"
    """No worker runs it: a rebalance is in progress, or its worker was stopped."""
    RUNNING = "RUNNING"
    """Its worker runs it."""
    PAUSED = "PAUSED"
    """Its worker holds it, because a user paused the connector."""
    STOPPED = "STOPPED"
    """Of a connector whose user stopped it. It has no tasks. (Kafka: since 3.5.)"""
    RESTARTING = "RESTARTING"
    """Its worker has stopped it, to start it again: a user asked for that. (Kafka: since 3.0.)"""
    FAILED = "FAILED"
    """An error ended it. ``trace`` says which. Nothing starts it again but a restart, a rebalance or a new config."""
    DESTROYED = "DESTROYED"
    """The connector was deleted. Stored as a tombstone."""


@dataclass(frozen=True)
class AbstractStatus(Generic[Id]):
    """A report: of what, which state, by which worker, in which generation of the group."""

    id: Id
    state: State
    worker_id: str
    generation: int
    trace: str | None = None

    def may_replace(self, known: AbstractStatus[Id] | None) -> bool:
        """Whether it is (probably) safe to write this over the last known status.

        A worker that lost its assignment and reports late must not hide the status from the new owner. So a status of
        another worker is kept if its generation is higher. Reports on their way are unknown here, so this narrows the
        window for conflicts and does not close it.
        """
        return known is None or known.worker_id == self.worker_id or known.generation <= self.generation


class ConnectorStatus(AbstractStatus[str]):
    """The status of a connector, by name."""


class TaskStatus(AbstractStatus[ConnectorTaskId]):
    """The status of a task."""


@dataclass(frozen=True)
class TopicStatus:
    """A topic that a connector uses (KIP-558): one of its tasks has produced a record to it, or read one from it."""

    topic: str
    task: ConnectorTaskId
    """The task that was the first to use it since the connector was created, or its topics were reset."""
    discover_timestamp: int
    """The time of that, in milliseconds since 1970."""
