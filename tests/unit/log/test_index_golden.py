"""The same appends produce the same bytes in .log, .index and .timeindex as in Kafka 0.10.2.2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.log.log import Log
from kafka_lite.record.records import batches
from tests.support.logs import open_log, record_set
from tests.support.samples import hex_sample

ALL_OF_ACTIVE_INDEX = 10_485_760
ALL_OF_ACTIVE_TIME_INDEX = 10_485_756  # whole entries of 12 bytes


def stored_sets(log_bytes: bytes, messages_per_set: int) -> Iterator[bytearray]:
    """What the producer sent: the offsets start at 0 again (of a compressed set, only the wrapper)."""
    messages = [bytearray(batch.view) for batch in batches(log_bytes)]
    for start in range(0, len(messages), messages_per_set):
        group = messages[start : start + messages_per_set]
        for offset, message in enumerate(group):
            last_inner_offset = offset if messages_per_set > 1 else len(list(next(batches(message)).records())) - 1
            message[0:8] = last_inner_offset.to_bytes(8, "big")
        yield bytearray(b"".join(group))


def assert_index_files(log: Log, base_offset: int, sample: str, sizes: tuple[int, int]) -> None:
    for suffix, size in zip(("index", "timeindex"), sizes, strict=True):
        file = log.dir / f"{base_offset:020d}.{suffix}"
        expected = hex_sample(f"{sample}.{suffix}.hex")
        assert file.stat().st_size == size
        assert file.read_bytes()[: len(expected)] == expected


@pytest.mark.parametrize(
    ("sample", "messages_per_set"), [("disk-none", 3), ("disk-gzip", 1), ("disk-snappy", 1), ("disk-lz4", 1)]
)
def test_three_sets_in_the_active_segment(tmp_path: Path, sample: str, messages_per_set: int) -> None:
    stored = hex_sample(f"{sample}.log.hex")
    log = open_log(
        tmp_path, message_format_version="0.10.2", index_interval_bytes=200, segment_index_bytes=ALL_OF_ACTIVE_INDEX
    )
    for records in stored_sets(stored, messages_per_set):
        log.append_as_leader(records, 0)
    assert log.active_segment.log.file.read_bytes() == stored
    assert_index_files(log, 0, sample, (ALL_OF_ACTIVE_INDEX, ALL_OF_ACTIVE_TIME_INDEX))


def test_rolled_and_active_segment(tmp_path: Path) -> None:
    segments = [hex_sample("disk-roll-00.live.log.hex"), hex_sample("disk-roll-20.live.log.hex")]
    log = open_log(
        tmp_path,
        message_format_version="0.10.2",
        index_interval_bytes=200,
        segment_bytes=2048,
        segment_index_bytes=4096,
    )
    for records in stored_sets(b"".join(segments), 1):
        log.append_as_leader(records, 0)
    assert [segment.base_offset for segment in log.segments] == [0, 20]
    assert [segment.log.file.read_bytes() for segment in log.segments] == segments
    assert_index_files(log, 0, "disk-roll-00.live", (64, 96))
    assert_index_files(log, 20, "disk-roll-20.live", (4096, 4092))


def test_time_index_after_a_clean_shutdown_matches_kafka_3_9(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_index_bytes=ALL_OF_ACTIVE_INDEX)
    log.append_as_follower(hex_sample("v39-modern-0.00.log.hex"))
    log.close()
    assert (log.dir / "00000000000000000000.index").read_bytes() == b""
    assert (log.dir / "00000000000000000000.timeindex").read_bytes() == hex_sample("v39-modern-0.00.timeindex.hex")
    assert (log.dir / "leader-epoch-checkpoint").read_bytes() == hex_sample("v39-modern-0.leader-epoch-checkpoint.hex")


def test_a_log_directory_of_kafka_is_read(tmp_path: Path) -> None:
    """The files as Kafka 0.10.2.2 left them, together with some that this version does not know."""
    directory = tmp_path / "topic-0"
    directory.mkdir()
    for suffix in ("log", "index", "timeindex"):
        data = hex_sample(f"disk-roll-00.live.{suffix}.hex")
        (directory / f"00000000000000000000.{suffix}").write_bytes(data)
    (directory / "00000000000000000000.newindex").write_bytes(b"unknown")
    (directory / "partition.metadata").write_bytes(b"version: 0\ntopic_id: CW1BOIEfT_KcHAaPi9UjXA")
    log = open_log(tmp_path, had_clean_shutdown=True, message_format_version="0.10.2")
    assert (log.log_start_offset, log.log_end_offset) == (0, 20)
    assert log.active_segment.offset_index.entries == 8
    assert log.active_segment.offset_index.lookup(10) == (9, 0x384)
    assert (directory / "00000000000000000000.newindex").read_bytes() == b"unknown"


def test_v2_batches_are_indexed_by_their_last_offset_as_in_kafka_3_9(tmp_path: Path) -> None:
    log = open_log(tmp_path, index_interval_bytes=100)
    sizes = [log.append_as_leader(record_set(b"x" * 60, b"y" * 60), 0).size_in_bytes for _ in range(3)]
    index = log.active_segment.offset_index
    assert [index.entry(n) for n in range(index.entries)] == [(3, sizes[0]), (5, sizes[0] * 2)]
