"""Which log is cleaned next, from which offset to which, and which callers block until a cleaning has stopped."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.offset_checkpoint_file import OffsetCheckpointFile
from kafka_lite.log.cleaning.cleaner_stats import CleanerStats, PreCleanStats
from kafka_lite.log.cleaning.log_cleaner_manager import LogCleanerManager
from kafka_lite.log.dirs.log_dir_failure_channel import LogDirFailureChannel
from kafka_lite.log.log_cleaning_state import VALID_PREVIOUS_STATES, LogCleaningAbortedError, LogCleaningState
from tests.support.compaction import cleanable, manager_of
from tests.support.eventually import eventually
from tests.support.patience import patient_s

TP = TopicPartition("topic", 0)

OTHER = TopicPartition("other", 0)

NONE, IN_PROGRESS, ABORTED, PAUSED = LogCleaningState


@pytest.fixture
def time() -> MockTime:
    return MockTime()


def test_a_cleaning_from_grab_to_done(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    assert manager.cleaning_state(TP) is NONE
    grabbed = manager.grab_filthiest_compacted_log()
    assert grabbed is not None
    assert (grabbed.first_dirty_offset, grabbed.first_uncleanable_offset) == (0, 2)
    assert manager.cleaning_state(TP) is IN_PROGRESS
    assert manager.grab_filthiest_compacted_log() is None
    manager.check_cleaning_aborted(TP)
    manager.done_cleaning(TP, tmp_path, 2)
    assert manager.cleaning_state(TP) is NONE
    assert manager.all_cleaner_checkpoints() == {TP: 2}
    assert (tmp_path / "cleaner-offset-checkpoint").read_text() == "0\n1\ntopic 0 2\n"
    assert manager.grab_filthiest_compacted_log() is None, "nothing is dirty any more"


def test_pauses_are_counted(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    for count in (1, 2):
        manager.abort_and_pause_cleaning(TP)
        assert (manager.cleaning_state(TP), manager.paused_count(TP)) == (PAUSED, count)
    assert manager.grab_filthiest_compacted_log() is None
    assert manager.deletable_logs() == {}
    manager.abort_cleaning(TP)
    assert manager.paused_count(TP) == 2
    manager.resume_cleaning([TP])
    assert manager.cleaning_state(TP) is PAUSED
    manager.resume_cleaning([TP])
    assert manager.cleaning_state(TP) is NONE
    with pytest.raises(KafkaError, match="not paused"):
        manager.resume_cleaning([TP])
    assert manager.grab_filthiest_compacted_log() is not None


@pytest.mark.parametrize("deleting", [False, True])
def test_abort_blocks_until_the_cleaner_thread_has_stopped(tmp_path: Path, time: MockTime, deleting: bool) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    if deleting:
        assert list(manager.deletable_logs()) == [TP]
    else:
        assert manager.grab_filthiest_compacted_log() is not None
    events: list[str] = []

    def abort() -> None:
        manager.abort_and_pause_cleaning(TP)
        events.append("paused")

    waiting = threading.Thread(target=abort)
    waiting.start()
    while manager.cleaning_state(TP) is not ABORTED:
        waiting.join(0.001)
    with pytest.raises(LogCleaningAbortedError):
        manager.check_cleaning_aborted(TP)
    events.append("stopped")
    if deleting:
        manager.done_deleting([TP])
    else:
        manager.done_cleaning(TP, tmp_path, 2)
    waiting.join(patient_s(60))
    assert events == ["stopped", "paused"]
    assert manager.cleaning_state(TP) is PAUSED
    assert manager.all_cleaner_checkpoints() == {}, "an aborted cleaning does not advance the checkpoint"
    manager.resume_cleaning([TP])
    assert manager.cleaning_state(TP) is NONE


def test_concurrent_aborts_all_block_until_the_cleaning_has_stopped(tmp_path: Path, time: MockTime) -> None:
    """One deletes the topic while another truncates it: neither may start before the cleaning has stopped."""
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    assert manager.grab_filthiest_compacted_log() is not None
    aborting = [threading.Thread(target=manager.abort_and_pause_cleaning, args=(TP,), daemon=True) for _ in range(2)]
    for thread in aborting:
        thread.start()
        thread.join(0.05)
    eventually(lambda: manager.cleaning_state(TP) is ABORTED)
    assert all(thread.is_alive() for thread in aborting)
    manager.done_cleaning(TP, tmp_path, 2)
    for thread in aborting:
        thread.join(patient_s(60))
    assert manager.paused_count(TP) == 2
    manager.resume_cleaning([TP, TP])
    assert manager.cleaning_state(TP) is NONE


def test_only_transitions_of_the_table_are_allowed(tmp_path: Path, time: MockTime) -> None:
    for before, after in itertools.product(LogCleaningState, LogCleaningState):
        manager = manager_of(tmp_path, time)
        if before is not NONE:
            manager._states[TP] = before
        if before in VALID_PREVIOUS_STATES[after]:
            manager._change(TP, after)
            assert manager.cleaning_state(TP) is after
        else:
            with pytest.raises(KafkaError, match="cannot change from"):
                manager._change(TP, after)
            assert manager.cleaning_state(TP) is before


def test_retention_pauses_cleaning_of_logs_that_are_not_compacted(tmp_path: Path, time: MockTime) -> None:
    log, other = cleanable(tmp_path, time), cleanable(tmp_path, time, "other-0", cleanup_policy="delete")
    manager = manager_of(tmp_path, time, log, other)
    paused = manager.pause_cleaning_for_non_compacted_partitions()
    assert paused == {OTHER: other}
    assert manager.pause_cleaning_for_non_compacted_partitions() == {}
    assert manager.deletable_logs() == {TP: log}
    assert manager.deletable_logs() == {}
    manager.done_deleting([TP])
    manager.resume_cleaning(paused)
    assert manager.cleaning_state(OTHER) is NONE


def test_the_filthiest_log_is_next(tmp_path: Path, time: MockTime) -> None:
    log, other = cleanable(tmp_path, time, segments=4), cleanable(tmp_path, time, "other-0", segments=4)
    manager = manager_of(tmp_path, time, log, other)
    manager.update_checkpoints(tmp_path, {TP: 1, OTHER: 0})
    stats = PreCleanStats()
    grabbed = manager.grab_filthiest_compacted_log(stats)
    assert grabbed is not None
    assert (grabbed.topic_partition, grabbed.cleanable_ratio, stats.cleanable_partitions) == (OTHER, 1.0, 2)
    assert manager.max_dirty_percent == 100
    grabbed = manager.grab_filthiest_compacted_log()
    assert grabbed is not None
    assert (grabbed.topic_partition, grabbed.cleanable_ratio) == (TP, 0.75)
    assert manager.max_dirty_percent == 75


def test_uncleanable_logs_are_skipped(tmp_path: Path, time: MockTime) -> None:
    log = cleanable(tmp_path, time)
    logs = {TP: log}
    manager = LogCleanerManager([tmp_path], logs, LogDirFailureChannel(), time)
    manager.mark_partition_uncleanable(tmp_path, TP)
    assert manager.grab_filthiest_compacted_log() is None
    assert manager.deletable_logs() == {}
    assert manager.uncleanable_partitions(tmp_path) == {TP}
    assert manager.uncleanable_bytes(tmp_path) == log.size
    manager.maintain_uncleanable_partitions()
    assert manager.uncleanable_partitions(tmp_path) == {TP}
    del logs[TP]
    manager.maintain_uncleanable_partitions()
    assert manager.uncleanable_partitions(tmp_path) == set()


def test_time_since_the_last_run(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time)
    time.sleep(70)
    assert manager.time_since_last_run_ms == 70
    manager.grab_filthiest_compacted_log()
    assert manager.time_since_last_run_ms == 0


def test_checkpoints_of_deleted_logs_are_removed(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    OffsetCheckpointFile(tmp_path / "cleaner-offset-checkpoint").write({TP: 1, OTHER: 5})
    manager.update_checkpoints(tmp_path)
    assert manager.all_cleaner_checkpoints() == {TP: 1}


def test_truncation_lowers_the_checkpoint_to_the_end_of_the_log(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    manager.update_checkpoints(tmp_path, {TP: 2})
    manager.maybe_truncate_checkpoint(tmp_path, TP, 3)
    assert manager.all_cleaner_checkpoints() == {TP: 2}
    manager.maybe_truncate_checkpoint(tmp_path, TP, 1)
    assert manager.all_cleaner_checkpoints() == {TP: 1}


def test_a_malformed_checkpoint_restarts_cleaning_at_the_log_start(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\n")
    grabbed = manager.grab_filthiest_compacted_log()
    assert grabbed is not None
    assert grabbed.first_dirty_offset == 0
    manager.done_cleaning(TP, tmp_path, 2)
    assert manager.all_cleaner_checkpoints() == {TP: 2}


def test_checkpoints_of_an_offline_log_directory_are_ignored(tmp_path: Path, time: MockTime) -> None:
    manager = manager_of(tmp_path, time, cleanable(tmp_path, time))
    manager.update_checkpoints(tmp_path, {TP: 2})
    manager.handle_log_dir_failure(tmp_path)
    assert manager.all_cleaner_checkpoints() == {}
    manager.update_checkpoints(tmp_path, {TP: 3})
    assert (tmp_path / "cleaner-offset-checkpoint").read_text().endswith(" 2\n")


def test_a_failed_checkpoint_write_takes_the_directory_offline(tmp_path: Path, time: MockTime) -> None:
    failures = LogDirFailureChannel()
    manager = LogCleanerManager([tmp_path], {TP: cleanable(tmp_path, time)}, failures, time)
    (tmp_path / "cleaner-offset-checkpoint.tmp").mkdir()
    manager.update_checkpoints(tmp_path, {TP: 2})
    assert failures.has_offline_log_dir(tmp_path)


def test_the_logged_summary_matches_kafka(time: MockTime) -> None:
    stats = CleanerStats(time)
    stats.map_bytes_read, stats.bytes_read, stats.bytes_written = 2 << 20, 4 << 20, 1 << 20
    stats.messages_read, stats.messages_written, stats.buffer_utilization = 4_000, 1_000, 0.125
    time.sleep(500)
    stats.index_done()
    time.sleep(1_500)
    stats.all_done()
    assert stats.summary(0, "topic-0", 5, 90) == (
        "\n\tLog cleaner thread 0 cleaned log topic-0 (dirty section = [5, 90])\n"
        "\t4.0 MB of log processed in 2.0 seconds (2.0 MB/sec).\n"
        "\tIndexed 2.0 MB in 0.5 seconds (4.0 Mb/sec, 25.0% of total time)\n"
        "\tBuffer utilization: 12.5%\n"
        "\tCleaned 4.0 MB in 1.5 seconds (2.7 Mb/sec, 75.0% of total time)\n"
        "\tStart size: 4.0 MB (4,000 messages)\n"
        "\tEnd size: 1.0 MB (1,000 messages)\n"
        "\t75.0% size reduction (75.0% fewer messages)"
    )
    assert "0.0% size reduction" in CleanerStats(time).summary(0, "topic-0", 0, 0)
