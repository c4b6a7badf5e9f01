"""Writes offset syncs, few at a time.

Kafka 2.4: connect/mirror/.../connect/mirror/OffsetSyncWriter.java (since 3.8; before, a part of
MirrorSourceTask.java) · book 8.1.1
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.mirror_records import OffsetSync
from kafka_lite.mirror.connectors.source.offset_sync_due import OffsetSyncDue
from kafka_lite.producer.producer_record import ProducerRecord, RecordMetadata

logger = logging.getLogger(__name__)

MAX_OUTSTANDING = 10
CLOSE_TIMEOUT_MS = 10_000


class SyncProducer(Protocol):
    """The part of KafkaProducer that it needs."""

    def send(
        self, record: ProducerRecord, callback: Callable[[RecordMetadata | None, Exception | None], None] | None = None
    ) -> object:
        """Send a record."""
        ...

    def close(self, timeout_ms: float | None = None) -> None:
        """Close it."""
        ...


class OffsetSyncWriter:
    """Keeps one sync for each partition that waits, the last one.

    ::

        record copied ─▶ due? ── yes ──────────────────────▶ pending ─▶ producer, at most 10 on their way
                              └─ no ──▶ delayed ─ commit ──▶

    A sync that is not due yet is written with the next commit of offsets, so that a quiet partition is not translated
    by an old one for ever. Three threads come here: the producer's of copied records, with each acknowledgement; its
    own producer's; and the one that commits.
    """

    def __init__(self, producer: SyncProducer, topic: str, max_offset_lag: int) -> None:
        """``max_offset_lag`` is ``offset.lag.max``. It closes the producer."""
        self._producer = producer
        self._topic = topic
        self._max_offset_lag = max_offset_lag
        self._lock = threading.Lock()
        self._due: dict[TopicPartition, OffsetSyncDue] = {}
        self._delayed: dict[TopicPartition, OffsetSync] = {}
        self._pending: dict[TopicPartition, OffsetSync] = {}
        self._outstanding = 0
        self._closed = False

    def record_copied(self, partition: TopicPartition, upstream_offset: int, downstream_offset: int) -> None:
        """Note a record that was copied; write a sync if it is due. Kafka: maybeQueueOffsetSyncs."""
        sync = OffsetSync(partition, upstream_offset, downstream_offset)
        with self._lock:
            due = self._due.setdefault(partition, OffsetSyncDue(self._max_offset_lag))
            if due.update(upstream_offset, downstream_offset):
                self._delayed.pop(partition, None)
                self._pending[partition] = sync
                due.written()
            else:
                self._delayed[partition] = sync
        self.fire_pending()

    def promote_delayed(self) -> None:
        """Write the syncs that are not due, too. Kafka: promoteDelayedOffsetSyncs."""
        with self._lock:
            self._pending |= self._delayed
            self._delayed.clear()
        self.fire_pending()

    def fire_pending(self) -> None:
        """Send what waits, as far as not too many are on their way. Kafka: firePendingOffsetSyncs."""
        while (sync := self._next()) is not None:
            # Not under the lock: a send may wait for metadata.
            try:
                self._producer.send(ProducerRecord(self._topic, sync.value(), sync.key(), 0), self._sent)
            except Exception:
                self._sent(None, None)
                logger.exception("Failure sending offset sync")

    def _next(self) -> OffsetSync | None:
        with self._lock:
            if self._closed or not self._pending or self._outstanding >= MAX_OUTSTANDING:
                return None
            self._outstanding += 1
            return self._pending.pop(next(iter(self._pending)))

    def _sent(self, _metadata: RecordMetadata | None, error: Exception | None) -> None:
        if error is not None:
            logger.error("Failure sending offset sync: %s", error)
        with self._lock:
            self._outstanding -= 1

    def close(self) -> None:
        """Write what was sent, and nothing more."""
        with self._lock:
            self._closed = True
        self._producer.close(CLOSE_TIMEOUT_MS)
