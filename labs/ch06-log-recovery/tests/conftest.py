"""Helpers that the tests of this lab share: the files that a killed broker leaves behind."""

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.loading.log_loader import LogLoader
from kafka_lite.log.loading.swap_files import SwapFiles
from kafka_lite.log.log_append_info import analyze_and_validate_records
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_segment import LogSegment
from kafka_lite.log.log_segments import LogSegments
from kafka_lite.log.producers.producer_state_manager import ProducerStateManager
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder

CONFIG = LogConfig({"index.interval.bytes": "300", "segment.index.bytes": "4096", "segment.bytes": "1000"})


def make_batch(offset, count=3, timestamp=None, magic=2, epoch=0):
    """A batch as it is in the log: 205 bytes for three messages in format v2."""
    codec = CompressionType.NONE if magic == 2 else CompressionType.GZIP
    builder = MemoryRecordsBuilder(magic, codec, base_offset=offset, partition_leader_epoch=epoch)
    for number in range(count):
        builder.append((10 * offset if timestamp is None else timestamp) + number, b"k", b"x" * 40)
    return builder.build()


@pytest.fixture
def batch():
    """``batch(offset, count=3, timestamp=None, magic=2, epoch=0)``: a batch as it is in the log."""
    return make_batch


@pytest.fixture
def folder(tmp_path):
    """The directory of a partition."""
    directory = tmp_path / "demo-0"
    directory.mkdir()
    return directory


@pytest.fixture
def write_segment(folder):
    """``write_segment(20, batches=4)``: a segment as appends write it; closed only on request."""

    def write(base_offset, batches=4, closed=True, magic=2, suffix="", offsets=None, timestamps=None, epochs=None):
        segment = LogSegment.open(folder, base_offset, CONFIG, MockTime(), suffix)
        for number in range(batches):
            offset = offsets[number] if offsets else base_offset + 3 * number
            timestamp = timestamps[number] if timestamps else None
            epoch = epochs[number] if epochs else 0
            records = make_batch(offset, magic=magic, timestamp=timestamp, epoch=epoch)
            segment.append(analyze_and_validate_records(records), records)
        if closed:
            segment.close()
        else:
            segment.flush()
        return folder / f"{base_offset:020d}.log{suffix}"

    return write


@pytest.fixture
def open_segment(folder):
    """``open_segment(20)``: the files of a segment, as a starting broker opens them."""
    return lambda base_offset=20: LogSegment.open(folder, base_offset, CONFIG, MockTime())


@pytest.fixture
def loader(folder):
    """``loader(recovery_point=0, clean=False)``: the object that loads the directory; nothing is loaded yet."""

    def make(recovery_point=0, clean=False, segments=()):
        loaded = LogSegments()
        for base_offset in segments:
            loaded.add(LogSegment.open(folder, base_offset, CONFIG, MockTime()))
        producers = ProducerStateManager(TopicPartition("demo", 0), folder)
        return LogLoader(
            folder,
            CONFIG,
            MockTime(),
            loaded,
            None,
            producers,
            had_clean_shutdown=clean,
            log_start_offset_checkpoint=0,
            recovery_point_checkpoint=recovery_point,
        )

    return make


@pytest.fixture
def swap_files(folder):
    """The object that completes or undoes replacements."""
    return SwapFiles(folder, CONFIG, MockTime())


@pytest.fixture
def damage():
    """``damage(file, position)``: flip one bit of a file."""

    def flip(file, position):
        data = bytearray(file.read_bytes())
        data[position] ^= 1
        file.write_bytes(data)

    return flip


@pytest.fixture
def recovered_with(monkeypatch):
    """What segments are recovered with, by base offset: epochs and transactions. Nothing is read."""
    seen = {}

    def noted(segment, leader_epoch_cache=None, transactions=None):
        seen[segment.base_offset] = leader_epoch_cache, transactions
        return 0

    monkeypatch.setattr(LogSegment, "recover", noted)
    return seen


@pytest.fixture
def recovered(monkeypatch):
    """The base offsets of the segments that are recovered while the test runs."""
    seen = []
    recover = LogSegment.recover

    def counted(segment, *args, **options):
        seen.append(segment.base_offset)
        return recover(segment, *args, **options)

    monkeypatch.setattr(LogSegment, "recover", counted)
    return seen
