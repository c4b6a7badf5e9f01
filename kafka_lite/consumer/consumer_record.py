"""The records that a poll returns, by partition.

Kafka 0.10.2: clients/.../consumer/ConsumerRecord.java, ConsumerRecords.java · book 4.1.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.record.record import Header, TimestampType


class ConsumerRecord(NamedTuple):
    """A record, and where it was read. A tuple, since millions of them are made and no object is cheaper."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    """ms since the epoch; -1 in format v0."""
    timestamp_type: TimestampType
    key: Any
    """The result of the key's deserializer; bytes without one."""
    value: Any
    """The result of the value's deserializer. A tombstone has None in the log."""
    headers: tuple[Header, ...] = ()
    serialized_key_size: int = -1
    """Bytes; -1 without a key."""
    serialized_value_size: int = -1
    """Bytes; -1 without a value."""
    leader_epoch: int = -1
    """Of the leader that appended the record; -1 before format v2."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Topic and partition number."""
        return TopicPartition(self.topic, self.partition)

    def with_data(self, key: Any, value: Any) -> ConsumerRecord:
        """The record with another key and value: ``_replace`` in a tenth of its time."""
        return tuple.__new__(ConsumerRecord, self[:5] + (key, value) + self[7:])  # noqa: RUF005  faster than unpacking


class ConsumerRecords:
    """The records of one poll: iterate over all of them, or ask for those of a partition or topic.

    The records of a partition are in the order of their offsets.
    """

    __slots__ = ("_records",)

    def __init__(self, records: Mapping[TopicPartition, Sequence[ConsumerRecord]] | None = None) -> None:
        self._records = records or {}

    @property
    def partitions(self) -> frozenset[TopicPartition]:
        """The partitions that there are records of."""
        return frozenset(self._records)

    def records(self, of: TopicPartition | str) -> Sequence[ConsumerRecord]:
        """The records of a partition, or of a topic."""
        if isinstance(of, TopicPartition):
            return self._records.get(of, ())
        return [record for partition, records in self._records.items() if partition.topic == of for record in records]

    @property
    def count(self) -> int:
        """The number of records."""
        return sum(len(records) for records in self._records.values())

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self._records

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[ConsumerRecord]:
        return chain.from_iterable(self._records.values())


EMPTY_RECORDS = ConsumerRecords()
"""The result of a poll without records."""
