"""What is left of a batch when records are removed from it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import RECORD_BATCH_OVERHEAD, DefaultRecordBatch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import CorruptRecordError, Header, Record, TimestampType
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.record_filter import (
    BatchRetention,
    BatchRetentionResult,
    FilteredBatch,
    RecordFilter,
    filter_batch,
    offsets_and_keys,
)
from kafka_lite.record.records import batches

NOW_MS = 5_000_000
RETENTION_MS = 1_000


class Only(RecordFilter):
    """Retains the records with these offsets."""

    def __init__(
        self, *offsets: int, retention: BatchRetention = BatchRetention.DELETE_EMPTY, marker: bool = False
    ) -> None:
        super().__init__(NOW_MS, RETENTION_MS)
        self.offsets = offsets
        self.result = BatchRetentionResult(retention, marker)

    def check_batch_retention(self, batch: RecordBatch) -> BatchRetentionResult:
        return self.result

    def should_retain_record(self, batch: RecordBatch, offset: int, key: bytes | None, has_value: bool) -> bool:
        return offset in self.offsets


def batch_of(*values: bytes | None, magic: int = 2, base_offset: int = 10, **kwargs: Any) -> RecordBatch:
    builder = MemoryRecordsBuilder(magic, base_offset=base_offset, **kwargs)
    for index, value in enumerate(values):
        headers = [Header("h", b"%d" % index)] if magic == 2 else []
        builder.append(1_000_000 + 10 * index, b"key-%d" % index, value, headers)
    (batch,) = batches(bytearray(builder.build()))
    return batch


def left_of(filtered: FilteredBatch) -> tuple[RecordBatch, list[Record]]:
    (batch,) = batches(bytes(filtered.data))
    batch.ensure_valid()
    records = list(batch.records())
    assert (filtered.last_offset, filtered.max_timestamp) == (batch.last_offset, batch.max_timestamp)
    assert filtered.first_offset == batch.base_offset
    assert filtered.magic == batch.magic
    assert filtered.messages_retained == len(records)
    return batch, records


CODECS = [
    (magic, codec)
    for magic in (0, 1, 2)
    for codec in CompressionType
    if not (codec is CompressionType.ZSTD and magic < 2) and not (codec is CompressionType.NONE and magic < 2)
]


@pytest.mark.parametrize(("magic", "codec"), CODECS)
@given(kept=st.sets(st.integers(10, 15), min_size=1), stamped=st.booleans())
def test_only_the_retained_records_are_left(magic: int, codec: CompressionType, kept: set[int], stamped: bool) -> None:
    time_type = TimestampType.LOG_APPEND_TIME if stamped else TimestampType.CREATE_TIME
    batch = batch_of(
        *[b"value %d" % n for n in range(6)],
        magic=magic,
        compression=codec,
        timestamp_type=time_type,
        log_append_time_ms=2_000_000 if stamped else -1,
    )
    before = list(batch.records())
    filtered = filter_batch(batch, Only(*kept))
    left, records = left_of(filtered)
    assert records == [record for record in before if record.offset in kept]
    assert (left.magic, left.compression, left.timestamp_type) == (magic, codec, batch.timestamp_type)
    assert filtered.messages_read == 6
    if len(kept) == 6:
        assert bytes(filtered.data) == bytes(batch.view)


@pytest.mark.parametrize("magic", [0, 1])
def test_a_plain_message_is_kept_or_removed(magic: int) -> None:
    message = batch_of(b"v", magic=magic)
    assert bytes(filter_batch(message, Only(10)).data) == bytes(message.view)
    # There are no empty batches in these formats, even if one is asked for.
    gone = filter_batch(message, Only(retention=BatchRetention.RETAIN_EMPTY))
    assert (bytes(gone.data), gone.messages_read, gone.messages_retained) == (b"", 1, 0)


PRODUCER = {"producer_id": 77, "producer_epoch": 3, "base_sequence": 40, "partition_leader_epoch": 9}


def producer_of(batch: RecordBatch) -> dict[str, int]:
    return {name: getattr(batch, name) for name in PRODUCER}


def test_a_v2_batch_keeps_its_offsets_and_sequences() -> None:
    batch = batch_of(b"a", b"b", b"c", b"d", **PRODUCER)
    left, records = left_of(filter_batch(batch, Only(11)))
    assert isinstance(left, DefaultRecordBatch)
    assert (left.base_offset, left.last_offset, left.last_sequence) == (10, 13, 43)
    assert producer_of(left) == PRODUCER
    assert [record.offset for record in records] == [11]
    assert records[0].headers == (Header("h", b"1"),)


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.LZ4])
def test_a_batch_without_retained_records_becomes_a_bare_header(codec: CompressionType) -> None:
    batch = batch_of(b"a", b"b", compression=codec, **PRODUCER)
    left, records = left_of(filter_batch(batch, Only(retention=BatchRetention.RETAIN_EMPTY)))
    assert isinstance(left, DefaultRecordBatch)
    assert (left.size_in_bytes, left.record_count, records) == (RECORD_BATCH_OVERHEAD, 0, [])
    assert (left.base_offset, left.last_offset, left.max_timestamp) == (10, 11, 1_000_010)
    assert (producer_of(left), left.compression) == (PRODUCER, CompressionType.NONE)
    again, _ = left_of(filter_batch(left, Only(retention=BatchRetention.RETAIN_EMPTY)))
    assert bytes(again.view) == bytes(left.view)
    assert bytes(filter_batch(left, Only()).data) == b""


def test_a_batch_to_delete_is_deleted_without_reading_its_records() -> None:
    batch = batch_of(b"a")
    assert filter_batch(batch, Only(10, retention=BatchRetention.DELETE)) == FilteredBatch(b"")


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.ZSTD])
@pytest.mark.parametrize("kept", [(10, 11, 12), (11, 12)])
def test_a_tombstone_gives_the_batch_a_delete_horizon(codec: CompressionType, kept: tuple[int, ...]) -> None:
    batch = batch_of(b"a", None, b"c", compression=codec)
    before = [record for record in batch.records() if record.offset in kept]
    left, records = left_of(filter_batch(batch, Only(*kept)))
    assert isinstance(left, DefaultRecordBatch)
    assert left.delete_horizon_ms == NOW_MS + RETENTION_MS
    assert records == before  # timestamps included
    # It is set once: the next cleaning does not postpone it.
    later = Only(*kept)
    later.current_time_ms += 500
    assert bytes(filter_batch(left, later).data) == bytes(left.view)
    without_value, records = left_of(filter_batch(left, Only(11)))
    assert isinstance(without_value, DefaultRecordBatch)
    assert (without_value.delete_horizon_ms, records) == (NOW_MS + RETENTION_MS, [r for r in before if r.offset == 11])


def test_a_removed_tombstone_sets_no_delete_horizon() -> None:
    left, _ = left_of(filter_batch(batch_of(b"a", None), Only(10)))
    assert isinstance(left, DefaultRecordBatch)
    assert left.delete_horizon_ms is None


def test_a_marker_of_an_empty_transaction_gets_a_delete_horizon() -> None:
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 5).to_batch(7, 1, 1_000, base_offset=20)
    (batch,) = batches(marker)
    left, records = left_of(filter_batch(batch, Only(20, marker=True)))
    assert isinstance(left, DefaultRecordBatch)
    assert left.is_control
    assert left.is_transactional
    assert left.delete_horizon_ms == NOW_MS + RETENTION_MS
    assert EndTransactionMarker.from_record(records[0]) == EndTransactionMarker(ControlRecordType.COMMIT, 5)


@pytest.mark.parametrize("magic", [1, 2])
def test_a_batch_with_a_wrong_checksum_is_not_rebuilt(magic: int) -> None:
    batch = batch_of(b"a" * 10, b"b" * 10, magic=magic, compression=CompressionType.LZ4)
    (corrupt,) = batches(bytes(batch.view).replace(batch.crc.to_bytes(4, "big"), b"\0\1\2\3"))
    with pytest.raises(CorruptRecordError):
        filter_batch(corrupt, Only(10))


@pytest.mark.parametrize(("magic", "codec"), [*CODECS, (0, CompressionType.NONE), (1, CompressionType.NONE)])
def test_offsets_and_keys(magic: int, codec: CompressionType) -> None:
    values = (b"a",) if codec is CompressionType.NONE and magic < 2 else (b"a", None, b"c")
    batch = batch_of(*values, magic=magic, compression=codec)
    assert list(offsets_and_keys(batch)) == [(record.offset, record.key) for record in batch.records()]


def test_an_empty_batch_has_no_keys() -> None:
    empty, _ = left_of(filter_batch(batch_of(b"a"), Only(retention=BatchRetention.RETAIN_EMPTY)))
    assert list(offsets_and_keys(empty)) == []
