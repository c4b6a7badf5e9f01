"""The transactional producer of a task, for ``processing.guarantee=exactly_once``.

Kafka 0.10.2 has no transactions, so the book's Streams is at least once. This is Kafka 0.11's exactly_once (KIP-129),
cut as in Kafka 2.6: streams/.../processor/internals/StreamsProducer.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from kafka_lite.clients.cluster import PartitionInfo
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_group_metadata import ConsumerGroupMetadata
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.producer.kafka_producer import KafkaProducer
from kafka_lite.producer.producer_batch import BatchListener
from kafka_lite.streams.errors import StreamsError, TaskMigratedError

logger = logging.getLogger(__name__)

_FENCED = (Errors.INVALID_PRODUCER_EPOCH, Errors.PRODUCER_FENCED)


class StreamsProducer:
    """A producer of its own for each task, whose ``transactional.id`` is ``<application id>-<task id>``.

    ::

        init_transactions      fences the producer that had the task before; its open transaction is aborted
        send                   begins a transaction, if none is open
        commit_transaction     adds the offsets of the processed records, then commits both
        abort_transaction      at an unclean close

    So a record's results, the changes of the stores, and its offset are committed together or not at all. Once a newer
    producer has the task, every call raises TaskMigratedError. Used by one thread.
    """

    NEEDS = "processing.guarantee=exactly_once requires brokers of Kafka 0.11 or later"
    """Why it fails with brokers that lack a request, or a version of one."""

    def __init__(self, producer: KafkaProducer, task_id: str, group_id: str) -> None:
        self._producer = producer
        self._task_id = task_id
        self._group_id = group_id
        self.in_transaction = False
        """Whether a transaction is open."""

    def init_transactions(self) -> None:
        """Fence the task's former producer. Blocks until its last transaction is complete. Raises StreamsError."""
        with self._errors("initialize transactions"):
            self._producer.init_transactions()

    def send_bytes(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None,
        timestamp: int,
        listener: BatchListener,
    ) -> None:
        """Send a record in the open transaction, or in a new one."""
        try:
            if not self.in_transaction:
                self._producer.begin_transaction()
                self.in_transaction = True
            self._producer.send_bytes(topic, key, value, partition, timestamp, listener)
        except KafkaError as error:
            raise self._translated("send a record", error) from error

    def flush(self) -> None:
        """Block until all records are stored."""
        self._producer.flush()

    def partitions_for(self, topic: str) -> tuple[PartitionInfo, ...]:
        """The partitions of a topic."""
        return self._producer.partitions_for(topic)

    def commit_transaction(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Commit all sent records, and the offsets. Raises StreamsError; then the transaction is still open."""
        with self._errors("commit the transaction"):
            self._ensure_transaction()
            self._producer.send_offsets_to_transaction(offsets, self._group_metadata())
            self._producer.commit_transaction()
        self.in_transaction = False

    def abort_transaction(self) -> None:
        """Abort the open transaction. A no-op if there is none. If it fails, the next owner of the task aborts it."""
        if self.in_transaction:
            self.in_transaction = False
            try:
                self._producer.abort_transaction()
            except (KafkaError, RuntimeError) as error:
                logger.warning("task [%s] Failed to abort the transaction: %s", self._task_id, error)

    def close(self) -> None:
        """Close the producer."""
        self._producer.close()

    def _group_metadata(self) -> ConsumerGroupMetadata:
        """Without a member: the ``transactional.id`` says who owns the task."""
        return ConsumerGroupMetadata(self._group_id)

    def _ensure_transaction(self) -> None:
        if not self.in_transaction:
            self._producer.begin_transaction()
            self.in_transaction = True

    @contextmanager
    def _errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except KafkaError as error:
            raise self._translated(what, error) from error

    def _translated(self, what: str, error: KafkaError) -> StreamsError:
        if is_fenced(error):
            return TaskMigratedError(self._task_id)
        if is_one_of(error, (Errors.UNSUPPORTED_VERSION,)):
            return StreamsError(f"{self.NEEDS}: {error}")
        return StreamsError(f"task [{self._task_id}] Failed to {what}: {error}")


def is_fenced(error: BaseException | None) -> bool:
    """Whether an error, or its cause, says that a newer producer has the same ``transactional.id``."""
    return is_one_of(error, _FENCED)


def is_one_of(error: BaseException | None, errors: Collection[Errors]) -> bool:
    """Whether an error, or its cause, is one of these."""
    while error is not None:
        if isinstance(error, ApiError) and error.error in errors:
            return True
        error = error.__cause__
    return False
