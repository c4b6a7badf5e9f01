"""One cleaning of one log: which records stay, which go, and into which segments."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaner import BREATH_MS
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.segment_groups import group_segments_by_size
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import LogCleaningAbortedError
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.compression import CompressionType
from tests.support.compaction import (
    FORMATS,
    all_records,
    append,
    clean,
    compacted,
    contents,
    keyed_set,
    new_cleaner,
    values_of,
)
from tests.support.logs import open_log, read_records


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.mark.parametrize("magic", FORMATS)
@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.GZIP])
def test_the_newest_value_of_each_key_is_kept(
    tmp_path: Path, time: MockTime, magic: int, codec: CompressionType
) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic])
    for round_number in range(4):
        pairs = [(b"key %d" % key, b"%d of round %d" % (key, round_number)) for key in range(round_number, 5)]
        append(log, *pairs, compression=codec)
        log.roll()
    append(log, (b"key 0", b"in the active segment"))
    active = log.active_segment.log.file.read_bytes()
    end = log.log_end_offset
    end_offset, stats = clean(log, time)
    assert contents(log) == [
        (0, b"key 0", b"0 of round 0"),
        (5, b"key 1", b"1 of round 1"),
        (9, b"key 2", b"2 of round 2"),
        (12, b"key 3", b"3 of round 3"),
        (13, b"key 4", b"4 of round 3"),
        (14, b"key 0", b"in the active segment"),
    ]
    assert (end_offset, log.log_end_offset, log.active_segment.log.file.read_bytes()) == (14, end, active)
    assert (stats.messages_read, stats.messages_written, stats.map_messages_read) == (14, 5, 14)
    assert stats.bytes_written == sum(segment.size for segment in log.segments) - len(active)
    assert stats.buffer_utilization == 5 / 1000
    for offset in range(end):
        assert read_records(log, offset)[0].offset == min(o for o, *_ in contents(log) if o >= offset)


def test_a_second_cleaning_reads_only_the_dirty_part(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"1"), (b"b", b"1"), (b"c", b"1"))
    log.roll()
    end_offset, _ = clean(log, time)
    append(log, (b"b", b"2"))
    log.roll()
    end_offset, stats = clean(log, time, end_offset)
    assert (end_offset, stats.map_messages_read, stats.messages_read) == (4, 1, 4)
    assert values_of(log) == {0: b"1", 2: b"1", 3: b"2"}


@pytest.mark.parametrize("magic", FORMATS)
def test_records_without_a_key_fail_the_cleaning(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic])
    with pytest.raises(ApiError, match="key") as refused:
        append(log, (b"a", b"1"), (None, b"2"))
    assert refused.value.error.name in ("INVALID_RECORD", "CORRUPT_MESSAGE")
    assert log.log_end_offset == 0


def test_a_full_offset_map_limits_how_far_a_cleaning_gets(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for _ in range(3):
        append(log, *[(b"%d" % key, b"v") for key in range(10)])
        log.roll()
    end_offset, stats = clean(log, time, slots=4)
    assert end_offset == 4  # keys 0 to 3, in the middle of a batch
    assert stats.buffer_utilization == 1
    assert len(values_of(log)) == 30
    rounds = 1
    while end_offset < 30:
        before, (end_offset, _) = end_offset, clean(log, time, end_offset, slots=4)
        assert end_offset > before
        rounds += 1
    assert values_of(log) == dict.fromkeys(range(20, 30), b"v")
    assert rounds == 8


def test_the_snapshots_of_merged_segments_are_deleted_except_the_first(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for sequence in range(3):
        send(log, sequence, (b"a", b"v"))
        log.roll()
    log.maybe_increment_log_start_offset(1)
    log.delete_old_segments()
    assert log.producer_state.snapshot_offsets == (1, 2, 3)
    clean(log, time, 1)
    assert log.producer_state.snapshot_offsets == (1, 3)


def send(log: Log, sequence: int, *pairs: tuple[bytes, bytes], producer_id: int = 7, epoch: int = 0) -> None:
    records = keyed_set(*pairs, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    log.append_as_leader(records, 0)


def segment(size: int, base_offset: int, index_size: int = 8) -> LogSegment:
    index = SimpleNamespace(size_in_bytes=index_size)
    return SimpleNamespace(size=size, base_offset=base_offset, offset_index=index, time_index=index)  # type: ignore


def grouped(segments: list[LogSegment], max_size: int = 1000, max_index_size: int = 100, end: int = 100) -> list[int]:
    return [len(group) for group in group_segments_by_size(segments, max_size, max_index_size, end)]


def test_segments_are_grouped_by_size() -> None:
    sizes = [600, 300, 400, 100, 1000, 1, 2000, 0, 0]
    assert grouped([segment(size, 10 * n) for n, size in enumerate(sizes)]) == [2, 2, 1, 1, 1, 2]
    assert grouped([]) == []


def test_segments_are_grouped_by_index_size() -> None:
    assert grouped([segment(1, n, index_size=40) for n in range(5)]) == [2, 2, 1]


def test_segments_are_grouped_by_offset_range() -> None:
    """A segment's range ends below the next segment's base offset, the last one's below the log end offset."""
    far = 2**31
    assert grouped([segment(1, 0), segment(1, 5), segment(1, far)], end=far + 1) == [2, 1]
    assert grouped([segment(1, 0), segment(1, 5)], end=far) == [2]
    assert grouped([segment(1, 0), segment(1, 5)], end=far + 1) == [1, 1]
    assert grouped([segment(1, 0), segment(0, 5)], end=far + 1) == [2]


