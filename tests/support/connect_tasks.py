"""What the tests of Connect's tasks put in place of clients and of listeners."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.runtime.connector_task_id import ConnectorTaskId
from kafka_lite.connect.runtime.errors.error_reporter import ErrorReporter, done
from kafka_lite.connect.runtime.errors.processing_context import ProcessingContext
from kafka_lite.consumer.consumer_errors import WakeupError
from kafka_lite.consumer.consumer_record import EMPTY_RECORDS, ConsumerRecord, ConsumerRecords
from kafka_lite.producer.producer_record import ProducerRecord
from kafka_lite.record.record import TimestampType

P0 = TopicPartition("t", 0)


class Reports:
    """A status listener: what it was told, as texts such as ``"source-0 startup"``."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.errors: list[BaseException] = []
        self.topics: set[tuple[str, str]] = set()
        """Tasks, and the topics they use."""

    def on_startup(self, of: str | ConnectorTaskId) -> None:
        self.told.append(f"{of} startup")

    def on_pause(self, of: str | ConnectorTaskId) -> None:
        self.told.append(f"{of} pause")

    def on_stop(self, of: str) -> None:
        self.told.append(f"{of} stop")

    def on_resume(self, of: str | ConnectorTaskId) -> None:
        self.told.append(f"{of} resume")

    def on_restart(self, of: str | ConnectorTaskId) -> None:
        self.told.append(f"{of} restart")

    def on_shutdown(self, of: str | ConnectorTaskId) -> None:
        self.told.append(f"{of} shutdown")

    def on_failure(self, of: str | ConnectorTaskId, error: BaseException) -> None:
        self.told.append(f"{of} failure")
        self.errors.append(error)

    def on_topic(self, task: ConnectorTaskId, topic: str) -> None:
        self.topics.add((str(task), topic))


class Kept(ErrorReporter):
    """An error reporter: the records that failed, and where. Its reports are pending if the test wants them to be."""

    def __init__(self) -> None:
        self.contexts: list[ProcessingContext[Any]] = []
        self.pending: list[Future[None]] = []
        self.is_slow = self.closed = False

    def report(self, context: ProcessingContext[Any]) -> Future[None]:
        self.contexts.append(context)
        if not self.is_slow:
            return done()
        self.pending.append(Future())
        return self.pending[-1]

    def close(self) -> None:
        self.closed = True


class FakeProducer:
    """Keeps what was sent. The test acknowledges it."""

    def __init__(self) -> None:
        self.sent: list[ProducerRecord] = []
        self.callbacks: list[Callable[[Any, Exception | None], None]] = []
        self.errors: list[Exception] = []
        """What the next calls raise."""
        self.closed = False

    def send(self, record: ProducerRecord, callback: Callable[[Any, Exception | None], None]) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.sent.append(record)
        self.callbacks.append(callback)

    def acknowledge(self, error: Exception | None = None) -> None:
        """Complete all that was sent."""
        callbacks, self.callbacks = self.callbacks, []
        for callback in callbacks:
            callback(None, error)

    def close(self, timeout_ms: float | None = None) -> None:
        self.closed = True


class FakeConsumer:
    """Returns what the test puts into ``records``, one batch per poll, unless its partition is paused."""

    def __init__(self) -> None:
        self.records: list[list[ConsumerRecord]] = []
        self.assigned: list[TopicPartition] = []
        self.topics: list[str] = []
        self.listener: Any = None
        self.positions: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()
        self.seeks: list[tuple[TopicPartition, int]] = []
        self.commits: list[tuple[dict[TopicPartition, int], Any]] = []
        """Offsets and callback; the callback of a synchronous commit is None."""
        self.commit_errors: list[Exception] = []
        self.timeouts: list[float] = []
        self.woken = False
        self.closed = False

    def subscribe(self, topics: Iterable[str] | re.Pattern[str], listener: Any) -> None:
        self.topics, self.listener = topics if isinstance(topics, re.Pattern) else list(topics), listener

    def rebalance(self, *partitions: TopicPartition) -> None:
        """Give the member another assignment."""
        if self.assigned:
            self.listener.on_partitions_revoked(self.assigned)
        self.assigned, self.paused = list(partitions), set()
        self.listener.on_partitions_assigned(self.assigned)

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        return frozenset(self.assigned)

    def position(self, partition: TopicPartition) -> int:
        return self.positions.get(partition, 0)

    def poll(self, timeout_ms: float) -> ConsumerRecords:
        self.timeouts.append(timeout_ms)
        if self.woken:
            self.woken = False
            raise WakeupError
        if not self.records or any(record.topic_partition in self.paused for record in self.records[0]):
            return EMPTY_RECORDS
        batch = self.records.pop(0)
        partitions = {each.topic_partition for each in batch}
        return ConsumerRecords({one: [each for each in batch if each.topic_partition == one] for one in partitions})

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        self._ensure_assigned(partitions)
        self.paused.update(partitions)

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        self._ensure_assigned(partitions)
        self.paused.difference_update(partitions)

    def _ensure_assigned(self, partitions: Iterable[TopicPartition]) -> None:
        if not set(partitions) <= set(self.assigned):
            raise RuntimeError("not assigned")

    def seek(self, partition: TopicPartition, offset: int) -> None:
        self.seeks.append((partition, offset))

    def commit_sync(self, offsets: Mapping[TopicPartition, Any]) -> None:
        if self.commit_errors:
            raise self.commit_errors.pop(0)
        self.commits.append(({each: offset.offset for each, offset in offsets.items()}, None))

    def commit_async(self, offsets: Mapping[TopicPartition, Any], callback: Any) -> None:
        done = lambda error=None: callback(offsets, error)  # noqa: E731
        self.commits.append(({each: offset.offset for each, offset in offsets.items()}, done))

    def wakeup(self) -> None:
        self.woken = True

    def close(self) -> None:
        """Leave the group, as a consumer does: it says that its partitions are revoked."""
        self.closed = True
        assigned, self.assigned = self.assigned, []
        if assigned and self.listener is not None:
            self.listener.on_partitions_revoked(assigned)


def record(value: bytes | None, offset: int, partition: TopicPartition = P0) -> ConsumerRecord:
    """A record of a topic."""
    return ConsumerRecord(*partition, offset, 1000 + offset, TimestampType.CREATE_TIME, None, value)
