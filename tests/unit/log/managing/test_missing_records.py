"""Files that were cut or removed while the broker was down are noticed at the next start."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.offset_checkpoint_file import HIGH_WATERMARK_CHECKPOINT_FILE, OffsetCheckpointFile
from kafka_lite.log.log import Log
from kafka_lite.log.log_file_utils import log_file
from kafka_lite.log.managing.missing_records import Checkpointed, missing_records, truncate_at_gap
from tests.support.log_managers import ManagedLogs
from tests.support.logs import record_set

T0, T1 = TopicPartition("topic", 0), TopicPartition("topic", 1)
SEGMENTS = {"segment.bytes": "200", "segment.index.bytes": "1024"}


def managed_with(directory: Path, config: dict[str, str]) -> ManagedLogs:
    managed = ManagedLogs(directory)
    managed.manager.shutdown()
    managed.config.update(config)  # type: ignore[arg-type]  # text, as in a file
    managed.again()
    return managed


@pytest.fixture
def managed(tmp_path: Path) -> ManagedLogs:
    return managed_with(tmp_path / "a", SEGMENTS)


def fill(managed: ManagedLogs, topic_partition: TopicPartition = T0, count: int = 12) -> Log:
    for number in range(count):
        managed.append(topic_partition, b"%020d" % number)
    log = managed.manager.get_log(topic_partition)
    assert log is not None
    assert len(log.segments) > 3
    return log


def start(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Start again; the errors in the log."""
    with caplog.at_level(logging.ERROR):
        managed.again()
    return [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]


def cut(file: Path, size: int = 0) -> None:
    with file.open("r+b") as stream:
        stream.truncate(size)


def test_nothing_is_said_if_nothing_is_missing(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> None:
    fill(managed)
    managed.manager.shutdown()
    assert start(managed, caplog) == []


def test_an_emptied_active_segment(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> None:
    log = fill(managed)
    base, end = log.active_segment.base_offset, log.log_end_offset
    assert base < end
    managed.manager.shutdown()
    cut(log_file(log.dir, base))
    (line,) = start(managed, caplog)
    assert f"{log.dir} lacks the records {base} to {end - 1}," in line
    again = managed.manager.get_log(T0)
    assert again is not None
    assert again.gap_offset is None, "nothing is behind them: a follower fetches on from there"


def test_an_old_segment_that_was_cut_short(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> None:
    log = fill(managed)
    first, second = list(log.segments)[:2]
    size = len(record_set(b"%020d" % 0))
    assert first.size > size
    managed.manager.shutdown()
    cut(log_file(log.dir, 0), size)
    (line,) = start(managed, caplog)
    assert f"lacks the records 1 to {second.base_offset - 1}," in line
    again = managed.manager.get_log(T0)
    assert again is not None
    assert (again.gap_offset, again.log_end_offset) == (1, 12)
    truncate_at_gap(again)
    assert (again.gap_offset, again.log_end_offset) == (None, 1)
    managed.append(T0, b"fetched again")
    truncate_at_gap(again)
    assert again.log_end_offset == 2


def test_compaction_leaves_gaps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    managed = managed_with(tmp_path / "a", SEGMENTS | {"cleanup.policy": "compact"})
    log = fill(managed)
    managed.manager.shutdown()
    cut(log_file(log.dir, 0), len(record_set(b"%020d" % 0)))
    assert start(managed, caplog) == []


def test_a_folder_that_was_removed(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> None:
    log, other = fill(managed), fill(managed, T1)
    managed.manager.shutdown()
    shutil.rmtree(log.dir)
    (line,) = start(managed, caplog)
    assert line == "The folder of topic-0 is gone, with the records up to 11 that it had before the last stop"
    assert other.dir.is_dir()


def test_a_partition_that_was_deleted_is_not_missed(managed: ManagedLogs, caplog: pytest.LogCaptureFixture) -> None:
    fill(managed)
    fill(managed, T1)
    managed.manager.maintenance.checkpoint_recovery_point_offsets()
    managed.manager.async_delete([T0])
    managed.manager.dirs.unlock_all()  # as after kill -9
    assert start(managed, caplog) == []


def test_records_below_the_high_watermark_need_not_have_been_flushed(
    managed: ManagedLogs, caplog: pytest.LogCaptureFixture
) -> None:
    log = fill(managed)
    end = log.log_end_offset
    OffsetCheckpointFile(log.dir.parent / HIGH_WATERMARK_CHECKPOINT_FILE).write({T0: end})
    managed.manager.dirs.unlock_all()
    cut(log_file(log.dir, log.active_segment.base_offset))
    (line,) = start(managed, caplog)
    assert f"lacks the records {log.active_segment.base_offset} to {end - 1}," in line


def test_the_larger_checkpoint_counts(managed: ManagedLogs) -> None:
    log = fill(managed)
    for recovery_point, high_watermark, missing in [(12, 12, []), (14, 13, [(12, 14)]), (0, 13, [(12, 13)])]:
        checkpointed = Checkpointed({T0: recovery_point}, {T0: high_watermark})
        assert missing_records(log, checkpointed.end_of(T0)) == missing
    assert Checkpointed({}, {}).end_of(T0) == 0
