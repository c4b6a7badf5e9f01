"""From the bytes of a batch to the records that a user gets, a few at a time.

Kafka 0.10.2: clients/.../consumer/internals/Fetcher.java (parseRecord); since 0.11 CompletedFetch.java · book 4.1.5

Every record that is consumed goes through here, so this is written for speed: what is usual is decoded in one loop
without a call, into tuples, in the order in which the bytes lie; what is unusual goes through ``decode_record``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import repeat
from typing import Any, Final, Protocol

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.record_shapes import RecordShape, RecordShapes, shapes_at, timestamp_delta, varints_from
from kafka_lite.record.default_record import decode_headers, decode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import LOG_APPEND_TIME, Header, InvalidRecordError, Record
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.varint import MAX_VARLONG_BYTES, decode_varint

Deserialize = Callable[[str, bytes | None], Any]
"""``deserialize(topic, data)``; where None stands instead, bytes are left as they are."""

_NULL: Final = 1  # zig-zag of the length -1
_COMPILED = not __file__.endswith(".py")
_SHORT_RUN = 8
"""To find a run of records costs as much as to read so many of them one by one."""
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

    @property
    def is_at_end(self) -> bool:
        """Whether it is known that there is nothing more to take."""
        ...


class RecordBatchReader:
    """Reads a batch of format v2. Decompressed once, decoded when asked for: a poll wants 500 of perhaps 100,000."""

    def __init__(
        self,
        batch: DefaultRecordBatch,
        partition: TopicPartition,
        deserialize_key: Deserialize | None = None,
        deserialize_value: Deserialize | None = None,
        from_offset: int = 0,
    ) -> None:
        """Begins at ``from_offset``: a batch comes whole, also when its middle was asked for."""
        self._count = batch.record_count
        self._data = batch.records_data() if self._count else b""
        self._position = 0
        self._index = 0
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
        """Whether all of it was taken. An error may be left to tell when it is not."""
        return self._index == self._count and self._position == len(self._data)

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
            if not _COMPILED and self._take_shaped(end, records):
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

    def _take_alike(self, shapes: RecordShapes, first: int, end: int, records: list[ConsumerRecord]) -> bool:
        """Append a run of records of one shape, up to index ``end``; false when there is none.

        One call cuts them all, and the tuples are put together by ``map``: twice as fast as one by one.
        """
        data, position = self._data, self._position
        low, high = data[position], data[position + 1]
        timestamp_at = position + (2 if low < 0x80 else 3)
        key_length_at = timestamp_at + shapes.deltas_size
        shape = shapes[low | high << 8 | data[key_length_at] << 16]
        size = shape.size
        if data[position : position + 2] != data[position + size : position + size + 2]:
            return False  # as a rule the lengths tell
        offsets = varints_from(first, min(end - self._index, (len(data) - position) // size))
        count = len(offsets)
        for at in (position, position + 1, timestamp_at, key_length_at):
            column = data[at : position + count * size : size]
            allowed = data[at : at + 1] if at != timestamp_at else shapes.timestamp_begins
            count -= len(column.lstrip(allowed))
            if count < _SHORT_RUN:
                return False
        block = memoryview(data)[position : position + count * size]
        times, deltas, keys, value_lengths, values, header_counts = zip(*shape.cut_all(block), strict=True)
        if deltas != offsets[:count] or any(header_counts) or value_lengths.count(shape.value_length) < count:
            return False
        if any(time & shapes.timestamp_mask != shapes.timestamp_flags for time in set(times)):
            return False
        records += list(self._alike(shape, first, times, keys, values))
        self._position = position + count * size
        self._index += count
        return True

    def _alike(
        self, shape: RecordShape, first: int, times: Sequence[int], keys: Sequence[bytes], values: Sequence[bytes]
    ) -> Iterable[ConsumerRecord]:
        """The records of these columns; ``first`` is the offset delta of the first."""
        topic, number = self._partition
        first_offset, count = self._base_offset + first, len(times)
        timestamps: Iterable[int] = repeat(self._append_time or 0)
        if self._append_time is None:
            by_time = {time: self._base_timestamp + timestamp_delta(time) for time in set(times)}
            timestamps = map(by_time.__getitem__, times)
        user_keys: Iterable[Any] = repeat(None) if shape.key_size < 0 else keys
        user_values: Iterable[Any] = values
        if self._deserialize_key is not None:
            user_keys = map(self._deserialize_key, repeat(topic, count), user_keys)
        if self._deserialize_value is not None:
            user_values = map(self._deserialize_value, repeat(topic), user_values)
        fields = zip(
            repeat(topic), repeat(number), range(first_offset, first_offset + count), timestamps,
            repeat(self._timestamp_type), user_keys, user_values, repeat(()),
            repeat(shape.key_size), repeat(shape.value_size), repeat(self._leader_epoch),
        )  # fmt: skip
        return map(_new_tuple, repeat(ConsumerRecord), fields)

    def _take_shaped(self, end: int, records: list[ConsumerRecord]) -> bool:
        """Append records that have a shape (see ``record_shapes``), up to index ``end``; false when that are few.

        A third faster than ``_take_usual``, but only in the interpreter.
        """
        data, position = self._data, self._position
        topic, number = self._partition
        base_offset, base_timestamp, append_time = self._base_offset, self._base_timestamp, self._append_time
        timestamp_type, leader_epoch = self._timestamp_type, self._leader_epoch
        deserialize_key, deserialize_value = self._deserialize_key, self._deserialize_value
        append, taken_before = records.append, len(records)
        time_of_last = -1
        with suppress(Exception):  # no shape, the end of the data, or a deserializer's: _take_usual will tell
            shapes, first = shapes_at(data, position)
            if end - self._index >= _SHORT_RUN and self._take_alike(shapes, first, end, records):
                return True
            narrow, wide = 2 + shapes.deltas_size, 3 + shapes.deltas_size
            mask, flags = shapes.timestamp_mask, shapes.timestamp_flags
            for delta, offset_expected in enumerate(varints_from(first, end - self._index), first):
                low = data[position]
                key_length = data[position + (wide if low >= 0x80 else narrow)]
                cut, size, key_size, value_size, length_expected, _ = shapes[
                    low | data[position + 1] << 8 | key_length << 16
                ]
                time, offset, key, value_length, value, header_count = cut(data, position)
                if offset != offset_expected or value_length != length_expected or header_count:
                    break
                if time != time_of_last:
                    if time & mask != flags:
                        break
                    time_of_last = time
                    timestamp = base_timestamp + timestamp_delta(time)
                    if append_time is not None:
                        timestamp = append_time
                if key_size < 0:
                    key = None
                if deserialize_key is not None:
                    key = deserialize_key(topic, key)
                if deserialize_value is not None:
                    value = deserialize_value(topic, value)
                append(_new_tuple(ConsumerRecord, (
                    topic, number, base_offset + delta, timestamp, timestamp_type,
                    key, value, (), key_size, value_size, leader_epoch,
                )))  # fmt: skip
                position += size
        taken = len(records) - taken_before
        self._position = position
        self._index += taken
        return taken >= _SHORT_RUN or self._index == end

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
        append, new_tuple, record_class = records.append, _new_tuple, ConsumerRecord  # compiled, it looks globals up
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
                append(new_tuple(record_class, (
                    topic, number, base_offset + (offset >> 1),
                    base_timestamp + (timestamp >> 1) if append_time is None else append_time, timestamp_type,
                    key, value, headers, key_size, value_size, leader_epoch,
                )))  # fmt: skip
                position = record_end
            else:
                index = end
        self._position, self._index = position, index

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
        batch: RecordBatch,
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

    @property
    def is_at_end(self) -> bool:
        """To be known only when ``take`` finds no more."""
        return False

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
