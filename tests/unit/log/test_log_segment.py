"""When a segment is rolled, and what becomes of its files."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.time import MockTime
from kafka_lite.log.log import Log
from kafka_lite.log.log_config import LogConfig
from tests.support.logs import open_log, read_records, record_set

SET_SIZE = len(record_set(b"x" * 20))


def append(log: Log, *values: bytes, **kwargs: int) -> int:
    return log.append_as_leader(record_set(*values, **kwargs), 0).first_offset


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def test_roll_by_size(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_bytes=2 * SET_SIZE)
    for _ in range(5):
        append(log, b"x" * 20)
    assert bases(log) == [0, 2, 4]


def test_roll_by_timestamp_of_the_first_message(tmp_path: Path) -> None:
    log = open_log(tmp_path, segment_ms=100)
    append(log, b"a", timestamp=1_000)
    append(log, b"b", timestamp=1_100)
    append(log, b"c", timestamp=1_050)
    assert bases(log) == [0]
    append(log, b"d", timestamp=1_101)
    assert bases(log) == [0, 3]


def test_roll_by_time_continues_after_a_restart(tmp_path: Path) -> None:
    append(open_log(tmp_path, segment_ms=100), b"a", timestamp=1_000)
    log = open_log(tmp_path, segment_ms=100)
    append(log, b"b", timestamp=1_101)
    assert bases(log) == [0, 1]


def test_roll_by_clock_if_messages_have_no_timestamps(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, segment_ms=100, message_format_version="0.9.0")
    append(log, b"a", magic=0)
    time.sleep(100)
    append(log, b"b", magic=0)
    assert bases(log) == [0]
    time.sleep(1)
    append(log, b"c", magic=0)
    assert bases(log) == [0, 2]


def test_jitter_makes_segments_roll_earlier(tmp_path: Path) -> None:
    config = LogConfig({"segment.ms": 100, "segment.jitter.ms": 1000})
    jitters = {config.random_segment_jitter_ms() for _ in range(200)}
    assert min(jitters) >= 0
    assert max(jitters) < 100
    assert len(jitters) > 10


def test_roll_when_an_index_is_full(tmp_path: Path) -> None:
    log = open_log(tmp_path, index_interval_bytes=0, segment_index_bytes=24)
    for _ in range(6):
        append(log, b"x")
    # Room for two time index entries, one of them reserved: one message without an entry, one with.
    assert bases(log) == [0, 2, 4]
    assert [record.offset for record in read_records(log)] == list(range(6))


def test_roll_when_the_relative_offset_overflows(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append_as_follower(record_set(b"a", base_offset=0))
    log.append_as_follower(record_set(b"b", base_offset=2**31 + 5))
    assert bases(log) == [0, 6]
    assert [record.offset for record in read_records(log)] == [0, 2**31 + 5]


def test_first_message_far_above_the_base_offset_rolls(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.append_as_follower(record_set(b"b", base_offset=2**31 + 5))
    assert bases(log) == [0, 6]
    assert log.log_end_offset == 2**31 + 6
    assert log.producer_state.snapshot_offsets == (6,), "the snapshot belongs to the new segment"


def test_rolled_segment_shrinks_and_is_flushed(tmp_path: Path) -> None:
    time = MockTime()
    log = open_log(tmp_path, time=time, preallocate=True, segment_bytes=10_000)
    append(log, b"x" * 20)
    assert (log.dir / "00000000000000000000.log").stat().st_size == 10_000
    log.roll()
    sizes = {file.name: file.stat().st_size for file in log.dir.iterdir() if file.name.startswith("0" * 20)}
    assert sizes == {f"{'0' * 20}.log": SET_SIZE, f"{'0' * 20}.index": 0, f"{'0' * 20}.timeindex": 12}
    assert log.recovery_point == 0
    append(log, b"x" * 20)
    time.sleep(1)
    assert log.recovery_point == 1, "the new segment is not flushed"


def test_leftover_files_of_the_new_segment_are_replaced(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, b"x")
    for suffix in ("log", "index", "timeindex"):
        (log.dir / f"00000000000000000001.{suffix}").write_bytes(b"left over")
    log.roll()
    append(log, b"y")
    assert [record.value for record in read_records(log)] == [b"x", b"y"]


def segments_of_one(tmp_path: Path, count: int, time: MockTime | None = None, **config: object) -> Log:
    log = open_log(tmp_path, time=time, segment_bytes=SET_SIZE, **config)
    for i in range(count):
        append(log, b"x" * 20, timestamp=1_000 + i * 100)
    return log


def test_deleted_files_are_renamed_then_removed(tmp_path: Path) -> None:
    time = MockTime(start_ms=10_000)
    log = segments_of_one(tmp_path, 1, time, retention_ms=1_000, file_delete_delay_ms=500)
    log.delete_old_segments()
    renamed = {f"{'0' * 20}{suffix}.deleted" for suffix in (".log", ".index", ".timeindex")}
    assert renamed <= {file.name for file in log.dir.iterdir()}
    time.sleep(499)
    assert renamed <= {file.name for file in log.dir.iterdir()}
    time.sleep(1)
    assert not renamed & {file.name for file in log.dir.iterdir()}
