"""Reading a batch a few records at a time gives what the plain decoder gives, wherever reading starts or stops."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.record_batch_reader import RecordBatchReader
from kafka_lite.record.default_record import decode_record, encode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch, encode_batch
from kafka_lite.record.record import Header, InvalidRecordError
from tests.support.encoded_records import records_and_garbage
from tests.support.examples import examples

PARTITION = TopicPartition("t", 3)
Fields = tuple[int, int, bytes | None, bytes | None, tuple[Header, ...]]


def batch_of(encoded: bytes, count: int) -> DefaultRecordBatch:
    data = encode_batch(
        encoded, base_offset=100, last_offset_delta=9999, attributes=0, base_timestamp=5000, max_timestamp=5000,
        record_count=count,
    )  # fmt: skip
    return DefaultRecordBatch(data, 0, len(data))


def read(one: DefaultRecordBatch, limit: int) -> tuple[list[Fields], bool]:
    """Everything that the reader returns, and whether it then raises."""
    found: list[Fields] = []
    reader = RecordBatchReader(one, PARTITION)
    try:
        while part := reader.take(limit):
            assert len(part) <= limit
            found += [(each.offset, each.timestamp, each.key, each.value, each.headers) for each in part]
    except InvalidRecordError:
        return found, True
    assert reader.is_at_end
    return found, False


def decoded(data: bytes, count: int) -> tuple[list[Fields], bool]:
    """The same by the plain decoder, record by record."""
    found: list[Fields] = []
    position = 0
    for _ in range(count):
        try:
            timestamp_delta, offset_delta, key, value, headers, position = decode_record(data, position)
        except InvalidRecordError:
            return found, True
        found.append((100 + offset_delta, 5000 + timestamp_delta, key, value, headers))
    return found, count > 0 and position != len(data)


@settings(derandomize=True, max_examples=examples(300))
@given(records_and_garbage(), st.sampled_from([1, 7, 500]))
def test_any_bytes_give_what_the_plain_decoder_gives(data_and_count: tuple[bytes, int], limit: int) -> None:
    data, count = data_and_count
    assert read(batch_of(data, count), limit) == decoded(data, count)


@pytest.mark.parametrize("first", [100, 101, 104, 120, 199, 200])
def test_reading_starts_at_the_requested_offset(first: int) -> None:
    deltas = [*range(5), *range(20, 100, 2)]
    records = b"".join(encode_record(0, delta, None, b"v" * delta, ()) for delta in deltas)
    reader = RecordBatchReader(batch_of(records, len(deltas)), PARTITION, from_offset=first)
    assert [each.offset - 100 for each in reader.take(500)] == [delta for delta in deltas if delta >= first - 100]
    assert reader.is_at_end


def test_an_unreadable_record_below_the_requested_offset_is_skipped() -> None:
    unreadable = b"\x0e\x00\x00\x02\x01\x7e\x00\x00"  # a value of 63 bytes in a record of 7
    data = encode_record(0, 0, b"k", b"v", ()) + unreadable + encode_record(0, 2, b"k", b"v", ())
    with pytest.raises(InvalidRecordError):
        RecordBatchReader(batch_of(data, 3), PARTITION, from_offset=101).take(500)
    assert [each.offset for each in RecordBatchReader(batch_of(data, 3), PARTITION, from_offset=102).take(500)] == [102]


def refuse_13(_topic: str, data: bytes | None) -> Any:
    if data == b"13":
        raise ValueError("unlucky")
    return data


@pytest.mark.parametrize("deserializers", [(refuse_13, None), (None, refuse_13)])
def test_a_deserializer_that_raises_stops_at_its_record(deserializers: tuple[Any, Any]) -> None:
    records = [encode_record(0, number, b"%02d" % number, b"%02d" % number, ()) for number in range(40)]
    reader = RecordBatchReader(batch_of(b"".join(records), 40), PARTITION, *deserializers)
    assert [each.offset for each in reader.take(500)] == list(range(100, 113))
    for _ in range(2):
        with pytest.raises(RecordDeserializationError) as raised:
            reader.take(500)
        assert raised.value.offset == 113


def test_sizes_are_those_before_deserialization() -> None:
    data = encode_record(0, 0, b"key", b"value", ()) + encode_record(0, 1, None, None, ())
    reader = RecordBatchReader(batch_of(data, 2), PARTITION, lambda _topic, _: "k", lambda _topic, _: "v")
    sizes = [(each.serialized_key_size, each.serialized_value_size) for each in reader.take(2)]
    assert sizes == [(3, 5), (-1, -1)]
