"""The output of a cleaning: merged, indexed, on disk, with the time of its newest source."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from tests.support.compaction import (
    FORMATS,
    append,
    clean,
    compacted,
    dirty,
    keyed_set,
    values_of,
)
from tests.support.logs import note_syncs, read_records


@pytest.fixture
def time() -> MockTime:
    return MockTime()


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


def test_small_segments_are_merged(tmp_path: Path, time: MockTime) -> None:
    log = compacted(tmp_path, time)
    for n in range(8):
        append(log, (b"%d" % (n % 3), b"v" * 20))
        log.roll()
    clean(log, time)
    assert [(s.base_offset, s.size > 0) for s in log.segments] == [(0, True), (8, False)]
    assert sorted(path.name for path in log.dir.glob("*.log*"))[0] == "00000000000000000000.log"


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
