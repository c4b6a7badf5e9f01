"""Log: appends, reads, rolls, retention, truncation, offsets by timestamp."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from kafka_lite.record.compression import CompressionType
from tests.support.logs import note_syncs, open_log, read_records, record_set

SET_SIZE = len(record_set(b"x" * 20))


def append(log: Log, *values: bytes, **kwargs: int) -> int:
    return log.append_as_leader(record_set(*values, **kwargs), 0).first_offset


def assert_error(error: Errors, info: pytest.ExceptionInfo[ApiError]) -> None:
    assert info.value.error is error


@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP])
def test_appended_records_are_read_back(tmp_path: Path, magic: int, codec: CompressionType) -> None:
    version = ["0.9.0", "0.10.2", "3.9"][magic]
    log = open_log(tmp_path, message_format_version=version, segment_bytes=600, index_interval_bytes=50)
    values = [b"%d" % i * 10 for i in range(60)]
    for start in range(0, 60, 3):
        log.append_as_leader(record_set(*values[start : start + 3], magic=magic, compression=codec), 0)
    assert len(log.segments) > 2
    for start in range(60):
        found = read_records(log, start, max_bytes=200)
        assert [record.value for record in found] == values[start:]
        assert [record.offset for record in found] == list(range(start, 60))


def test_append_info(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"a")
    info = log.append_as_leader(record_set(b"b", b"c", timestamp=500), 7)
    assert (info.first_offset, info.last_offset, info.max_timestamp) == (1, 2, 501)
    assert (info.offset_of_max_timestamp, info.log_append_time, info.log_start_offset) == (2, -1, 0)
    assert log.latest_epoch == 7


def test_log_append_time_replaces_timestamps(tmp_path: Path) -> None:
    time = MockTime(start_ms=123_456)
    log = open_log(tmp_path, time=time, message_timestamp_type="LogAppendTime")
    info = log.append_as_leader(record_set(b"a"), 0)
    assert info.log_append_time == info.max_timestamp == 123_456
    assert read_records(log)[0].timestamp == 123_456


def test_appending_an_empty_set_is_a_no_op(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    info = log.append_as_leader(b"", 0)
    assert (info.first_offset, info.last_offset, log.log_end_offset, log.size) == (-1, -1, 0, 0)


def test_batch_above_max_message_bytes_is_too_large(tmp_path: Path) -> None:
    log = open_log(tmp_path, max_message_bytes=100)
    with pytest.raises(ApiError) as info:
        append(log, b"x" * 100)
    assert_error(Errors.MESSAGE_TOO_LARGE, info)
    assert log.log_end_offset == 0


def test_follower_ignores_max_message_bytes(tmp_path: Path) -> None:
    log = open_log(tmp_path, max_message_bytes=100)
    info = log.append_as_follower(record_set(b"x" * 100, base_offset=5, leader_epoch=3))
    assert (info.first_offset, info.last_offset, log.log_end_offset, log.latest_epoch) == (5, 5, 6, 3)


def test_set_larger_than_a_segment_is_rejected(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=100)
    with pytest.raises(ApiError) as info:
        append(log, b"x" * 100)
    assert_error(Errors.RECORD_LIST_TOO_LARGE, info)
    assert (log.log_end_offset, log.size) == (0, 0)


def test_follower_appends_more_than_a_segment_at_once(tmp_path: Path) -> None:
    """It fetches up to replica.fetch.max.bytes, whatever segment.bytes is."""
    log = open_log(tmp_path, segment_bytes=200)
    log.append_as_follower(b"".join(record_set(b"x" * 100, base_offset=offset) for offset in range(5)))
    log.append_as_follower(record_set(b"y", base_offset=5))
    assert [segment.base_offset for segment in log.segments] == [0, 5]
    assert [record.value for record in read_records(log)] == [b"x" * 100] * 5 + [b"y"]


def test_wrong_crc_is_corrupt(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for log_append in (lambda data: log.append_as_leader(data, 0), log.append_as_follower):
        damaged = record_set(b"abc")
        damaged[-3] ^= 1
        with pytest.raises(ApiError) as info:
            log_append(damaged)
        assert_error(Errors.CORRUPT_MESSAGE, info)
    assert log.size == 0


def test_timestamp_out_of_bounds_is_invalid(tmp_path: Path) -> None:
    time = MockTime(start_ms=10_000)
    log = open_log(tmp_path, time=time, message_timestamp_after_max_ms=100, message_timestamp_before_max_ms=5_000)
    append(log, b"old", timestamp=5_000)
    for timestamp in (10_101, 4_999):
        with pytest.raises(ApiError) as info:
            append(log, b"x", timestamp=timestamp)
        assert_error(Errors.INVALID_TIMESTAMP, info)


def test_follower_rejects_offsets_below_the_end_or_out_of_order(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append_as_follower(record_set(b"a", b"b", base_offset=3))
    for records in (
        record_set(b"x", base_offset=4),
        record_set(b"x", base_offset=9) + record_set(b"x", base_offset=8),
    ):
        with pytest.raises(ApiError) as info:
            log.append_as_follower(records)
        assert_error(Errors.CORRUPT_MESSAGE, info)
    assert log.log_end_offset == 5


def test_follower_drops_an_incomplete_last_batch(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    records = record_set(b"a") + record_set(b"b", base_offset=1)
    log.append_as_follower(records[:-1])
    assert log.log_end_offset == 1
    assert log.size == len(record_set(b"a"))


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_flush_after_flush_messages(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, flush_messages=2)
    time.sleep(5)
    append(log, b"x")
    assert (log.recovery_point, log.local.unflushed_messages) == (0, 1)
    append(log, b"x")
    assert (log.recovery_point, log.local.unflushed_messages) == (2, 0)
    assert log.local.last_flushed_ms == time.milliseconds()


def test_what_rolls_leave_behind_is_forced_to_disk_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, segment_bytes=SET_SIZE)
    append(log, b"x" * 20)
    synced = note_syncs(monkeypatch)
    for _ in range(2):
        append(log, b"x" * 20)
    assert synced == [], "no append waits for the disk"
    time.sleep(1)
    files = {f"{'0' * 20}.log", f"{1:020d}.log", f"{1:020d}.snapshot", f"{2:020d}.snapshot", log.dir.name}
    assert files <= set(synced)
    assert f"{2:020d}.log" not in synced


@pytest.mark.parametrize(
    ("meanwhile", "recovery_point"), [(lambda log: log.truncate_to(1), 1), (lambda log: log.flush(), 3)]
)
def test_the_recovery_point_is_right_whatever_happens_during_a_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Log], object], recovery_point: int
) -> None:
    log, fsync, left = open_log(tmp_path), os.fsync, [meanwhile]

    def sync(fd: int) -> None:
        if left:
            left.pop()(log)
        fsync(fd)

    for _ in range(3):
        append(log, b"x")
    monkeypatch.setattr(os, "fsync", sync)
    log.flush(2)
    assert (left, log.recovery_point) == ([], recovery_point)


def segments_of_one(tmp_path: Path, count: int, time: MockTime | None = None, **config: object) -> Log:
    log = open_log(tmp_path, time=time, segment_bytes=SET_SIZE, **config)
    for i in range(count):
        append(log, b"x" * 20, timestamp=1_000 + i * 100)
    return log


def test_retention_by_time(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 4, MockTime(start_ms=2_150), retention_ms=1_000)
    assert log.delete_old_segments() == 2
    assert (bases(log), log.log_start_offset) == ([2, 3], 2)
    assert log.delete_old_segments() == 0


def test_retention_by_time_may_delete_every_segment(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 3, MockTime(start_ms=10_000), retention_ms=1_000)
    assert log.delete_old_segments() == 3
    assert (bases(log), log.log_start_offset, log.log_end_offset) == ([3], 3, 3)
    assert log.delete_old_segments() == 0


def test_retention_keeps_an_empty_active_segment(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 2, MockTime(start_ms=10_000), retention_ms=1_000)
    log.roll()
    log.active_segment.set_last_modified_ms(1)
    assert log.delete_old_segments() == 2
    assert (bases(log), log.log_start_offset) == ([2], 2)


@pytest.mark.parametrize(("surplus_bytes", "left"), [(0, [3, 4]), (1, [2, 3, 4])])
def test_retention_by_size(tmp_path: Path, surplus_bytes: int, left: list[int]) -> None:
    log = segments_of_one(tmp_path, 5, retention_ms=-1, retention_bytes=2 * SET_SIZE + surplus_bytes)
    assert log.delete_old_segments() == 5 - len(left)
    assert bases(log) == left


def test_retention_by_log_start_offset(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 5, retention_ms=-1, cleanup_policy="compact")
    log.maybe_increment_log_start_offset(3)
    assert log.delete_old_segments() == 3
    assert bases(log) == [3, 4]


def test_retention_does_not_delete_from_compacted_topics(tmp_path: Path) -> None:
    log = segments_of_one(
        tmp_path, 3, MockTime(start_ms=10**9), retention_ms=1, retention_bytes=0, cleanup_policy="compact"
    )
    assert log.delete_old_segments() == 0


def test_log_start_offset_must_not_exceed_the_log_end_offset(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 2)
    with pytest.raises(ApiError) as info:
        log.maybe_increment_log_start_offset(3)
    assert_error(Errors.OFFSET_OUT_OF_RANGE, info)
    assert log.maybe_increment_log_start_offset(2)
    assert not log.maybe_increment_log_start_offset(1)
    assert log.log_start_offset == 2


def test_truncation_removes_later_epochs_and_timestamps(tmp_path: Path) -> None:
    log = open_log(tmp_path, index_interval_bytes=0)
    for epoch, timestamp in enumerate((100, 300, 200)):
        log.append_as_leader(record_set(b"x", timestamp=timestamp), epoch)
    log.truncate_to(1)
    assert log.latest_epoch == 0
    assert log.active_segment.max_timestamp_so_far == (100, 0)
    assert log.fetch_offset_by_timestamp(101) is None


@pytest.mark.parametrize("magic", [1, 2])
def test_offset_by_timestamp(tmp_path: Path, magic: int) -> None:
    version = {1: "0.10.2", 2: "3.9"}[magic]
    log = open_log(tmp_path, segment_bytes=400, index_interval_bytes=50, message_format_version=version)
    timestamps = [(i * 7919) % 1000 for i in range(60)]
    for timestamp in timestamps:
        append(log, b"x", timestamp=timestamp, magic=magic)
    assert len(log.segments) > 3
    for target in range(0, 1001, 13):
        expected = next(((ts, offset) for offset, ts in enumerate(timestamps) if ts >= target), None)
        found = log.fetch_offset_by_timestamp(target)
        assert (found[:2] if found else None) == expected


def test_special_timestamps(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert log.fetch_offset_by_timestamp(-1) == (-1, 0, -1)
    assert log.fetch_offset_by_timestamp(-3) is None
    for epoch, timestamp in ((3, 100), (4, 900), (5, 500)):
        log.append_as_leader(record_set(b"x", b"y", timestamp=timestamp), epoch)
    assert log.fetch_offset_by_timestamp(-1) == (-1, 6, 5)
    assert log.fetch_offset_by_timestamp(-2) == (-1, 0, 3)
    assert log.fetch_offset_by_timestamp(-3) == (901, 3, 4)
    assert log.fetch_offset_by_timestamp(-4) == (-1, 0, 3)
    assert log.fetch_offset_by_timestamp(500) == (900, 2, 4)
    log.maybe_increment_log_start_offset(3)
    assert log.fetch_offset_by_timestamp(0) == (901, 3, 4)
    assert log.fetch_offset_by_timestamp(-2) == (-1, 3, 4)


def test_search_by_timestamp_skips_messages_below_the_log_start(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 2)
    log.maybe_increment_log_start_offset(1)
    assert log.fetch_offset_by_timestamp(1_000) == (1_100, 1, 0)


def test_the_largest_timestamp_is_found_below_the_log_start_as_in_kafka(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for timestamp in (100, 900, 500):
        append(log, b"x", timestamp=timestamp)
    log.maybe_increment_log_start_offset(2)
    assert log.fetch_offset_by_timestamp(-3) == (900, 1, 0)


def test_search_by_timestamp_fails_for_format_v0(tmp_path: Path) -> None:
    log = open_log(tmp_path, message_format_version="0.9.0")
    append(log, b"x", magic=0)
    with pytest.raises(ApiError) as info:
        log.fetch_offset_by_timestamp(5)
    assert_error(Errors.UNSUPPORTED_FOR_MESSAGE_FORMAT, info)
    assert log.fetch_offset_by_timestamp(-1) == (-1, 1, -1)


def test_legacy_fetch_offsets_before(tmp_path: Path) -> None:
    log = segments_of_one(tmp_path, 4)
    assert log.legacy_fetch_offsets_before(-1, 10) == [4, 3, 2, 1, 0]
    assert log.legacy_fetch_offsets_before(-1, 2) == [4, 3]
    assert log.legacy_fetch_offsets_before(-2, 10) == [0]
    assert log.legacy_fetch_offsets_before(0, 10) == []
    assert log.legacy_fetch_offsets_before(-1, 0) == []
    log.maybe_increment_log_start_offset(2)
    assert log.legacy_fetch_offsets_before(-2, 10) == [2]


def test_closed_log_raises_storage_error(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"x")
    log.close()
    log.close()
    for use in (lambda: append(log, b"y"), lambda: log.read(0, 10)):
        with pytest.raises(ApiError) as info:
            use()
        assert_error(Errors.KAFKA_STORAGE_ERROR, info)


def test_rename_and_delete(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=SET_SIZE)
    append(log, b"x" * 20)
    log.rename_dir(tmp_path / "topic-0.0123456789abcdef0123456789abcdef-delete")
    log.append_as_leader(record_set(b"y" * 20), 1)
    assert (len(read_records(log)), log.latest_epoch) == (2, 1)
    log.delete()
    assert list(tmp_path.iterdir()) == []


def test_message_format_changes_at_run_time(tmp_path: Path) -> None:
    log = open_log(tmp_path, message_format_version="0.10.2")
    append(log, b"a")
    assert log.derived_state.leader_epoch_cache is None
    log.update_config(LogConfig())
    log.append_as_leader(record_set(b"b"), 4)
    assert log.latest_epoch == 4
    log.append_as_follower(record_set(b"c", magic=1, base_offset=2))
    assert log.latest_epoch == -1
    assert [record.value for record in read_records(log)] == [b"a", b"b", b"c"]
    log.update_config(LogConfig({"message.format.version": "0.10.2"}))
    assert log.derived_state.leader_epoch_cache is None, "messages of this format have no epochs"
