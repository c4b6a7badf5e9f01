"""One cleaning of one log: which records stay, which go, and into which segments."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.cleaning.cleaner import BREATH_MS
from kafka_lite.log.cleaning.log_to_clean import LogToClean
from kafka_lite.log.cleaning.segment_groups import group_segments_by_size
from kafka_lite.log.log import Log
from kafka_lite.log.log_cleaning_state import LogCleaningAbortedError
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.default_record_batch import DefaultRecordBatch
from tests.support.compaction import (
    FORMATS,
    all_batches,
    all_records,
    append,
    clean,
    contents,
    keyed_set,
    new_cleaner,
)
from tests.support.logs import note_syncs, open_log, read_records

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def compacted(tmp_path: Path, time: MockTime, **config: Any) -> Log:
    return open_log(tmp_path, time=time, **{"cleanup_policy": "compact", "delete_retention_ms": DAY_MS, **config})


def values_of(log: Log) -> dict[int, bytes | None]:
    return {record.offset: record.value for record in all_records(log)}


def dirty(log: Log, key: bytes) -> None:
    """Append a record and roll, so that there is a dirty segment."""
    append(log, (key, b"v"))
    log.roll()


def batch_with(log: Log, offset: int) -> DefaultRecordBatch:
    found = next(batch for batch in all_batches(log) if batch.base_offset <= offset <= batch.last_offset)
    assert isinstance(found, DefaultRecordBatch)
    return found


# -- records -----------------------------------------------------------------------------------------------------------


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
def test_records_without_a_key_are_removed(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic], cleanup_policy="delete")
    append(log, (None, b"1"))
    append(log, (b"a", b"2"))
    append(log, (None, b"3"))
    log.roll()
    append(log, (None, b"in the active segment"))
    _, stats = clean(log, time)
    assert values_of(log) == {1: b"2", 3: b"in the active segment"}
    assert stats.invalid_messages_read == 2


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


# -- tombstones --------------------------------------------------------------------------------------------------------


def test_v2_tombstones_stay_until_their_delete_horizon(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"1"), (b"b", b"1"), timestamp=time.milliseconds())
    append(log, (b"a", None), (b"c", b"1"), timestamp=time.milliseconds())
    log.roll()
    time.sleep(10 * DAY_MS)  # the record's age is irrelevant; the horizon counts from the first cleaning
    clean(log, time)
    assert values_of(log) == {1: b"1", 2: None, 3: b"1"}
    assert batch_with(log, 2).delete_horizon_ms == time.milliseconds() + DAY_MS
    assert batch_with(log, 1).delete_horizon_ms is None
    time.sleep(DAY_MS - 1)
    dirty(log, b"d")
    clean(log, time, 4)
    assert values_of(log) == {1: b"1", 2: None, 3: b"1", 4: b"v"}
    time.sleep(1)
    dirty(log, b"e")
    clean(log, time, 5)
    assert values_of(log) == {1: b"1", 3: b"1", 4: b"v", 5: b"v"}


def test_a_superseded_tombstone_is_removed_at_once(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", None))
    append(log, (b"a", b"2"))
    log.roll()
    clean(log, time)
    assert values_of(log) == {1: b"2"}


@pytest.mark.parametrize("magic", [0, 1])
def test_v0_and_v1_tombstones_expire_by_the_age_of_their_segment(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, message_format_version=FORMATS[magic], segment_bytes=50)
    append(log, (b"a", None))
    log.roll()
    dirty(log, b"b")
    first, second, _ = log.segments
    first.set_last_modified_ms(1_000_000)
    second.set_last_modified_ms(1_000_000 + DAY_MS - 1)
    clean(log, time)
    assert values_of(log) == {0: None, 1: b"v"}, "there was no clean segment yet"
    dirty(log, b"c")
    clean(log, time, 2)
    assert 0 in values_of(log), "the newest clean segment is not a day younger than the tombstone's"
    dirty(log, b"d")
    tuple(log.segments)[1].set_last_modified_ms(1_000_000 + DAY_MS)
    clean(log, time, 2)
    assert values_of(log) == {1: b"v", 2: b"v", 3: b"v"}


def test_cleaning_keeps_the_last_modified_time_of_the_newest_source_segment(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for n in range(3):
        append(log, (b"%d" % n, b"v"))
        log.roll()
        tuple(log.segments)[n].set_last_modified_ms(1_000_000 + n)
    clean(log, time)
    (cleaned, _) = log.segments
    assert cleaned.log.last_modified_ms() == 1_000_002
    assert {os.stat(cleaned.offset_index.file).st_mtime_ns, os.stat(cleaned.time_index.file).st_mtime_ns} == {
        1_000_002_000_000
    }


def test_a_cleaning_is_on_disk_when_it_ends(tmp_path: Path, time: MockTime, monkeypatch: pytest.MonkeyPatch) -> None:
    log = compacted(tmp_path, time)
    dirty(log, b"a")
    dirty(log, b"b")
    time.sleep(1)
    synced = note_syncs(monkeypatch)
    clean(log, time)
    assert synced == [f"{'0' * 20}.log.cleaned", log.dir.name]


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


# -- batches -----------------------------------------------------------------------------------------------------------


def test_empty_batches_are_removed(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    append(log, (b"a", b"1"), (b"b", b"1"))
    append(log, (b"a", b"2"), (b"b", b"2"))
    append(log, (b"c", b"1"))
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [2, 4]


def test_the_last_batch_of_a_cleaning_is_kept_as_a_header(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time, cleanup_policy="delete")
    append(log, (b"a", b"1"))
    append(log, (None, b"without a key, so it goes"))
    log.roll()
    append(log, (b"a", b"2"))
    clean(log, time)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(0, 1), (1, 0), (2, 1)]


def send(log: Log, sequence: int, *pairs: tuple[bytes, bytes], producer_id: int = 7, epoch: int = 0) -> None:
    records = keyed_set(*pairs, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)
    log.append_as_leader(records, 0)


def test_the_last_batch_of_a_producer_is_kept_as_a_header(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    send(log, 0, (b"a", b"1"))
    send(log, 1, (b"a", b"2"), (b"b", b"2"))
    append(log, (b"a", b"3"), (b"b", b"3"))
    append(log, (b"c", b"3"))
    log.roll()
    clean(log, time)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(1, 0), (3, 2), (5, 1)]
    assert (batch_with(log, 1).producer_id, batch_with(log, 1).base_sequence) == (7, 1)
    # After a restart without a snapshot, the header is all that is known of the producer.
    for snapshot in log.dir.glob("*.snapshot"):
        snapshot.unlink()
    again = compacted(tmp_path, time)
    with pytest.raises(ApiError):
        send(again, 7, (b"d", b"4"))
    send(again, 3, (b"d", b"4"))
    # Now the producer has a newer last batch.
    again.roll()
    clean(again, time)
    assert [batch.base_offset for batch in all_batches(again)] == [3, 5, 6]


def test_batches_of_expired_producers_are_removed(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    send(log, 0, (b"a", b"1"))
    append(log, (b"a", b"2"))
    time.sleep(2 * DAY_MS)
    log.derived_state.remove_expired_producers()
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [1]


def transactional(log: Log, sequence: int, *pairs: tuple[bytes, bytes], producer_id: int) -> None:
    records = keyed_set(
        *pairs, producer_id=producer_id, producer_epoch=0, base_sequence=sequence, is_transactional=True
    )
    log.append_as_leader(records, 0, AppendOrigin.COORDINATOR)


def end_transaction(log: Log, kind: ControlRecordType, *, producer_id: int, epoch: int = 0) -> None:
    marker = EndTransactionMarker(kind, 0).to_batch(producer_id, epoch, log._time.milliseconds())
    log.append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR)


@pytest.mark.parametrize("kind", [ControlRecordType.COMMIT, ControlRecordType.ABORT])
def test_a_transaction_marker_outlives_the_batches_of_its_transaction(
    tmp_path: Path, time: MockTime, kind: ControlRecordType
) -> None:
    log = compacted(tmp_path, time)
    transactional(log, 0, (b"a", b"1"), producer_id=7)
    end_transaction(log, kind, producer_id=7)
    append(log, (b"b", b"1"))
    log.roll()
    clean(log, time)
    assert [batch.base_offset for batch in all_batches(log)] == [0, 1, 2]
    assert batch_with(log, 1).delete_horizon_ms is None
    # Another producer writes the key, and the first one expires: now no batch is left.
    append(log, (b"a", b"2"))
    time.sleep(2 * DAY_MS)
    log.derived_state.remove_expired_producers()
    log.roll()
    clean(log, time, 3)
    assert [batch.base_offset for batch in all_batches(log)] == [1, 2, 3]
    # A cleaning sets the marker's delete horizon once the batches are gone.
    dirty(log, b"c")
    clean(log, time, 4)
    assert batch_with(log, 1).delete_horizon_ms == time.milliseconds() + DAY_MS
    time.sleep(DAY_MS)
    dirty(log, b"d")
    clean(log, time, 5)
    assert [batch.base_offset for batch in all_batches(log)] == [2, 3, 4, 5]


def test_the_marker_with_the_newest_epoch_of_a_producer_is_kept(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    end_transaction(log, ControlRecordType.ABORT, producer_id=7, epoch=5)
    append(log, (b"a", b"1"))
    log.roll()
    clean(log, time)
    time.sleep(DAY_MS // 2)
    end_transaction(log, ControlRecordType.ABORT, producer_id=8, epoch=1)
    time.sleep(DAY_MS // 2)
    log.roll()
    clean(log, time, 2)
    assert [(batch.base_offset, batch.record_count) for batch in all_batches(log)] == [(0, 0), (1, 1), (2, 1)]
    assert batch_with(log, 0).producer_epoch == 5


# -- segments ----------------------------------------------------------------------------------------------------------


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


def test_small_segments_are_merged(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for n in range(8):
        append(log, (b"%d" % (n % 3), b"v" * 20))
        log.roll()
    clean(log, time)
    assert [(s.base_offset, s.size > 0) for s in log.segments] == [(0, True), (8, False)]
    assert sorted(path.name for path in log.dir.glob("*.log*"))[0] == "00000000000000000000.log"


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
def test_the_indexes_of_a_cleaned_segment_find_its_batches(tmp_path: Path, time: MockTime, magic: int) -> None:
    log = compacted(tmp_path, time, index_interval_bytes=200, message_format_version=FORMATS[magic])
    for n in range(200):
        append(log, (b"%d" % (n % 150), b"v" * 30), timestamp=1_000 + n)
    log.roll()
    clean(log, time)
    (cleaned, _) = log.segments
    places = {batch.last_offset: batch.position for batch in cleaned.log.batches_from()}
    entries = [cleaned.offset_index.entry(n) for n in range(cleaned.offset_index.entries)]
    assert len(entries) >= cleaned.size // 400
    assert all(places[entry.offset] == entry.position for entry in entries)
    if magic > 0:
        for offset in places:
            found = log.fetch_offset_by_timestamp(1_000 + offset)
            assert found is not None
            assert found.offset == offset


def test_a_small_index_does_not_overflow(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time, index_interval_bytes=0, segment_index_bytes=48)
    # A few large appends have few index entries; the cleaner appends batch by batch.
    offset = 0
    for _ in range(3):
        batches = b""
        for _ in range(20):
            batches += keyed_set((b"%d" % offset, b"v"), base_offset=offset)
            offset += 1
        log.append_as_follower(batches)
    log.roll()
    clean(log, time)
    assert len(values_of(log)) == 60
    (cleaned, _) = log.segments
    assert 0 < cleaned.offset_index.entries <= 6
    assert 0 < cleaned.time_index.entries <= 4
    again = compacted(tmp_path, time, index_interval_bytes=0, segment_index_bytes=48)
    assert len(read_records(again)) == 60


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


# -- stopping ----------------------------------------------------------------------------------------------------------


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
