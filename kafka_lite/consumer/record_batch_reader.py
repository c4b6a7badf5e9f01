"""From the bytes of a batch to the records that a user gets, a few at a time.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (parseRecord); since 0.11 CompletedFetch.java · book 4.1.5

Every record that is consumed goes through here, so this is written for speed: what is usual is decoded in one loop
without a call, into tuples, in the order in which the bytes lie; what is unusual goes through ``decode_record``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import repeat
from typing import Any, Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.record.batch import Batch
from kafka_lite.record.record import Header, InvalidRecordError, Record, TimestampType
from kafka_lite.record.record_batch import RecordBatch, decode_headers, decode_record
from kafka_lite.record.record_scan import RecordLayout, alike_records, read_layout, timestamp_columns
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint

Deserialize = Callable[[str, bytes | None], Any]
"""``deserialize(topic, data)``; where None stands instead, bytes are left as they are."""

_NULL = 1  # zig-zag of the length -1
_COMPILED = not __file__.endswith(".py")
_SHORT_RUN = 32
"""To find a run of records that are alike costs as much as to read so many of them one by one."""
_LONGEST_RUN = 4096
_FIRST_PATIENCE = 1 << 30 if _COMPILED else 32  # how many records to read before looking for a run again
_new_tuple = tuple.__new__


class BatchReader(Protocol):
    """Where a consumer is in one batch."""

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records, at most ``limit``; none when the batch is at its end.

        Raises InvalidRecordError or CorruptRecordError for bytes that are no record, RecordDeserializationError for
        those that the user's deserializer does not take; records before that one are returned first.
        """
        ...


