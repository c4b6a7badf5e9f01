"""The old consumer of a mirror: one stream of a connector, whose rebalances wait for the mirror's commit.

Kafka 0.10.2: core/.../tools/MirrorMaker.scala (MirrorMakerOldConsumer) · book 8.1.2
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.rebalance_listeners import InternalRebalanceListenerForOldConsumer
from kafka_lite.old_consumer.consumer_connector import ConsumerRebalanceListener
from kafka_lite.old_consumer.consumer_iterator import ConsumerIterator
from kafka_lite.old_consumer.topic_filter import TopicFilter
from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector


class MirrorMakerOldConsumer:
    """A connector with one stream::

        rebalancing thread   stop fetchers ─▶ request a commit ─▶ wait ───────────────────────────▶ release, own, fetch
        mirror's thread      … ─▶ next ─▶ send ─────────────────▶ flush ─▶ commit ─▶ notify ─▶ …

    The mirror's thread sees the request after a record, or after ``consumer.timeout.ms`` without one.
    """

    def __init__(
        self,
        connector: ZookeeperConsumerConnector,
        topic_filter: TopicFilter,
        custom_rebalance_listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        self._connector = connector
        self._topic_filter = topic_filter
        self._iterator: ConsumerIterator[bytes, bytes] | None = None
        self._immediate_commit_requested = False
        self._ended = False
        self._changed = threading.Condition()
        connector.set_consumer_rebalance_listener(
            InternalRebalanceListenerForOldConsumer(self, custom_rebalance_listener)
        )

    def init(self) -> None:
        """Join the group. Raises ZkError, ConsumerRebalanceFailedError."""
        (stream,) = self._connector.create_message_streams_by_filter(self._topic_filter, 1)
        with self._changed:
            self._iterator = iter(stream)

    def request_and_wait_for_commit(self) -> None:
        """Wait until the mirror's thread has flushed and committed. Called by the rebalancing thread.

        Returns at once before ``init`` is done, when nothing was received, and once the mirror's thread has made its
        last commit. (Kafka would wait for ever then, and the connector's shutdown for it.)
        """
        with self._changed:
            if self._iterator is None or self._ended:
                return
            self._immediate_commit_requested = True
            while self._immediate_commit_requested:
                self._changed.wait()

    def notify_commit(self) -> None:
        """Let the rebalance continue."""
        with self._changed:
            self._immediate_commit_requested = False
            self._changed.notify_all()

    @property
    def commit_requested(self) -> bool:
        """Whether a rebalance waits for a commit."""
        with self._changed:
            return self._immediate_commit_requested

    @property
    def has_data(self) -> bool:
        """Wait for a message. Raises ConsumerTimeoutError after ``consumer.timeout.ms``."""
        return self._stream.has_next()

    def receive(self) -> ConsumerRecord:
        """The message that ``has_data`` found."""
        each = next(self._stream)
        return ConsumerRecord(
            each.topic, each.partition, each.offset, each.timestamp, each.timestamp_type, each.key, each.message
        )

    @property
    def _stream(self) -> ConsumerIterator[bytes, bytes]:
        assert self._iterator is not None, "init comes first"
        return self._iterator

    def commit(self) -> None:
        """Commit what was received of the owned partitions."""
        self._connector.commit_offsets()

    def forget_missing_topics(self) -> None:
        """No-op: a commit to ZooKeeper does not ask whether the topic exists."""

    def stop(self) -> None:
        """No-op: without a connection, the last commit would fail."""

    def cleanup(self) -> None:
        """Leave the group and close."""
        with self._changed:
            self._ended = True
        self.notify_commit()
        self._connector.shutdown()

    def progress(self) -> Sequence[PartitionProgress]:
        """How far each owned partition has been read. Thread-safe."""
        return [
            PartitionProgress(partition, position, end)
            for partition, (position, end) in sorted(self._connector.progress().items())
        ]
