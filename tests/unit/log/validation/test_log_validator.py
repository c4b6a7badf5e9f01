"""What the broker does with a produced record set before it appends it."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable

import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.validation.log_validator import ValidationResult, validate_and_assign_offsets
from kafka_lite.log.validation.record_validation_error import RecordValidationError
from kafka_lite.record.compression import CompressionType, compress
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record import encode_record
from kafka_lite.record.default_record_batch import DefaultRecordBatch, encode_batch
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder, memory_records
from kafka_lite.record.message_set import encode_message
from kafka_lite.record.record import Header, TimestampType
from kafka_lite.record.records import batches, records
from tests.support.examples import examples

NOW = 1_700_000_000_000
NONE, GZIP, LZ4, ZSTD = CompressionType.NONE, CompressionType.GZIP, CompressionType.LZ4, CompressionType.ZSTD
CREATE, APPEND = TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME
FORMATS = [(magic, codec) for magic in (0, 1, 2) for codec in CompressionType if magic == 2 or codec is not ZSTD]


def validate(data: bytes, **settings: object) -> ValidationResult:
    return validate_and_assign_offsets(bytearray(data), **({"offset": 100, "now_ms": NOW} | settings))  # type: ignore[arg-type]


def refused(data: bytes, **settings: object) -> ApiError:
    with pytest.raises(ApiError) as raised:
        validate(data, **settings)
    return raised.value


def three(magic: int, codec: CompressionType = NONE, *, headers: bool = False) -> bytes:
    """Three records; the second has the largest timestamp."""
    builder = MemoryRecordsBuilder(magic, codec)
    for index, timestamp in enumerate((NOW - 30, NOW - 10, NOW - 20)):
        builder.append(timestamp, b"k%d" % index, b"v%d" % index, [("h", b"1")] if headers else ())
    return builder.build()


def changed(data: bytes, position: int, layout: str, value: int) -> bytes:
    """A v2 batch with one field overwritten and a correct checksum: an error of the producer, not of the network."""
    batch = bytearray(data)
    struct.pack_into(layout, batch, position, value)
    struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
    return bytes(batch)


LAST_OFFSET_DELTA, BASE_TIMESTAMP, BASE_SEQUENCE, RECORD_COUNT, ATTRIBUTES = 23, 27, 53, 57, 21


@pytest.mark.parametrize(
    ("source", "target", "timestamp_type"), list(itertools.product(FORMATS, FORMATS, (CREATE, APPEND))), ids=str
)
def test_every_format_is_converted_to_every_format(source: tuple, target: tuple, timestamp_type: TimestampType) -> None:
    data = three(*source, headers=source[0] == target[0] == 2)
    result = validate(data, magic=target[0], target_codec=target[1], timestamp_type=timestamp_type)
    kept_timestamps = [NOW - 30, NOW - 10, NOW - 20] if source[0] else [-1, -1, -1]
    wanted = [-1] * 3 if target[0] == 0 else kept_timestamps if timestamp_type is CREATE else [NOW] * 3
    found = list(records(result.records))
    assert [record.offset for record in found] == [100, 101, 102]
    assert [(record.key, record.value) for record in found] == [(b"k0", b"v0"), (b"k1", b"v1"), (b"k2", b"v2")]
    assert [record.timestamp for record in found] == wanted
    assert {record.headers for record in found} == ({(Header("h", b"1"),)} if source[0] == target[0] == 2 else {()})
    written = list(batches(result.records))
    assert all(batch.is_valid() for batch in written)
    assert {(batch.magic, batch.compression) for batch in written} == {target}
    assert sum(batch.size_in_bytes for batch in written) == len(result.records)
    assert (result.first_offset, result.last_offset, result.record_count) == (100, 102, 3)
    assert (result.source_codec, result.codec, result.magic) == (source[1], target[1], target[0])
    assert result.max_timestamp == max(wanted)
    assert result.log_append_time_ms == (NOW if timestamp_type is APPEND and target[0] else -1)
    (holding,) = [batch for batch in written if batch.max_timestamp == max(wanted)][:1]
    assert result.offset_of_max_timestamp == (-1 if max(wanted) == -1 else holding.last_offset)


@pytest.mark.parametrize(("magic", "codec"), [(0, NONE), (1, NONE), (1, GZIP), (2, NONE), (2, GZIP), (2, ZSTD)])
@pytest.mark.parametrize("timestamp_type", [CREATE, APPEND])
def test_offsets_are_assigned_in_place_if_only_the_header_changes(
    magic: int, codec: CompressionType, timestamp_type: TimestampType
) -> None:
    buffer = bytearray(three(magic, codec))
    result = validate_and_assign_offsets(
        buffer, offset=7, now_ms=NOW, magic=magic, timestamp_type=timestamp_type, partition_leader_epoch=4
    )
    assert not result.message_size_maybe_changed
    assert memoryview(result.records).obj is buffer
    assert [record.offset for record in records(buffer)] == [7, 8, 9]
    assert next(batches(buffer)).partition_leader_epoch == (4 if magic == 2 else -1)


def test_read_only_bytes_are_copied() -> None:
    data = three(2)
    result = validate_and_assign_offsets(data, offset=7, now_ms=NOW)
    assert [record.offset for record in records(result.records)] == [7, 8, 9]
    assert next(batches(data)).base_offset == 0


@pytest.mark.parametrize(("source", "target"), [(GZIP, LZ4), (NONE, ZSTD), (GZIP, NONE)])
def test_recompression_keeps_producer_and_transaction(source: CompressionType, target: CompressionType) -> None:
    builder = MemoryRecordsBuilder(2, source, producer_id=9, producer_epoch=2, base_sequence=40, is_transactional=True)
    builder.append(NOW, b"k", b"v")
    builder.append(NOW, b"k", b"w")
    result = validate(builder.build(), target_codec=target, partition_leader_epoch=6)
    (batch,) = batches(result.records)
    assert isinstance(batch, DefaultRecordBatch)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence, batch.last_sequence) == (9, 2, 40, 41)
    assert batch.is_transactional
    assert (batch.compression, batch.partition_leader_epoch) == (target, 6)
    assert batch.is_valid()
    assert result.message_size_maybe_changed


def test_the_header_gets_the_actual_largest_timestamp() -> None:
    lying = changed(three(2), 35, ">q", NOW + 10**9)
    result = validate(lying)
    (batch,) = batches(result.records)
    assert result.max_timestamp == batch.max_timestamp == NOW - 10
    assert batch.is_valid()


def test_a_batch_with_gaps_in_its_offset_deltas_is_rebuilt() -> None:
    body = b"".join(encode_record(0, delta, b"k", b"v%d" % delta, ()) for delta in (0, 2, 1))
    for codec in (NONE, GZIP):
        data = encode_batch(
            compress(codec, body, 2),
            base_offset=0,
            last_offset_delta=2,
            attributes=codec.code,
            base_timestamp=NOW,
            max_timestamp=NOW,
            producer_id=3,
            producer_epoch=0,
            base_sequence=12,
            record_count=3,
        )
        result = validate(data)
        assert [(record.offset, record.value) for record in records(result.records)] == [
            (100, b"v0"),
            (101, b"v2"),
            (102, b"v1"),
        ]
        assert next(batches(result.records)).base_sequence == 12


def test_relative_offsets_of_old_clients_are_corrected() -> None:
    inner = b"".join(encode_message(1, 0, 0, NOW, None, b"v%d" % index) for index in range(3))  # all with offset 0
    result = validate(encode_message(1, 0, GZIP.code, NOW, None, compress(GZIP, inner, 1)), magic=1)
    assert [(record.offset, record.value) for record in records(result.records)] == [
        (100, b"v0"),
        (101, b"v1"),
        (102, b"v2"),
    ]
    assert result.message_size_maybe_changed


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("codecs", [(GZIP, GZIP), (NONE, GZIP), (GZIP, NONE), (LZ4, NONE, GZIP)], ids=str)
def test_several_compressed_sets_of_an_old_client_become_one(
    magic: int, target: int, codecs: tuple[CompressionType, ...]
) -> None:
    result = validate(b"".join(three(magic, codec) for codec in codecs), magic=target)
    expected = [(b"k%d" % (index % 3), b"v%d" % (index % 3)) for index in range(3 * len(codecs))]
    found = list(records(result.records))
    assert [(record.key, record.value) for record in found] == expected
    assert [record.offset for record in found] == list(range(100, 100 + len(expected)))
    assert (result.record_count, result.source_codec, result.codec) == (len(expected), GZIP, GZIP)
    assert [batch.compression for batch in batches(result.records)] == [GZIP]
    assert result.max_timestamp == (NOW - 10 if magic and target else -1)


def test_the_decompression_limit_applies_to_the_whole_set(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = encode_message(1, 0, 0, NOW, None, b"v")
    monkeypatch.setattr("kafka_lite.log.validation.log_validator.MAX_DECOMPRESSED_BYTES", 2 * len(inner))
    wrapper = encode_message(1, 0, GZIP.code, NOW, None, compress(GZIP, inner, 1))
    assert validate(wrapper * 2, magic=1).record_count == 2
    assert refused(wrapper * 3, magic=1).error is Errors.CORRUPT_MESSAGE


def test_an_incomplete_last_batch_is_dropped() -> None:
    in_place = validate(three(1, GZIP) + three(1, GZIP)[:20], magic=1)
    assert not in_place.message_size_maybe_changed
    whole = three(1)
    result = validate(whole + whole[:20], magic=1)
    assert len(result.records) == len(whole)
    assert result.record_count == 3


def test_an_empty_set_stays_empty() -> None:
    result = validate(b"")
    assert (result.first_offset, result.last_offset, result.record_count) == (100, 99, 0)


# --- rejected ---


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_a_wrong_checksum_is_rejected(magic: int, codec: CompressionType) -> None:
    broken = bytearray(three(magic, codec))
    broken[-1] ^= 1
    assert refused(bytes(broken), magic=magic).error is Errors.CORRUPT_MESSAGE


def test_a_wrong_checksum_inside_a_wrapper_is_rejected() -> None:
    inner = bytearray(three(1))
    inner[-1] ^= 1
    wrapper = encode_message(1, 2, GZIP.code, NOW, None, compress(GZIP, inner, 1))
    assert refused(wrapper, magic=1).error is Errors.CORRUPT_MESSAGE


@pytest.mark.parametrize("codec", [NONE, GZIP])
@pytest.mark.parametrize(
    ("position", "layout", "value"),
    [(LAST_OFFSET_DELTA, ">i", value) for value in (0, 1, 3, -1, 2**31 - 1)]
    + [(RECORD_COUNT, ">i", value) for value in (0, 1, 2, 4, -1, 2**31 - 1)],
)
def test_a_wrong_last_offset_delta_or_record_count_is_rejected(
    codec: CompressionType, position: int, layout: str, value: int
) -> None:
    assert refused(changed(three(2, codec), position, layout, value)).error is Errors.INVALID_RECORD


@pytest.mark.parametrize("codec", [NONE, GZIP])
@pytest.mark.parametrize("count", [1, 2, 4, 1000])
def test_a_wrong_record_count_with_a_matching_offset_range_is_rejected(codec: CompressionType, count: int) -> None:
    data = changed(three(2, codec), RECORD_COUNT, ">i", count)
    data = changed(data, LAST_OFFSET_DELTA, ">i", count - 1)
    assert refused(data).error is Errors.INVALID_RECORD


def test_a_record_with_inconsistent_lengths_is_rejected() -> None:
    data = bytearray(three(2))
    data[data.index(b"k1") - 1] = 2  # the key's length: one byte instead of two
    assert refused(changed(bytes(data), BASE_TIMESTAMP, ">q", NOW)).error is Errors.INVALID_RECORD


def test_timestamps_beyond_64_bits_are_rejected() -> None:
    data = changed(three(2), BASE_TIMESTAMP, ">q", 2**63 - 5)
    assert refused(data).error is Errors.INVALID_RECORD


def test_undecodable_compressed_data_is_rejected() -> None:
    data = changed(three(2), ATTRIBUTES, ">h", LZ4.code)
    assert refused(data).error is Errors.CORRUPT_MESSAGE
    assert refused(changed(three(2), ATTRIBUTES, ">h", 7)).error is Errors.CORRUPT_MESSAGE


def test_more_than_one_v2_batch_is_rejected() -> None:
    assert refused(three(2) * 2).error is Errors.INVALID_RECORD


def test_mixed_formats_are_rejected() -> None:
    assert refused(three(0) + three(1), magic=1).error is Errors.INVALID_RECORD
    assert refused(three(0, GZIP) + three(1, GZIP), magic=1).error is Errors.INVALID_RECORD
    assert refused(three(1, GZIP) + three(2), magic=1).error is Errors.INVALID_RECORD


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_null_keys_are_rejected_on_a_compacted_topic(magic: int, codec: CompressionType) -> None:
    data = memory_records(magic, codec, [(b"k", b"v"), (None, b"v"), (b"k", b"v"), (None, b"v")], timestamp=NOW)
    error = refused(data, magic=magic, compacted_topic=True)
    assert isinstance(error, RecordValidationError)
    assert error.error is Errors.INVALID_RECORD
    assert [record_error.batch_index for record_error in error.record_errors] == [1, 3]
    assert validate(data, magic=magic).record_count == 4
    assert validate(three(magic, codec), magic=magic, compacted_topic=True).record_count == 3


@pytest.mark.parametrize(("magic", "codec"), [(1, NONE), (1, GZIP), (2, NONE), (2, GZIP)])
def test_timestamps_too_far_from_now_are_rejected(magic: int, codec: CompressionType) -> None:
    data = three(magic, codec)
    assert validate(data, magic=magic, timestamp_difference_max_ms=30).record_count == 3
    error = refused(data, magic=magic, timestamp_difference_max_ms=15)
    assert error.error is Errors.INVALID_TIMESTAMP
    assert isinstance(error, RecordValidationError)
    assert [record_error.batch_index for record_error in error.record_errors] == [0, 2]
    assert refused(data, magic=magic, now_ms=NOW - 100, timestamp_after_max_ms=50).error is Errors.INVALID_TIMESTAMP
    assert validate(data, magic=magic, now_ms=NOW - 100, timestamp_after_max_ms=90).record_count == 3
    # With LogAppendTime, the producer's timestamps do not matter.
    assert validate(data, magic=magic, timestamp_difference_max_ms=1, timestamp_type=APPEND).max_timestamp == NOW


def test_a_missing_timestamp_is_never_too_old() -> None:
    data = memory_records(2, NONE, [(b"k", b"v")])
    result = validate(data, timestamp_difference_max_ms=10)
    assert (result.max_timestamp, result.offset_of_max_timestamp) == (-1, -1)


@pytest.mark.parametrize(("magic", "codec"), [(1, NONE), (1, GZIP), (2, NONE), (2, GZIP)])
def test_log_append_time_from_a_producer_is_rejected(magic: int, codec: CompressionType) -> None:
    builder = MemoryRecordsBuilder(magic, codec, APPEND, log_append_time_ms=NOW)
    builder.append(NOW, b"k", b"v")
    assert refused(builder.build(), magic=magic).error is Errors.INVALID_TIMESTAMP


def test_message_sizes_are_limited() -> None:
    data = three(2)
    assert validate(data, max_message_bytes=len(data)).record_count == 3
    assert refused(data, max_message_bytes=len(data) - 1).error is Errors.MESSAGE_TOO_LARGE
    compressible = memory_records(2, GZIP, [(b"k", bytes(5000))], timestamp=NOW)
    assert refused(compressible, target_codec=NONE, max_message_bytes=1000).error is Errors.MESSAGE_TOO_LARGE
    assert refused(compressible, magic=1, target_codec=NONE, max_message_bytes=1000).error is Errors.MESSAGE_TOO_LARGE


def test_control_batches_of_clients_are_rejected() -> None:
    marker = EndTransactionMarker(ControlRecordType.COMMIT, 1).to_batch(5, 0, NOW)
    assert refused(marker).error is Errors.INVALID_RECORD
    result = validate(marker, origin=AppendOrigin.COORDINATOR, partition_leader_epoch=2)
    (batch,) = batches(result.records)
    assert (batch.is_control, batch.base_offset, batch.partition_leader_epoch) == (True, 100, 2)


def test_producer_ids_require_sequences_and_format_v2() -> None:
    builder = MemoryRecordsBuilder(2, producer_id=5, producer_epoch=0, base_sequence=3)
    builder.append(NOW, b"k", b"v")
    data = builder.build()
    assert next(batches(validate(data).records)).base_sequence == 3
    assert refused(changed(data, BASE_SEQUENCE, ">i", -1)).error is Errors.INVALID_RECORD
    assert refused(data, magic=1).error is Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_record_headers_are_rejected_by_old_formats() -> None:
    assert refused(three(2, headers=True), magic=1).error is Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT


def test_zstd_is_rejected_in_old_formats() -> None:
    assert refused(three(2, ZSTD), magic=1).error is Errors.UNSUPPORTED_COMPRESSION_TYPE
    old = encode_message(1, 0, ZSTD.code, NOW, None, compress(ZSTD, three(1), 1))
    assert refused(old, magic=2).error is Errors.UNSUPPORTED_COMPRESSION_TYPE


def test_a_decompression_bomb_is_rejected() -> None:
    bomb = encode_batch(
        compress(ZSTD, bytes(200 << 20), 2),
        base_offset=0,
        last_offset_delta=0,
        attributes=ZSTD.code,
        base_timestamp=NOW,
        max_timestamp=NOW,
        record_count=1,
    )
    assert len(bomb) < 100_000
    assert refused(bomb).error is Errors.CORRUPT_MESSAGE


def _reseal(magic: int) -> Callable[[bytearray], None]:
    def reseal(data: bytearray) -> None:
        if magic == 2:
            struct.pack_into(">I", data, 17, crc32c(data[21:]))
        else:
            import zlib

            struct.pack_into(">I", data, 12, zlib.crc32(data[16:]))

    return reseal


@settings(max_examples=examples(400), deadline=None)
@given(
    source=st.sampled_from([(0, GZIP), (1, GZIP), (2, NONE), (2, GZIP), (2, LZ4)]),
    target_magic=st.sampled_from([0, 1, 2]),
    target_codec=st.sampled_from([None, NONE, GZIP]),
    timestamp_type=st.sampled_from([CREATE, APPEND]),
    data=st.data(),
)
def test_arbitrary_input_raises_only_protocol_errors(
    source: tuple,
    target_magic: int,
    target_codec: CompressionType | None,
    timestamp_type: TimestampType,
    data: st.DataObject,
) -> None:
    hostile = bytearray(three(*source))
    for _ in range(data.draw(st.integers(0, 4))):
        hostile[data.draw(st.integers(16, len(hostile) - 1))] = data.draw(st.integers(0, 255))
    if hostile[16] == source[0]:
        _reseal(source[0])(hostile)
    try:
        result = validate(hostile, magic=target_magic, target_codec=target_codec, timestamp_type=timestamp_type)
    except ApiError:
        return
    found = list(records(result.records))
    assert [record.offset for record in found] == list(range(100, 100 + result.record_count))
    assert all(batch.is_valid() for batch in batches(result.records))