class RecordBatchReader:
    """Reads a batch of format v2. Decompressed once, decoded when asked for: a poll wants 500 of perhaps 100,000."""

    def __init__(
        self,
        batch: RecordBatch,
        partition: TopicPartition,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
        from_offset: int = 0,
    ) -> None:
        """Begins at ``from_offset``: a batch comes whole, also when its middle was asked for."""
        self._data = batch.records_data() if batch.record_count else b""
        self._position = 0
        self._index = 0
        self._count = batch.record_count
        self._partition = partition
        self._base_offset = batch.base_offset
        self._base_timestamp = batch.base_timestamp
        self._timestamp_type = batch.timestamp_type
        self._append_time: int | None = None
        if batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
            self._append_time = batch.max_timestamp
        self._leader_epoch = batch.partition_leader_epoch
        self._deserialize_key = deserialize_key
        self._deserialize_value = deserialize_value
        if from_offset > batch.base_offset:
            self._skip_to(from_offset - batch.base_offset)

    def _skip_to(self, offset_delta: int) -> None:
        """Pass over the records before, whatever is in them: the user may have seeked past one that is not readable."""
        while self._index < self._count:
            length, start = decode_varint(self._data, self._position)
            _, at = decode_varint(self._data, start + 1, MAX_VARLONG_BYTES)  # 1: the attributes
            delta, _ = decode_varint(self._data, at)
            if delta >= offset_delta:
                return
            if length <= 0:
                raise InvalidRecordError(f"Record of {length} bytes")
            self._position = start + length
            self._index += 1

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records."""
        records: list[ConsumerRecord] = []
        end = min(self._index + limit, self._count)
        patience = _FIRST_PATIENCE
        while self._index < end:
            if not _COMPILED and self._take_alike(end, records):
                continue
            stop = min(end, self._index + patience)
            patience *= 4  # records that are not alike here hardly will be so there
            self._take_usual(stop, records)
            if self._index < stop:
                try:
                    records.append(self._take_one())
                except (InvalidRecordError, RecordDeserializationError):
                    if not records:
                        raise
                    return records  # the error comes with the next call, for the position has not moved
        if self._index == self._count and self._position != len(self._data) and not records:
            rest = len(self._data) - self._position
            raise InvalidRecordError(f"{rest} bytes follow the {self._count} records of the batch")
        return records

    def _take_alike(self, end: int, records: list[ConsumerRecord]) -> bool:
        """Append a run of records that are alike, up to index ``end``; false when there is none worth it.

        Such records are read as columns (see ``record_scan``): the lengths are known, so keys and values are cut out
        by one ``struct``, and the tuples are put together by ``map``, all in C: four times as fast as one by one.
        """
        limit = min(end - self._index, _LONGEST_RUN) - 1
        if limit < _SHORT_RUN:
            return False
        try:
            layout = read_layout(self._data, self._position)
        except InvalidRecordError:
            return False  # _take_one will tell
        is_plain = layout.headers_at + 1 == layout.end and not self._data[layout.headers_at]
        if not is_plain or layout.value_at == layout.headers_at:
            return False
        run, times_differ = alike_records(self._data, layout, layout.offset_delta + 1, limit)
        if run < _SHORT_RUN:
            return False
        try:
            records += list(self._alike(layout, run, times_differ=times_differ))
        except Exception:  # noqa: BLE001 - a deserializer's: _take_one will tell
            return False
        self._position += (run + 1) * (layout.end - layout.start)
        self._index += run + 1
        return True

    def _take_usual(self, end: int, records: list[ConsumerRecord]) -> None:
        """Append records to ``records`` up to index ``end``, or to one that is in any way unusual.

        This is ``decode_record`` written out for records whose lengths take up to two bytes and deltas up to three:
        three times as fast. It is one loop because it is fast by not calling anything: in two steps, numbers first and
        records of them afterwards, it was slower by a tenth. Numbers are twice what they mean; an odd one is negative.
        """
        data, position, index = self._data, self._position, self._index
        topic, number = self._partition
        base_offset, base_timestamp, append_time = self._base_offset, self._base_timestamp, self._append_time
        timestamp_type, leader_epoch = self._timestamp_type, self._leader_epoch
        deserialize_key, deserialize_value = self._deserialize_key, self._deserialize_value
        headers: tuple[Header, ...] = ()
        key: Any
        value: Any
        append = records.append
        with suppress(Exception):  # the end of the data, or a deserializer's: _take_one will tell
            for index in range(self._index, end):  # noqa: B007 - where the loop ends is wanted
                length, at = data[position], position + 1
                if length >= 0x80:
                    length, at = length & 0x7F | data[at] << 7, at + 1
                record_end = at + (length >> 1)
                timestamp, at = data[at + 1], at + 2  # behind the attributes
                if timestamp >= 0x80:
                    timestamp, at = timestamp & 0x7F | data[at] << 7, at + 1
                    if timestamp >= 0x4000:
                        timestamp, at = timestamp & 0x3FFF | data[at] << 14, at + 1
                offset, at = data[at], at + 1
                if offset >= 0x80:
                    offset, at = offset & 0x7F | data[at] << 7, at + 1
                    if offset >= 0x4000:
                        offset, at = offset & 0x3FFF | data[at] << 14, at + 1
                key_size, at = data[at], at + 1
                if key_size == _NULL:
                    key_size, key = -1, None
                else:
                    if key_size >= 0x80:
                        key_size, at = key_size & 0x7F | data[at] << 7, at + 1
                    if key_size & 1:
                        break
                    key_size >>= 1
                    key = data[at : at + key_size]
                    at += key_size
                value_size, at = data[at], at + 1
                if value_size == _NULL:
                    value_size, value = -1, None
                else:
                    if value_size >= 0x80:
                        value_size, at = value_size & 0x7F | data[at] << 7, at + 1
                    if value_size & 1:
                        break
                    value_size >>= 1
                    value = data[at : at + value_size]
                    at += value_size
                if (length | timestamp | offset) & 1 or length >= 0x4000 or (timestamp | offset) >= 0x200000:
                    break  # negative, or a longer number: what was read of it means nothing
                if key_size >= 0x2000 or value_size >= 0x2000:
                    break
                if at + 1 == record_end and not data[at]:
                    headers = ()
                else:
                    headers, at = decode_headers(data, at, record_end)
                    if at != record_end:
                        break
                if deserialize_key is not None:
                    key = deserialize_key(topic, key)
                if deserialize_value is not None:
                    value = deserialize_value(topic, value)
                append(_new_tuple(ConsumerRecord, (
                    topic, number, base_offset + (offset >> 1),
                    base_timestamp + (timestamp >> 1) if append_time is None else append_time, timestamp_type,
                    key, value, headers, key_size, value_size, leader_epoch,
                )))  # fmt: skip
                position = record_end
            else:
                index = end
        self._position, self._index = position, index

    def _alike(self, layout: RecordLayout, run: int, *, times_differ: bool) -> Iterable[ConsumerRecord]:
        """The record at ``layout`` and the ``run`` that follow it and are like it."""
        count, start = run + 1, layout.start
        block = memoryview(self._data)[start : start + count * (layout.end - start)]
        key_size = layout.value_length_at - layout.key_at if layout.has_key else -1
        value_size = layout.headers_at - layout.value_at
        before, between = layout.key_at - start, layout.value_at - layout.value_length_at
        cut = f"{before}x{max(key_size, 0)}s{between}x{value_size}sx"
        keys: Iterable[Any]
        values: Iterable[Any]
        keys, values = zip(*struct.iter_unpack(cut, block), strict=True)
        topic, number = self._partition
        if key_size < 0:
            keys = repeat(None)
        if self._deserialize_key is not None:
            keys = map(self._deserialize_key, repeat(topic, count), keys)
        if self._deserialize_value is not None:
            values = map(self._deserialize_value, repeat(topic), values)
        first_offset = self._base_offset + layout.offset_delta
        fields = zip(
            repeat(topic), repeat(number), range(first_offset, first_offset + count),
            self._timestamps_alike(layout, run, times_differ=times_differ), repeat(self._timestamp_type),
            keys, values, repeat(()), repeat(key_size), repeat(value_size), repeat(self._leader_epoch),
        )  # fmt: skip
        return map(_new_tuple, repeat(ConsumerRecord), fields)

    def _timestamps_alike(self, layout: RecordLayout, run: int, *, times_differ: bool) -> Iterable[int]:
        if self._append_time is not None:
            return repeat(self._append_time)
        base, first = self._base_timestamp, self._base_timestamp + layout.timestamp_delta
        if not times_differ:
            return repeat(first)
        columns = timestamp_columns(self._data, layout, run)
        if len(columns) == 1:
            return [first, *(base + (low >> 1 ^ -(low & 1)) for low in columns[0])]
        varints = zip(*columns, strict=True)
        if len(columns) == 2:
            deltas = ((low & 0x7F | high << 7) >> 1 ^ -(low & 1) for low, high in varints)
        else:
            deltas = (decode_varint(bytes(varint), 0, MAX_VARLONG_BYTES)[0] for varint in varints)
        return [first, *(base + delta for delta in deltas)]

    def _take_one(self) -> ConsumerRecord:
        """The next record, whatever it is like. The position moves only if nothing is raised."""
        timestamp_delta, offset_delta, key, value, headers, position = decode_record(self._data, self._position)
        timestamp = self._base_timestamp + timestamp_delta if self._append_time is None else self._append_time
        offset = self._base_offset + offset_delta
        decoded = Record(offset, timestamp, self._timestamp_type, key, value, headers)
        record = consumer_record(
            decoded, self._partition, self._leader_epoch, self._deserialize_key, self._deserialize_value
        )
        self._position = position
        self._index += 1
        return record


class MessageReader:
    """Reads a message of format v0 or v1, or the set of messages inside a compressed one."""

    def __init__(
        self,
        batch: Batch,
        partition: TopicPartition,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
        from_offset: int = 0,
    ) -> None:
        self._records = (record for record in batch.records() if record.offset >= from_offset)
        self._again: Record | None = None
        self._partition = partition
        self._deserialize_key = deserialize_key
        self._deserialize_value = deserialize_value

    def take(self, limit: int) -> list[ConsumerRecord]:
        """The next records."""
        taken: list[ConsumerRecord] = []
        while len(taken) < limit:
            record = self._again or next(self._records, None)
            if record is None:
                break
            try:
                taken.append(
                    consumer_record(record, self._partition, -1, self._deserialize_key, self._deserialize_value)
                )
                self._again = None
            except RecordDeserializationError:
                self._again = record
                if not taken:
                    raise
                break
        return taken


def consumer_record(
    record: Record,
    partition: TopicPartition,
    leader_epoch: int,
    deserialize_key: Deserialize | None,
    deserialize_value: Deserialize | None,
) -> ConsumerRecord:
    """A decoded record as the user gets it. Raises RecordDeserializationError."""
    key, value = record.key, record.value
    try:
        user_key = key if deserialize_key is None else deserialize_key(partition.topic, key)
        user_value = value if deserialize_value is None else deserialize_value(partition.topic, value)
    except Exception as error:
        raise RecordDeserializationError(partition, record.offset, error) from error
    return ConsumerRecord(
        partition.topic,
        partition.partition,
        record.offset,
        record.timestamp,
        record.timestamp_type,
        user_key,
        user_value,
        record.headers,
        -1 if key is None else len(key),
        -1 if value is None else len(value),
        leader_epoch,
    )
