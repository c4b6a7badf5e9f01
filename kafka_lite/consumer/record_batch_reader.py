"""From the bytes of a batch to the records that a user gets, a few at a time.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (parseRecord); since 0.11 CompletedFetch.java · book 4.1.5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.default_record import decode_offset_delta
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.fast.decode import decode_records
from kafka_lite.record.record import LOG_APPEND_TIME, InvalidRecordError, Record
from kafka_lite.record.record_batch import RecordBatch

Deserialize = Callable[[str, bytes | None], Any]
"""``deserialize(topic, data)``; None leaves the bytes as they are."""

_new_tuple = tuple.__new__  # makes a ConsumerRecord in half the time that its constructor takes


class BatchReader(Protocol):
    """A consumer's place in one batch."""

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records, at most ``limit``; none at the end of the batch.

        Raises InvalidRecordError or CorruptRecordError if the next record cannot be read, RecordDeserializationError if
        the user's deserializer refuses it. If a later record cannot be read, the list ends before it.
        """
        ...

    @property
    def is_at_end(self) -> bool:
        """Whether the batch is known to hold nothing more."""
        ...


class RecordBatchReader:
    """Reads a batch of format v2. It is decompressed once, and decoded as far as records are taken."""

    def __init__(
        self,
        batch: DefaultRecordBatch,
        partition: TopicPartition,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
        from_offset: int = 0,
    ) -> None:
        """Begin at ``from_offset``: a broker sends the whole batch when its middle is asked for."""
        self._remaining = batch.record_count
        self._data = batch.records_data() if self._remaining else b""
        self._position = 0
        self._partition = partition
        self._base_offset = batch.base_offset
        self._base_timestamp = batch.base_timestamp
        self._timestamp_type = batch.timestamp_type
        self._append_time = batch.max_timestamp if self._timestamp_type is LOG_APPEND_TIME else None
        self._leader_epoch = batch.partition_leader_epoch
        self._deserialize_key = deserialize_key
        self._deserialize_value = deserialize_value
        if from_offset > self._base_offset:
            self._skip_to(from_offset - self._base_offset)

    @property
    def is_at_end(self) -> bool:
        """Whether all records were taken and no bytes are left."""
        return self._remaining <= 0 and self._position == len(self._data)

    def _skip_to(self, offset_delta: int) -> None:
        """Step over the records before, also over one that cannot be read: the user may have sought past it."""
        while self._remaining > 0:
            delta, end = decode_offset_delta(self._data, self._position)
            if delta >= offset_delta:
                return
            self._position = end
            self._remaining -= 1

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records."""
        topic, number = self._partition
        base_offset, base_timestamp, append_time = self._base_offset, self._base_timestamp, self._append_time
        timestamp_type, leader_epoch = self._timestamp_type, self._leader_epoch
        deserialize_key, deserialize_value = self._deserialize_key, self._deserialize_value
        data, position = self._data, self._position
        new_tuple, record_class = _new_tuple, ConsumerRecord  # a local variable is found sooner
        records: list[ConsumerRecord] = []
        user_key: Any
        user_value: Any
        for timestamp_delta, offset_delta, key, value, headers, end in decode_records(
            data, position, min(limit, self._remaining)
        ):
            try:
                user_key = key if deserialize_key is None else deserialize_key(topic, key)
                user_value = value if deserialize_value is None else deserialize_value(topic, value)
            except Exception as error:
                if not records:
                    raise RecordDeserializationError(self._partition, base_offset + offset_delta, error) from error
                break  # the next call begins at this record, and raises
            records.append(new_tuple(record_class, (
                topic, number, base_offset + offset_delta,
                base_timestamp + timestamp_delta if append_time is None else append_time, timestamp_type,
                user_key, user_value, headers,
                -1 if key is None else len(key), -1 if value is None else len(value), leader_epoch,
            )))  # fmt: skip
            position = end
        self._position = position
        self._remaining -= len(records)
        if not records and self._remaining <= 0 and position != len(data):
            raise InvalidRecordError(f"{len(data) - position} bytes follow the last record of the batch")
        return records


class MessageReader:
    """Reads a message of format v0 or v1, or the set of messages inside a compressed one."""

    def __init__(
        self,
        batch: RecordBatch,
        partition: TopicPartition,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
        from_offset: int = 0,
    ) -> None:
        self._records = (record for record in batch.records() if record.offset >= from_offset)
        self._refused: Record | None = None
        self._partition = partition
        self._deserialize_key = deserialize_key
        self._deserialize_value = deserialize_value

    @property
    def is_at_end(self) -> bool:
        """Always false: only ``take`` can tell."""
        return False

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records."""
        taken: list[ConsumerRecord] = []
        while len(taken) < limit and (record := self._refused or next(self._records, None)) is not None:
            try:
                taken.append(self._deserialized(record))
                self._refused = None
            except RecordDeserializationError:
                self._refused = record
                if not taken:
                    raise
                break
        return taken

    def _deserialized(self, record: Record) -> ConsumerRecord:
        topic, number = self._partition
        key, value = record.key, record.value
        try:
            user_key = key if self._deserialize_key is None else self._deserialize_key(topic, key)
            user_value = value if self._deserialize_value is None else self._deserialize_value(topic, value)
        except Exception as error:
            raise RecordDeserializationError(self._partition, record.offset, error) from error
        return ConsumerRecord(
            topic,
            number,
            record.offset,
            record.timestamp,
            record.timestamp_type,
            user_key,
            user_value,
            (),
            -1 if key is None else len(key),
            -1 if value is None else len(value),
        )
