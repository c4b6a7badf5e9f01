"""What an append knows of its batches: offsets, timestamps, formats; on a follower they are validated, too."""

from __future__ import annotations

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_append_info import LogAppendInfo, UnexpectedAppendOffsetError, analyze_and_validate_records
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.logs import record_set


def test_nothing_appended_has_no_offsets() -> None:
    info = analyze_and_validate_records(b"")
    assert (info.first_offset, info.last_offset, info.max_timestamp, info.size_in_bytes) == (-1, -1, -1, 0)


def test_the_batches_of_a_leader_are_summed_up() -> None:
    first = record_set(b"a", b"b", timestamp=500, base_offset=10, leader_epoch=3)
    second = record_set(b"c", timestamp=100, base_offset=12, leader_epoch=4)
    info = analyze_and_validate_records(first + second)
    assert (info.first_offset, info.last_offset) == (10, 12)
    assert (info.max_timestamp, info.offset_of_max_timestamp) == (501, 11)
    assert (info.last_leader_epoch, info.magic) == (4, 2)
    assert info.size_in_bytes == len(first) + len(second)
    assert not info.has_producer_id


def test_an_incomplete_last_batch_is_not_counted() -> None:
    whole, cut = record_set(b"a"), record_set(b"b", base_offset=1)
    info = analyze_and_validate_records(whole + cut[:-1])
    assert (info.last_offset, info.size_in_bytes) == (0, len(whole))


@pytest.mark.parametrize("magic", [0, 1])
def test_a_compressed_message_begins_at_its_last_offset(magic: int) -> None:
    wrapper = record_set(b"a", b"b", b"c", magic=magic, compression=CompressionType.GZIP, base_offset=10)
    info = analyze_and_validate_records(wrapper)
    assert (info.first_offset, info.last_offset) == (12, 12), "nothing is decompressed"


@pytest.mark.parametrize("second_offset", [11, 10, 0])
def test_offsets_must_increase(second_offset: int) -> None:
    records = record_set(b"a", b"b", base_offset=10) + record_set(b"c", base_offset=second_offset)
    with pytest.raises(ApiError, match=f"offset {second_offset} follows offset 11") as raised:
        analyze_and_validate_records(records)
    assert raised.value.error is Errors.CORRUPT_MESSAGE


def test_a_wrong_checksum_is_corrupt() -> None:
    records = record_set(b"a")
    records[-1] ^= 1
    with pytest.raises(ApiError) as raised:
        analyze_and_validate_records(records)
    assert raised.value.error is Errors.CORRUPT_MESSAGE


def test_one_batch_of_an_idempotent_producer_is_enough() -> None:
    builder = MemoryRecordsBuilder(producer_id=7, producer_epoch=0, base_sequence=0, base_offset=1)
    builder.append(1, None, b"v")
    assert analyze_and_validate_records(record_set(b"a") + bytearray(builder.build())).has_producer_id


def test_a_duplicate_has_the_offsets_of_the_batch_that_was_stored() -> None:
    info = LogAppendInfo.of_duplicate(BatchMetadata(last_seq=4, last_offset=14, offset_delta=4, timestamp=500), 3)
    assert (info.first_offset, info.last_offset) == (10, 14)
    assert (info.log_append_time, info.log_start_offset) == (500, 3)


@pytest.mark.parametrize(("end", "within"), [(10, False), (11, True), (12, True), (13, False)])
def test_records_below_the_end_of_a_log_may_go_beyond_it(end: int, within: bool) -> None:
    info = analyze_and_validate_records(record_set(b"a", b"b", b"c", base_offset=10))
    error = UnexpectedAppendOffsetError(TopicPartition("t", 0), end, info)
    assert error.error is Errors.CORRUPT_MESSAGE
    assert f"offset 10 of the leader is below the log end offset {end} of t-0" in str(error)
    assert error.is_within_first_batches(end) is within
