"""Records that are cut by their shape: the same as those that are decoded field by field, whatever the bytes."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_errors import RecordDeserializationError
from kafka_lite.consumer.record_batch_reader import RecordBatchReader
from kafka_lite.consumer.record_shapes import RecordShapes, shapes_at, timestamp_delta, varints_from
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch, encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import InvalidRecordError
from kafka_lite.record.records import batches
from kafka_lite.record.varint import encode_varint

PARTITION = TopicPartition("t", 3)
Fields = tuple[int, int, bytes | None, bytes | None]


def batch_of(encoded: bytes, count: int) -> DefaultRecordBatch:
    data = encode_batch(
        encoded, base_offset=100, last_offset_delta=9999, attributes=0, base_timestamp=5000, max_timestamp=5000,
        record_count=count,
    )  # fmt: skip
    (one,) = batches(data)
    assert isinstance(one, DefaultRecordBatch)
    return one


def read(one: DefaultRecordBatch, limit: int = 500) -> tuple[list[Fields], bool]:
    """All that the reader gives, and whether it then raised."""
    found: list[Fields] = []
    reader = RecordBatchReader(one, PARTITION)
    try:
        while part := reader.take(limit):
            found += [(each.offset, each.timestamp, each.key, each.value) for each in part]
    except InvalidRecordError:
        return found, True
    assert reader.is_at_end
    return found, False


def decoded(one: DefaultRecordBatch) -> tuple[list[Fields], bool]:
    """The same, field by field."""
    found: list[Fields] = []
    try:
        for each in one.records():
            found.append((each.offset, each.timestamp, each.key, each.value))  # noqa: PERF401 - until it raises
    except InvalidRecordError:
        return found, True
    return found, False


@pytest.mark.parametrize("limit", [7, 500, 100_000])
def test_offsets_of_any_width(limit: int) -> None:
    builder = MemoryRecordsBuilder()
    for number in range(9_000):
        builder.append(number // 40, None if number % 5 else b"key-%d" % number, b"v" * (number % 90))
    (one,) = batches(builder.build())
    assert isinstance(one, DefaultRecordBatch)
    found, raised = read(one, limit)
    assert [fields[0] for fields in found] == list(range(9_000))
    assert (found, raised) == decoded(one)


@pytest.mark.parametrize("size", [3, 90])
def test_offsets_with_gaps(size: int) -> None:
    deltas = [*range(3, 20), *range(40, 70, 2), *range(8180, 8200), *range(9000, 9020)]
    encoded = b"".join(encode_record(delta // 30, delta, b"k", b"v" * (size + delta % 2), ()) for delta in deltas)
    one = batch_of(encoded, len(deltas))
    found, raised = read(one)
    assert [fields[0] - 100 for fields in found] == deltas
    assert (found, raised) == decoded(one)


@pytest.mark.parametrize("sizes", [(5,), (5, 70, 3)])
def test_damaged_bytes_give_what_they_give_field_by_field(sizes: tuple[int, ...]) -> None:
    records = [
        encode_record(number * 5, number + 55, b"key" if number % 4 else None, b"v" * sizes[number % len(sizes)], ())
        for number in range(20)
    ]
    intact = b"".join(records)
    for place in range(0, len(intact), 2 if len(sizes) == 1 else 5):
        for byte in (0, 1, 2, 0x7E, 0x80, 0xFF, intact[place] ^ 2):
            one = batch_of(intact[:place] + bytes((byte,)) + intact[place + 1 :], len(records))
            found, raised = read(one)
            expected, must_raise = decoded(one)
            assert (found, raised) == (expected, must_raise), (place, byte)


@pytest.mark.parametrize("sizes", [(5,), (5, 6, 7)])
def test_a_deserializer_that_raises_stops_at_its_record(sizes: tuple[int, ...]) -> None:
    def deserialize(_topic: str, data: bytes | None) -> bytes | None:
        if data == b"13":
            raise ValueError("unlucky")
        return data

    records = [
        encode_record(0, number, b"%02d" % number, b"v" * sizes[number % len(sizes)], ()) for number in range(40)
    ]
    reader = RecordBatchReader(batch_of(b"".join(records), 40), PARTITION, deserialize)
    assert [each.offset for each in reader.take(500)] == list(range(100, 113))
    with pytest.raises(RecordDeserializationError) as raised:
        reader.take(500)
    assert raised.value.offset == 113


def test_records_without_a_shape_are_not_learned() -> None:
    shapes = RecordShapes(1, 1)
    for record in (
        encode_record(0, 0, None, b"v" * 9000, ()),
        encode_record(0, 0, b"k" * 64, b"v", ()),
        b"\x01" + bytes(10),  # a negative length
        b"\x04" + bytes(10),  # too short for its fields
    ):
        at = 5 if record[0] >= 0x80 else 4
        with pytest.raises(KeyError):
            shapes[record[0] | record[1] << 8 | record[at] << 16]
    assert not shapes


def test_only_so_many_shapes_are_learned() -> None:
    shapes = RecordShapes(1, 2)
    for length in range(100, 100 + RecordShapes.MAX_SHAPES):
        low, high = encode_varint(length)
        assert shapes[low | high << 8 | 1 << 16].size == length + 2
    with pytest.raises(KeyError):
        shapes[encode_varint(50)[0] | 1 << 16]
    assert len(shapes) == RecordShapes.MAX_SHAPES


@pytest.mark.parametrize(("first", "limit", "count"), [(0, 500, 64), (60, 2, 2), (64, 9000, 8128), (8192, 10, 10)])
def test_varints_of_one_width_as_they_lie(first: int, limit: int, count: int) -> None:
    varints = varints_from(first, limit)
    assert len(varints) == count
    for number, varint in enumerate(varints, first):
        encoded = encode_varint(number)
        assert varint == (encoded if isinstance(varint, bytes) else int.from_bytes(encoded, "little"))
        assert isinstance(varint, bytes) or timestamp_delta(varint) == number


@pytest.mark.parametrize("delta", [0, 63, 64, 8191, 8192, 1_000_000])
@pytest.mark.parametrize("timestamp", [0, 64])
def test_shapes_are_found_by_the_widths_of_the_deltas(delta: int, timestamp: int) -> None:
    shapes, first = shapes_at(b"  " + encode_record(timestamp, delta, None, b"v" * 100, ()), 2)
    assert first == delta
    assert shapes.deltas_size == len(encode_varint(timestamp)) + len(encode_varint(delta))
