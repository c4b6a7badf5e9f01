"""Helpers that the tests of this lab share. They fill segments without your append, so that tasks are independent."""

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder


def make_batch(offset, count=3, timestamp=1000, magic=2):
    """A batch as it is in the log: ``count`` messages from ``offset`` on, with timestamps increasing by one."""
    builder = MemoryRecordsBuilder(magic, CompressionType.NONE, base_offset=offset)
    for number in range(count):
        builder.append(timestamp + number if magic else -1, b"k", b"x" * 40)
    return builder.build()


@pytest.fixture
def batch():
    """``batch(offset, count=3, timestamp=1000, magic=2)``: a batch as it is in the log."""
    return make_batch


@pytest.fixture
def append():
    """``append(segment, offset, …)``: a batch through your append, with the arguments that the log would pass."""

    def through(segment, offset, **how):
        records = make_batch(offset, **how)
        segment.append(analyze_and_validate_records(records), records)

    return through


@pytest.fixture
def begun(monkeypatch):
    """``begun(segment)``: the positions from which headers are read, from now on."""

    def watch(segment):
        positions = []
        batches_from = segment.log.batches_from
        monkeypatch.setattr(segment.log, "batches_from", lambda at=0: positions.append(at) or batches_from(at))
        return positions

    return watch


@pytest.fixture
def rolls(time):
    """``rolls(segment, offset, timestamp, count=3)``: whether a batch at this offset must go to a new segment."""

    def asked(segment, offset=29, timestamp=1030, count=3):
        records = make_batch(offset, count, timestamp=timestamp)
        info = analyze_and_validate_records(records)
        return segment.should_roll(segment.config, info, len(records), time.milliseconds())

    return asked


@pytest.fixture
def time():
    return MockTime()


@pytest.fixture
def new_segment(tmp_path, time):
    """``new_segment(base_offset, key=value…)``: an empty segment; an index entry is due after more than 300 bytes."""

    def make(base_offset=20, **config):
        folder = tmp_path / f"log-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        small = {"index.interval.bytes": "300", "segment.index.bytes": "4096", "segment.bytes": "1000"}
        props = small | {key.replace("_", "."): str(value) for key, value in config.items()}
        segment = LogSegment.open(folder, base_offset, LogConfig(props), time)
        segment.config = LogConfig(props)
        return segment

    return make


@pytest.fixture
def segment_with(new_segment):
    """``segment_with(4, index=[(28, 410)])``: batches of three from offset 20 on, and these entries in the index."""

    def make(batches, index=(), magic=2, timestamps=None, **config):
        segment = new_segment(20, **config)
        for number in range(batches):
            timestamp = timestamps[number] if timestamps else 1000 + 10 * number
            segment.log.append(make_batch(20 + 3 * number, timestamp=timestamp, magic=magic))
        for offset, position in index:
            segment.offset_index.append(offset, position)
        return segment

    return make
