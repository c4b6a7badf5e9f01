"""Log files of real brokers (0.10.2.2 and 3.9.1): every message decoded, and encoded again to the same bytes."""

import pytest

from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.record import Header, TimestampType
from kafka_lite.record.records import batches, has_matching_magic, records, valid_bytes
from tests.support.samples import hex_sample

CREATE, APPEND = TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME
KEYED = [
    (f"k{n}-{letter}".encode(), f"value-{word}-{n}".encode())
    for n in (1, 2, 3)
    for letter, word in zip("abc", ("one", "two", "three"), strict=True)
]

SAMPLES = [
    "disk-none", "disk-gzip", "disk-snappy", "disk-lz4", "disk-v0", "disk-lat", "consumer-offsets-7",
    "consumer-offsets-8", "v39-modern-0.00", "v39-modern-1.00", "v39-consumer-offsets-4", "v39-transaction-state-0",
]  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_every_batch_is_valid_and_the_offsets_have_no_gaps(name: str) -> None:
    data = hex_sample(f"{name}.log.hex")
    assert valid_bytes(data) == len(data)
    for batch in batches(data):
        batch.ensure_valid()
        offsets = [record.offset for record in batch.records()]
        assert offsets == list(range(batch.base_offset, batch.next_offset))
        assert batch.record_count in (None, len(offsets))
        assert batch.max_timestamp == max(record.timestamp for record in batch.records())
    assert [record.offset for record in records(data)] == list(range(len(list(records(data)))))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_message_sets_of_0_10(codec: str) -> None:
    data = hex_sample(f"disk-{codec}.log.hex")
    found = list(records(data))
    assert [(record.key, record.value) for record in found] == KEYED
    assert {batch.compression for batch in batches(data)} == {CompressionType.from_name(codec)}
    assert {record.timestamp_type for record in found} == {CREATE}
    assert has_matching_magic(data, 1)
    if codec == "none":
        assert found[3].timestamp == 1795249156346
    else:
        assert [batch.last_offset for batch in batches(data)] == [2, 5, 8]


def test_log_append_time_of_the_wrapper_holds_for_its_messages() -> None:
    data = hex_sample("disk-lat.log.hex")
    assert [(record.timestamp, record.timestamp_type) for record in records(data)] == [(1795249167192, APPEND)] * 2


def test_magic_0_has_no_timestamps() -> None:
    data = hex_sample("disk-v0.log.hex")
    assert [tuple(record) for record in records(data)] == [
        (0, -1, TimestampType.NO_TIMESTAMP_TYPE, b"k1", b"v1", ()),
        (1, -1, TimestampType.NO_TIMESTAMP_TYPE, b"k2", b"v2", ()),
        (2, -1, TimestampType.NO_TIMESTAMP_TYPE, b"k1", b"v1", ()),
        (3, -1, TimestampType.NO_TIMESTAMP_TYPE, b"k2", b"v2", ()),
    ]
    assert [(batch.base_offset, batch.last_offset) for batch in batches(data)] == [(0, 1), (2, 2), (3, 3)]


def test_batches_of_3_9_with_headers_producers_and_markers() -> None:
    data = hex_sample("v39-modern-0.00.log.hex")
    found = list(records(data))
    assert [record.value for record in found[:8]] == [b"v0", b"v1", b"v2", b"v3", b"v4", b"x", b"y", b"z"]
    assert found[0].headers == (Header("h", b"1"),)
    gzipped, _x, _y, transactional, marker = batches(data)
    assert gzipped.compression is CompressionType.GZIP
    assert (transactional.producer_id, transactional.producer_epoch, transactional.base_sequence) == (3, 0, 0)
    assert transactional.is_transactional
    assert not transactional.is_control
    assert marker.is_control
    assert marker.base_sequence == -1


def test_transaction_markers() -> None:
    data = hex_sample("v39-modern-1.00.log.hex")
    control = [batch for batch in batches(data) if batch.is_control]
    markers = [EndTransactionMarker.from_record(next(batch.records())) for batch in control]
    assert markers == [
        EndTransactionMarker(ControlRecordType.COMMIT, 0),
        EndTransactionMarker(ControlRecordType.ABORT, 0),
    ]
    for batch, marker in zip(control, markers, strict=True):
        rebuilt = marker.to_batch(
            batch.producer_id,
            batch.producer_epoch,
            batch.max_timestamp,
            base_offset=batch.base_offset,
            partition_leader_epoch=batch.partition_leader_epoch,
        )
        assert rebuilt == bytes(batch.view)


@pytest.mark.parametrize("name", SAMPLES)
def test_uncompressed_batches_are_encoded_to_the_same_bytes(name: str) -> None:
    checked = 0
    for batch in batches(hex_sample(f"{name}.log.hex")):
        if batch.compression in (CompressionType.GZIP, CompressionType.LZ4, CompressionType.SNAPPY):
            continue  # other versions of the codecs produce other bytes
        builder = MemoryRecordsBuilder(
            batch.magic,
            batch.compression,
            max(batch.timestamp_type, CREATE),
            batch.base_offset,
            batch.producer_id,
            batch.producer_epoch,
            batch.base_sequence,
            is_transactional=batch.is_transactional,
            is_control=batch.is_control,
            partition_leader_epoch=batch.partition_leader_epoch,
        )
        for record in batch.records():
            builder.append(record.timestamp, record.key, record.value, record.headers)
        assert builder.build() == bytes(batch.view)
        checked += 1
    assert checked or name in ("disk-gzip", "disk-snappy", "disk-lz4", "disk-lat")


def test_recompressed_lz4_wrapper_has_the_same_frame_header() -> None:
    wrapper = next(batches(hex_sample("disk-lz4.log.hex")))
    builder = MemoryRecordsBuilder(1, CompressionType.LZ4)
    for record in wrapper.records():
        builder.append(record.timestamp, record.key, record.value)
    rebuilt = next(batches(builder.build()))
    assert [tuple(record) for record in rebuilt.records()] == [tuple(record) for record in wrapper.records()]
    # offset, size, crc, magic, attributes, timestamp, null key, value length: then the frame
    assert bytes(rebuilt.view[34:41]) == bytes(wrapper.view[34:41]) == bytes.fromhex("04224d18604082")
