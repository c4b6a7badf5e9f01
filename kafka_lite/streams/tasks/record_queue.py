"""The buffered records of one input partition.

Kafka 0.10.2: streams/.../processor/internals/RecordQueue.java · book 9.1.3
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.streams.processor.internals.topology.source_node import SourceNode
from kafka_lite.streams.processor.timestamp_extractor import TimestampExtractor
from kafka_lite.streams.tasks.min_timestamp_tracker import (
    NOT_KNOWN,
    MinTimestampTracker,
    StampedRecord,
)

logger = logging.getLogger(__name__)


class RecordQueue:
    """First in, first out: the order of offsets, whatever the timestamps are."""

    def __init__(
        self,
        partition: TopicPartition,
        source: SourceNode,
        timestamp_extractor: TimestampExtractor,
        deserialize: Callable[[ConsumerRecord], ConsumerRecord | None] | None = None,
        on_dropped: Callable[[], None] = lambda: None,
    ) -> None:
        """``deserialize`` returns None for a record to skip. By default it is the source's, which skips none.

        ``on_dropped`` is called for each record with a negative time.
        """
        self.partition = partition
        self.source = source
        self._deserialize = deserialize or source.deserialize
        self._on_dropped = on_dropped
        self._timestamp_extractor = timestamp_extractor
        self._records: deque[StampedRecord] = deque()
        self._time_tracker = MinTimestampTracker()
        self.timestamp = NOT_KNOWN
        """The partition's time: the largest value so far of the smallest buffered timestamp. It never goes back."""

    def add_raw_records(self, raw_records: Iterable[ConsumerRecord]) -> int:
        """Deserialize and append records; drop those that it skips, or with a negative time. Returns the new length.

        The time of a record is what the extractor says. The queue's time advances once, after the last record.
        Raises StreamsError for a record that cannot be deserialized, unless a handler skips it.
        """
        for raw_record in raw_records:
            record = self._deserialize(raw_record)
            if record is None:
                continue
            timestamp = self._timestamp_extractor.extract(record, self._time_tracker.get())
            if timestamp >= 0:
                stamped = StampedRecord(record, timestamp)
                self._records.append(stamped)
                self._time_tracker.add(stamped)
            else:
                self._drop(record, timestamp)
        self._advance()
        return len(self._records)

    def _drop(self, record: ConsumerRecord, timestamp: int) -> None:
        logger.warning(
            "Skipping record due to negative extracted timestamp. "
            "topic=[%s] partition=[%d] offset=[%d] extractedTimestamp=[%d] extractor=[%s]",
            record.topic, record.partition, record.offset, timestamp, type(self._timestamp_extractor).__name__,
        )  # fmt: skip
        self._on_dropped()

    def poll(self) -> StampedRecord:
        """Remove and return the first record. Raises IndexError if there is none."""
        stamped = self._records.popleft()
        self._time_tracker.remove(stamped)
        self._advance()
        return stamped

    def clear(self) -> None:
        """Drop all records. The time of the partition stays."""
        self._records.clear()
        self._time_tracker.clear()

    def __len__(self) -> int:
        return len(self._records)

    def _advance(self) -> None:
        self.timestamp = max(self.timestamp, self._time_tracker.get())
