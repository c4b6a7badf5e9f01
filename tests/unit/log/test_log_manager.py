"""LogManager: directories, locks, checkpoints, background tasks, deletion, failures."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from uuid import UUID

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.checkpoint_file import CheckpointFile
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry, LeaderEpochCheckpointFile
from kafka_lite.log.checkpoints.offset_checkpoint_file import CLEANER_OFFSET_CHECKPOINT_FILE, OffsetCheckpointFile
from kafka_lite.log.checkpoints.partition_metadata_file import PartitionMetadataFile
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_file_utils import CLEAN_SHUTDOWN_FILE
from kafka_lite.log.log_manager import LogManager
from kafka_lite.log.managing.log_maintenance import MaintenancePeriods
from kafka_lite.log.producers.producer_state_manager_config import ProducerStateManagerConfig
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.log_managers import ManagedLogs
from tests.support.logs import read_records
from tests.support.patience import patient_s

T0 = TopicPartition("topic", 0)

T1 = TopicPartition("topic", 1)

DASHED = TopicPartition("my-dashed-topic", 12)

SMALL = {"segment.index.bytes": 1024}


@pytest.fixture
def one(tmp_path: Path) -> ManagedLogs:
    return ManagedLogs(tmp_path / "a")


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_files_of_a_log_directory(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"x")
    assert names(tmp_path / "a") == {".lock", "topic-0"}
    one.manager.shutdown()
    assert names(tmp_path / "a") == {
        ".lock",
        ".kafka_cleanshutdown",
        "recovery-point-offset-checkpoint",
        "log-start-offset-checkpoint",
        "topic-0",
    }
    assert (tmp_path / "a" / "recovery-point-offset-checkpoint").read_text() == "0\n1\ntopic 0 1\n"
    assert (tmp_path / "a" / "log-start-offset-checkpoint").read_text() == "0\n0\n"


def crash(manager: LogManager) -> None:
    """What the kernel does when a process ends: it releases the locks."""
    manager.dirs.unlock_all()


def test_get_or_create_log_returns_the_same_log(one: ManagedLogs) -> None:
    log = one.manager.get_or_create_log(T0)
    assert one.manager.get_or_create_log(T0, LogConfig({"retention.ms": 1})) is log


def test_topic_config_applies_to_new_and_existing_logs(one: ManagedLogs) -> None:
    log = one.manager.get_or_create_log(T0, LogConfig({**SMALL, "retention.ms": 5}))
    assert log.config.retention_ms == 5
    assert one.manager.get_or_create_log(T1).config.retention_ms == 5
    one.manager.update_topic_config("topic", LogConfig({**SMALL, "retention.ms": 7}))
    assert log.config.retention_ms == 7
    assert one.manager.get_or_create_log(TopicPartition("topic", 2)).config.retention_ms == 7
    assert one.manager.get_or_create_log(DASHED).config.retention_ms == 7 * 24 * 3600 * 1000


def test_new_defaults_apply_to_what_topics_do_not_override(one: ManagedLogs) -> None:
    one.manager.update_topic_config("topic", LogConfig({"retention.ms": 5}))
    own, plain = one.manager.get_or_create_log(T0), one.manager.get_or_create_log(DASHED)
    one.manager.update_default_config(LogConfig({**SMALL, "retention.ms": 7, "segment.bytes": 1000}))
    assert (own.config.retention_ms, own.config.segment_bytes) == (5, 1000)
    assert (plain.config.retention_ms, plain.config.segment_bytes) == (7, 1000)
    assert one.manager.get_or_create_log(TopicPartition("new", 0)).config.segment_bytes == 1000
    # A config that was read before the change may still be passed in after it.
    late = one.manager.get_or_create_log(TopicPartition("late", 0), LogConfig({"retention.ms": 6}, SMALL))
    assert (late.config.retention_ms, late.config.segment_bytes) == (6, 1000)
    one.manager.update_topic_config("topic", LogConfig({}, {"segment.bytes": 2000}))
    assert (own.config.retention_ms, own.config.segment_bytes) == (7, 1000)


def test_a_log_whose_format_cannot_change_is_retried_and_does_not_block_others(
    one: ManagedLogs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one.manager.update_default_config(LogConfig({**SMALL, "message.format.version": "0.10.2"}))
    failing, other = one.manager.get_or_create_log(T0), one.manager.get_or_create_log(T1)
    before = failing.config
    read = LeaderEpochCheckpointFile.read

    def fail_once(file: LeaderEpochCheckpointFile) -> list[EpochEntry]:
        monkeypatch.setattr(LeaderEpochCheckpointFile, "read", read)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(LeaderEpochCheckpointFile, "read", fail_once)
    one.manager.update_default_config(LogConfig(SMALL))
    assert failing.config is before
    assert failing.derived_state.leader_epoch_cache is None
    assert other.config is one.manager.configs.default
    assert other.derived_state.leader_epoch_cache is not None
    assert "Could not change the configuration of topic-0" in caplog.text
    one.manager.update_topic_config("another", LogConfig({"retention.ms": 5}))
    assert failing.config is one.manager.configs.default
    assert failing.derived_state.leader_epoch_cache is not None


def test_validation_uses_the_new_defaults(one: ManagedLogs) -> None:
    one.append(T0, b"x" * 300)
    one.manager.update_default_config(LogConfig({**SMALL, "max.message.bytes": 200}))
    with pytest.raises(ApiError) as caught:
        one.append(T0, b"x" * 300)
    assert caught.value.error is Errors.MESSAGE_TOO_LARGE


def test_retention_uses_the_new_defaults(one: ManagedLogs) -> None:
    one.manager.update_default_config(LogConfig({**SMALL, "segment.bytes": 200}))
    for _ in range(3):
        one.append(T0, b"x" * 100)
    one.time.sleep(50_000)
    one.manager.maintenance.cleanup_logs()
    assert one.manager.get_or_create_log(T0).log_start_offset == 0
    one.manager.update_default_config(LogConfig({**SMALL, "segment.bytes": 200, "retention.ms": 40_000}))
    one.manager.maintenance.cleanup_logs()
    assert one.manager.get_or_create_log(T0).log_start_offset == 3


def test_retention_runs_in_the_background(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path, maintenance_periods=MaintenancePeriods(retention_ms=1_000))
    setup.config.update({"retention.ms": 60_000, "file.delete.delay.ms": 0})
    setup.append(T0, b"old", timestamp=100_000)
    setup.manager.update_topic_config("topic", LogConfig({**SMALL, "retention.ms": 40_000}))
    log = setup.manager.get_log(T0)
    assert log is not None
    setup.time.sleep(30_000)
    assert log.log_start_offset == 0
    setup.time.sleep(11_000)
    assert (log.log_start_offset, log.log_end_offset) == (1, 1)


def test_retention_leaves_compacted_logs_to_the_cleaner(one: ManagedLogs) -> None:
    one.append(T0, b"old")
    one.time.sleep(10)
    one.manager.update_topic_config(
        "topic", LogConfig({**SMALL, "retention.ms": 1, "cleanup.policy": "compact,delete"})
    )
    one.manager.maintenance.cleanup_logs()
    assert [log.log_start_offset for log in one.manager.all_logs()] == [0]


def test_idle_producers_expire_in_the_background(tmp_path: Path) -> None:
    setup = ManagedLogs(
        tmp_path,
        producer_config=ProducerStateManagerConfig(producer_id_expiration_ms=20_000),
        maintenance_periods=MaintenancePeriods(producer_expiration_ms=1_000),
    )
    builder = MemoryRecordsBuilder(producer_id=7, producer_epoch=0, base_sequence=0)
    builder.append(100_000, None, b"x")
    log = setup.manager.get_or_create_log(T0)
    log.append_as_leader(builder.build(), 0)
    setup.time.sleep(29_999)
    assert list(log.producer_state.active_producers) == [7]
    setup.time.sleep(1)
    assert not log.producer_state.active_producers


def test_flush_by_time(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path, maintenance_periods=MaintenancePeriods(flush_ms=1_000))
    setup.append(T0, b"x")
    setup.append(DASHED, b"x")
    setup.manager.update_topic_config("topic", LogConfig({**SMALL, "flush.ms": 5_000}))
    setup.time.sleep(31_000)
    assert [log.recovery_point for log in setup.manager.all_logs()] == [1, 0]


def test_checkpoints_are_written_in_the_background(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"a", b"b")
    log = one.manager.get_log(T0)
    assert log is not None
    log.flush()
    log.maybe_increment_log_start_offset(1)
    one.time.sleep(30_000)
    assert (tmp_path / "a" / "recovery-point-offset-checkpoint").read_text() == "0\n1\ntopic 0 2\n"
    assert (tmp_path / "a" / "log-start-offset-checkpoint").read_text() == "0\n1\ntopic 0 1\n"
    crash(one.manager)
    log = one.again().get_log(T0)
    assert log is not None
    assert (log.log_start_offset, log.recovery_point) == (1, 2)


def test_truncation_is_checkpointed(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"a")
    one.append(T0, b"b")
    log = one.manager.get_log(T0)
    assert log is not None
    log.flush()
    one.manager.truncate_to({T0: 1, DASHED: 0})
    assert (tmp_path / "a" / "recovery-point-offset-checkpoint").read_text() == "0\n1\ntopic 0 1\n"
    one.manager.truncate_fully_and_start_at(T0, 0)
    assert (log.log_start_offset, log.log_end_offset) == (0, 0)
    assert (tmp_path / "a" / "recovery-point-offset-checkpoint").read_text() == "0\n1\ntopic 0 0\n"


def test_a_topic_can_be_recreated_at_once_after_its_deletion(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"old", b"old")
    one.append(T1, b"kept")
    log = one.manager.get_log(T0)
    assert log is not None
    log.maybe_increment_log_start_offset(2)
    one.manager.maintenance.checkpoint_log_start_offsets()
    assert one.manager.async_delete([T0]) == {}
    assert one.manager.get_log(T0) is None
    assert one.manager.async_delete([T0]) == {}
    (renamed,) = [name for name in names(tmp_path / "a") if name.endswith("-delete")]
    assert len(renamed) == len("topic-0.") + 32 + len("-delete")
    assert (tmp_path / "a" / "log-start-offset-checkpoint").read_text() == "0\n0\n"
    one.append(T0, b"new")
    one.time.sleep(60_000)
    assert renamed not in names(tmp_path / "a")
    values = {tp: [record.value for record in read_records(one.manager.get_or_create_log(tp))] for tp in (T0, T1)}
    assert values == {T0: [b"new"], T1: [b"kept"]}


def test_the_id_of_a_topic_survives_restarts_but_not_a_downgrade(one: ManagedLogs, tmp_path: Path) -> None:
    first, second, scheduler = UUID(int=7), UUID(int=8), MockScheduler(one.time)
    log = one.manager.get_or_create_log(T0)
    assert log.topic_id is None
    for _ in range(2):
        log.assign_topic_id(first)
    with pytest.raises(ApiError) as refused:
        log.assign_topic_id(second)
    assert refused.value.error is Errors.INCONSISTENT_TOPIC_ID
    one.manager.shutdown()
    for keep, found in ((True, first), (False, None), (True, None)):
        manager = LogManager([tmp_path / "a"], {}, LogConfig(), scheduler, one.time, keep_topic_ids=keep)
        manager.startup()
        again = manager.get_log(T0)
        assert again is not None
        assert again.topic_id == found
        if not keep:
            again.assign_topic_id(second)
            assert again.topic_id is None, "the controller may know ids before this broker does"
        manager.shutdown()


def test_the_id_is_forced_to_disk_once_with_the_first_messages(
    one: ManagedLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = list[str]()
    monkeypatch.setattr(PartitionMetadataFile, "flush", lambda directory: flushed.append(directory.name))
    log = one.manager.get_or_create_log(T0)
    log.assign_topic_id(UUID(int=7))
    log.flush()
    assert flushed == []
    for value in (b"first", b"second"):
        one.append(T0, value)
        log.flush()
        assert flushed == [T0.topic + "-0"]


def test_deleting_many_logs_writes_each_checkpoint_once(
    one: ManagedLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partitions = [TopicPartition("many", number) for number in range(20)]
    for partition in partitions:
        one.append(partition, b"x")
    written: list[str] = []
    write = OffsetCheckpointFile.write

    def note(checkpoint: OffsetCheckpointFile, offsets: Mapping[TopicPartition, int]) -> None:
        written.append(checkpoint.file.name)
        write(checkpoint, offsets)

    monkeypatch.setattr(OffsetCheckpointFile, "write", note)
    assert one.manager.async_delete(partitions) == {}
    assert sorted(written) == ["log-start-offset-checkpoint", "recovery-point-offset-checkpoint"]
    assert one.manager.all_logs() == []
    assert len([name for name in names(tmp_path / "a") if name.endswith("-delete")]) == 20


def test_a_failed_rename_does_not_prevent_deletions_on_other_disks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = ManagedLogs(tmp_path / "a", tmp_path / "b")
    two.append(T0, b"x")
    two.append(T1, b"x")
    rename = os.rename

    def refuse(source: Path, target: Path) -> None:
        if str(source).endswith(str(T0)):
            raise OSError(errno.EIO, "no")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    failures = two.manager.async_delete([T0, T1])
    assert {tp: error.error for tp, error in failures.items()} == {T0: Errors.KAFKA_STORAGE_ERROR}
    assert two.manager.all_logs() == []


def test_a_deletion_that_lacks_file_descriptors_is_tried_again(
    one: ManagedLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.append(T0, b"x")
    one.manager.async_delete([T0])
    rmtree, refusals = shutil.rmtree, [OSError(errno.EMFILE, "too many open files")]

    def refuse_once(path: Path, **options: bool) -> None:
        if refusals:
            raise refusals.pop()
        rmtree(path, **options)

    monkeypatch.setattr(shutil, "rmtree", refuse_once)
    left = []
    for _ in range(2):
        one.time.sleep(60_000)
        left.append(any(name.endswith("-delete") for name in names(tmp_path / "a")))
    assert left == [True, False]


def test_an_epoch_is_fsynced_before_the_recovery_point_passes_its_messages(
    one: ManagedLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = one.manager.get_or_create_log(T0)
    events: list[str] = []
    write = CheckpointFile.write

    def note(checkpoint: CheckpointFile[object], entries: Iterable[object], sync: bool = True) -> None:
        events.append(f"{checkpoint.file.name} {sync} {log.recovery_point}")
        write(checkpoint, entries, sync)

    monkeypatch.setattr(CheckpointFile, "write", note)
    log.maybe_assign_epoch_start_offset(3, 0)
    assert events == ["leader-epoch-checkpoint False 0"]
    one.append(T0, b"x", b"y")
    log.flush()
    assert events[1:] == ["leader-epoch-checkpoint True 0"], "the epoch is synced before the recovery point advances"
    assert log.recovery_point == 2
    log.maybe_assign_epoch_start_offset(4, 2)
    assert events[2:] == ["leader-epoch-checkpoint True 2"]


def test_a_failed_disk_takes_its_logs_offline(tmp_path: Path) -> None:
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b")
    setup.append(T0, b"x")
    setup.append(T1, b"x")
    failed = setup.manager.get_or_create_log(T0).dir.parent
    other = setup.manager.get_or_create_log(T1).dir.parent
    error = OSError(errno.EIO, "Input/output error")
    setup.manager.log_dir_failure_channel.maybe_add_offline_log_dir(failed, "test", error)
    with pytest.raises(ApiError) as info:
        setup.append(T0, b"y")
    assert info.value.error is Errors.KAFKA_STORAGE_ERROR
    assert setup.manager.handle_log_dir_failure(failed) == [T0]
    assert setup.manager.live_log_dirs == [other]
    assert setup.manager.get_log(T0) is None
    setup.append(T1, b"y")
    setup.manager.shutdown()
    assert not (failed / ".kafka_cleanshutdown").exists()
    assert (other / ".kafka_cleanshutdown").exists()


def test_failure_of_the_last_disk_is_fatal(one: ManagedLogs, tmp_path: Path) -> None:
    error = OSError(errno.EIO, "Input/output error")
    one.manager.log_dir_failure_channel.maybe_add_offline_log_dir(tmp_path / "a", "test", error)
    with pytest.raises(ApiError) as info:
        one.manager.get_or_create_log(T0)
    assert info.value.error is Errors.KAFKA_STORAGE_ERROR
    with pytest.raises(KafkaError, match="all log directories have failed"):
        one.manager.handle_log_dir_failure(tmp_path / "a")


def break_disk(manager: LogManager, directory: Path) -> None:
    manager.log_dir_failure_channel.maybe_add_offline_log_dir(directory, "test", OSError(errno.EIO, "broken"))


def test_the_cleaner_forgets_a_failed_directory(tmp_path: Path) -> None:
    cleaner_config = CleanerConfig(dedupe_buffer_size=1 << 16)
    setup = ManagedLogs(tmp_path / "a", tmp_path / "b", cleaner_config=cleaner_config)
    assert setup.manager.cleaner is not None
    OffsetCheckpointFile(tmp_path / "a" / CLEANER_OFFSET_CHECKPOINT_FILE).write({T0: 3})
    checkpoints = [setup.manager.cleaner.cleaner_manager.all_cleaner_checkpoints()]
    break_disk(setup.manager, tmp_path / "a")
    setup.manager.handle_log_dir_failure(tmp_path / "a")
    checkpoints.append(setup.manager.cleaner.cleaner_manager.all_cleaner_checkpoints())
    setup.manager.shutdown()
    assert checkpoints == [{T0: 3}, {}]


def test_a_shutdown_is_not_clean_if_a_log_could_not_be_closed(one: ManagedLogs, tmp_path: Path) -> None:
    one.append(T0, b"x")
    one.append(DASHED, b"x")
    (tmp_path / "a" / str(T0) / f"{1:020d}.snapshot").symlink_to("/dev/full")
    one.manager.shutdown()
    assert CLEAN_SHUTDOWN_FILE not in names(tmp_path / "a")


def test_concurrent_checkpoint_writes_do_not_interfere(one: ManagedLogs) -> None:
    """The scheduler writes checkpoints, and so does a deletion: neither may lose its temporary file to the other."""
    one.append(T0, b"a")

    def write() -> None:
        for _ in range(30):
            one.manager.maintenance.checkpoint_recovery_point_offsets()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patient_s(60))
    assert list(one.manager.live_log_dirs) == list(one.dirs)
    assert not one.manager.log_dir_failure_channel.has_offline_log_dir(one.dirs[0])
