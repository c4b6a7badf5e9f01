"""The connector as the worker's thread sees it: a consumer of MirrorMaker.

uReplicator kafka-0.10.2.1: uReplicator-Worker/.../mirrormaker/MirrorMakerWorker.scala (MirrorMakerThread) · book 8.2.3
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.ureplicator.worker.kafka_connector import KafkaConnector
from kafka_lite.mirror.ureplicator.worker.record_in_hand import Message
from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator


class WorkerConsumer:
    """A MirrorMakerBaseConsumer without rebalances, so that nobody ever requests a commit::

    has_data       hand the last record's place on, and take the next one
    receive        that record, to be handled and sent
    commit         after a flush: the offsets of all partitions
    """

    def __init__(self, connector: KafkaConnector) -> None:
        self._connector = connector
        self._in_hand = connector.in_hand
        self._iterator: ConsumerIterator[bytes, bytes] | None = None
        self._message: Message | None = None

    def init(self) -> None:
        """Open the stream. Its partitions come later."""
        self._iterator = iter(self._connector.get_stream())

    @property
    def has_data(self) -> bool:
        """Wait for a record. Raises ConsumerTimeoutError after ``consumer.timeout.ms``; False after ``stop``."""
        assert self._iterator is not None, "init comes first"
        self._in_hand.sent()
        while self._iterator.has_next():
            self._message = self._in_hand.take(self._iterator)
            if self._message is not None:
                return True
        return False

    def receive(self) -> ConsumerRecord:
        """The record that ``has_data`` found."""
        each = self._message
        assert each is not None, "has_data comes first"
        return ConsumerRecord(
            each.topic, each.partition, each.offset, each.timestamp, each.timestamp_type, each.key, each.message
        )

    def commit(self) -> None:
        """Commit the offsets of all partitions."""
        self._in_hand.sent()
        self._connector.commit_offsets()

    def forget_missing_topics(self) -> None:
        """No-op: a commit to ZooKeeper does not ask whether the topic exists."""

    @property
    def commit_requested(self) -> bool:
        """Never: a partition that goes commits its own offset."""
        return False

    def notify_commit(self) -> None:
        """No-op: nobody waits."""

    def stop(self) -> None:
        """End the wait for a record."""
        self._connector.end_stream()

    def cleanup(self) -> None:
        """Close. Threads that wait for the record in hand wait no longer."""
        self._in_hand.end()
        self._connector.shutdown()

    def progress(self) -> Sequence[PartitionProgress]:
        """How far each partition has been read. Thread-safe."""
        return [
            PartitionProgress(partition, position, end)
            for partition, (position, end) in sorted(self._connector.progress().items())
        ]
