"""A task that reads another system, for Kafka.

Kafka 0.10.2: connect/api/.../connect/source/SourceTask.java, SourceTaskContext.java · book 8.3.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from kafka_lite.connect.api.offset_storage_reader import OffsetStorageReader
from kafka_lite.connect.api.source_record import SourceRecord
from kafka_lite.connect.api.task import Task
from kafka_lite.metrics.mbean_server import MBeanServer
from kafka_lite.producer.producer_record import RecordMetadata


class SourceTaskContext(ABC):
    """The runtime, as a source task may use it."""

    @property
    @abstractmethod
    def offset_storage_reader(self) -> OffsetStorageReader:
        """The offsets up to which the task's predecessors have read."""

    @property
    def beans(self) -> MBeanServer:
        """The beans that the worker shows. A task that measures adds its own, and removes them when it stops.

        (Java has one such server in a process, which anybody can reach.) Without a worker nobody looks.
        """
        return MBeanServer()

    @abstractmethod
    def configs(self) -> dict[str, str]:
        """The task's configuration as it is now, with secrets in place of references to them."""


class SourceTask(Task):
    """Is polled for records by a thread of its own. ``context`` is set before ``start``."""

    context: SourceTaskContext

    def initialize(self, context: SourceTaskContext) -> None:
        """Take the context. The runtime calls it before ``start``."""
        self.context = context

    @abstractmethod
    def poll(self) -> Sequence[SourceRecord] | None:
        """The next records. Wait for some if there are none, but return (None or nothing) after a second or so.

        Raises RetriableError to be called again; any other error ends the task.
        """

    @abstractmethod
    def stop(self) -> None:
        """Make ``poll`` return soon. It is called from another thread, maybe while ``poll`` is waiting."""

    def commit(self) -> None:
        """All records that ``poll`` returned so far have been produced, and their offsets are stored.

        Implement it if the other system has to be told.
        """

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """A record has been produced; ``metadata`` is None if a transformation dropped it."""
