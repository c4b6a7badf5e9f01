"""Records as slices of a batch: what a full decoding says of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.record.default_record import decode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.raw_records import raw_records, with_timestamp_delta
from kafka_lite.record.record import Header, InvalidRecordError
from kafka_lite.record.records import batches

SIZES = st.sampled_from([0, 1, 62, 63, 64, 65, 127, 128, 8190, 8192, 70_000])
FIELDS = st.none() | SIZES.map(lambda size: b"x" * size)
DELTAS = st.sampled_from([0, 1, 63, 64, 8191, 8192, 1 << 20, 1 << 30])
RECORDS = st.lists(st.tuples(DELTAS, DELTAS, FIELDS, FIELDS, st.booleans()), min_size=1, max_size=6)


def batch_of(
    records: list[tuple[int, int, bytes | None, bytes | None, bool]], base_timestamp: int
) -> DefaultRecordBatch:
    builder = MemoryRecordsBuilder()
    builder.append(base_timestamp, b"first", b"")
    offset = 0
    for timestamp_delta, gap, key, value, with_header in records:
        offset += 1 + gap % 10_000
        headers = [Header("h", b"v")] if with_header else []
        builder.append(max(0, base_timestamp + timestamp_delta - (1 << 29)), key, value, headers, offset)
    (batch,) = batches(builder.build())
    assert isinstance(batch, DefaultRecordBatch)
    return batch


@given(RECORDS, st.integers(0, 1 << 40))
def test_same_as_decoding(records: list[tuple[int, int, bytes | None, bytes | None, bool]], base: int) -> None:
    batch = batch_of(records, base)
    data = batch.records_data()
    position = 0
    for start, end, timestamp_delta, offset_delta, key, has_value in raw_records(data, batch.record_count):
        assert start == position
        wanted_delta, wanted_offset, wanted_key, value, _, position = decode_record(data, start)
        assert (timestamp_delta, offset_delta, key, has_value) == (
            wanted_delta,
            wanted_offset,
            wanted_key,
            value is not None,
        )
        assert end == position
    assert position == len(data)


@given(RECORDS, DELTAS, st.sampled_from([-1, 1]))
def test_another_timestamp_delta_changes_nothing_else(
    records: list[tuple[int, int, bytes | None, bytes | None, bool]], delta: int, sign: int
) -> None:
    batch = batch_of(records, 1 << 35)
    data = batch.records_data()
    for record in raw_records(data, batch.record_count):
        _, offset_delta, key, value, headers, _ = decode_record(data, record[0])
        changed = with_timestamp_delta(data, record, sign * delta)
        assert decode_record(changed, 0) == (sign * delta, offset_delta, key, value, headers, len(changed))


@given(st.binary(max_size=40), st.integers(0, 5))
def test_any_bytes(data: bytes, count: int) -> None:
    try:
        found = list(raw_records(data, count))
    except InvalidRecordError:
        return
    assert len(found) == count
    assert sum(end - start for start, end, *_ in found) == len(data)


def test_a_record_more_or_less_than_the_header_says() -> None:
    batch = batch_of([(0, 0, b"k", b"v", False)], 0)
    data = batch.records_data()
    for count in (0, 1, 3):
        with pytest.raises(InvalidRecordError):
            list(raw_records(data, count))
