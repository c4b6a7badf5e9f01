"""Reads and truncations of a log's segments: where they begin, where they end, what is left."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.log import Log
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from tests.support.logs import open_log, read_records, record_set, to_bytes

SET_SIZE = len(record_set(b"x" * 20))


def append(log: Log, *values: bytes, **kwargs: int) -> int:
    return log.append_as_leader(record_set(*values, **kwargs), 0).first_offset


def assert_error(error: Errors, info: pytest.ExceptionInfo[ApiError]) -> None:
    assert info.value.error is error


def test_read_outside_the_log_is_out_of_range(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b")
    log.maybe_increment_log_start_offset(1)
    for offset in (-1, 0, 3):
        with pytest.raises(ApiError) as info:
            log.read(offset, 100)
        assert_error(Errors.OFFSET_OUT_OF_RANGE, info)
    assert to_bytes(log.read(2, 100).records) == b""


def test_read_stops_at_max_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path, index_interval_bytes=0)
    for _ in range(5):
        append(log, b"x" * 20)
    assert log.read(1, 10_000, max_offset=3).size_in_bytes == 2 * SET_SIZE
    assert log.read(1, 10_000, max_offset=1).size_in_bytes == 0
    assert log.read(3, 10_000, max_offset=1).size_in_bytes == 0
    assert log.read(3, 10_000, max_offset=5).size_in_bytes == 2 * SET_SIZE


def test_read_respects_size_limits(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        append(log, b"x" * 20)
    cut = log.read(0, SET_SIZE + 5)
    assert (cut.size_in_bytes, cut.first_entry_incomplete) == (SET_SIZE + 5, False)
    short = log.read(0, 5)
    assert (short.size_in_bytes, short.first_entry_incomplete) == (5, True)
    whole = log.read(0, 5, min_one_message=True)
    assert (whole.size_in_bytes, whole.first_entry_incomplete) == (SET_SIZE, False)
    assert log.read(1, 0).size_in_bytes == 0
    assert log.read(1, 0).fetch_offset_metadata == LogOffsetMetadata(1, 0, SET_SIZE)


def test_read_starts_with_the_batch_that_contains_the_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a", b"b", b"c")
    append(log, b"d")
    data = log.read(1, 10_000)
    assert data.fetch_offset_metadata == LogOffsetMetadata(1, 0, 0)
    assert data.size_in_bytes == log.size


def test_position_of_the_last_append_is_correct_after_truncation_and_roll(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(5):
        append(log, b"x" * 20)
    assert log.read(4, 1000).fetch_offset_metadata == LogOffsetMetadata(4, 0, 4 * SET_SIZE)
    assert log.read(3, 1000).fetch_offset_metadata == LogOffsetMetadata(3, 0, 3 * SET_SIZE)
    log.truncate_to(2)
    assert log.read(1, 1000).fetch_offset_metadata == LogOffsetMetadata(1, 0, SET_SIZE)
    for _ in range(2):
        append(log, b"y" * 20)
        end = log.log_end_offset
        assert log.read(end - 1, 1000).fetch_offset_metadata == LogOffsetMetadata(end - 1, 0, (end - 1) * SET_SIZE)
    log.roll()
    assert log.read(3, 1000).fetch_offset_metadata == LogOffsetMetadata(3, 0, 3 * SET_SIZE)
    append(log, b"z" * 20)
    assert log.read(4, 1000).fetch_offset_metadata == LogOffsetMetadata(4, 4, 0)
    assert log.read(3, 1000).fetch_offset_metadata == LogOffsetMetadata(3, 0, 3 * SET_SIZE)


def test_read_continues_in_the_next_segment_if_the_offset_is_past_the_last_batch(tmp_path: Path) -> None:
    """As after a compaction that removed the last messages of a segment."""
    log = open_log(tmp_path)
    log.append_as_follower(record_set(b"a", base_offset=0))
    log.roll(10)
    log.append_as_follower(record_set(b"b", base_offset=10))
    assert [record.offset for record in read_records(log)] == [0, 10]
    assert log.read(5, 1000).fetch_offset_metadata == LogOffsetMetadata(5, 10, 0)


def test_difference_of_end_offset_metadata_is_the_number_of_new_bytes(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    before = log.log_end_offset_metadata
    append(log, b"x" * 20)
    assert log.log_end_offset_metadata.position_diff(before) == SET_SIZE
    log.roll()
    assert log.log_end_offset_metadata == LogOffsetMetadata(1, 1, 0)
    assert before.on_older_segment(log.log_end_offset_metadata)


def test_slice_can_be_sent_after_its_segment_was_deleted(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, retention_ms=0, file_delete_delay_ms=10)
    append(log, b"x" * 20)
    records = log.read(0, 1000).records
    expected = to_bytes(records)
    assert log.delete_old_segments() == 1
    time.sleep(11)
    assert [file.name for file in log.dir.glob("*.log*")] == ["00000000000000000001.log"]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert isinstance(records, FileMessageSetSlice)
        assert records.send_to(ours, 3, 1000) == SET_SIZE - 3
        assert theirs.recv(1000) == expected[3:]


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


@pytest.mark.parametrize("target", range(7))
def test_truncate(tmp_path: Path, target: int) -> None:
    log = open_log(tmp_path, segment_bytes=2 * SET_SIZE, index_interval_bytes=0)
    for i in range(6):
        append(log, b"%d" % i * 20)
    log.flush()
    assert log.truncate_to(target) == (target < 6)
    assert (log.log_end_offset, log.recovery_point) == (target, target)
    assert append(log, b"new") == target
    assert [record.value[:1] for record in read_records(log) if record.value] == [
        *(b"%d" % i for i in range(target)),
        b"n",
    ]
    assert [record.value for record in read_records(open_log(tmp_path))][-1] == b"new"


def test_truncate_within_a_batch_removes_the_whole_batch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    append(log, b"b", b"c", b"d")
    log.truncate_to(2)
    assert log.log_end_offset == 1
    log.append_as_follower(record_set(b"b", b"c", b"d", base_offset=1))
    assert [record.value for record in read_records(log)] == [b"a", b"b", b"c", b"d"]


def test_truncate_below_the_first_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.truncate_fully_and_start_at(100)
    append(log, b"a")
    log.truncate_to(50)
    assert (bases(log), log.log_start_offset, log.log_end_offset, log.latest_epoch) == ([50], 50, 50, -1)


def test_a_log_truncated_below_its_start_begins_at_its_end(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(3):
        append(log, b"x")
    log.maybe_increment_log_start_offset(2)
    log.truncate_to(1)
    assert (log.log_start_offset, log.log_end_offset) == (1, 1)


def test_truncate_fully_and_start_at(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=SET_SIZE)
    for _ in range(3):
        append(log, b"x" * 20)
    log.flush()
    log.truncate_fully_and_start_at(70)
    assert (bases(log), log.log_start_offset, log.log_end_offset, log.recovery_point) == ([70], 70, 70, 3)
    assert append(log, b"y") == 70
    assert log.end_offset_for_epoch(0) == (0, 71)


def test_truncate_to_a_negative_offset_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="negative"):
        open_log(tmp_path).truncate_to(-1)