def test_a_log_whose_records_are_all_removed(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time, cleanup_policy="delete", message_format_version="0.10.2")
    append(log, (None, b"v"))
    log.roll()
    append(log, (None, b"v"))
    log.roll()
    end_offset, _ = clean(log, time)
    assert [(s.base_offset, s.size) for s in log.segments] == [(0, 0), (2, 0)]
    assert (end_offset, log.log_end_offset, read_records(log)) == (2, 2, [])
    assert open_log(tmp_path, time=time).log_end_offset == 2


@pytest.mark.parametrize("magic", FORMATS)
def test_batches_larger_than_the_buffer_are_cleaned(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic])
    for n in range(4):
        append(log, (b"%d" % (n % 2), b"v" * 5_000))
        append(log, (b"small", b"v"))
    log.roll()
    clean(log, time, io_buffer_size=20)
    assert sorted(values_of(log)) == [4, 6, 7]


def test_a_file_that_ends_within_a_batch_is_cleaned(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"v" * 100))
    log.roll()
    first = log.segments.first
    for cut in (1, 100):
        first.log.truncate_to(first.size - cut)
        with pytest.raises(ApiError, match="are needed"):
            clean(log, time)


def test_the_throttler_limits_io(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for n in range(50):
        append(log, (b"%d" % n, b"v" * 1_000))
    log.roll()
    size = log.size
    ticking = MockTime(time.milliseconds(), auto_tick_ms=50)
    started_ms = ticking.hi_res_ms()
    clean(log, ticking, max_io_bytes_per_second=1_000, io_buffer_size=2 * 5 * (size // 50))
    elapsed_s = (ticking.hi_res_ms() - started_ms) / 1000
    assert elapsed_s == pytest.approx(3 * size / 1_000, rel=0.2)  # read twice, written once


@pytest.mark.parametrize("stop_after", range(12))
def test_an_aborted_cleaning_leaves_the_log_unchanged(tmp_path: Path, time: MockTime, stop_after: int) -> None:
    log = compacted(tmp_path, time, segment_bytes=200)
    for n in range(9):
        append(log, (b"%d" % (n % 4), b"v" * 20))
    log.roll()
    checks = 0

    def check_done(_: TopicPartition) -> None:
        nonlocal checks
        checks += 1
        if checks > stop_after:
            raise LogCleaningAbortedError("stop")

    newest = {record.key: record.offset for record in all_records(log)}
    try:
        clean(log, time, check_done=check_done)
    except LogCleaningAbortedError:
        pass
    else:
        assert stop_after >= 9
    assert not [path for path in log.dir.iterdir() if path.suffix in (".cleaned", ".swap")]
    assert set(newest.values()) <= {record.offset for record in all_records(log)}
    clean(log, time)
    assert {record.key: record.offset for record in all_records(log)} == newest


def test_a_cleaning_is_aborted_if_its_segments_are_deleted(tmp_path: Path, time: MockTime) -> None:
    """Whatever deletes segments should pause the cleaning first; if it does not, the cleaning has no effect."""
    log = compacted(tmp_path, time)
    append(log, (b"a", b"v"))
    log.roll()
    append(log, (b"b", b"v"))

    def check_done(_: TopicPartition) -> None:
        if list(log.dir.glob("*.log.cleaned")) and log.log_end_offset:
            log.truncate_fully_and_start_at(0)

    with pytest.raises(LogCleaningAbortedError, match="were deleted"):
        clean(log, time, check_done=check_done)
    assert not list(log.dir.glob("*.cleaned"))
    assert log.size == 0


def test_an_open_slice_of_a_replaced_segment_stays_readable(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time, file_delete_delay_ms=1_000)
    for _ in range(3):
        append(log, (b"a", b"v"))
        log.roll()
    part = log.read(0, 1_000).records
    old = tuple(log.segments)[:2]
    clean(log, time)
    assert part.to_bytes()  # type: ignore[union-attr]
    assert [s.read(0, 1_000) is not None for s in old] == [True, True]
    assert list(log.dir.glob("*.deleted"))
    time.sleep(1_000)
    assert not list(log.dir.glob("*.deleted"))
    assert part.to_bytes()  # type: ignore[union-attr]


def test_an_offset_map_without_a_slot_is_rejected(time: MockTime) -> None:
    with pytest.raises(ValueError, match=r"increase log\.cleaner\.dedupe\.buffer\.size"):
        new_cleaner(time, slots=1, dedupe_buffer_load_factor=0.9)


def test_a_busy_cleaner_yields_the_gil(tmp_path: Path, time: MockTime) -> None:
    """It pauses after each millisecond of work; otherwise, requests would wait for the GIL."""
    log = compacted(tmp_path, time)
    for n in range(20):
        append(log, (b"%d" % n, b"v"))
    log.roll()
    ticking = MockTime(time.milliseconds(), auto_tick_ms=0.4)
    pauses: list[float] = []
    cleaner = new_cleaner(ticking)
    cleaner._pause = pauses.append
    cleaner.clean(LogToClean(log.topic_partition, log, 0, 20))
    assert len(pauses) > 2 * 20 // 3
    assert set(pauses) == {BREATH_MS}
