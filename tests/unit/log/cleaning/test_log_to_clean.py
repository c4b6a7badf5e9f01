"""How dirty a log is, and which range of its offsets can be cleaned."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.cleaning.cleaner_stats import PreCleanStats
from kafka_lite.log.cleaning.log_to_clean import LogToClean, cleanable_offsets, max_compaction_delay_ms
from tests.support.compaction import append, cleanable, manager_of
from tests.support.logs import open_log

TP = TopicPartition("topic", 0)


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.mark.parametrize(("checkpoint", "is_cleaned"), [(1, True), (2, False), (4, False)])
def test_a_log_below_the_dirty_ratio_is_not_cleaned(
    tmp_path: Path, time: MockTime, checkpoint: int, is_cleaned: bool
) -> None:
    log = cleanable(tmp_path, time, segments=4, min_cleanable_dirty_ratio=0.5)
    manager = manager_of(tmp_path, time, log)
    manager.update_checkpoints(tmp_path, {TP: checkpoint})
    assert (manager.grab_filthiest_compacted_log() is not None) == is_cleaned


def test_empty_and_not_compacted_logs_are_not_cleaned(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(
        tmp_path,
        time,
        cleanable(tmp_path, time, cleanup_policy="delete"),
        cleanable(tmp_path, time, "other-0", segments=0),
    )
    assert manager.grab_filthiest_compacted_log() is None


@pytest.mark.parametrize(
    ("checkpoint", "wanted"),
    [
        (None, (0, 3, False)),
        (0, (0, 3, False)),
        (2, (2, 3, False)),
        (3, (3, 3, False)),
        (4, (0, 3, True)),  # beyond the log end offset: the log has lost messages since
    ],
)
def test_range_of_offsets_to_clean(
    tmp_path: Path, time: MockTime, checkpoint: int | None, wanted: tuple[int, int, bool]
) -> None:
    log = cleanable(tmp_path, time, segments=3)
    assert tuple(cleanable_offsets(log, checkpoint, time.milliseconds())) == wanted


def test_a_checkpoint_below_the_log_start_is_rewritten(tmp_path: Path, time: MockTime) -> None:
    log = cleanable(tmp_path, time, segments=5)
    log.maybe_increment_log_start_offset(2)
    manager = manager_of(tmp_path, time, log)
    manager.update_checkpoints(tmp_path, {TP: 1})
    grabbed = manager.grab_filthiest_compacted_log()
    assert grabbed is not None
    assert grabbed.first_dirty_offset == 2
    assert manager.all_cleaner_checkpoints() == {TP: 2}


def test_min_compaction_lag(tmp_path: Path, time: MockTime) -> None:
    log = open_log(tmp_path, time=time, cleanup_policy="compact", min_compaction_lag_ms=100)
    for _ in range(3):
        append(log, (b"k", b"v"), timestamp=time.milliseconds())
        log.roll()
        time.sleep(60)
    now_ms = time.milliseconds()  # the messages are 180, 120 and 60 ms old
    assert cleanable_offsets(log, None, now_ms)[:2] == (0, 2)
    assert cleanable_offsets(log, None, now_ms - 60)[:2] == (0, 1)
    assert cleanable_offsets(log, None, now_ms - 150)[:2] == (0, 0)
    assert cleanable_offsets(log, 2, now_ms - 150)[:2] == (2, 2)
    cleanable = LogToClean(TP, log, *cleanable_offsets(log, 1, now_ms)[:2])
    assert (cleanable.clean_bytes, cleanable.cleanable_bytes) == (log.size // 3, log.size // 3)


def test_max_compaction_lag(tmp_path: Path, time: MockTime) -> None:
    log = open_log(
        tmp_path, time=time, cleanup_policy="compact", max_compaction_lag_ms=100, min_cleanable_dirty_ratio=1.0
    )
    append(log, (b"k", b"v"), timestamp=time.milliseconds())
    log.roll()
    manager = manager_of(tmp_path, time, log)
    time.sleep(100)
    assert manager.grab_filthiest_compacted_log() is None
    time.sleep(5)
    assert max_compaction_delay_ms(log, 0, time.milliseconds()) == 5
    stats = PreCleanStats()
    assert manager.grab_filthiest_compacted_log(stats) is not None
    assert (stats.max_compaction_delay_ms, stats.delayed_partitions) == (5, 1)
    assert max_compaction_delay_ms(log, 1, time.milliseconds()) == 0, "it is below the dirty ratio"


def test_max_compaction_lag_rolls_the_log(tmp_path: Path, time: MockTime) -> None:
    for policy, segments in (("compact", 2), ("delete", 1)):
        log = open_log(tmp_path / policy, time=time, cleanup_policy=policy, max_compaction_lag_ms=100)
        append(log, (b"k", b"v"), timestamp=1_000)
        append(log, (b"k", b"v"), timestamp=1_101)
        assert len(log.segments) == segments
