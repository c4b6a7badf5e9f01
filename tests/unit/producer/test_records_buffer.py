"""Records written into a fixed buffer, and read back as a batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.producer.records_buffer import RecordsBuffer
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.record import Header
from kafka_lite.record.records import batches

NONE = CompressionType.NONE
data = st.one_of(st.none(), st.binary(max_size=40), st.just(b"x" * 5000))
headers = st.lists(st.tuples(st.text(max_size=5), st.one_of(st.none(), st.binary(max_size=5))), max_size=2)
record = st.tuples(st.integers(0, 1 << 45), data, data, headers)


def build(buffer: RecordsBuffer, **producer: int) -> bytes:
    return bytes(buffer.build(**producer))


Fields = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]


@given(st.lists(record, min_size=1, max_size=20), st.sampled_from(CompressionType))
def test_records_survive_the_buffer(records: list[Fields], codec: CompressionType) -> None:
    buffer = RecordsBuffer(bytearray(250_000), 2, codec)
    for each in records:
        assert buffer.append(*each)
    (batch,) = batches(build(buffer, producer_id=7, producer_epoch=1, base_sequence=9))
    batch.ensure_valid()
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 1, 9)
    assert batch.max_timestamp == max(timestamp for timestamp, *_ in records)
    found = [(r.timestamp, r.key, r.value, [(h.key, h.value) for h in r.headers]) for r in batch.records()]
    assert found == records


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4])
def test_message_sets_of_the_old_formats(magic: int, codec: CompressionType) -> None:
    buffer = RecordsBuffer(bytearray(10_000), magic, codec)
    for i in range(20):
        assert buffer.append(1000 + i, b"k%d" % i, b"v" * i, ())
    found = []
    for batch in batches(build(buffer)):
        batch.ensure_valid()
        found += list(batch.records())
    assert [r.value for r in found] == [b"v" * i for i in range(20)]
    assert [r.offset for r in found] == list(range(20))
    assert [r.timestamp for r in found] == ([-1] * 20 if magic == 0 else list(range(1000, 1020)))


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_buffer_of_the_estimated_size_fits_the_record(magic: int) -> None:
    name_of_header = [("ключ", b"x")] if magic == 2 else []
    for size in (0, 1, 63, 64, 127, 128, 8191, 8192, 100_000):
        estimate = RecordsBuffer.estimate_size(magic, b"k" * size, b"v" * size, name_of_header)
        assert RecordsBuffer(bytearray(estimate), magic, NONE).append(1 << 50, b"k" * size, b"v" * size, name_of_header)


def test_a_record_that_does_not_fit_changes_nothing() -> None:
    buffer = RecordsBuffer(bytearray(200), 2, NONE)
    assert buffer.append(1, None, b"v" * 100, ())
    before = buffer.estimated_size_in_bytes
    assert not buffer.append(1, None, b"v" * 100, ())
    assert buffer.estimated_size_in_bytes == before
    (batch,) = batches(build(buffer))
    assert [r.value for r in batch.records()] == [b"v" * 100]


def test_without_compression_the_batch_is_the_buffer() -> None:
    memory = bytearray(1000)
    buffer = RecordsBuffer(memory, 2, NONE)
    buffer.append(1, None, b"v", ())
    built = buffer.build()
    assert isinstance(built, memoryview)
    assert built.obj is memory


def test_records_that_grow_by_compression() -> None:
    """Random bytes that fill the buffer."""
    value = bytes((i * 7919 + (i >> 3) * 104729) % 251 for i in range(930))
    buffer = RecordsBuffer(bytearray(1000), 2, CompressionType.GZIP)
    assert buffer.append(1, None, value, ())
    (batch,) = batches(build(buffer))
    batch.ensure_valid()
    assert next(iter(batch.records())).value == value


def test_the_producer_state_of_a_built_batch_can_be_changed() -> None:
    buffer = RecordsBuffer(bytearray(1000), 2, CompressionType.LZ4)
    buffer.append(1, b"k", b"v", [("h", None)])
    built = buffer.build(producer_id=1, producer_epoch=0, base_sequence=5)
    DefaultRecordBatch(built, 0, len(built)).set_producer_state(2, 3, 0)
    (batch,) = batches(built)
    batch.ensure_valid()
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (2, 3, 0)
    assert next(iter(batch.records())).headers == (Header("h", None),)
