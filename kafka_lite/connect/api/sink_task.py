"""A task that writes records of Kafka into another system.

Kafka 0.10.2: connect/api/.../connect/sink/SinkTask.java, SinkTaskContext.java · book 8.3.2
Kafka 2.6: ErrantRecordReporter.java
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from typing import Final

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.sink_record import SinkRecord
from kafka_lite.connect.api.task import Task
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata


class ErrantRecordReporter(ABC):
    """Takes records that the sink cannot write: they go where ``errors.*`` of the connector says."""

    @abstractmethod
    def report(self, record: SinkRecord, error: BaseException) -> Future[None]:
        """Report a record. The future is done once the dead letter queue has it."""


class SinkTaskContext(ABC):
    """The runtime, as a sink task may use it."""

    @abstractmethod
    def configs(self) -> dict[str, str]:
        """The task's configuration as it is now, with secrets in place of references to them."""

    @abstractmethod
    def offset(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Continue reading at these offsets, for a sink that stores offsets together with its data."""

    @abstractmethod
    def timeout(self, timeout_ms: int) -> None:
        """How long to wait before ``put`` is called again, after it raised RetriableError."""

    @abstractmethod
    def assignment(self) -> set[TopicPartition]:
        """The partitions of this task."""

    @abstractmethod
    def pause(self, *partitions: TopicPartition) -> None:
        """Put no more records of these partitions until ``resume``."""

    @abstractmethod
    def resume(self, *partitions: TopicPartition) -> None:
        """Put the records of these partitions again."""

    @abstractmethod
    def request_commit(self) -> None:
        """Commit offsets soon, instead of at the next interval. It is a hint only."""

    @property
    def errant_record_reporter(self) -> ErrantRecordReporter | None:
        """Where to report records that cannot be written; None if the connector tolerates no errors."""
        return None


class SinkTask(Task):
    """Is given records by a thread of its own: ``start``, then ``open``, ``put`` and ``flush``, ``close``, ``stop``.

    ``context`` is set before ``start``. The partitions of the task change with each rebalance of its consumer group:
    they are closed before, and opened after it.
    """

    TOPICS_CONFIG: Final = "topics"
    TOPICS_REGEX_CONFIG: Final = "topics.regex"

    context: SinkTaskContext

    def initialize(self, context: SinkTaskContext) -> None:
        """Take the context. The runtime calls it before ``start``."""
        self.context = context

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """These partitions belong to the task now. Its records follow."""

    @abstractmethod
    def put(self, records: Sequence[SinkRecord]) -> None:
        """Write the records, or collect them for ``flush``. There may be none.

        If it raises RetriableError, it gets the same records again later. Any other error ends the task.
        """

    def flush(self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Finish writing all records put so far: the offsets, one above the last record's, are committed then."""

    def pre_commit(
        self, current_offsets: Mapping[TopicPartition, OffsetAndMetadata]
    ) -> Mapping[TopicPartition, OffsetAndMetadata]:
        """The offsets that may be committed: here all of them, after a ``flush``. None are committed if it is empty."""
        self.flush(current_offsets)
        return current_offsets

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """These partitions belong to the task no longer."""
