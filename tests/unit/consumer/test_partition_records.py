"""From the bytes of a fetch to records: every format, any portion, aborted transactions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_record import ConsumerRecord
from kafka_lite.consumer.partition_records import CompletedFetch, PartitionRecords, has_complete_batch
from kafka_lite.consumer.record_batch_reader import RecordBatchReader
from kafka_lite.protocol.messages.api_01_fetch import AbortedTransaction, PartitionData
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch, encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError, InvalidRecordError, TimestampType
from kafka_lite.record.records import batches
from tests.support.examples import examples

PARTITION = TopicPartition("t", 3)


class Drained:
    def __init__(self) -> None:
        self.calls: list[tuple[TopicPartition, int, int]] = []

    def __call__(self, partition: TopicPartition, size: int, records: int) -> None:
        self.calls.append((partition, size, records))


def fetched(
    data: bytes, offset: int = 0, aborted: list[AbortedTransaction] | None = None, **options: Any
) -> PartitionRecords:
    answer = PartitionData(partition_index=3, records=data, aborted_transactions=aborted)
    return PartitionRecords(CompletedFetch(PARTITION, offset, answer, 11, Drained()), **options)


def read_all(records: PartitionRecords, limit: int = 3) -> list[ConsumerRecord]:
    read: list[ConsumerRecord] = []
    while not records.is_consumed:
        part = records.fetch_records(limit)
        assert len(part) <= limit
        read += part
    return read


def batch(values: list[bytes | None], base_offset: int = 0, key: bytes | None = b"k", **options: Any) -> bytes:
    builder = MemoryRecordsBuilder(base_offset=base_offset, **options)
    for number, value in enumerate(values):
        builder.append(5000 + base_offset + number, key, value)
    return builder.build()


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", list(CompressionType))
def test_every_format_and_codec_gives_the_same_records(magic: int, codec: CompressionType) -> None:
    if codec is CompressionType.ZSTD and magic < 2:
        return
    values = [b"%d" % number for number in range(10)]
    data = b"".join(batch(values[at : at + 5], at, magic=magic, compression=codec) for at in (0, 5))
    records = read_all(fetched(data))
    assert [(each.offset, each.key, each.value) for each in records] == [
        (number, b"k", value) for number, value in enumerate(values)
    ]
    assert [each.timestamp for each in records] == [-1 if magic == 0 else 5000 + number for number in range(10)]
    assert {(each.topic, each.partition) for each in records} == {("t", 3)}
    assert [each.value for each in read_all(fetched(data, 7))] == values[7:]


record_bytes = st.one_of(st.none(), st.binary(max_size=20), st.just(b"x" * 100), st.integers(0, 9000).map(bytes))


@settings(max_examples=examples(60), deadline=None)
@given(
    records=st.lists(
        st.tuples(
            st.integers(-3, 3) | st.integers(-(2**31), 2**31) | st.just(7),
            record_bytes,
            record_bytes,
            st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2),
        ),
        min_size=1,
        max_size=20,
    ),
    repeats=st.integers(1, 12) | st.integers(33, 70),
    limit=st.integers(1, 50) | st.just(500),
    log_append_time=st.booleans(),
)
def test_all_sizes_and_numbers_are_read_like_the_batch_does(
    records: list[Any], repeats: int, limit: int, log_append_time: bool
) -> None:
    builder = MemoryRecordsBuilder(base_offset=1 << 40)
    for delta, key, value, headers in records:
        for _ in range(repeats):
            builder.append(2**40 + delta, key, value, tuple(headers))
    (one,) = batches(bytearray(builder.build()))
    assert isinstance(one, DefaultRecordBatch)
    if log_append_time:
        one.set_max_timestamp(TimestampType.LOG_APPEND_TIME, 77)
    reader = RecordBatchReader(one, PARTITION)
    read: list[ConsumerRecord] = []
    while part := reader.take(limit):
        read += part
    expected = list(one.records())
    assert [
        (each.offset, each.timestamp, each.timestamp_type, each.key, each.value, each.headers) for each in read
    ] == [tuple(each) for each in expected]
    for each in read:
        assert each.serialized_key_size == (-1 if each.key is None else len(each.key))
        assert each.serialized_value_size == (-1 if each.value is None else len(each.value))
    middle = expected[len(expected) // 2].offset
    assert RecordBatchReader(one, PARTITION, from_offset=middle).take(1)[0].offset == middle


@pytest.mark.parametrize("times", [(0, -1, -2), (0, 1), (9000, 9001, 8999), (2**40, 2**40 - 1), (5,)])
def test_timestamps_may_come_in_any_order(times: tuple[int, ...]) -> None:
    builder = MemoryRecordsBuilder()
    builder.append(2**41, None, b"the first, whose time is the base")
    wanted = [2**41 + times[number % len(times)] for number in range(60)]
    for time in wanted:
        builder.append(time, None, b"value")
    (one,) = batches(builder.build())
    assert isinstance(one, DefaultRecordBatch)
    assert [each.timestamp for each in RecordBatchReader(one, PARTITION).take(500)[1:]] == wanted
    assert [each.timestamp for each in RecordBatchReader(one, PARTITION, from_offset=1).take(500)] == wanted


@settings(max_examples=examples(150), deadline=None)
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255), value=st.sampled_from([b"v", b"x" * 100]))
def test_damaged_records_are_read_or_rejected_like_the_batch_does(place: int, byte: int, value: bytes) -> None:
    (one,) = batches(batch([value] * 30))
    assert isinstance(one, DefaultRecordBatch)
    data = bytearray(one.records_data())
    data[place % len(data)] = byte
    damaged = DefaultRecordBatch(
        encode_batch(
            bytes(data),
            base_offset=0,
            last_offset_delta=29,
            attributes=0,
            base_timestamp=0,
            max_timestamp=0,
            record_count=30,
        ),
        0,
        61 + len(data),
    )
    try:
        expected = [each.value for each in damaged.records()]
    except InvalidRecordError:
        expected = []
    reader = RecordBatchReader(damaged, PARTITION)
    read: list[ConsumerRecord] = []
    try:
        while part := reader.take(7):
            read += part
    except InvalidRecordError:
        assert not expected
    else:
        assert [each.value for each in read] == expected


def test_deserializers_see_each_key_and_value_once_and_in_order() -> None:
    seen: list[tuple[str, bytes | None]] = []

    def deserialize(topic: str, data: bytes | None) -> str:
        seen.append((topic, data))
        return (data or b"").decode()

    records = read_all(fetched(batch([b"%03d" % n for n in range(50)]), deserialize_value=deserialize), 20)
    assert [each.value for each in records] == [f"{n:03}" for n in range(50)]
    assert seen == [("t", b"%03d" % n) for n in range(50)]


def test_the_position_moves_past_a_batch_whose_last_records_were_compacted_away() -> None:
    builder = MemoryRecordsBuilder(base_offset=0)
    builder.append(0, b"k", b"v")
    one = bytearray(builder.build())
    one[23:27] = (9).to_bytes(4, "big")  # last offset delta
    records = fetched(bytes(one), check_crcs=False)
    assert [each.offset for each in read_all(records)] == [0]
    assert records.next_fetch_offset == 10


def test_an_incomplete_batch_at_the_end_is_left_out() -> None:
    whole, cut = batch([b"a"]), batch([b"b"], 1)[:-1]
    assert [each.value for each in read_all(fetched(whole + cut))] == [b"a"]
    assert has_complete_batch(whole + cut)
    assert not has_complete_batch(cut)
    assert not has_complete_batch(None)


def test_a_consumed_fetch_is_reported_to_the_metrics() -> None:
    data = batch([b"a", b"b", b"c"])
    records = fetched(data)
    drained = records._on_drained
    assert isinstance(drained, Drained)
    records.fetch_records(3)
    assert drained.calls == []
    records.fetch_records(3)
    records.drain()
    assert drained.calls == [(PARTITION, len(data), 3)]


def test_a_corrupt_batch_is_reported_with_partition_and_offset() -> None:
    data = bytearray(batch([b"a"]) + batch([b"b"], 1))
    data[-2] ^= 1
    records = fetched(bytes(data))
    assert [each.value for each in records.fetch_records(10)] == [b"a"]
    for _ in range(2):
        with pytest.raises(CorruptRecordError, match="t-3 at offset 1"):
            records.fetch_records(10)


# ── Transactions ──────────────────────────────────────────────────────────────────────────────────────────────────────


def transactional(values: list[bytes | None], base_offset: int, producer: int) -> bytes:
    return batch(values, base_offset, producer_id=producer, producer_epoch=0, base_sequence=0, is_transactional=True)


def marker(kind: ControlRecordType, offset: int, producer: int) -> bytes:
    return EndTransactionMarker(kind, 0).to_batch(producer, 0, 1, base_offset=offset)


LOG = b"".join([
    transactional([b"a1", b"a2"], 0, 1),
    transactional([b"b1"], 2, 2),
    batch([b"plain"], 3),
    marker(ControlRecordType.ABORT, 4, 1),
    transactional([b"a3"], 5, 1),
    marker(ControlRecordType.COMMIT, 6, 1),
    marker(ControlRecordType.COMMIT, 7, 2),
    transactional([b"b2"], 8, 2),
    marker(ControlRecordType.ABORT, 9, 2),
])  # fmt: skip
ABORTED = [AbortedTransaction(producer_id=2, first_offset=8), AbortedTransaction(producer_id=1, first_offset=0)]


def test_read_committed_skips_aborted_transactions_and_markers() -> None:
    records = fetched(LOG, aborted=ABORTED, read_committed=True)
    assert [each.value for each in read_all(records)] == [b"b1", b"plain", b"a3"]
    assert records.next_fetch_offset == 10


def test_read_uncommitted_skips_only_markers() -> None:
    records = fetched(LOG, aborted=None)
    assert [each.value for each in read_all(records)] == [b"a1", b"a2", b"b1", b"plain", b"a3", b"b2"]
    assert records.next_fetch_offset == 10
